// Who holds the heap of a service, over its recordings.
import type { Held, Recording } from './api'

export interface HolderRow {
  /** Tells holders apart. */
  key: string
  /** From its name to the most of it, as the last look that has it says. */
  way: string
  /** Bytes at each look, the oldest first; null where it was not among the first. */
  over: (number | null)[]
  last: number
  /** Of the last look, between that and the one before it in the same recording; null where it is not known. */
  grew: number | null
}

/** The holders of those of some recordings that looked at the heap, by what they held last. */
export function holderRows(runs: Recording[]): { looks: Recording[]; rows: HolderRow[] } {
  const looks = runs.filter((r) => r.diagnosis.held?.length).sort((a, b) => Date.parse(a.start) - Date.parse(b.start))
  const rows = new Map<string, HolderRow>()
  looks.forEach((r, i) => {
    for (const h of r.diagnosis.held!) {
      const key = keyOf(h)
      const row = rows.get(key) ?? { key, way: '', over: looks.map(() => null), last: 0, grew: null }
      rows.set(key, row)
      row.over[i] = h.bytes
      Object.assign(row, { way: h.way, last: h.bytes, grew: h.grew_bytes ?? null })
    }
  })
  return { looks, rows: [...rows.values()].sort((a, b) => b.last - a.last) }
}

function keyOf(h: Held): string {
  return h.kind + '\n' + h.name
}
