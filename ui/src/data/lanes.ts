// Where the stretches of one task are drawn: each in the first row that is free,
// so that what was nested or at the same time is below each other.

export interface Stretch {
  from: number
  to: number
}

export interface Placed<S> {
  of: S
  row: number
}

/** How many rows are drawn at most; what finds no room shares the last one. */
export const MOST_ROWS = 24

/** Puts stretches in rows, the earlier and of those the longer first. */
export function placeInRows<S extends Stretch>(list: readonly S[]): Placed<S>[] {
  const free: number[] = []
  return [...list].sort((a, b) => a.from - b.from || b.to - a.to).map((of) => {
    let row = free.findIndex((until) => until <= of.from)
    if (row < 0) row = Math.min(free.length, MOST_ROWS - 1)
    free[row] = Math.max(free[row] ?? 0, of.to)
    return { of, row }
  })
}
