import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TileLane } from '../api'
import { partOf, Recent, Tiles } from './tiles'

const STATES = 2

function answer(level: number, tile: number, lanes: string[], pending: string[] = []): ArrayBuffer {
  const head = new TextEncoder().encode(JSON.stringify({
    level, tile, lanes: lanes.map((id): TileLane => ({ id, max: 1, empty: !pending.includes(id), pending: pending.includes(id), done: 0, spans: [], marks: [] })),
  }))
  const out = new Uint8Array(4 + head.length)
  new DataView(out.buffer).setUint32(0, head.length, true)
  out.set(head, 4)
  return out.buffer
}

interface Asked {
  level: number
  tile: number
  lanes: string[]
  signal: AbortSignal
  give(b: ArrayBuffer): void
  fail(e: Error): void
}

function setup(bytes?: number) {
  const asked: Asked[] = []
  const failed: unknown[] = []
  let came = 0
  const tiles = new Tiles({
    fetch: (level, tile, lanes, signal) => new Promise((give, fail) => asked.push({ level, tile, lanes, signal, give, fail })),
    states: STATES, maxLevel: 10, came: () => came++, failed: (e) => failed.push(e), now: () => Date.now(), ...(bytes ? { bytes } : {}),
  })
  return { asked, failed, tiles, came: () => came }
}

const give = (a: Asked): void => a.give(answer(a.level, a.tile, a.lanes))
const soon = (ms = 20): Promise<unknown> => vi.advanceTimersByTimeAsync(ms)

