// What the page knows of a program that runs: some 15 minutes of points, put
// together from the events of the server. A feed is never changed: a later event
// makes another one, so that a picture that was stopped keeps what it shows.
import type { LiveFinding, LiveGroup, LiveNews, LivePoint } from '../api'
import type { Line, Range } from '../data/series'

/** How much time is kept. */
export const KEPT_MS = 15 * 60_000

export interface Feed {
  /** The last event, but for its points and groups. */
  news: Omit<LiveNews, 'points' | 'groups' | 'groups_from' | 'whole'>
  /** Where the charts' clock begins, in ms since 1970: on ten minutes, so that its ticks are round. */
  base: number
  /** In the order of time, each once. */
  points: readonly LivePoint[]
  /** The names of groups, by their number. */
  groups: readonly (LiveGroup | undefined)[]
}

/** The feed after an event. */
export function merge(feed: Feed | undefined, event: LiveNews): Feed {
  const { points, groups, groups_from: from, whole, ...news } = event
  const before = whole || !feed ? undefined : feed
  const all = join(before?.points ?? [], points ?? [])
  const first = all[0]?.at_ms ?? news.at_ms
  return {
    news: { ...news, programs: news.programs ?? [], pieces: news.pieces ?? [], goroutines: news.goroutines ?? [], verdict: { ...news.verdict, findings: news.verdict.findings ?? [], unchecked: news.verdict.unchecked ?? [] } },
    base: feed?.base ?? Math.floor(first / 600_000) * 600_000,
    points: all,
    groups: named(before?.groups ?? [], groups ?? [], from),
  }
}

// join adds what is later than all that was there, and forgets what is too old.
function join(old: readonly LivePoint[], more: readonly LivePoint[]): readonly LivePoint[] {
  const last = old.at(-1)?.at_ms ?? -Infinity
  const added = more.filter((p) => p.at_ms > last)
  const newest = (added.at(-1) ?? old.at(-1))?.at_ms ?? 0
  const keep = old.findIndex((p) => p.at_ms >= newest - KEPT_MS)
  if (added.length === 0 && keep <= 0) return old
  return [...(keep < 0 ? [] : old.slice(keep)), ...added.filter((p) => p.at_ms >= newest - KEPT_MS)]
}

function named(old: readonly (LiveGroup | undefined)[], more: readonly LiveGroup[], from: number): readonly (LiveGroup | undefined)[] {
  if (more.length === 0) return old
  const all = [...old]
  more.forEach((g, i) => (all[from + i] = g))
  return all
}

/** The newest moment that the feed has points of, in ms since 1970. */
export function newest(feed: Feed): number {
  return feed.points.at(-1)?.at_ms ?? feed.news.at_ms
}

/** A moment on the charts' clock, ns. */
export function toClock(feed: Feed, ms: number): number {
  return (ms - feed.base) * 1e6
}

/** A moment of the charts' clock in ms since 1970. */
export function fromClock(feed: Feed, ns: number): number {
  return feed.base + Math.round(ns / 1e6)
}

/** From the oldest to the newest point. */
export function fullRange(feed: Feed): Range {
  return [toClock(feed, feed.points[0]?.at_ms ?? newest(feed)), toClock(feed, newest(feed))]
}

/** The times of all lines: where nothing was seen stands a moment without a point. */
export interface Times {
  at: number[]
  of: (LivePoint | undefined)[]
}

/** Points may be this far apart before the line between them would be invented. */
const APART_MS = 5000

export function timesOf(feed: Feed): Times {
  const at: number[] = [], of: (LivePoint | undefined)[] = []
  let before: LivePoint | undefined
  let step = 0
  for (const p of feed.points) {
    if (before) {
      const apart = p.at_ms - before.at_ms
      // Who watches slows down when it costs too much: then points are as far apart as those before.
      if (p.pid !== before.pid || apart > Math.max(APART_MS, 3 * feed.news.cost.every_ms, 3 * step)) {
        at.push(toClock(feed, (p.at_ms + before.at_ms) / 2))
        of.push(undefined)
        step = 0
      } else step = apart
    }
    at.push(toClock(feed, p.at_ms))
    of.push(p)
    before = p
  }
  return { at, of }
}

/** A line of one quantity; what is not known, which is negative, is a gap. */
export function lineOf(times: Times, quantity: (p: LivePoint) => number): Line {
  return {
    at: times.at,
    value: times.of.map((p) => {
      const v = p ? quantity(p) : -1
      return v < 0 ? null : v
    }),
  }
}

/** When the program was seen to begin again: the first points with another number. */
export function restarts(feed: Feed): number[] {
  return feed.points.filter((p, i) => i > 0 && feed.points[i - 1]!.pid !== p.pid).map((p) => p.at_ms)
}

/** Names a finding for as long as it is there. */
export function nameOf(f: LiveFinding): string {
  return [f.rule, f.where, f.remark].join('\n')
}

export function present(list: readonly LiveFinding[]): LiveFinding[] {
  return list.filter((f) => f.until_ms === 0)
}

export function gone(list: readonly LiveFinding[]): LiveFinding[] {
  return list.filter((f) => f.until_ms !== 0)
}

/** What came and what went between two verdicts. */
export function changes(before: readonly LiveFinding[], now: readonly LiveFinding[]): { came: LiveFinding[]; went: LiveFinding[] } {
  const had = new Set(present(before).map(nameOf)), has = new Set(present(now).map(nameOf))
  return {
    came: present(now).filter((f) => !had.has(nameOf(f))),
    went: present(before).filter((f) => !has.has(nameOf(f))),
  }
}
