// Sums over steps of time as rates that can be drawn. Programs send every fifteen
// seconds, every minute, or less often: in steps shorter than that, a line would fall to
// nothing between what was sent, and say nothing but that.
import type { SeriesSet } from './api'

/** Rates of several series in steps that have the same ends. */
export interface Rates {
  /** The middles of the steps, ms. */
  at: number[]
  /** By key; null where nobody sent anything. */
  values: Map<string, (number | null)[]>
}

/** Steps that are made one, at most. */
const MERGED = [1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30, 60]
/** The part of steps, between the first and the last with a value, that must have one. */
const FILLED = 0.95

/** Values by second, in steps that are long enough for what was sent. */
export function ratesOf(set: SeriesSet, from: number, until: number): Rates {
  const step = set.step_ns / 1e6
  const steps = Math.max(1, Math.ceil((until - from) / step))
  const place = (ms: number) => Math.min(steps - 1, Math.max(0, Math.floor((ms - from) / step)))
  const filled = [...new Set(set.series.flatMap((s) => s.points.map(([ms]) => place(ms))))].sort((a, b) => a - b)
  const merge = mergeFor(filled)
  const wide = Math.ceil(steps / merge)
  const at: number[] = [], lengths: number[] = []
  for (let i = 0; i < wide; i++) {
    const start = from + i * merge * step, end = Math.min(until, start + merge * step)
    at.push((start + end) / 2)
    lengths.push(Math.max(1, end - start) / 1000)
  }
  const sent = new Set(filled.map((i) => Math.floor(i / merge)))
  const values = new Map<string, (number | null)[]>()
  for (const s of set.series) {
    const sums = at.map((_, i): number | null => (sent.has(i) ? 0 : null))
    for (const [ms, value] of s.points) sums[Math.floor(place(ms) / merge)]! += value
    values.set(s.key, sums.map((v, i) => (v === null ? null : v / lengths[i]!)))
  }
  return { at, values }
}

// mergeFor is how many steps are made one so that nearly all of those have a value.
function mergeFor(filled: readonly number[]): number {
  const first = filled[0], last = filled.at(-1)
  if (first === undefined || last === undefined) return 1
  for (const merge of MERGED) {
    const begin = Math.ceil(first / merge), end = Math.floor(last / merge)
    const has = new Set(filled.map((i) => Math.floor(i / merge)).filter((i) => i >= begin && i < end))
    if (end - begin <= 1 || has.size >= FILLED * (end - begin)) return merge
  }
  return MERGED.at(-1)!
}
