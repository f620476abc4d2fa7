// What the server sends for a tile: a little-endian uint32 with the length of a
// JSON head, the head, then the bytes of each lane that has some: 256 × states
// shares, bucket after bucket, and 256 marks. A lane that is still being read has
// none, and is asked for again.
import type { Span, Tiles } from '../api'
import { BUCKETS, bucketNs } from './window'

/** Bits of a mark. */
export const RARE = 1
export const LONG = 2
export const LOST = 4

/** A LaneTile is one tile of one lane. */
export interface LaneTile {
  /** What a share of 255 stands for. */
  max: number
  /** 256 × states; null where nothing happened. */
  shares: Uint8Array | null
  marks: Uint8Array | null
  /** The exact stretches in order of time, where they are few. */
  spans: Span[] | null
  /** Indices of spans, longest first: what is wide enough to be read comes first. */
  longest: Uint16Array | null
  /** Of memory, about. */
  bytes: number
}

export interface TileAnswer {
  level: number
  tile: number
  lanes: Map<string, LaneTile>
  /** Lanes to ask for again. */
  pending: Set<string>
}

export const EMPTY: LaneTile = { max: 0, shares: null, marks: null, spans: null, longest: null, bytes: 64 }

/** decode refuses what is not of this form: a picture of wrong bytes would lie. */
export function decode(buffer: ArrayBuffer, states: number): TileAnswer {
  const all = new Uint8Array(buffer)
  if (all.length < 4) throw new Error('tile: too short for its head')
  const headLength = new DataView(buffer).getUint32(0, true)
  if (headLength > all.length - 4) throw new Error('tile: its head is longer than the answer')
  const head = JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + headLength))) as Tiles
  let at = 4 + headLength
  const take = (n: number): Uint8Array => {
    if (at + n > all.length) throw new Error('tile: cut short')
    // A copy: a view would keep the whole answer as long as one lane is kept.
    const part = all.slice(at, at + n)
    at += n
    return part
  }
  const lanes = new Map<string, LaneTile>()
  const pending = new Set<string>()
  for (const lane of head.lanes ?? []) {
    if (lane.pending) pending.add(lane.id)
    else if (lane.empty) lanes.set(lane.id, EMPTY)
    else if (lane.spans?.length) lanes.set(lane.id, ofSpans(lane.spans, lane.marks ?? [], head.level, head.tile, states))
    else {
      const shares = take(BUCKETS * states)
      const marks = take(BUCKETS)
      lanes.set(lane.id, { max: lane.max, shares, marks, spans: null, longest: null, bytes: 256 + shares.length + marks.length })
    }
  }
  if (at !== all.length) throw new Error('tile: more bytes than its head tells')
  return { level: head.level, tile: head.tile, lanes, pending }
}

/** ofSpans makes the picture of a tile from its exact stretches, as the server does from its own. */
export function ofSpans(given: Span[], rare: number[], level: number, tile: number, states: number): LaneTile {
  const spans = [...given].sort((a, b) => a.from_ns - b.from_ns || a.to_ns - b.to_ns)
  const wide = bucketNs(level)
  const start = tile * wide * BUCKETS
  const sums = new Float64Array(BUCKETS * states)
  for (const s of spans) {
    if (s.state < 0 || s.state >= states) continue
    const from = (s.from_ns - start) / wide
    const to = (s.to_ns - start) / wide
    const begin = Math.max(0, Math.floor(from))
    const last = Math.min(BUCKETS - 1, Math.max(Math.floor(from), Math.ceil(to) - 1))
    for (let b = begin; b <= last; b++) {
      const part = Math.min(to, b + 1) - Math.max(from, b)
      const i = b * states + s.state
      // A stretch without length, or one that rounds to nothing, still shows.
      sums[i] = sums[i]! + Math.max(part, 1 / 256)
    }
  }
  const shares = new Uint8Array(BUCKETS * states)
  for (let i = 0; i < sums.length; i++) shares[i] = Math.min(255, Math.ceil(sums[i]! * 255 - 1e-6))
  const longest = Uint16Array.from(spans.keys()).sort(
    (a, b) => spans[b]!.to_ns - spans[b]!.from_ns - (spans[a]!.to_ns - spans[a]!.from_ns),
  )
  const marks = new Uint8Array(BUCKETS)
  for (const at of rare) {
    const b = Math.floor((at - start) / wide)
    if (b >= 0 && b < BUCKETS) marks[b] = RARE
  }
  return { max: 1, shares, marks, spans, longest, bytes: 512 + shares.length + spans.length * 200 }
}

/** spanAt is the stretch that holds a time; of several the one that began last. */
export function spanAt(spans: Span[], at: number): Span | undefined {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (spans[middle]!.from_ns <= at) low = middle + 1
    else high = middle
  }
  // Stretches of single lanes lie side by side, but for user tasks and regions:
  // a few steps back find one that holds a shorter one.
  for (let i = low - 1; i >= 0 && i >= low - 16; i--) if (spans[i]!.to_ns > at) return spans[i]
  return undefined
}
