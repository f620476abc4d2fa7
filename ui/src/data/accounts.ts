// The accounts of goroutines as the server's tables have them: which columns are
// shown when nobody chose, and which columns make up the bar of states.
//
// "total" is running, runnable, syscall, syscall_blocked, blocked and unknown
// together; "blocked:REASON" are the parts of blocked, "range:NAME" overlap all.
import type { Column } from '../api'
import { waitState } from '../state'
import type { Part } from './states'

export type Cell = string | number
export interface AccountRow {
  cells: Cell[]
  link: string
}

/** The states of an account in the order of the bar; they add up to its total. */
export function accountParts(columns: readonly Column[], cells: readonly Cell[]): Part[] {
  const sums = new Map<string, number>(BAR.map((s) => [s, 0]))
  const add = (state: string, n: number) => sums.set(state, (sums.get(state) ?? 0) + n)
  let blocked = 0
  columns.forEach((c, i) => {
    const n = Number(cells[i]) || 0
    if (c.key === 'running' || c.key === 'runnable' || c.key === 'syscall' || c.key === 'unknown') add(c.key, n)
    else if (c.key === 'syscall_blocked') add('syscall', n)
    else if (c.key === 'blocked') blocked += n
    else if (c.key.startsWith('blocked:')) {
      add(waitState(c.key.slice('blocked:'.length)), n)
      blocked -= n
    }
  })
  add('wait', Math.max(0, blocked)) // reasons that have no column of their own
  return [...sums].map(([state, value]) => ({ state, value }))
}

/** The states of a bar, in its order. */
export const BAR = ['running', 'runnable', 'syscall', 'sync', 'net', 'wait', 'unknown'] as const

/** The bar, which is no column of the server's. */
export const BAR_KEY = 'bar'

const FIRST = ['group', 'goroutine']
const ALWAYS = ['count', 'begin', 'end', 'total', 'running', 'runnable', 'blocked']
const WHEN_ANY = ['syscall', 'syscall_blocked', 'unknown', 'delay_p99']

// The runtime's own waits are of no program's making, and nobody looks for them first.
const QUIET = /^blocked:(|unknown|system goroutine wait|GC background sweeper wait|force gc \(idle\)|finalizer wait)$/

/** How many single reasons to wait are shown when nobody chose. */
const REASONS = 3

/** The columns that are shown when nobody chose: those that say something here. */
export function defaultColumns(columns: readonly Column[], sums: readonly Cell[], inGroup: boolean): string[] {
  const sum = (key: string) => Number(sums[columns.findIndex((c) => c.key === key)]) || 0
  const reasons = columns.map((c) => c.key).filter((k) => k.startsWith('blocked:') && !QUIET.test(k) && sum(k) > 0)
    .sort((a, b) => sum(b) - sum(a)).slice(0, REASONS)
  const shown = columns.map((c) => c.key).filter((k) => {
    if (k === 'group' && inGroup) return false
    if (FIRST.includes(k) || ALWAYS.includes(k) || reasons.includes(k)) return true
    return WHEN_ANY.includes(k) && (sum(k) > 0 || k === 'delay_p99')
  })
  return withBar(shown)
}

// withBar puts the bar behind the names.
function withBar(keys: string[]): string[] {
  const at = keys.findIndex((k) => !FIRST.includes(k))
  return at < 0 ? [...keys, BAR_KEY] : [...keys.slice(0, at), BAR_KEY, ...keys.slice(at)]
}

/** The columns that the URL names, as far as there are such; null when it names none. */
export function chosenColumns(param: string | null, columns: readonly Column[]): string[] | null {
  if (!param) return null
  const known = new Set([...columns.map((c) => c.key), BAR_KEY])
  const list = param.split(',').map(decodeURIComponent_).filter((k) => known.has(k))
  return list.length > 0 ? list : null
}

/** Keys for the URL; those with a comma in a reason's name are escaped. */
export function columnsParam(keys: readonly string[]): string {
  return keys.map((k) => k.replace(/[%,]/g, encodeURIComponent)).join(',')
}

function decodeURIComponent_(s: string): string {
  try {
    return decodeURIComponent(s)
  } catch {
    return s
  }
}
