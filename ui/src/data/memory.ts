// The account of memory, made ready for the screen: its rows in groups, its parts over time
// with the limits that are near enough to be drawn beside them.
import type { Holder, Memory, MemoryRow, Series } from '../api'
import type { ChartLine } from '../parts/chart'
import { extent, type Range } from './series'

/** Rows of one kind, in the order in which they came. */
export interface RowGroup {
  of: string
  rows: MemoryRow[]
}

/** The rows by what they are of; a sum stands in the group that it is the sum of. */
export function groupsOf(rows: readonly MemoryRow[]): RowGroup[] {
  const groups: RowGroup[] = []
  for (const r of rows) {
    const last = groups.at(-1)
    if (last && (last.of === r.of || r.of === 'all')) last.rows.push(r)
    else groups.push({ of: r.of, rows: [r] })
  }
  return groups
}

/** How many times the most that was used a limit may be, and the areas still be seen below it. */
const NEAR = 3

const COLOURS: Record<string, string> = { GOMEMLIMIT: '--warn' }

/** What is drawn over time, and the names of limits that are too far above it. */
export function overTime(m: Pick<Memory, 'chart' | 'limits'>): { lines: ChartLine[]; full: Range; far: Series[] } | null {
  const parts = m.chart?.series ?? []
  const full = extent(parts)
  if (!full) return null
  const most = Math.max(...(parts[0]?.at ?? []).map((_, i) => parts.reduce((sum, s) => sum + (s.value[i] ?? 0), 0)))
  const near = (s: Series) => Math.min(...s.value.filter((v) => v !== null)) <= NEAR * most
  const line = (s: Series, over: boolean): ChartLine => ({
    name: s.name, label: s.name, at: s.at, value: s.value,
    ...(over && { over, colour: COLOURS[s.name] ?? (s.name.startsWith('GOGC') ? '--gc' : '--bad') }),
  })
  const limits = m.limits ?? []
  return {
    lines: [...parts.map((s) => line(s, false)), ...limits.filter(near).map((s) => line(s, true))],
    full,
    far: limits.filter((s) => !near(s)),
  }
}

/** Names a holder in the address. */
export function keyOf(h: Pick<Holder, 'kind' | 'name'>): string {
  return h.kind + ' ' + h.name
}

/** The smallest share in use on a holder's way; null where none is known. */
export function leastUse(h: Pick<Holder, 'way'>): number | null {
  return h.way.reduce((least: number | null, s) => (s.use === null || (least !== null && least <= s.use) ? least : s.use), null)
}
