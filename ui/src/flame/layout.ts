// Where the rectangles of a flame graph are.
//
// The problem. A tree has up to 200,000 nodes and the screen some 2,000 pixels. It
// must be there in the time of a blink after its numbers are, and then follow the
// hand: a zoom or a step to the side is a new picture, 60 times in a second.
//
// The idea. Nodes come in the order of a walk through the tree, and `end` says
// where what is below a node ends. So:
//
//  - A layout is one pass without recursion. A node begins where its parent's last
//    child ended; two arrays of numbers from 0 to 1 hold all of it. It does not
//    depend on the window, so that zooming lays nothing out anew.
//  - A picture is one walk that jumps: a node that is beside the window, or
//    narrower than half a pixel, is left with all that is below it by going to its
//    end, for no child is wider than its parent. What is visited is what is seen,
//    and its narrow children: a walk over a flat tree of 200,000 is a millisecond.
//  - Narrow siblings are not nothing: a thousand of them may be half of the
//    picture. Where they lie side by side and together reach half a pixel, they are
//    handed out as one piece of dust, which says that here is more than can be seen.
//
// In a comparison a node is as wide as both runs have together. Wide as one of
// them, what is gone or new would have no place; wide as the larger of both,
// children would not fit on their parents. The sum of both is the only one of these
// that adds up.
//
// Limits. Positions are float64 of the whole: a node of 1e-12 of it can still be
// zoomed to, for its window is computed from its own values. Depth is not limited
// here: who draws shows the rows that the window has.
import { compared, type Tree } from './tree'

export interface Layout {
  /** Left edge and width of each node, as parts of the root's width. */
  x: Float64Array
  w: Float64Array
}

/** A part of the root's width, from 0 to 1. */
export interface Span {
  from: number
  to: number
}

export const WHOLE: Span = { from: 0, to: 1 }

export function layout(t: Tree): Layout {
  const x = new Float64Array(t.n)
  const w = new Float64Array(t.n)
  if (t.n === 0) return { x, w }
  const next = new Float64Array(t.n) // where the next child of a node begins
  const base = compared(t)
  const value = (i: number) => t.sum[i]! + (base ? base.sum[i]! : 0)
  const all = value(0)
  const scale = all > 0 ? 1 / all : 0
  w[0] = all > 0 ? 1 : 0
  for (let i = 1; i < t.n; i++) {
    const p = t.parent[i]!
    const at = next[p]!
    x[i] = next[i] = at
    w[i] = value(i) * scale
    next[p] = at + w[i]!
  }
  return { x, w }
}

/** Narrower than this many pixels nothing is drawn. */
export const LEAST = 0.5

/**
 * Hands out the rectangles that a window shows, in pixels from its left edge, cut
 * to it. Node -1 is dust: siblings that are too narrow each.
 */
export function visible(
  t: Tree,
  l: Layout,
  win: Span,
  width: number,
  rows: { first: number; last: number },
  draw: (node: number, row: number, x: number, w: number) => void,
): void {
  const scale = width / (win.to - win.from)
  const dust = new Dust(rows.last + 1, draw)
  for (let i = 0; i < t.n;) {
    const d = t.depth[i]!
    const left = (l.x[i]! - win.from) * scale
    const right = left + l.w[i]! * scale
    if (d > rows.last || right <= 0 || left >= width || !(right > left)) {
      i = t.end[i]!
      continue
    }
    if (right - left < LEAST) {
      if (d >= rows.first) dust.add(d, left, right)
      i = t.end[i]!
      continue
    }
    if (d >= rows.first) {
      const from = Math.max(0, left)
      draw(i, d, from, Math.min(width, right) - from)
    }
    i++
  }
  dust.end()
}

// Dust gathers narrow siblings of each row while they touch.
class Dust {
  private from: Float64Array
  private to: Float64Array

  constructor(
    rows: number,
    private draw: (node: number, row: number, x: number, w: number) => void,
  ) {
    this.from = new Float64Array(Math.max(0, rows)).fill(NaN)
    this.to = new Float64Array(Math.max(0, rows))
  }

  add(row: number, left: number, right: number): void {
    if (!(Math.abs(this.to[row]! - left) < 1e-6) || Number.isNaN(this.from[row]!)) {
      this.flush(row)
      this.from[row] = left
    }
    this.to[row] = right
  }

  end(): void {
    for (let row = 0; row < this.from.length; row++) this.flush(row)
  }

  private flush(row: number): void {
    const w = this.to[row]! - this.from[row]!
    if (w >= LEAST) this.draw(-1, row, this.from[row]!, w)
    this.from[row] = NaN
  }
}

/** The node at a place: a row and a part of the root's width; -1 where there is none. */
export function nodeAt(t: Tree, l: Layout, row: number, x: number): number {
  if (t.n === 0 || row < 0 || x < 0 || x >= l.w[0]!) return -1
  let at = 0
  while (t.depth[at]! < row) {
    let child = at + 1
    const end = t.end[at]!
    while (child < end && x >= l.x[child]! + l.w[child]!) child = t.end[child]!
    if (child >= end || x < l.x[child]!) return -1
    at = child
  }
  return at
}

/** The part of the root's width that a node has. */
export function spanOf(l: Layout, i: number): Span {
  return l.w[i]! > 0 ? { from: l.x[i]!, to: l.x[i]! + l.w[i]! } : WHOLE
}

/** A window narrowed or widened about a place in it, which stays where it is. */
export function zoomed(win: Span, about: number, factor: number): Span {
  const width = Math.min(1, Math.max(1e-9, (win.to - win.from) * factor))
  const part = (about - win.from) / (win.to - win.from)
  return inside({ from: about - part * width, to: about + (1 - part) * width })
}

/** A window moved by parts of its own width. */
export function panned(win: Span, by: number): Span {
  const d = by * (win.to - win.from)
  return inside({ from: win.from + d, to: win.to + d })
}

function inside(win: Span): Span {
  const width = Math.min(1, win.to - win.from)
  const from = Math.min(Math.max(0, win.from), 1 - width)
  return { from, to: from + width }
}

/** Where the keys lead from a node. */
export type Step = 'caller' | 'callee' | 'next' | 'previous'

/** The node that a step leads to; the same one where there is none. */
export function step(t: Tree, from: number, to: Step): number {
  switch (to) {
    case 'caller':
      return Math.max(0, t.parent[from]!)
    case 'callee':
      return t.end[from]! > from + 1 ? from + 1 : from
    case 'next':
      for (let i = t.end[from]!; i < t.n; i++) if (t.depth[i] === t.depth[from]) return i
      return from
    case 'previous':
      for (let i = from - 1; i > 0; i--) if (t.depth[i] === t.depth[from]) return i
      return from
  }
}
