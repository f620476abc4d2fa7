import { describe, expect, it } from 'vitest'
import type { Chart, Edge, Gap, Insight, Lane, Moment, Runtime, Span } from '../api'
import { lanesOf } from './charts'
import { cut, inSight, insightsOf, levelOf, roundUp, scaleText, textOf, holdText, turnsOf } from './draw'
import { gripAt } from './stage'
import { positionOf } from './find'
import { neighbour, waker, woken, type Ask } from './follow'
import { Outline } from './outline'
import { readView, writeView } from './place'
import { windowsOf } from './static'
import { about } from './tip'
import { Undo } from './undo'
import { tileNs } from './window'

const span = (from: number, to: number, state = 0): Span => ({ from_ns: from, to_ns: to, state, reason: '', goroutine: 7, group: 'main.f', proc: 0, thread: 0 })
const moment = (s: Span, o: Partial<Moment> = {}): Moment => ({ span: s, stack: [], woken: null, waker: null, pending: false, text: '', ...o })
const edge = (at: number, from: number, to: number): Edge => ({
  at_ns: at, waker: from, waker_group: 'a', woken: to, woken_group: 'b', waited_ns: 1, ready_ns: 1, proc: 0, stack: [],
})

describe('a share that comes in steps', () => {
  const plain = (n: number) => String(n)
  it('is less than one, or about its middle', () => {
    const step = 258 / 255
    expect(about(step, step, plain)).toBe('< 1.1')
    expect(about(126 * step, step, plain)).toBe('≈ 127')
    expect(about(1 / 255, 1 / 255, plain)).toBe('< 0.004')
    expect(about(128 / 255, 1 / 255, plain)).toBe('≈ 0.5')
    expect(about(4, 4, plain)).toBe('< 4')
  })
})

describe('the address', () => {
  it('holds a view and gives it back', () => {
    const view = {
      window: { from: 10, to: 20 }, open: ['groups', 'g:1,2', '50%'], lanes: ['go:1@5'], group: 'main.(*T).run', lane: 'go:7', at: 12,
      selected: { from: 1, to: 9 }, selectedLane: 'p:0', note: 'here it stalls', q: 'func:a b', hide: ['wait'], finding: 3, gc: false, insights: false, panel: 'moment',
    }
    const params = new URLSearchParams()
    for (const [k, v] of Object.entries(writeView(view))) if (v !== null) params.set(k, String(v))
    expect(readView(new URLSearchParams(params.toString()))).toEqual(view)
  })
  it('says nothing of what is as usual', () => {
    const usual = readView(new URLSearchParams())
    expect(Object.values(writeView(usual)).every((v) => v === null)).toBe(true)
    expect(usual.gc).toBe(true)
  })
  it('tells “nothing is open” from “as at first”', () => {
    expect(readView(new URLSearchParams('open=')).open).toEqual([])
    expect(readView(new URLSearchParams('')).open).toBeNull()
    expect(writeView({ open: [] })).toEqual({ open: '' })
  })
  it('is not believed when it makes no sense', () => {
    const v = readView(new URLSearchParams('from=x&to=5&at=&sel=9-1&from=1'))
    expect(v.window).toBeNull()
    expect(v.at).toBeNull()
    expect(v.selected).toBeNull()
    expect(readView(new URLSearchParams('lanes=' + 'a,'.repeat(10_000))).lanes.length).toBeLessThanOrEqual(500)
  })
})

describe('undo', () => {
  it('takes movements and jumps in the order that they happened', () => {
    const u = new Undo()
    u.moved({ from: 0, to: 1 })
    u.jumped({ from: 0, to: 2 })
    u.moved({ from: 0, to: 3 })
    expect(u.undo()).toEqual({ from: 0, to: 3 })
    expect(u.undo()).toBe('back')
    expect(u.undo()).toEqual({ from: 0, to: 1 })
    expect(u.undo()).toBeUndefined()
  })
  it('forgets with a jump what lay on top of it', () => {
    const u = new Undo()
    u.moved({ from: 0, to: 1 })
    u.jumped({ from: 0, to: 2 })
    u.moved({ from: 0, to: 3 })
    u.went()
    expect(u.undo()).toEqual({ from: 0, to: 1 })
  })
  it('does not take the browser’s going back, which it asked for, for another', () => {
    const u = new Undo()
    u.jumped({ from: 0, to: 1 })
    u.jumped({ from: 0, to: 2 })
    expect(u.undo()).toBe('back')
    u.went()
    expect(u.undo()).toBe('back')
    u.went()
    expect(u.empty).toBe(true)
  })
  it('is bounded', () => {
    const u = new Undo()
    for (let i = 0; i < 5000; i++) u.moved({ from: i, to: i + 1 })
    let n = 0
    while (u.undo()) n++
    expect(n).toBeLessThanOrEqual(100)
  })
})

