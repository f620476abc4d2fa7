// How a frame changed from the base run.

export interface Change {
  /** This run's value less the base run's. */
  delta: number
  /** delta by the base run's value: 0.1 is a tenth more. Infinite for what is new. */
  ratio: number
  kind: 'same' | 'more' | 'less' | 'new' | 'gone'
}

/** Less than this share of the larger value is no change that one could see. */
const SAME = 0.005

export function change(value: number, base: number): Change {
  const delta = value - base
  if (value <= 0 && base <= 0) return { delta: 0, ratio: 0, kind: 'same' }
  if (base <= 0) return { delta, ratio: Infinity, kind: 'new' }
  if (value <= 0) return { delta, ratio: -1, kind: 'gone' }
  const ratio = delta / base
  if (Math.abs(delta) < SAME * Math.max(value, base)) return { delta, ratio, kind: 'same' }
  return { delta, ratio, kind: delta > 0 ? 'more' : 'less' }
}

/** Shades of each direction. */
export const SHADES = 5

/**
 * The shade of a change, from -SHADES (all of it is gone) to SHADES (all of it is
 * new): by its part of the larger value, so that a small frame that doubled is
 * seen as well as a large one.
 */
export function shade(value: number, base: number): number {
  const c = change(value, base)
  if (c.kind === 'same') return 0
  const part = Math.abs(c.delta) / Math.max(value, base)
  return Math.sign(c.delta) * Math.min(SHADES, Math.ceil(Math.sqrt(part) * SHADES))
}

/** A sign and a figure, like "+12%", "−100%"; words for what has no ratio are the caller's. */
export function signed(ratio: number): string {
  const p = Math.abs(100 * ratio)
  const sign = ratio > 0 ? '+' : ratio < 0 ? '−' : '±'
  return sign + (p >= 99.5 ? p.toFixed(0) : p >= 0.95 ? p.toFixed(p < 9.95 ? 1 : 0) : p.toFixed(2)) + '%'
}

/** How a frame changed, in the few characters that stand before its name. */
export function signOf(value: number, base: number): string {
  const c = change(value, base)
  switch (c.kind) {
    case 'new':
      return '+'
    case 'gone':
      return '−'
    case 'same':
      return '='
    default:
      return signed(c.ratio)
  }
}
