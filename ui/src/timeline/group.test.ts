import { describe, expect, it } from 'vitest'
import type { Edge, Frame, StackTotal } from '../api'
import { endOf, nearest, unlocks, waitsOf } from './group'

const edge = (at: number, woken: string, ...stack: string[]): Edge => ({
  at_ns: at, waker: 1, waker_group: 'main.a', woken: 2, woken_group: woken, waited_ns: 1, ready_ns: 1, proc: 0,
  stack: stack.map((func) => ({ func, file: '', line: 0, kind: 'std' }) as Frame),
})

describe('a group at a moment', () => {
  it('waits where most of its time is, and its running is no wait', () => {
    const s = (state: string, ns: number): StackTotal => ({ state, ns, count: 1, stack: [] })
    expect(waitsOf([s('running', 9), s('net', 2), s('sync', 5), s('wait', 0.1)]).map((x) => x.state)).toEqual(['sync', 'net'])
  })
  it('has those that run, the nearest first', () => {
    const runs = [[0, 10], [40, 60], [61, 70]].map(([from_ns, to_ns]) => ({ from_ns: from_ns!, to_ns: to_ns! }))
    expect(nearest(runs, 50).map((r) => r.from_ns)).toEqual([40, 61, 0])
  })
  it('goes on by the first wake-up of one of its own', () => {
    const list = [edge(9, 'main.g'), edge(3, 'main.other'), edge(5, 'main.g')]
    expect(endOf(list, 'main.g')?.at_ns).toBe(5)
    expect(endOf(list, 'main.none')).toBeUndefined()
  })
  it('has a holder where the wake-up gives a lock back', () => {
    expect(unlocks(edge(1, '', 'sync.(*Mutex).unlockSlow', 'sync.(*Mutex).Unlock', 'main.f'))).toBe(true)
    expect(unlocks(edge(1, '', 'sync.(*RWMutex).RUnlock'))).toBe(true)
    expect(unlocks(edge(1, '', 'sync.(*Cond).Signal', 'main.f'))).toBe(false)
    expect(unlocks({ stack: [] })).toBe(false)
  })
})
