import { describe, expect, it } from 'vitest'
import type { Lane } from '../api'
import { brief, heightOf, LaneTree, MOST_HEIGHT, PAGE, PINNED } from './lanes'

const lane = (id: string, kind: string, parent = '', children = 0): Lane => ({
  id, kind, parent, children, label: id, detail: '', count: children, total_ns: 0, from_ns: 0, to_ns: 1, peak: 1,
})

const start = (): Lane[] => [
  lane('gc', 'gc'), lane('ps', 'ps', '', 2), lane('p:0', 'p', 'ps'), lane('p:1', 'p', 'ps'),
  lane('groups', 'groups', '', 3), lane('g:0', 'g', 'groups', 100_000), lane('g:1', 'g', 'groups', 1),
]

const ids = (t: LaneTree): string[] => t.rows(0, t.height).map((r) => r.id)

describe('rows', () => {
  it('are the lanes at the top until one is opened', () => {
    const t = new LaneTree(start())
    expect(ids(t)).toEqual(['gc', 'ps', 'groups'])
    t.setOpen(['ps', 'groups'])
    expect(ids(t)).toEqual(['gc', 'ps', 'p:0', 'p:1', 'groups', 'g:0', 'g:1', 'groups#2'])
    expect(t.startOpen).toEqual(['groups'])
  })
  it('lie below each other without a gap, and are found by where they lie', () => {
    const t = new LaneTree(start())
    t.setOpen(['ps', 'groups', 'g:1'])
    let y = 0
    for (const r of t.rows(0, t.height)) {
      expect(r.y).toBe(y)
      expect(t.rowAt(r.y + r.h / 2)!.id).toBe(r.id)
      expect(r.parent === '' || r.depth > 0).toBe(true)
      y += r.h
    }
    expect(t.height).toBe(y)
    expect(t.rowAt(-1)).toBeUndefined()
    expect(t.rowAt(y)).toBeUndefined()
  })
  it('of a hundred thousand goroutines cost only those in sight', () => {
    const t = new LaneTree(start())
    t.setOpen(['groups', 'g:0'])
    expect(t.height).toBeGreaterThan(100_000 * heightOf('go'))
    const rows = t.rows(1_000_000, 1_000_600)
    expect(rows.length).toBeLessThan(35)
    expect(rows.every((r) => r.parent === 'g:0' && r.lane === undefined && r.of === 100_000)).toBe(true)
    const missing = t.missing(rows)
    expect(missing.length).toBeGreaterThanOrEqual(1)
    const { parent, offset } = missing[0]!
    expect(offset % PAGE).toBe(0)
    t.put(parent, offset, Array.from({ length: PAGE }, (_, i) => lane(`go:${offset + i}`, 'go', 'g:0')), 100_000)
    const now = t.rows(1_000_000, 1_000_600)
    expect(now[0]!.id).toBe(`go:${now[0]!.index}`)
    expect(t.row(now[0]!.id)!.y).toBe(now[0]!.y)
  })
  it('of a group with more than a browser can scroll end there', () => {
    const t = new LaneTree([lane('groups', 'groups', '', 1), lane('g:0', 'g', 'groups', 5_000_000)])
    t.setOpen(['groups', 'g:0'])
    expect(t.height).toBeLessThanOrEqual(MOST_HEIGHT)
    expect(t.rows(t.height - 10, t.height)).toHaveLength(1)
  })
  it('are as many as the server says in the end', () => {
    const t = new LaneTree(start())
    t.setOpen(['groups', 'g:1'])
    t.put('g:1', 0, [lane('go:1', 'go', 'g:1'), lane('go:2', 'go', 'g:1')], 2)
    expect(ids(t).slice(-4)).toEqual(['g:1', 'go:1', 'go:2', 'groups#2'])
  })
  it('of pinned lanes stand below what concerns the whole program', () => {
    const t = new LaneTree(start())
    t.pin(['go:9', 'p:1'])
    expect(ids(t)).toEqual(['gc', 'go:9', 'p:1', 'ps', 'groups'])
    expect(t.row('p:1')!.parent).toBe(PINNED)
    t.meet(lane('go:9', 'go'))
    expect(t.row('go:9')!.lane!.id).toBe('go:9')
  })
  it('are stepped through, and end at both ends', () => {
    const t = new LaneTree(start())
    t.setOpen(['ps'])
    expect(t.step(undefined, 1)!.id).toBe('gc')
    expect(t.step(t.row('gc'), 2)!.id).toBe('p:0')
    expect(t.step(t.row('p:1'), 50)!.id).toBe('groups')
    expect(t.step(t.row('p:0'), -50)!.id).toBe('gc')
  })
  it('with a lane that is in no open one: there is no row of it', () => {
    const t = new LaneTree(start())
    expect(t.row('p:0')).toBeUndefined()
    expect(t.row('go:404')).toBeUndefined()
  })
  it('take lanes above the others, once', () => {
    const t = new LaneTree(start())
    t.lead([lane('line:load', 'line')])
    t.lead([lane('line:load', 'line'), lane('line:heap', 'line')])
    expect(ids(t)).toEqual(['line:load', 'line:heap', 'gc', 'ps', 'groups'])
  })
  it('keep the name that a page brought', () => {
    const t = new LaneTree(start())
    t.rename('p:0', 'other')
    expect(t.lane('p:0')!.label).toBe('p:0')
    t.meet(lane('go:5', 'go'))
    t.rename('go:5', 'main.f #5')
    expect(t.lane('go:5')!.label).toBe('main.f #5')
  })
})

describe('a function’s name', () => {
  it('is told without the path of its package', () => {
    expect(brief('github.com/x/y.(*T).run')).toBe('y.(*T).run')
    expect(brief('main.main')).toBe('main.main')
    expect(brief('')).toBe('')
  })
})
