export interface Sort {
  key: string
  desc: boolean
}

/**
 * The sort after a click on a column's head: the other direction on the same
 * column; on another one largest first for numbers, A to Z for text.
 */
export function nextSort(now: Sort, key: string, numeric: boolean): Sort {
  if (now.key === key) return { key, desc: !now.desc }
  return { key, desc: numeric }
}

export type SortValue = number | string | null | undefined

/** Sorted copy: stable, nothing (null, NaN) last in both directions. */
export function sortRows<R>(rows: readonly R[], value: (r: R) => SortValue, desc: boolean): R[] {
  const keyed = rows.map((r, i) => ({ r, i, v: value(r) }))
  keyed.sort((a, b) => {
    const an = missing(a.v), bn = missing(b.v)
    if (an || bn) return an === bn ? a.i - b.i : an ? 1 : -1
    const c = compare(a.v as number | string, b.v as number | string)
    return c === 0 ? a.i - b.i : desc ? -c : c
  })
  return keyed.map((k) => k.r)
}

function missing(v: SortValue): boolean {
  return v === null || v === undefined || (typeof v === 'number' && Number.isNaN(v))
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0
}
