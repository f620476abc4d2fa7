import { describe, expect, it } from 'vitest'
import { merge, timesOf } from './feed'
import { areas, AREAS, goroutinesOf, largest, markOf, means } from './groups'
import { event, group, point } from './testing'

const timesFrom = (points: ReturnType<typeof point>[]) => timesOf(merge(undefined, event({ whole: true, points })))

describe('the goroutines of a point', () => {
  it('are those of all states', () => expect(goroutinesOf(point(0, { running: 1, runnable: 2, syscall: 3, blocked: 4 }))).toBe(10))
  it('are not known when none is', () => expect(goroutinesOf(point(0, { running: -1, runnable: -1, syscall: -1, blocked: -1 }))).toBe(-1))
  it('are those that are known', () => expect(goroutinesOf(point(0, { running: 1, runnable: -1, syscall: -1, blocked: 4 }))).toBe(5))
})

describe('means', () => {
  const times = timesFrom([point(0, { groups: [0, 100] }), point(1000, { groups: [0, 10, 1, 4] }), point(2000, { groups: [1, 2] }), point(3000, { running: -1, runnable: -1, syscall: -1, blocked: -1 })])
  it('are over the points of the window that were read, and who is not named has none', () => {
    expect([...means(times, [1e9, 3e9])]).toEqual([[0, 5], [1, 3]])
  })
  it('of no points are none', () => expect(means(times, [50e9, 60e9]).size).toBe(0))
})

describe('the largest groups', () => {
  const mean = (...pairs: [number, number][]) => new Map(pairs)
  it('have the places in their order at first', () => {
    expect(largest(mean([5, 1], [3, 9], [4, 2]), []).slice(0, 4)).toEqual([3, 4, 5, undefined])
  })
  it('keep their places, whoever is larger', () => {
    expect(largest(mean([5, 10], [3, 9], [4, 2]), [3, 4, 5]).slice(0, 3)).toEqual([3, 4, 5])
  })
  it('are no more than there are places, and who comes takes that of who went', () => {
    const before = largest(new Map(Array.from({ length: AREAS }, (_, g) => [g, 100 - g])), [])
    const after = largest(new Map([...Array.from({ length: AREAS }, (_, g): [number, number] => [g, g === 2 ? 1 : 100 - g]), [50, 40]]), before)
    expect(after).toEqual([0, 1, 50, 3, 4, 5, 6, 7])
  })
})

describe('areas', () => {
  it('add up to all goroutines', () => {
    const times = timesFrom([point(0, { blocked: 10, groups: [0, 6, 1, 3] }), point(1000, { blocked: 10, runnable: 2, groups: [1, 3] }), point(2000, { running: -1, runnable: -1, syscall: -1, blocked: -1 })])
    const { groups, other } = areas(times, [1, undefined, 0])
    expect(groups.map((l) => l?.value)).toEqual([[3, 3, null], undefined, [6, 0, null]])
    expect(other.value).toEqual([1, 9, null])
  })
  it('have no rest below nothing, when the states were counted at another moment', () => {
    expect(areas(timesFrom([point(0, { blocked: 2, groups: [0, 5] })]), [0]).other.value).toEqual([0])
  })
})

it('the mark of a group is of its words', () => {
  expect(markOf(group('main.a'))).toBe(markOf({ ...group('main.a') }))
  expect(markOf(group('main.a'))).not.toBe(markOf(group('main.b')))
  expect(markOf(group('a, b'))).toMatch(/^g[0-9a-z]+$/)
})