describe('tiles', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('are asked for together for all lanes, the middle first', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 3, first: 4, last: 6, lanes: ['a', 'b'] }])
    expect(asked.map((a) => a.tile)).toEqual([5, 4, 6])
    expect(asked[0]!.lanes).toEqual(['a', 'b'])
  })
  it('are asked for at once after a rest, and of a movement the last', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 3, first: 10, last: 10, lanes: ['a'] }])
    for (const at of [20, 30, 40]) tiles.want([{ level: 3, first: at, last: at, lanes: ['a'] }])
    expect(asked.map((a) => a.tile)).toEqual([10])
    await soon()
    expect(asked.map((a) => a.tile)).toEqual([10, 40])
    await soon(100)
    tiles.want([{ level: 3, first: 50, last: 50, lanes: ['a'] }])
    expect(asked.map((a) => a.tile)).toEqual([10, 40, 50])
  })
  it('are asked for once, and kept', async () => {
    const { asked, tiles, came } = setup()
    const want = [{ level: 3, first: 0, last: 0, lanes: ['a'] }]
    tiles.want(want)
    await soon()
    tiles.want(want)
    await soon()
    expect(asked).toHaveLength(1)
    give(asked[0]!)
    await soon()
    expect(came()).toBe(1)
    expect(tiles.get(3, 0, 'a')).toBeDefined()
    tiles.want(want)
    await soon()
    expect(asked.filter((a) => a.tile === 0)).toHaveLength(1)
  })
  it('beside those in sight follow when these are there', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 3, first: 4, last: 5, lanes: ['a'] }])
    await soon()
    expect(asked.map((a) => a.tile).sort()).toEqual([4, 5])
    asked.forEach(give)
    await soon()
    expect(asked.slice(2).map((a) => a.tile).sort()).toEqual([3, 6])
  })
  it('that left the sight are cancelled; those that stay are not', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 3, first: 4, last: 4, lanes: ['a'] }])
    await soon()
    tiles.want([{ level: 3, first: 5, last: 5, lanes: ['a'] }]) // its neighbour now
    expect(asked[0]!.signal.aborted).toBe(false)
    tiles.want([{ level: 2, first: 90, last: 91, lanes: ['a'] }])
    expect(asked[0]!.signal.aborted).toBe(true)
    await soon()
    expect(asked.slice(1).map((a) => a.level)).toEqual([2, 2])
  })
  it('are never more than four at once', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 3, first: 0, last: 20, lanes: Array.from({ length: 200 }, (_, i) => 'l' + i) }])
    await soon()
    expect(asked).toHaveLength(4)
    give(asked[0]!)
    await soon()
    expect(asked).toHaveLength(5)
  })
  it('that are being read are asked for again a moment later', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 3, first: 0, last: 0, lanes: ['a', 'b'] }])
    await soon()
    asked[0]!.give(answer(3, 0, ['a', 'b'], ['b']))
    await soon(100)
    expect(asked.filter((a) => a.tile === 0)).toHaveLength(1)
    await soon(300)
    expect(asked.filter((a) => a.tile === 0).map((a) => a.lanes)).toEqual([['a', 'b'], ['b']])
  })
  it('that failed are told, and not asked for again at once', async () => {
    const { asked, failed, tiles } = setup()
    const want = [{ level: 3, first: 0, last: 0, lanes: ['a'] }]
    tiles.want(want)
    await soon()
    asked[0]!.fail(new Error('gone'))
    await soon()
    expect(failed).toHaveLength(1)
    tiles.want(want)
    await soon()
    expect(asked.filter((a) => a.tile === 0)).toHaveLength(1)
    await soon(5000)
    tiles.want(want)
    await soon()
    expect(asked.filter((a) => a.tile === 0)).toHaveLength(2)
  })
  it('of bytes that are none are a failure, not a picture', async () => {
    const { asked, failed, tiles } = setup()
    tiles.want([{ level: 3, first: 0, last: 0, lanes: ['a'] }])
    await soon()
    asked[0]!.give(new ArrayBuffer(3))
    await soon()
    expect(failed).toHaveLength(1)
    expect(tiles.get(3, 0, 'a')).toBeUndefined()
  })
  it('stand in for finer ones that have not come', async () => {
    const { asked, tiles } = setup()
    tiles.want([{ level: 5, first: 1, last: 1, lanes: ['a'] }])
    await soon()
    give(asked[0]!)
    await soon()
    expect(tiles.best(3, 7, 'a')).toMatchObject({ level: 5, tile: 1 })
    expect(tiles.best(3, 3, 'a')).toBeUndefined()
    expect(tiles.best(3, 7, 'b')).toBeUndefined()
  })
  it('do not come after the end', async () => {
    const { asked, tiles, came } = setup()
    tiles.want([{ level: 3, first: 0, last: 0, lanes: ['a'] }])
    await soon()
    tiles.close()
    expect(asked[0]!.signal.aborted).toBe(true)
    give(asked[0]!)
    await soon()
    expect(came()).toBe(0)
  })
})

describe('what is kept', () => {
  it('is bounded, and what was used last stays', () => {
    const gone: string[] = []
    const kept = new Recent<string>(30, (v) => gone.push(v))
    kept.set('a', 'A', 10)
    kept.set('b', 'B', 10)
    kept.set('c', 'C', 10)
    kept.get('a')
    kept.set('d', 'D', 10)
    expect(gone).toEqual(['B'])
    expect(kept.bytes).toBe(30)
    kept.set('a', 'A2', 25)
    expect(kept.get('a')).toBe('A2')
    expect(kept.bytes).toBeLessThanOrEqual(35)
    expect(gone).toContain('A')
  })
  it('holds one that is larger than the bound: it is needed now', () => {
    const kept = new Recent<string>(5)
    kept.set('big', 'x', 100)
    expect(kept.get('big')).toBe('x')
  })
})

describe('the part of a coarser tile', () => {
  it('is where the finer one lies', () => {
    expect(partOf(3, 8, 3, 8)).toEqual({ from: 0, count: 256 })
    expect(partOf(3, 7, 5, 1)).toEqual({ from: 192, count: 64 })
    expect(partOf(0, 1023, 10, 0).from).toBeCloseTo(255.75)
  })
})
