// Scales of the small pictures that are drawn as SVG: from a value to a place.

export interface Scale {
  (v: number): number
  low: number
  high: number
  log: boolean
}

/**
 * A scale from low…high to from…to, logarithmic where asked for and possible.
 * What is outside goes to the edge; a scale of nothing puts everything in the middle.
 */
export function scale(low: number, high: number, from: number, to: number, log = false): Scale {
  const byLog = log && low > 0 && high > low
  const of = (v: number) => {
    if (!(high > low)) return (from + to) / 2
    const at = Math.min(high, Math.max(low, v))
    const share = byLog ? Math.log(at / low) / Math.log(high / low) : (at - low) / (high - low)
    return from + (to - from) * share
  }
  return Object.assign(of, { low, high, log: byLog })
}

/** Round values for an axis, about n of them, within low…high. */
export function ticks(low: number, high: number, n: number, log = false): number[] {
  if (!(high > low)) return [low]
  if (log && low > 0) return logTicks(low, high, n)
  const step = roundStep((high - low) / Math.max(1, n))
  const out: number[] = []
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) out.push(i * step || 0) // never -0
  return out
}

function roundStep(raw: number): number {
  const power = 10 ** Math.floor(Math.log10(raw))
  const lead = raw / power
  return power * (lead <= 1 ? 1 : lead <= 2 ? 2 : lead <= 5 ? 5 : 10)
}

// logTicks are powers of ten, with 2 and 5 between them when those are few.
function logTicks(low: number, high: number, n: number): number[] {
  const decades = Math.log10(high / low)
  const leads = decades * 3 <= n ? [1, 2, 5] : [1]
  const every = Math.max(1, Math.ceil((decades * leads.length) / n))
  const out: number[] = []
  const first = Math.floor(Math.log10(low))
  for (let e = first; e <= Math.ceil(Math.log10(high)); e++) {
    if ((e - first) % every !== 0) continue
    for (const lead of leads) {
      const v = lead * 10 ** e
      if (v >= low * 0.999 && v <= high * 1.001) out.push(v)
    }
  }
  return out
}

/** A change B/A with its interval; null is an end that is not known. */
export interface Change {
  ratio: number | null
  low: number | null
  high: number | null
}

/**
 * The scale for many changes on one axis: of log2(B/A), symmetrical around 0 so
 * that half and twice are equally far from "the same", wide enough for nine of
 * ten intervals and no wider than 64 times. A single wild row shall not press all
 * others onto the line in the middle; it is cut at the edge and says so.
 */
export function changeSpan(changes: readonly Change[]): number {
  const far = changes
    .flatMap((c) => [c.low, c.ratio, c.high])
    .filter((v): v is number => v !== null && v > 0 && Number.isFinite(v))
    .map((v) => Math.abs(Math.log2(v)))
    .sort((a, b) => a - b)
  if (far.length === 0) return 0.1
  const most = far[Math.min(far.length - 1, Math.ceil(far.length * 0.9))] as number
  return Math.min(6, Math.max(0.07, most * 1.15))
}

/** A place in an interval plot, and whether the value is beyond it. */
export interface Mark {
  at: number
  beyond: boolean
}

/** Where a ratio is on a plot from 0 to width with `span` on either side of its middle. */
export function changeAt(ratio: number, span: number, width: number): Mark {
  const log = ratio > 0 ? Math.log2(ratio) : -Infinity
  const beyond = Math.abs(log) > span
  const inside = Math.max(-span, Math.min(span, log))
  return { at: (width / 2) * (1 + inside / span), beyond }
}
