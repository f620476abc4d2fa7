// What of the timeline stands in the URL, read and written.
//
//   from, to   the window, ns
//   open       lanes that are open, with commas; absent: those open at first
//   lanes      lanes that are pinned, with commas
//   g          a group's start function: it is shown, marked and opened
//   lane, at   what is selected: a lane and a time on it
//   sel, sl    a selected window "from-to" and the lane it is of; no sl: all
//   q          what is searched for
//   hide       states that are not drawn, with commas
//   note       what somebody wrote about the selected window
//   gc=0       without the shade of collections
//   fi=0       without the findings on their lanes
//   finding    which finding's holders and waiters are shown
//   panel      which panel is open below: moment, selection, holds, hits, table
import type { Window } from './window'

/** Letters of a note: an address is no place for an essay. */
export const MOST_NOTE = 500

export interface View {
  window: Window | null
  open: string[] | null
  lanes: string[]
  group: string
  lane: string
  at: number | null
  selected: Window | null
  selectedLane: string
  note: string
  q: string
  hide: string[]
  gc: boolean
  insights: boolean
  /** Its number, from 1; 0 for none. */
  finding: number
  panel: string
}

/** Ids and names may be of any form: what would part a list is escaped in it. */
const pack = (ids: readonly string[]): string => ids.map((s) => s.replace(/[%,]/g, encodeURIComponent)).join(',')

function unpack(s: string | null): string[] {
  if (!s) return []
  return s.split(',').filter((p) => p !== '').slice(0, 500).map((p) => p.replace(/%2C/gi, ',').replace(/%25/g, '%'))
}

function number(s: string | null): number | null {
  if (s === null || s.trim() === '') return null
  const n = Number(s)
  return Number.isFinite(n) ? n : null
}

export function readView(p: URLSearchParams): View {
  const from = number(p.get('from'))
  const to = number(p.get('to'))
  const sel = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(p.get('sel') ?? '')
  const selected = sel ? { from: Number(sel[1]), to: Number(sel[2]) } : null
  return {
    window: from !== null && to !== null && to >= from ? { from, to } : null,
    open: p.has('open') ? unpack(p.get('open')) : null,
    lanes: unpack(p.get('lanes')),
    group: p.get('g') ?? '',
    lane: p.get('lane') ?? '',
    at: number(p.get('at')),
    selected: selected && selected.to > selected.from ? selected : null,
    selectedLane: p.get('sl') ?? '',
    note: (p.get('note') ?? '').slice(0, MOST_NOTE),
    q: p.get('q') ?? '',
    hide: unpack(p.get('hide')),
    gc: p.get('gc') !== '0',
    insights: p.get('fi') !== '0',
    finding: number(p.get('finding')) ?? 0,
    panel: p.get('panel') ?? '',
  }
}

export type Patch = Record<string, string | number | null>

/** writeView is what setParams needs for the parts that are given. */
export function writeView(v: Partial<View>): Patch {
  const out: Patch = {}
  const text = (key: string, s: string | undefined) => {
    if (s !== undefined) out[key] = s === '' ? null : s
  }
  if (v.window !== undefined) {
    out['from'] = v.window ? Math.round(v.window.from) : null
    out['to'] = v.window ? Math.round(v.window.to) : null
  }
  // "open=" says that nothing is, which is not what absence says.
  if (v.open !== undefined) out['open'] = v.open === null ? null : pack(v.open)
  text('lanes', v.lanes && pack(v.lanes))
  text('g', v.group)
  text('lane', v.lane)
  if (v.at !== undefined) out['at'] = v.at === null ? null : Math.round(v.at)
  if (v.selected !== undefined) {
    out['sel'] = v.selected ? `${Math.round(v.selected.from)}-${Math.round(v.selected.to)}` : null
  }
  text('sl', v.selectedLane)
  text('note', v.note)
  text('q', v.q)
  text('hide', v.hide && pack(v.hide))
  if (v.gc !== undefined) out['gc'] = v.gc ? null : '0'
  if (v.insights !== undefined) out['fi'] = v.insights ? null : '0'
  if (v.finding !== undefined) out['finding'] = v.finding || null
  text('panel', v.panel)
  return out
}