describe('a line', () => {
  const n = 100_000
  const at = Array.from({ length: n }, (_, i) => i * 10)
  const values = at.map((_, i) => (i === 54_321 ? 99 : i % 7))
  const line = new Outline(at, values)
  it('is thinned to what the screen has columns for, and keeps what stands out', () => {
    const points = line.points(0, n * 10, 1000)
    expect(points.length).toBeLessThanOrEqual(1002)
    expect(Math.max(...points.map((p) => p.high))).toBe(99)
    expect(Math.min(...points.map((p) => p.low))).toBe(0)
  })
  it('is exact where it is zoomed into, and reaches the edges', () => {
    const points = line.points(1005, 1095, 1000)
    expect(points.map((p) => p.at)).toEqual([1000, 1010, 1020, 1030, 1040, 1050, 1060, 1070, 1080, 1090, 1100])
  })
  it('has gaps where nothing was measured', () => {
    const gap = new Outline([0, 1, 2, 3], [1, null, 3, null])
    expect(gap.points(0, 3, 100).map((p) => Number.isNaN(p.low))).toEqual([false, true, false, true])
    expect(gap.max).toBe(3)
    expect(new Outline([], []).points(0, 1, 10)).toEqual([])
  })
  it('tells the value that held', () => {
    expect(line.at(5)).toBe(0)
    expect(line.at(10)).toBe(1)
    expect(line.at(-1)).toBeNaN()
  })
})

describe('lanes of lines', () => {
  const chart = (name: string, series: [string, number[]][]): Chart => ({
    name, unit: 'per_second', stack: false, source: 'load', thinned: false, series: series.map(([n, v]) => ({ name: n, at: v.map((_, i) => i), value: v })),
  })
  it('are load, latency and heap, in this order, where they were measured', () => {
    const runtime = { charts: [chart('heap', [['heap', [1, 9]]]), chart('gc', [['background', [1]]]), chart('load', [['done', [5, 7]], ['failed', []]])] }
    const { lanes, charts } = lanesOf(runtime as unknown as Runtime)
    expect(lanes.map((l) => l.label)).toEqual(['load', 'heap'])
    const load = charts.get(lanes[0]!.id)!
    expect(load.lines.map((l) => l.name)).toEqual(['done'])
    expect(load.max).toBe(7)
    expect(load.unit).toBe('per second')
    expect(lanesOf(undefined).lanes).toEqual([])
  })
})

describe('following', () => {
  const lanes: Record<string, Span[]> = { 'p:0': [span(0, 10), span(10, 20, -1), span(20, 30, 1)] }
  const ask: Ask = {
    duration: 30,
    at: async (lane, at) => moment(lanes[lane]!.find((s) => s.from_ns <= at && at < s.to_ns) ?? span(0, 0, -1)),
    edges: async (from, to) => [edge(40, 7, 9), edge(25, 7, 8), edge(5, 7, 3), edge(22, 1, 7)].filter((e) => e.at_ns >= from && e.at_ns <= to),
  }
  it('passes over time without a state', async () => {
    expect(await neighbour(ask, 'p:0', lanes['p:0']![0]!, 1)).toEqual({ lane: 'p:0', at: 20 })
    expect(await neighbour(ask, 'p:0', lanes['p:0']![2]!, -1)).toEqual({ lane: 'p:0', at: 9 })
  })
  it('ends at both ends', async () => {
    expect(await neighbour(ask, 'p:0', lanes['p:0']![2]!, 1)).toBeUndefined()
    expect(await neighbour(ask, 'p:0', lanes['p:0']![0]!, -1)).toBeUndefined()
  })
  it('goes back to whoever ended the wait, a moment before', () => {
    expect(waker(moment(span(0, 10), { woken: edge(10, 3, 7) }))).toEqual({ lane: 'go:3', at: 9 })
    expect(waker(moment(span(0, 10), { waker: edge(0, -1, 7) }))).toBeUndefined()
    expect(waker(moment(span(0, 10)))).toBeUndefined()
  })
  it('goes on to the first that was woken after', async () => {
    expect(await woken({ ...ask, duration: 100 }, 7, 'go:7', 10)).toEqual({ lane: 'go:8', at: 25 })
    expect(await woken({ ...ask, duration: 100 }, 5, 'go:5', 10)).toBeUndefined()
  })
})

