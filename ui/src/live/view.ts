// What of the live screen stands in the URL.
//
//   pid       the program; absent: the first that is watched
//   span      how many seconds are seen; absent: 60
//   from, to  a window that was chosen, in ms since 1970; absent: up to now
//   kind      which tree the flame graph shows; q, focus, x are as on its screen
//   g         what functions the table of goroutines shows
//   hide, tables   lines of charts that are hidden; charts whose table is open

import type { LivePiece } from '../api'

/** A window of ms since 1970. */
export interface Window {
  from: number
  to: number
}

/** Seconds of the windows that move. */
export const SPANS = [60, 300, 900] as const

export interface View {
  pid: string | undefined
  span: number
  window: Window | null
}

export function readView(p: URLSearchParams): View {
  const pid = p.get('pid') ?? ''
  const span = Number(p.get('span'))
  const number = (s: string | null) => (s !== null && /^\d{1,15}$/.test(s) ? Number(s) : NaN)
  const from = number(p.get('from')), to = number(p.get('to'))
  return {
    pid: /^\d{1,10}$/.test(pid) ? pid : undefined,
    span: SPANS.find((s) => s === span) ?? SPANS[0],
    window: from < to ? { from, to } : null,
  }
}

/** The next shorter or longer window. */
export function spanBeside(span: number, by: 1 | -1): number {
  const i = SPANS.findIndex((s) => s === span)
  return SPANS[Math.min(SPANS.length - 1, Math.max(0, i + by))]!
}

/** How much of the flame graph is shown while no window is chosen. */
const LAST_MS = 30_000

/**
 * What to ask the flame graph for: it ends with a piece, so that the same question always has the
 * same answer. Null while no piece is in it.
 */
export function asked(pieces: readonly LivePiece[], window: Window | null): Window | null {
  const inside = window ? pieces.filter((p) => p.from_ms < window.to && p.to_ms > window.from) : pieces
  const last = inside.at(-1)
  if (!last) return null
  if (!window) return { from: Math.max(last.to_ms - LAST_MS, inside[0]!.from_ms), to: last.to_ms }
  return { from: window.from, to: Math.min(window.to, last.to_ms) }
}
