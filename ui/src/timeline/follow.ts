// Following: from a stretch of a lane to the one before or after it, to who ended
// its wait, and to whom it woke. The server knows the trace; this asks it.
import type { Edge, Moment, Span } from '../api'
import { laneOfGoroutine } from './lanes'

/** A Spot is a lane at a time. */
export interface Spot {
  lane: string
  at: number
}

export interface Ask {
  at(lane: string, at: number): Promise<Moment>
  edges(from: number, to: number, lane: string): Promise<Edge[]>
  duration: number
}

/** So many stretches without a state, like a P's idle time, are passed over at once. */
const HOPS = 3

/** known tells an answer that is a stretch from one that says there is none. */
export const known = (s: Span): boolean => s.to_ns > s.from_ns || s.state >= 0

/** neighbour is the stretch of the lane before (-1) or after (+1) this one. */
export async function neighbour(ask: Ask, lane: string, span: Span, way: -1 | 1): Promise<Spot | undefined> {
  let now = span
  for (let i = 0; i < HOPS; i++) {
    const at = way > 0 ? Math.max(now.to_ns, now.from_ns + 1) : now.from_ns - 1
    if (at < 0 || at >= ask.duration) return undefined
    const m = await ask.at(lane, at)
    if (m.span.state >= 0) return { lane, at: m.span.from_ns <= at && at < m.span.to_ns ? at : m.span.from_ns }
    if (!(m.span.to_ns > m.span.from_ns)) return undefined
    now = m.span
  }
  return undefined
}

/**
 * waker is where the chain goes back: to whoever ended this wait, or made the
 * goroutine ready for this run. The time is a moment before the wake-up, when the
 * waker was at it.
 */
export function waker(m: Moment): Spot | undefined {
  const e = m.woken ?? m.waker
  if (!e || e.waker < 0) return undefined
  return { lane: laneOfGoroutine(e.waker), at: Math.max(0, e.at_ns - 1) }
}

/** How far ahead a goroutine's next wake-up is looked for: shares of the recording, tried in turn. */
const AHEAD_NS = [1e6, 2e7, 5e8]

/** woken is where the chain goes on: the first that this goroutine woke from here. */
export async function woken(ask: Ask, g: number, lane: string, from: number): Promise<Spot | undefined> {
  for (const ahead of AHEAD_NS) {
    const to = Math.min(from + ahead, ask.duration)
    const edges = await ask.edges(from, to, lane)
    const first = edges.filter((e) => e.waker === g && e.at_ns >= from).sort((a, b) => a.at_ns - b.at_ns)[0]
    if (first) return { lane: laneOfGoroutine(first.woken), at: first.at_ns }
    if (to >= ask.duration) return undefined
  }
  return undefined
}