describe('drawing', () => {
  it('takes of a list what is in sight', () => {
    const list: Gap[] = Array.from({ length: 100 }, (_, i) => ({ from_ns: i * 10, to_ns: i * 10 + 5, why: '' }))
    expect(inSight(list, { from: 33, to: 52 }).map((g) => g.from_ns)).toEqual([30, 40, 50])
    expect(inSight(list, { from: 36, to: 39 })).toEqual([])
    expect(inSight([], { from: 0, to: 1 })).toEqual([])
  })
  it('has round scales that hold what is in them', () => {
    expect([0, 0.3, 1, 1.01, 1.5, 2.6, 10, 10.1, 9000].map(roundUp)).toEqual([1, 0.5, 1, 1, 2, 5, 10, 10, 10_000])
  })
  it('says how many there are, not how many would fit', () => {
    expect(scaleText({ kind: 'g', peak: 64 }, 64.2)).toBe('max 64 goroutines')
    expect(scaleText({ kind: 'g', peak: 16 }, 6)).toBe('max 6 goroutines')
    expect(scaleText({ kind: 'g', peak: 1 }, 0.05)).toBe('max < 1 goroutine')
    expect(scaleText({ kind: 'ps', peak: 2 }, 2)).toBe('2 Ps')
  })
  it('has findings on the lanes of their groups', () => {
    const f: Insight = { finding: 1, title: '', remark: false, group: 'main.f', state: 'sync', windows: [], queue: '' }
    const lane = (kind: string, label: string) => ({ kind, label }) as Lane
    expect([lane('g', 'main.f'), lane('g', 'main.g'), lane('go', 'main.f'), undefined].map((l) => insightsOf([f], l).length)).toEqual([1, 0, 0, 0])
  })
  it('has one turn of who serves a channel all the while, and each of a lock', () => {
    const hold = (goroutine: number, from_ns: number, to_ns: number) => ({ from_ns, to_ns, goroutine, group: 'main.f', sure: false })
    const list = [hold(1, 0, 5), hold(1, 5, 9), hold(2, 9, 12), hold(2, 20, 30)]
    expect(turnsOf(list, 'channel').map((h) => [h.goroutine, h.from_ns, h.to_ns, h.sure])).toEqual([[1, 0, 9, true], [2, 9, 12, true], [2, 20, 30, true]])
    expect(turnsOf(list, 'lock')).toEqual(list)
    expect(list[0]!.to_ns).toBe(5)
  })
  it('names who has it, as far as there is room', () => {
    const h = { goroutine: 42, group: 'a.com/b/main.f' }
    expect([20, 8, 3, 1].map((n) => holdText(h, true, n))).toEqual(['main.f 42', '42', '42', ''])
    expect(holdText(h, false, 20)).toBe('has it')
  })
  it('writes what fits', () => {
    expect(cut('abcdef', 6)).toBe('abcdef')
    expect(cut('abcdef', 4)).toBe('abc…')
    expect(cut('abcdef', 2)).toBe('')
    const states = ['running', 'sync']
    expect(textOf({ kind: 'go' }, span(0, 1), states, 20)).toBe('R running')
    expect(textOf({ kind: 'go' }, span(0, 1), states, 4)).toBe('R')
    expect(textOf({ kind: 'p' }, span(0, 1), states, 20)).toBe('main.f 7')
  })
  it('takes the nearest of the levels that a file has', () => {
    const s = { window: { from: 0, to: 1000 * 2 ** 12 }, width: 1000, dpr: 1 }
    expect(levelOf({ ...s, levels: { min: 6, max: 30 } })).toBe(12)
    expect(levelOf({ ...s, levels: { min: 6, max: 30, only: [8, 13, 22] } })).toBe(13)
    expect(levelOf({ ...s, levels: { min: 6, max: 30, only: [] } })).toBe(12)
  })
})

describe('the overview', () => {
  it('is taken hold of at an edge, in the window, or beside it', () => {
    const w = { from: 400, to: 600 }
    expect([402, 500, 598, 100, 900].map((at) => gripAt(w, 1000, at, 1))).toEqual(['from', 'all', 'to', 'new', 'new'])
  })
  it('has all of it to choose from while all is shown', () => {
    expect([0, 500, 1000].map((at) => gripAt({ from: 0, to: 1000 }, 1000, at, 1))).toEqual(['new', 'new', 'new'])
  })
})

describe('the excerpts of a file', () => {
  it('are its neighbouring tiles, without the overview', () => {
    const duration = 10 * tileNs(20)
    const held = [
      ...Array.from({ length: 10 }, (_, tile) => ({ level: 20, tile })),
      { level: 12, tile: 6 }, { level: 12, tile: 5 }, { level: 12, tile: 5 }, { level: 12, tile: 40 },
    ]
    expect(windowsOf(held, duration)).toEqual([
      { from: 5 * tileNs(12), to: 7 * tileNs(12) },
      { from: 40 * tileNs(12), to: 41 * tileNs(12) },
    ])
  })
})

describe('the place of a fault', () => {
  it('is read from the message', () => {
    expect(positionOf('at character 11: "nons" is nothing to ask for', 'func:main nons:3')).toBe(10)
    expect(positionOf('a value is missing', 'dur>')).toBeUndefined()
    expect(positionOf('at character 400: x', 'short')).toBeUndefined()
  })
})
