// The window: the stretch of time that the picture shows. All of its arithmetic
// is here, in nanoseconds since the recording's window began; float64 holds a
// hundred days of them exactly.

export interface Window {
  from: number
  to: number
}

/** Nothing in a trace is shorter than the clock's tick, about 15 ns. */
export const SHORTEST = 200

/** A tile is so many buckets of one lane. */
export const BUCKETS = 256

export const length = (w: Window): number => w.to - w.from

/** x is where a time lies in a picture so wide. */
export const xOf = (w: Window, width: number, t: number): number => ((t - w.from) / (w.to - w.from)) * width

export const timeAt = (w: Window, width: number, x: number): number => w.from + (x / width) * (w.to - w.from)

/** keep moves and cuts a window so that it lies in [0, end] and can be drawn. */
export function keep(w: Window, end: number): Window {
  const most = Math.max(end, SHORTEST)
  const wide = Math.min(Math.max(w.to - w.from, SHORTEST), most)
  if (!Number.isFinite(w.from) || !Number.isFinite(wide)) return { from: 0, to: most }
  // A window that is too short grows around its middle, so that what was asked
  // for stays in sight.
  const middle = (w.from + w.to) / 2
  const from = Math.min(Math.max(middle - wide / 2, 0), most - wide)
  return { from, to: from + wide }
}

/** zoom changes the length by a factor; what lies at the time stays where it is. */
export function zoom(w: Window, at: number, factor: number, end: number): Window {
  const most = Math.max(end, SHORTEST)
  const wide = Math.min(Math.max((w.to - w.from) * factor, SHORTEST), most)
  const part = (at - w.from) / (w.to - w.from)
  const from = Math.min(Math.max(at - part * wide, 0), most - wide)
  return { from, to: from + wide }
}

export function pan(w: Window, ns: number, end: number): Window {
  const wide = w.to - w.from
  const from = Math.min(Math.max(w.from + ns, 0), Math.max(0, end - wide))
  return { from, to: from + wide }
}

/** fit shows a stretch with some air on both sides. */
export function fit(from: number, to: number, end: number): Window {
  const air = Math.max((to - from) * 0.1, SHORTEST / 4)
  return keep({ from: from - air, to: to + air }, end)
}

/** around keeps the length, and moves only when the time is not well in sight. */
export function around(w: Window, at: number, end: number): Window {
  const edge = (w.to - w.from) * 0.08
  if (at >= w.from + edge && at <= w.to - edge) return w
  return pan(w, at - (w.from + w.to) / 2, end)
}

/**
 * levelFor is the finest level whose buckets are at least a pixel wide: no bucket
 * is ever squeezed between two pixels, so none can vanish. Level L has buckets of
 * 2^L ns.
 */
export function levelFor(nsPerPixel: number, min: number, max: number): number {
  const exact = Math.ceil(Math.log2(Math.max(nsPerPixel, 1e-9)) - 1e-9)
  return Math.min(Math.max(exact, min), max)
}

export const bucketNs = (level: number): number => 2 ** level
export const tileNs = (level: number): number => 2 ** level * BUCKETS

/** tilesOf are the first and the last tile that a window touches. */
export function tilesOf(w: Window, level: number): [first: number, last: number] {
  const wide = tileNs(level)
  const first = Math.max(0, Math.floor(w.from / wide))
  return [first, Math.max(first, Math.ceil(w.to / wide) - 1)]
}

/** Windows that differ by less than a tenth of a pixel of any screen are the same. */
export function same(a: Window, b: Window): boolean {
  const small = (a.to - a.from) * 1e-5
  return Math.abs(a.from - b.from) <= small && Math.abs(a.to - b.to) <= small
}
