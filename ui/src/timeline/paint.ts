// Painting: from shares of time to a small picture, one pixel wide for each
// bucket. A picture is painted once for each tile of a lane and then only moved
// and stretched, so that panning costs what the screen is wide.
//
// No state is told by colour alone. In a single lane a state also has a height
// (running fills the row, waiting lies at its bottom) and each has a pattern of
// its own, in groups too, where heights mean numbers.
import { BUCKETS } from './window'
import { LONG, LOST, RARE, type LaneTile } from './decode'

/** How a state looks besides its colour. */
export type Pattern = 'plain' | 'rising' | 'rows' | 'dots' | 'columns' | 'sparse' | 'cross' | 'falling'

export interface StateLook {
  /** ABGR, as in the bytes of a picture. */
  colour: number
  shade: number
  pattern: Pattern
  /** Part of a single lane's height. */
  height: number
}

/** How the states look, by their names; their colours are the theme's. */
export const LOOKS: Record<string, { pattern: Pattern; height: number }> = {
  running: { pattern: 'plain', height: 1 },
  runnable: { pattern: 'rising', height: 0.75 },
  syscall: { pattern: 'rows', height: 0.88 },
  sync: { pattern: 'dots', height: 0.5 },
  net: { pattern: 'columns', height: 0.42 },
  wait: { pattern: 'sparse', height: 0.3 },
  gc: { pattern: 'cross', height: 0.94 },
  unknown: { pattern: 'falling', height: 0.2 },
}

/** dark says which pixels of a pattern are of the second colour. */
export function dark(p: Pattern, x: number, y: number): boolean {
  switch (p) {
    case 'plain':
      return false
    case 'rising':
      return (x + y) % 4 === 0
    case 'falling':
      return (x - y + 4096) % 5 === 0
    case 'rows':
      return y % 3 === 0
    case 'columns':
      return x % 4 === 0
    case 'dots':
      return x % 3 === 0 && y % 3 === 0
    case 'sparse':
      return x % 6 === 0 && y % 4 === 0
    case 'cross':
      return (x + y) % 5 === 0 || (x - y + 4095) % 5 === 0
  }
}

export interface Palette {
  looks: StateLook[]
  rare: number
  long: number
  lost: number
}

/** peak is the highest sum of the shown states in a tile, in the lane's unit. */
export function peak(tile: LaneTile, states: number, hidden: readonly boolean[]): number {
  if (!tile.shares) return 0
  let top = 0
  for (let b = 0; b < BUCKETS; b++) {
    let sum = 0
    for (let s = 0; s < states; s++) if (!hidden[s]) sum += tile.shares[b * states + s]!
    if (sum > top) top = sum
  }
  return (top / 255) * tile.max
}

/**
 * paint fills a picture of BUCKETS × height pixels, top row first. `top` is what
 * the full height stands for; in a single lane a state that fills a bucket has
 * its own height instead.
 */
export function paint(
  out: Uint32Array,
  height: number,
  tile: LaneTile,
  states: number,
  palette: Palette,
  hidden: readonly boolean[],
  single: boolean,
  top: number,
): void {
  out.fill(0)
  const { shares, marks } = tile
  if (!shares) return
  // Where waits are long everywhere, that says nothing: only those that stand out are marked.
  const ordinary = usual(marks, LONG)
  const scale = single ? height / 255 : top > 0 ? (height * tile.max) / (255 * top) : 0
  for (let b = 0; b < BUCKETS; b++) {
    let y = height // first pixel that is taken, from below
    let exact = 0
    for (let s = 0; s < states; s++) {
      const share = shares[b * states + s]!
      if (share === 0 || hidden[s]) continue
      const look = palette.looks[s]!
      exact += share * scale * (single ? look.height : 1)
      // What is there has a pixel, whatever it rounds to.
      let end = Math.min(height - Math.round(exact), y - 1)
      if (end < 0) end = 0
      for (; y > end; ) {
        y--
        out[y * BUCKETS + b] = dark(look.pattern, b, y) ? look.shade : look.colour
      }
    }
    if (marks && marks[b]) mark(out, height, b, marks[b]! & ~ordinary, palette)
  }
}

/** Which of the marks more than a quarter of the buckets have. */
function usual(marks: Uint8Array | null, bit: number): number {
  let n = 0
  for (const m of marks ?? []) if (m & bit) n++
  return n > BUCKETS / 4 ? bit : 0
}

/** mark draws what must be seen however far one is away: at the top of its column. */
function mark(out: Uint32Array, height: number, b: number, bits: number, palette: Palette): void {
  if (bits & LOST) for (let y = 0; y < height; y++) if ((b + y) % 4 === 0) out[y * BUCKETS + b] = palette.lost
  const tall = Math.max(2, Math.round(height / 6))
  if (bits & LONG) for (let y = 0; y < tall; y++) out[y * BUCKETS + b] = palette.long
  if (bits & RARE) for (let y = 0; y < tall; y++) out[y * BUCKETS + b] = palette.rare
}

/** abgr turns "#rrggbb", "#rgb" or "rgb(…)" into a pixel; what it cannot read is grey. */
export function abgr(css: string): number {
  const [r, g, b] = rgb(css)
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0
}

export function rgb(css: string): [number, number, number] {
  const s = css.trim()
  const short = /^#([0-9a-f])([0-9a-f])([0-9a-f])$/i.exec(s)
  if (short) return [short[1]!, short[2]!, short[3]!].map((h) => parseInt(h + h, 16)) as [number, number, number]
  const long = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})/i.exec(s)
  if (long) return [long[1]!, long[2]!, long[3]!].map((h) => parseInt(h, 16)) as [number, number, number]
  const parts = /^rgba?\(([^)]*)\)/i.exec(s)?.[1]?.split(/[\s,/]+/).map(Number)
  if (parts && parts.length >= 3 && parts.slice(0, 3).every(Number.isFinite)) return parts.slice(0, 3) as [number, number, number]
  return [128, 128, 128]
}

/** luminance of WCAG 2, from 0 to 1. */
export function luminance([r, g, b]: [number, number, number]): number {
  const f = (v: number) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4)
  return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b)
}

/** mix is so much of b in a. */
export function mix(a: [number, number, number], b: [number, number, number], part: number): [number, number, number] {
  return [0, 1, 2].map((i) => Math.round(a[i]! + (b[i]! - a[i]!) * part)) as [number, number, number]
}

export const css = ([r, g, b]: [number, number, number]): string => `rgb(${r},${g},${b})`

/** ink is black or white, whichever is read better on a colour. */
export const ink = (on: [number, number, number]): string => (luminance(on) > 0.179 ? '#000' : '#fff')
