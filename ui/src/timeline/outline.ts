// A line that may have a million values, drawn at the price of the picture: the
// least and the greatest of each two values, of each two of those, and so on.
// Drawing takes the level with about as many values as there are pixels.

interface Level {
  at: Float64Array
  low: Float64Array
  high: Float64Array
}

export interface Point {
  at: number
  low: number
  high: number
}

export class Outline {
  private readonly levels: Level[]
  readonly max: number

  /** null is a gap, and so is NaN. */
  constructor(at: readonly number[], value: readonly (number | null)[]) {
    const n = Math.min(at.length, value.length)
    const first: Level = { at: new Float64Array(n), low: new Float64Array(n), high: new Float64Array(n) }
    let max = 0
    for (let i = 0; i < n; i++) {
      const v = value[i] ?? NaN
      first.at[i] = at[i]!
      first.low[i] = first.high[i] = v
      if (v > max) max = v
    }
    this.max = max
    this.levels = [first]
    for (let l = first; l.at.length > 64; ) this.levels.push((l = half(l)))
  }

  get length(): number {
    return this.levels[0]!.at.length
  }

  /** points between two times and one beyond each, about `count` of them or fewer. */
  points(from: number, to: number, count: number): Point[] {
    for (const l of this.levels) {
      const first = Math.max(0, before(l.at, from))
      const end = Math.min(l.at.length, before(l.at, to) + 2)
      if (end - first > Math.max(16, count) && l !== this.levels[this.levels.length - 1]) continue
      const out: Point[] = []
      for (let i = first; i < end; i++) out.push({ at: l.at[i]!, low: l.low[i]!, high: l.high[i]! })
      return out
    }
    return []
  }

  /** at is the value that held then, NaN where none did. */
  at(time: number): number {
    const l = this.levels[0]!
    const i = before(l.at, time)
    return i < 0 ? NaN : l.high[i]!
  }
}

// before is the index of the last time that is not after t; -1 when all are.
function before(at: Float64Array, t: number): number {
  let low = 0
  let high = at.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (at[middle]! <= t) low = middle + 1
    else high = middle
  }
  return low - 1
}

function half(l: Level): Level {
  const n = (l.at.length + 1) >> 1
  const out: Level = { at: new Float64Array(n), low: new Float64Array(n), high: new Float64Array(n) }
  for (let i = 0; i < n; i++) {
    const a = 2 * i
    const b = Math.min(a + 1, l.at.length - 1)
    out.at[i] = l.at[a]!
    out.low[i] = least(l.low[a]!, l.low[b]!)
    out.high[i] = -least(-l.high[a]!, -l.high[b]!)
  }
  return out
}

// least ignores a gap beside a value: what was measured is seen.
const least = (a: number, b: number): number => (a !== a ? b : b !== b ? a : Math.min(a, b))
