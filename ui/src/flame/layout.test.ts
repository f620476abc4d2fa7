import { describe, expect, it } from 'vitest'
import { LEAST, layout, nodeAt, panned, spanOf, step, visible, WHOLE, zoomed, type Layout, type Span } from './layout'
import { bag, tree } from './testing'
import { nameOf, pathTo, type Tree } from './tree'

interface Rect { node: number; row: number; x: number; w: number }

function shown(t: Tree, l: Layout, win: Span, width: number, first = 0, last = t.rows - 1): Rect[] {
  const out: Rect[] = []
  visible(t, l, win, width, { first, last }, (node, row, x, w) => out.push({ node, row, x, w }))
  return out
}

// brute places every node by adding up the siblings before it, from the root down.
function brute(t: Tree, i: number): { x: number; w: number } {
  const value = (n: number) => t.sum[n]! + (t.base ? t.base.sum[n]! : 0)
  let x = 0
  for (const n of pathTo(t, i)) {
    for (let s = 1; s < n; s++) if (t.parent[s] === t.parent[n]) x += value(s)
  }
  return { x: x / value(0), w: value(i) / value(0) }
}

describe('a layout', () => {
  it('is what brute force says, alone and compared', () => {
    for (let seed = 1; seed < 30; seed++) {
      const t = tree(...bag(seed, 30, seed % 2 === 0))
      const l = layout(t)
      for (let i = 0; i < t.n; i++) {
        const want = brute(t, i)
        expect(l.x[i]).toBeCloseTo(want.x, 9)
        expect(l.w[i]).toBeCloseTo(want.w, 9)
      }
    }
  })
  it('has room for what is gone and what is new', () => {
    const t = tree(['ma', 0, 6], ['mb', 4, 0], ['mc', 1, 1])
    const l = layout(t)
    expect([...l.w]).toEqual([1, 0.5, 1 / 3, 1 / 6].map((v) => expect.closeTo(v, 9)))
  })
  it('of nothing is nothing', () => {
    const t = tree(['ma', 0])
    expect([...layout(t).w]).toEqual([0, 0])
    expect(shown(t, layout(t), WHOLE, 100)).toEqual([])
  })
})

describe('what a window shows', () => {
  it('is every wide enough node, cut to the window', () => {
    for (let seed = 1; seed < 30; seed++) {
      const t = tree(...bag(seed, 60))
      const l = layout(t)
      const win = { from: 0.05 * (seed % 7), to: 1 - 0.04 * (seed % 9) }
      const width = 40 + seed
      const scale = width / (win.to - win.from)
      const want: Rect[] = []
      for (let i = 0; i < t.n; i++) {
        const from = (l.x[i]! - win.from) * scale, to = from + l.w[i]! * scale
        const covered = pathTo(t, i).every((n) => l.w[n]! * scale >= LEAST)
        if (covered && to > 0 && from < width) want.push({ node: i, row: t.depth[i]!, x: Math.max(0, from), w: Math.min(width, to) - Math.max(0, from) })
      }
      const got = shown(t, l, win, width).filter((r) => r.node >= 0)
      expect(got.map((r) => r.node)).toEqual(want.map((r) => r.node))
      got.forEach((r, k) => {
        expect(r.x).toBeCloseTo(want[k]!.x, 6)
        expect(r.w).toBeCloseTo(want[k]!.w, 6)
      })
    }
  })
  it('is only the rows asked for', () => {
    const t = tree(['ma;mb;mc', 1])
    expect(shown(t, layout(t), WHOLE, 100, 1, 2).map((r) => r.node)).toEqual([1, 2])
  })
  it('has dust where many are too narrow each', () => {
    const t = tree(['ma;mx', 900], ...Array.from({ length: 100 }, (_, i): [string, number] => [`ma;d${i}`, 1]))
    const got = shown(t, layout(t), WHOLE, 100)
    const dust = got.filter((r) => r.node < 0)
    expect(dust).toEqual([{ node: -1, row: 2, x: expect.closeTo(90, 6), w: expect.closeTo(10, 6) }])
  })
  it('visits no more than it shows of a large tree', () => {
    const n = 200_000
    const t = tree(['ma', 1])
    const flat: Tree = { ...t, n, parent: new Int32Array(n), func: new Int32Array(n), depth: new Int32Array(n).fill(1), end: Int32Array.from({ length: n }, (_, i) => i + 1), sum: new Float64Array(n).fill(1), self: new Float64Array(n), rest: new Float64Array(n), line: new Int32Array(n), rows: 2 }
    flat.parent[0] = -1
    flat.depth[0] = 0
    flat.end[0] = n
    flat.sum[0] = n - 1
    const got = shown(flat, layout(flat), WHOLE, 1000)
    expect(got.length).toBe(2) // the root and its dust
  })
})

describe('finding a node', () => {
  it('finds each by its middle', () => {
    const t = tree(...bag(5, 80))
    const l = layout(t)
    for (let i = 0; i < t.n; i++) expect(nodeAt(t, l, t.depth[i]!, l.x[i]! + l.w[i]! / 2)).toBe(i)
  })
  it('finds none beside and below', () => {
    const t = tree(['ma;mb', 3], ['mc', 1])
    const l = layout(t)
    expect(nodeAt(t, l, 2, 0.9)).toBe(-1)
    expect(nodeAt(t, l, 3, 0.1)).toBe(-1)
    expect(nodeAt(t, l, 0, 1.5)).toBe(-1)
    expect(nodeAt(t, l, -1, 0.5)).toBe(-1)
  })
})

describe('a window', () => {
  it('is zoomed about a place that stays', () => {
    const w = zoomed({ from: 0.2, to: 0.6 }, 0.3, 0.5)
    expect(w.to - w.from).toBeCloseTo(0.2)
    expect((0.3 - w.from) / (w.to - w.from)).toBeCloseTo(0.25)
    expect(zoomed({ from: 0.2, to: 0.6 }, 0.3, 100)).toEqual({ from: 0, to: 1 })
  })
  it('stays inside the whole', () => {
    expect(panned({ from: 0.1, to: 0.3 }, -3)).toEqual({ from: 0, to: expect.closeTo(0.2) })
    expect(panned({ from: 0.7, to: 0.9 }, 9).to).toBeCloseTo(1)
  })
  it('is that of a node, or the whole where it has no width', () => {
    const t = tree(['ma', 3], ['mb', 1], ['mc', 0])
    const l = layout(t)
    expect(spanOf(l, 2)).toEqual({ from: 0.75, to: 1 })
    expect(spanOf(l, 3)).toEqual(WHOLE)
  })
})

describe('keys', () => {
  const t = tree(['ma;mb', 5], ['ma;mc', 3], ['mx;my', 2])
  const go = (from: number, ...steps: Parameters<typeof step>[2][]) => nameOf(t, steps.reduce((at, s) => step(t, at, s), from))
  it('lead from frame to frame', () => {
    expect(go(0, 'callee')).toBe('ma')
    expect(go(0, 'callee', 'callee', 'next')).toBe('mc')
    expect(go(0, 'callee', 'callee', 'next', 'next')).toBe('my') // over the edge of its parent
    expect(go(0, 'callee', 'next', 'callee', 'previous')).toBe('mc')
    expect(go(0, 'callee', 'callee', 'caller')).toBe('ma')
  })
  it('stay where there is nothing', () => {
    expect(go(0, 'caller', 'previous', 'next')).toBe('')
    expect(go(0, 'callee', 'callee', 'callee')).toBe('mb')
  })
})
