// Series of numbers over time, made ready to be drawn: cut to the window, thinned
// to what a screen has columns for, put on one clock, stacked.
//
// Thinning keeps of each column of the screen the first, the least, the greatest
// and the last value, so a picture of a million values has the same outline as
// one of all of them, and the one value that stands out is not lost.

export interface Line {
  at: number[]
  /** null is a gap: nothing was measured. */
  value: (number | null)[]
}

export type Range = [from: number, to: number]

/** The index of the first value at or after a time. */
export function indexAt(at: readonly number[], time: number): number {
  let low = 0, high = at.length
  while (low < high) {
    const mid = (low + high) >>> 1
    if ((at[mid] as number) < time) low = mid + 1
    else high = mid
  }
  return low
}

/** The value that held at a time: the last one measured until then. */
export function valueAt(line: Line, time: number): number | null {
  let i = indexAt(line.at, time)
  if (i === line.at.length || line.at[i] !== time) i--
  return i < 0 ? null : line.value[i] ?? null
}

/** The mean over the time of a window, as the line is drawn, and the greatest value in it; null where it has none. */
export function meanAndMax(line: Line, [from, to]: Range): { mean: number; max: number } | null {
  let area = 0, over = 0, max = -Infinity
  for (let i = 0; i < line.at.length; i++) {
    const t1 = line.at[i] as number, v1 = line.value[i] ?? null
    if (v1 !== null && t1 >= from && t1 <= to) max = Math.max(max, v1)
    if (i === 0) continue
    const t0 = line.at[i - 1] as number, v0 = line.value[i - 1] ?? null
    const a = Math.max(t0, from), b = Math.min(t1, to)
    if (v0 === null || v1 === null || b <= a) continue
    const on = (t: number) => v0 + ((v1 - v0) * (t - t0)) / (t1 - t0)
    area += ((on(a) + on(b)) / 2) * (b - a)
    over += b - a
    max = Math.max(max, on(a), on(b))
  }
  if (max === -Infinity) return null
  return { mean: over > 0 ? area / over : max, max }
}

/** The part of a line in a window, with a neighbour on either side so that it reaches the edges. */
export function cut(line: Line, [from, to]: Range): Line {
  const first = Math.max(0, indexAt(line.at, from) - 1)
  let end = indexAt(line.at, to)
  while (end < line.at.length && line.at[end] === to) end++
  end = Math.min(line.at.length, end + 1)
  return { at: line.at.slice(first, end), value: line.value.slice(first, end) }
}

/** At most about five values for each of the columns. */
export function thin(line: Line, columns: number): Line {
  const keep = outline(line.at, [line.value], columns)
  if (keep === null) return line
  return { at: keep.map((i) => line.at[i] as number), value: keep.map((i) => line.value[i] ?? null) }
}

/** The same for lines that are drawn on top of each other: all keep the same times. */
export function thinTogether(a: Aligned, columns: number): Aligned {
  const keep = outline(a.at, a.columns, columns)
  if (keep === null) return a
  return {
    at: keep.map((i) => a.at[i] as number), columns: a.columns.map((c) => keep.map((i) => c[i])),
    ...(a.absent && { absent: a.absent.map((c) => keep.map((i) => c[i]!)) }),
  }
}

type Column = readonly (number | null | undefined)[]

// outline says which values to keep, in order; null is all of them.
function outline(at: readonly number[], lines: readonly Column[], columns: number): number[] | null {
  const n = at.length
  if (n <= columns * 4 || columns < 1) return null
  const from = at[0] as number
  const width = ((at[n - 1] as number) - from) / columns || 1
  const keep: number[] = []
  let begin = 0
  while (begin < n) {
    const column = Math.floor(((at[begin] as number) - from) / width)
    let end = begin + 1
    while (end < n && Math.floor(((at[end] as number) - from) / width) === column) end++
    const some = new Set([begin, end - 1])
    for (const line of lines) for (const i of extremes(line, begin, end)) some.add(i)
    keep.push(...[...some].sort((a, b) => a - b))
    begin = end
  }
  return keep
}

// extremes are the least, the greatest and a gap of the values begin to end.
function extremes(value: Column, begin: number, end: number): number[] {
  let low = -1, high = -1, gap = -1
  for (let i = begin; i < end; i++) {
    const v = value[i]
    if (v === null || v === undefined) {
      if (v === null && gap < 0) gap = i
      continue
    }
    if (low < 0 || v < (value[low] as number)) low = i
    if (high < 0 || v > (value[high] as number)) high = i
  }
  return [low, high, gap].filter((i) => i >= 0)
}

