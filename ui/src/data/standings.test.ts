import { describe, expect, it } from 'vitest'
import type { StandingHolder, StandingLock } from '../api'
import { stateOf } from '../state'
import { arrange, BOX, DRAWN, partsOf, sure } from './standings'

const holder = (group: number, wants = 0): StandingHolder =>
  ({ group, count: 1, state: 'sleep', function: `main.h${group}`, place: '', waited_ns: 0, taken: '', wants, shared: false, sure: true })
const lock = (id: number, cycle: number, waiters: number[], holders: StandingHolder[]): StandingLock =>
  ({ id, name: `main.mu${id}`, naming: 'source', address: '', waiting: waiters.length, longest_ns: 0, kinds: waiters.length, cycle, holders,
    waiters: waiters.map((group) => ({ group, count: 1, function: `main.w${group}`, state: 'sync.Mutex.Lock', waited_ns: 0 })) })

describe('the states of a moment', () => {
  it('are the page’s kinds', () => {
    const of = { running: 'running', runnable: 'runnable', syscall: 'syscall', 'IO wait': 'net', 'chan receive': 'sync', select: 'sync', 'sync.Mutex.Lock': 'sync', 'GC worker (idle)': 'wait', 'running, locked to thread': 'running', sleep: 'wait' }
    for (const [state, kind] of Object.entries(of)) expect(stateOf(state), state).toBe(kind)
  })
  it('are put together by kind, the most first', () => {
    expect(partsOf([{ state: 'IO wait', count: 5 }, { state: 'select', count: 3 }, { state: 'chan send', count: 4 }])).toEqual([{ kind: 'sync', count: 7 }, { kind: 'net', count: 5 }])
  })
})

describe('the picture of locks', () => {
  it('draws who waits, the lock, and its holder', () => {
    const { boxes, edges } = arrange([lock(1, 0, [5, 6], [holder(7)])])
    expect([boxes.waiters.length, boxes.locks.length, boxes.holders.length]).toEqual([2, 1, 1])
    expect(edges.map((e) => `${e.from.key} ${e.kind} ${e.to.key}`)).toEqual(['w1.5 waits l1', 'w1.6 waits l1', 'l1 held h1.7'])
    expect(edges.every((e) => !e.cycle)).toBe(true)
  })
  it('closes the ring of a deadlock with the holders themselves', () => {
    const { boxes, edges } = arrange([lock(1, 1, [8], [holder(7, 2)]), lock(2, 1, [7], [holder(8, 1)])])
    expect(boxes.waiters).toEqual([])
    expect(edges.map((e) => `${e.from.key} ${e.kind} ${e.to.key} ${e.cycle}`)).toEqual(['l1 held h1.7 true', 'l2 held h2.8 true', 'h1.7 wants l2 true', 'h2.8 wants l1 true'])
  })
  it('is sure of a deadlock where source shows every holder', () => {
    const ring = [lock(1, 1, [8], [holder(7, 2)]), lock(2, 1, [7], [holder(8, 1)]), lock(3, 2, [], [{ ...holder(9, 3), sure: false }])]
    expect(ring.map((l) => sure(l, ring))).toEqual([true, true, false])
  })
  it('does not call what merely waits behind another a ring', () => {
    const { edges } = arrange([lock(1, 0, [5], [holder(7, 2)]), lock(2, 0, [7, 9], [holder(8)])])
    expect(edges.filter((e) => e.kind === 'wants').map((e) => e.cycle)).toEqual([false])
  })
  it('has no two boxes at one place, and no more than fit', () => {
    const { boxes, height } = arrange(Array.from({ length: 40 }, (_, i) => lock(i + 1, 0, [100 + 3 * i, 101 + 3 * i, 102 + 3 * i], [holder(500 + i)])))
    expect(boxes.locks).toHaveLength(DRAWN)
    const all = [...boxes.waiters, ...boxes.locks, ...boxes.holders].map((b) => `${b.x} ${Math.floor(b.y / BOX.height)}`)
    expect(new Set(all).size).toBe(all.length)
    expect(Math.max(...boxes.waiters.map((b) => b.y + BOX.height))).toBeLessThanOrEqual(height)
  })
})
