import { describe, expect, it } from 'vitest'
import type { Span, TileLane } from '../api'
import { decode, LOST, ofSpans, RARE, spanAt } from './decode'
import { BUCKETS } from './window'

const STATES = 3

const lane = (id: string, o: Partial<TileLane> = {}): TileLane => ({ id, max: 1, empty: false, pending: false, done: 1, spans: [], marks: [], ...o })

const span = (from: number, to: number, state = 0, o: Partial<Span> = {}): Span => ({
  from_ns: from, to_ns: to, state, reason: '', goroutine: 1, group: 'main.f', proc: 0, thread: 0, ...o,
})

function encode(lanes: TileLane[], bodies: Uint8Array[], level = 4, tile = 2): ArrayBuffer {
  const head = new TextEncoder().encode(JSON.stringify({ level, tile, lanes }))
  const out = new Uint8Array(4 + head.length + bodies.reduce((n, b) => n + b.length, 0))
  new DataView(out.buffer).setUint32(0, head.length, true)
  out.set(head, 4)
  let at = 4 + head.length
  for (const b of bodies) {
    out.set(b, at)
    at += b.length
  }
  return out.buffer
}

const body = (share: number, mark: number): Uint8Array => new Uint8Array(BUCKETS * STATES + BUCKETS).fill(share, 0, BUCKETS * STATES).fill(mark, BUCKETS * STATES)

describe('an answer with tiles', () => {
  it('gives each lane its own bytes, in the order of the head', () => {
    const got = decode(encode([lane('a', { max: 7 }), lane('empty', { empty: true }), lane('late', { pending: true }), lane('b')], [body(10, RARE), body(20, LOST)]), STATES)
    expect(got.level).toBe(4)
    expect(got.tile).toBe(2)
    expect(got.lanes.get('a')!.max).toBe(7)
    expect([...new Set(got.lanes.get('a')!.shares)]).toEqual([10])
    expect([...new Set(got.lanes.get('a')!.marks)]).toEqual([RARE])
    expect([...new Set(got.lanes.get('b')!.shares)]).toEqual([20])
    expect([...new Set(got.lanes.get('b')!.marks)]).toEqual([LOST])
    expect(got.lanes.get('empty')!.shares).toBeNull()
    expect(got.lanes.has('late')).toBe(false)
    expect([...got.pending]).toEqual(['late'])
  })
  it('is refused wherever it is cut', () => {
    const whole = encode([lane('a')], [body(1, 0)])
    for (const n of [0, 3, 4, 20, whole.byteLength - 1]) expect(() => decode(whole.slice(0, n), STATES)).toThrow()
    expect(() => decode(encode([lane('a')], [body(1, 0), new Uint8Array(1)]), STATES)).toThrow(/more bytes/)
  })
  it('is refused when its head’s length is a lie', () => {
    const lie = encode([lane('a')], [body(1, 0)])
    new DataView(lie).setUint32(0, 0xffffffff, true)
    expect(() => decode(lie, STATES)).toThrow(/head/)
  })
})

describe('a tile of exact stretches', () => {
  const level = 4 // 16 ns a bucket
  const start = 2 * BUCKETS * 16
  it('adds up to the time in each bucket', () => {
    const tile = ofSpans([span(start, start + 8, 0), span(start + 8, start + 32, 1)], [], level, 2, STATES)
    expect(tile.shares![0]).toBe(128)
    expect(tile.shares![1]).toBe(128)
    expect(tile.shares![STATES + 1]).toBe(255)
    expect(tile.shares![2 * STATES + 1]).toBe(0)
  })
  it('shows what is too short to count, and what has no length', () => {
    const wide = ofSpans([span(5_000_000, 5_000_001, 2), span(9_000_000, 9_000_000, 1)], [], 20, 0, STATES)
    expect(wide.shares![4 * STATES + 2]).toBeGreaterThan(0)
    expect(wide.shares![8 * STATES + 1]).toBeGreaterThan(0)
  })
  it('takes of a stretch that goes over its edges what is inside', () => {
    const tile = ofSpans([span(0, 1e9, 0)], [], level, 2, STATES)
    expect([...new Set(tile.shares!.filter((_, i) => i % STATES === 0))]).toEqual([255])
  })
  it('marks rare moments in their buckets, and none outside', () => {
    const tile = ofSpans([span(start, start + 64)], [start + 33, start - 1, start + 1e9], level, 2, STATES)
    expect([...tile.marks!].map((m, i) => (m ? i : -1)).filter((i) => i >= 0)).toEqual([2])
  })
  it('keeps states that are not known out of the picture', () => {
    const tile = ofSpans([span(start, start + 64, -1), span(start, start + 64, 99)], [], level, 2, STATES)
    expect(tile.shares!.some((v) => v > 0)).toBe(false)
  })
  it('lists the longest first', () => {
    const tile = ofSpans([span(start + 10, start + 20), span(start + 20, start + 90), span(start, start + 10)], [], level, 2, STATES)
    expect(tile.spans!.map((s) => s.from_ns - start)).toEqual([0, 10, 20])
    expect(tile.spans![tile.longest![0]!]!.from_ns - start).toBe(20)
  })
})

describe('the stretch at a time', () => {
  const spans = [span(0, 10), span(10, 20, 1), span(40, 50, 2)]
  it('is found, its end not being part of it', () => {
    expect([0, 9, 10, 19, 20, 39, 40, 49, 50].map((t) => spanAt(spans, t)?.state)).toEqual([0, 0, 1, 1, undefined, undefined, 2, 2, undefined])
  })
  it('of several is the one that began last, and the one around it after that', () => {
    const nested = [span(0, 100, 0), span(10, 20, 1), span(30, 40, 2)]
    expect([5, 15, 25, 35, 45].map((t) => spanAt(nested, t)?.state)).toEqual([0, 1, 0, 2, 0])
  })
})