/** Columns on one clock: undefined where a line has no value of its own, null in its gaps. */
export interface Aligned {
  at: number[]
  columns: (number | null | undefined)[][]
  /** Of columns that are stacked: where one has a gap, and the others go on. */
  absent?: boolean[][]
}

/** Puts lines on one clock. */
export function align(lines: readonly Line[]): Aligned {
  const at = [...new Set(lines.flatMap((l) => l.at))].sort((a, b) => a - b)
  const place = new Map(at.map((time, i) => [time, i]))
  const columns = lines.map((l) => {
    const column = new Array<number | null | undefined>(at.length).fill(undefined)
    l.at.forEach((time, i) => {
      column[place.get(time) as number] = l.value[i] ?? null
    })
    return column
  })
  return { at, columns }
}

/**
 * Stacks columns: each is added to those before it. A line without a value of its
 * own at a time counts as it would be drawn, on the straight line between its
 * neighbours; where every line has a gap, so has the stack. One that is absent has what is
 * below it, for those above stand on that.
 */
export function stack(a: Aligned): Aligned {
  const filled = a.columns.map((c) => between(a.at, c))
  const known = a.at.map((_, i) => filled.some((c) => c[i] !== null))
  const sum = new Array<number>(a.at.length).fill(0)
  const columns = filled.map((c) => c.map((v, i) => (known[i] ? (sum[i] = sum[i]! + (v ?? 0)) : null)))
  return { at: a.at, columns, absent: filled.map((c) => c.map((v, i) => v === null && known[i]!)) }
}

/** The stretches in which a line is absent, from the value before to the one after; as indices. */
export function absences(absent: readonly boolean[]): [from: number, to: number][] {
  const out: [number, number][] = []
  absent.forEach((gone, i) => {
    if (!gone) return
    const last = out.at(-1)
    if (last && last[1] === i) last[1] = Math.min(i + 1, absent.length - 1)
    else out.push([Math.max(0, i - 1), Math.min(i + 1, absent.length - 1)])
  })
  return out
}

// between gives what is undefined a value on the line between its neighbours.
function between(at: readonly number[], column: readonly (number | null | undefined)[]): (number | null)[] {
  const out = column.map((v) => v ?? null)
  let last = -1
  for (let i = 0; i < column.length; i++) {
    if (column[i] === undefined) continue
    const a = last < 0 ? null : column[last] ?? null
    const b = column[i] ?? null
    if (last >= 0 && a !== null && b !== null) {
      const t0 = at[last] as number, span = (at[i] as number) - t0
      for (let k = last + 1; k < i; k++) out[k] = a + ((b - a) * ((at[k] as number) - t0)) / span
    }
    last = i
  }
  return out
}

/** The time that all lines span; null when there is none. */
export function extent(lines: readonly { at: readonly number[] }[]): Range | null {
  let from = Infinity, to = -Infinity
  for (const l of lines) {
    if (l.at.length === 0) continue
    from = Math.min(from, l.at[0] as number)
    to = Math.max(to, l.at[l.at.length - 1] as number)
  }
  return from < to ? [from, to] : null
}

/** A window kept within the whole, and no narrower than a microsecond. */
export function clampRange([from, to]: Range, [low, high]: Range): Range {
  const width = Math.min(high - low, Math.max(1000, to - from))
  const begin = Math.min(Math.max(low, from), high - width)
  return [begin, begin + width]
}

/** A window made `factor` times as wide around a time, which stays where it is. */
export function zoomRange([from, to]: Range, around: number, factor: number, full: Range): Range {
  return clampRange([around - (around - from) * factor, around + (to - around) * factor], full)
}

/** A moment on the axis, with as many digits as the distance of the ticks needs. */
export function tickText(ns: number, step: number, most: number): string {
  const [size, unit] = most >= 1e9 ? [1e9, 's'] : most >= 1e6 ? [1e6, 'ms'] : most >= 1e3 ? [1e3, 'µs'] : [1, 'ns']
  const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(step / size) - 1e-9)))
  return `${(ns / size).toFixed(digits)} ${unit}`
}
