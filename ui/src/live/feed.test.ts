import { describe, expect, it } from 'vitest'
import { changes, fullRange, KEPT_MS, lineOf, merge, newest, restarts, timesOf, toClock } from './feed'
import { event, finding, group, point, seconds } from './testing'

const first = event({ whole: true, points: seconds(690, 692), groups: [group('a'), group('b')] })
const times = (f: ReturnType<typeof merge>) => f.points.map((p) => p.at_ms / 1000)

describe('a feed', () => {
  it('begins with all that is kept, its clock on ten minutes', () => {
    const feed = merge(undefined, first)
    expect(times(feed)).toEqual([690, 691, 692])
    expect(feed.base).toBe(600_000)
    expect(toClock(feed, 690_000)).toBe(90e9)
    expect(fullRange(feed)).toEqual([90e9, 92e9])
    expect(newest(feed)).toBe(692_000)
  })
  it('grows by what is later, and takes nothing twice', () => {
    const feed = merge(merge(undefined, first), event({ points: seconds(691, 694) }))
    expect(times(feed)).toEqual([690, 691, 692, 693, 694])
  })
  it('leaves the feed before as it was', () => {
    const before = merge(undefined, first)
    merge(before, event({ points: seconds(693, 694), groups: [group('c')], groups_from: 2 }))
    expect(times(before)).toEqual([690, 691, 692])
    expect(before.groups).toHaveLength(2)
  })
  it('names groups by their numbers, those that came again too', () => {
    let feed = merge(undefined, first)
    feed = merge(feed, event({ groups: [group('c'), group('d')], groups_from: 2 }))
    feed = merge(feed, event({ groups: [group('d'), group('e')], groups_from: 3 }))
    expect(feed.groups.map((g) => g?.function)).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
  it('forgets all when everything is sent anew, but not its clock', () => {
    const feed = merge(merge(undefined, first), event({ whole: true, points: seconds(900, 901), groups: [group('z')] }))
    expect(times(feed)).toEqual([900, 901])
    expect(feed.groups.map((g) => g?.function)).toEqual(['z'])
    expect(feed.base).toBe(600_000)
  })
  it('keeps a quarter of an hour', () => {
    let feed = merge(undefined, first)
    for (let s = 693; s < 693 + 2 * KEPT_MS / 1000; s++) feed = merge(feed, event({ points: seconds(s, s) }))
    expect(feed.points).toHaveLength(KEPT_MS / 1000 + 1)
    expect(newest(feed) - feed.points[0]!.at_ms).toBe(KEPT_MS)
  })
  it('keeps a quarter of an hour of more than that, sent at once', () => {
    const feed = merge(undefined, event({ whole: true, points: seconds(0, 2000) }))
    expect(feed.points[0]!.at_ms).toBe(2_000_000 - KEPT_MS)
  })
  it('takes lists that are null as empty', () => {
    const news = { ...event(), points: null, groups: null, programs: null, pieces: null, goroutines: null } as unknown as ReturnType<typeof event>
    const feed = merge(undefined, { ...news, at_ms: 61_000 })
    expect([feed.points, feed.groups, feed.news.programs, feed.news.pieces, feed.news.goroutines]).toEqual([[], [], [], [], []])
    expect(newest(feed)).toBe(61_000)
  })
})

describe('a line', () => {
  const values = (points: ReturnType<typeof point>[]) => lineOf(timesOf(merge(undefined, event({ whole: true, points }))), (p) => p.user).value
  it('has a gap where a value is not known', () => {
    expect(values([point(1000, { user: 1 }), point(2000, { user: -1 }), point(3000, { user: 0 })])).toEqual([1, null, 0])
  })
  it('has a gap where nothing was seen', () => {
    expect(values([point(1000), point(2000), point(20_000), point(21_000)])).toEqual([0, 0, null, 0, 0])
  })
  it('has a gap where the program began again', () => {
    expect(values([point(1000), point(2000, { pid: 8 })])).toEqual([0, null, 0])
  })
  it('has none where points are far apart all the time', () => {
    expect(values([point(0), point(4000), point(16_000), point(28_000)])).toEqual([0, 0, 0, 0])
    const slow = merge(undefined, event({ whole: true, points: [point(0), point(20_000)], cost: { cores: 0, budget: 0, every_ms: 10_000 } }))
    expect(timesOf(slow).at).toHaveLength(2)
  })
  it('has its times in order', () => {
    const { at } = timesOf(merge(undefined, event({ whole: true, points: [point(0), point(20_000), point(40_000, { pid: 9 })] })))
    expect(at).toEqual([...at].sort((a, b) => a - b))
    expect(new Set(at).size).toBe(at.length)
  })
})

it('a restart is where the number changes', () => {
  expect(restarts(merge(undefined, event({ whole: true, points: [point(1), point(2, { pid: 8 }), point(3, { pid: 8 }), point(4, { pid: 9 })] })))).toEqual([2, 4])
  expect(restarts(merge(undefined, first))).toEqual([])
})

it('findings come and go by their rule and place', () => {
  const a = finding('a'), b = finding('b')
  expect(changes([a], [{ ...a, last_ms: 9, title: 'now 12%' }, b])).toEqual({ came: [b], went: [] })
  expect(changes([a, b], [b, { ...a, until_ms: 5 }])).toEqual({ came: [], went: [a] })
  expect(changes([{ ...a, until_ms: 5 }], [a])).toEqual({ came: [a], went: [] })
})
