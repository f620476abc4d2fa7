// Sums over steps of time as rates that can be drawn. Programs send every fifteen
// seconds, every minute, or less often: in steps shorter than that, a line would fall to
// nothing between what was sent, and say nothing but that. What was not sent for longer is
// a gap: nobody knows what a program used then, or it was not there.
import type { Cost, SeriesSet } from './api'

/** Rates of several series in steps that have the same ends. */
export interface Rates {
  /** The middles of the steps, ms. */
  at: number[]
  /** By key; null where a series sent nothing. */
  values: Map<string, (number | null)[]>
}

/** Steps that are made one, at most. */
const MERGED = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60]
/** The part of the distances between what was sent that made steps are not shorter than. */
const USUAL = 0.95

/** Values by second, in steps that are long enough for what was sent. */
export function ratesOf(set: SeriesSet, from: number, until: number): Rates {
  const step = set.step_ns / 1e6
  const steps = Math.max(1, Math.ceil((until - from) / step))
  const place = (ms: number) => Math.min(steps - 1, Math.max(0, Math.floor((ms - from) / step)))
  const merge = mergeFor(set.series.flatMap((s) => s.points.map(([ms]) => place(ms))))
  const wide = Math.ceil(steps / merge)
  const at: number[] = [], seconds: number[] = []
  for (let i = 0; i < wide; i++) {
    const start = from + i * merge * step, end = Math.min(until, start + merge * step)
    at.push((start + end) / 2)
    seconds.push(Math.max(1, end - start) / 1000)
  }
  const values = new Map<string, (number | null)[]>()
  for (const s of set.series) {
    const sent = s.points.map(([ms, value]): [number, number] => [Math.floor(place(ms) / merge), value])
    values.set(s.key, rates(sent, seconds))
  }
  return { at, values }
}

// rates are those of one series, which may send less often than the others: the same in all
// steps from one time to the next.
function rates(sent: readonly [step: number, value: number][], seconds: readonly number[]): (number | null)[] {
  const merge = mergeFor(sent.map(([i]) => i))
  const out: (number | null)[] = seconds.map(() => null)
  for (let start = 0; start < out.length; start += merge) {
    const end = Math.min(out.length, start + merge)
    const own = sent.filter(([i]) => i >= start && i < end)
    if (own.length === 0) continue
    const long = seconds.slice(start, end).reduce((all, v) => all + v, 0)
    out.fill(own.reduce((all, [, v]) => all + v, 0) / long, start, end)
  }
  return out
}

// mergeFor is how many steps are made one so that what is sent as usual leaves none empty.
function mergeFor(sent: readonly number[]): number {
  const filled = [...new Set(sent)].sort((a, b) => a - b)
  const apart = filled.slice(1).map((v, i) => v - filled[i]!).sort((a, b) => a - b)
  const usual = apart[Math.floor(USUAL * (apart.length - 1))] ?? 1
  return MERGED.find((m) => m >= usual) ?? MERGED.at(-1)!
}

/** The most values of a trend that are drawn: a month of five minutes has nine thousand. */
const MOST = 2000

/** What a finding cost, at equal distances; null for spans that do not have it. */
export function trendOf(trend: readonly Cost[]): (number | null)[] {
  const at = trend.map((c) => Date.parse(c.at))
  const first = at[0] ?? 0, last = at.at(-1) ?? 0
  const apart = Math.max((last - first) / MOST, at.slice(1).reduce((least, v, i) => Math.min(least, v - at[i]!), Infinity))
  if (!(apart > 0 && apart < Infinity)) return trend.map((c) => c.cost)
  const out = new Array<number | null>(Math.round((last - first) / apart) + 1).fill(null)
  trend.forEach((c, i) => { out[Math.round((at[i]! - first) / apart)] = c.cost })
  return out
}
