// What the words of a moment mean: the runtime's states put together, and
// where the picture of the locks has its boxes.
import type { StandingLock, StandingState } from '../api'
import { short } from '../flame/text'
import { stateOf } from '../state'

/** The states put together by kind, the most first. */
export function partsOf(states: StandingState[]): { kind: string; count: number }[] {
  const by = new Map<string, number>()
  for (const s of states) by.set(stateOf(s.state), (by.get(stateOf(s.state)) ?? 0) + s.count)
  return [...by].map(([kind, count]) => ({ kind, count })).sort((a, b) => b.count - a.count)
}

/** A lock without the path of its package. */
export function lockName(l: StandingLock): string {
  return short(l.name)
}

/** Whether source shows every holder of a lock's ring: then it is a deadlock, and no guess. */
export function sure(l: StandingLock, all: StandingLock[]): boolean {
  return all.filter((o) => o.cycle === l.cycle).every((o) => o.holders.some((h) => h.wants > 0 && h.sure))
}

/** How many locks the picture shows: the table has all of them. */
export const DRAWN = 10

export interface Box {
  key: string
  x: number
  y: number
  /** The group of a waiter or a holder; the lock's id of a lock. */
  of: number
}

export interface Edge {
  from: Box
  to: Box
  kind: 'waits' | 'held' | 'wants'
  cycle: boolean
}

export const BOX = { width: 290, height: 40, gap: 10, column: 385, group: 18 }

/** The boxes of the picture, waiters left, locks in the middle, holders right, and its arrows. */
export function arrange(locks: StandingLock[]): { boxes: { waiters: Box[]; locks: Box[]; holders: Box[] }; edges: Edge[]; height: number } {
  const out = { boxes: { waiters: [] as Box[], locks: [] as Box[], holders: [] as Box[] }, edges: [] as Edge[], height: 0 }
  const shown = locks.slice(0, DRAWN)
  const step = BOX.height + BOX.gap
  let y = 4
  for (const l of shown) {
    // Who holds another lock of the picture stands there as its holder, and waits from there.
    const waiters = l.waiters.filter((w) => !shown.some((o) => o.holders.some((h) => h.group === w.group)))
    const rows = Math.max(1, waiters.length, l.holders.length)
    const middle = (n: number) => y + ((rows - n) * step) / 2
    const lock: Box = { key: `l${l.id}`, x: BOX.column, y: middle(1), of: l.id }
    out.boxes.locks.push(lock)
    waiters.forEach((w, i) => {
      const box: Box = { key: `w${l.id}.${w.group}`, x: 4, y: middle(waiters.length) + i * step, of: w.group }
      out.boxes.waiters.push(box)
      out.edges.push({ from: box, to: lock, kind: 'waits', cycle: false })
    })
    l.holders.forEach((h, i) => {
      const box: Box = { key: `h${l.id}.${h.group}`, x: 2 * BOX.column, y: middle(l.holders.length) + i * step, of: h.group }
      out.boxes.holders.push(box)
      out.edges.push({ from: lock, to: box, kind: 'held', cycle: l.cycle > 0 && h.wants > 0 })
    })
    y += rows * step + BOX.group
  }
  for (const l of shown) {
    for (const h of l.holders) {
      const from = out.boxes.holders.find((b) => b.key === `h${l.id}.${h.group}`)
      const to = out.boxes.locks.find((b) => b.of === h.wants)
      if (from && to) out.edges.push({ from, to, kind: 'wants', cycle: l.cycle > 0 && shown.some((o) => o.id === h.wants && o.cycle === l.cycle) })
    }
  }
  out.height = Math.max(y - BOX.group, BOX.height + 8)
  return out
}
