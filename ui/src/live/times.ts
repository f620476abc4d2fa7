// Moments as a clock on the wall shows them, where a chart's own clock says nothing
// to anybody: what is seen now, and what a log of the same machine says.
import type { ChartTimes } from '../parts/chart'

const two = (n: number): string => String(n).padStart(2, '0')

/** "12:03:20", with as many digits behind it as a step in ms needs. */
export function wall(ms: number, step = 1000): string {
  const d = new Date(ms)
  const digits = step >= 1000 ? '' : '.' + String(d.getMilliseconds()).padStart(3, '0').slice(0, step >= 100 ? 1 : step >= 10 ? 2 : 3)
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}${digits}`
}

const S = 1e9
/** Distances of ticks that are round on a clock. */
const STEPS = [...[1, 2, 5, 10, 20, 50, 100, 200, 500].map((ms) => ms * 1e6), S, 2 * S, 5 * S, 10 * S, 15 * S, 30 * S, 60 * S, 120 * S, 300 * S, 600 * S]

/** The times of charts whose clock begins at a moment in ms since 1970. */
export function wallTimes(base: number): ChartTimes {
  return {
    steps: STEPS,
    tick: (ns, step) => {
      const text = wall(base + Math.round(ns / 1e6), step / 1e6)
      return step >= 60 * S ? text.slice(0, 5) : text
    },
    moment: (ns) => wall(base + Math.round(ns / 1e6), 100),
  }
}
