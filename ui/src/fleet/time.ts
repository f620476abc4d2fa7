// The time that all screens are of. A span like "the last hour" is one until the reader
// asks again: all questions of a page are about the same time, and what was answered
// once stays the answer.
import { useEffect, useState } from 'preact/hooks'
import type { ChartTimes } from '../parts/chart'
import { usePlace } from '../url'

const MINUTE = 60_000, HOUR = 60 * MINUTE, DAY = 24 * HOUR

export const SPANS = { '1h': HOUR, '6h': 6 * HOUR, '24h': DAY, '7d': 7 * DAY } as const
export type SpanName = keyof typeof SPANS

/** Deploys take hours to be seen, and a day of a large fleet is much to ask for. */
const USUAL: SpanName = '6h'

export interface Span {
  choice: SpanName | 'custom'
  /** Milliseconds since 1970. */
  from: number
  until: number
  /** The address names a time that is none. */
  wrong: boolean
}

/** Reads the time of an address: span=6h, or from= and until= as RFC 3339. */
export function readSpan(params: URLSearchParams, now: number): Span {
  const from = Date.parse(params.get('from') ?? ''), until = Date.parse(params.get('until') ?? '')
  if (from < until) return { choice: 'custom', from, until, wrong: false }
  const asked = params.get('span') ?? ''
  const choice = Object.hasOwn(SPANS, asked) ? (asked as SpanName) : USUAL
  return { choice, from: now - SPANS[choice], until: now, wrong: params.has('from') || params.has('until') }
}

/** RFC 3339 in seconds, which the server reads. */
export function rfc3339(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** A moment as a field of the page has it, in the reader's own zone. */
export function fieldOf(ms: number): string {
  const d = new Date(ms)
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}T${two(d.getHours())}:${two(d.getMinutes())}`
}

const two = (n: number): string => String(n).padStart(2, '0')

let now = whole(Date.now())
const listeners = new Set<() => void>()

function whole(ms: number): number {
  return Math.floor(ms / 1000) * 1000
}

/** Has all questions be about the time until now. */
export function askAgain(): void {
  now = whole(Date.now())
  for (const listener of [...listeners]) listener()
}

/** The time of the address. */
export function useSpan(): Span {
  const { params } = usePlace()
  const [until, set] = useState(now)
  useEffect(() => {
    const changed = () => set(now)
    changed()
    listeners.add(changed)
    return () => void listeners.delete(changed)
  }, [])
  return readSpan(params, until)
}

/** Steps of series that any clock has. */
const STEPS = [1, 5, 15, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 86_400].map((s) => s * 1000)

/** The step in ms that makes at most so many points. */
export function stepFor(s: Span, most: number): number {
  const least = (s.until - s.from) / most
  return STEPS.find((step) => step >= least) ?? Math.ceil(least / DAY) * DAY
}

/** A step as the server reads it. */
export const stepText = (ms: number): string => ms / 1000 + 's'

/** "18:04" of today, "Nov 24 18:04" of another day. */
export function momentText(ms: number, today = now): string {
  if (!Number.isFinite(ms)) return '–'
  const d = new Date(ms)
  const clock = `${two(d.getHours())}:${two(d.getMinutes())}`
  return fieldOf(ms).slice(0, 10) === fieldOf(today).slice(0, 10) ? clock : `${fieldOf(ms).slice(0, 10)} ${clock}`
}

const NS = 1e6

/** The times of charts whose clock begins at a moment. */
export function chartTimes(base: number): ChartTimes {
  return {
    steps: [...STEPS.filter((s) => s >= MINUTE), 3 * HOUR, 12 * HOUR, 2 * DAY, 7 * DAY].sort((a, b) => a - b).map((s) => s * NS),
    tick: (ns, step) => {
      const text = fieldOf(base + ns / NS)
      return step >= DAY * NS ? text.slice(5, 10) : text.slice(11)
    },
    moment: (ns) => fieldOf(base + ns / NS).replace('T', ' '),
  }
}
