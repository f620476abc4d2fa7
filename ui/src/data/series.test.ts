import { describe, expect, it } from 'vitest'
import { absences, align, clampRange, cut, extent, indexAt, meanAndMax, stack, thin, thinTogether, tickText, valueAt, zoomRange, type Line } from './series'

const line = (...points: [number, number | null][]): Line => ({ at: points.map((p) => p[0]), value: points.map((p) => p[1]) })

describe('a line', () => {
  const l = line([10, 1], [20, null], [30, 3])
  it('finds the first value at or after a time', () => {
    expect([0, 10, 11, 30, 31].map((x) => indexAt(l.at, x))).toEqual([0, 0, 1, 2, 3])
  })
  it('has at a time what was measured last', () => {
    expect([5, 10, 15, 20, 29, 30, 99].map((x) => valueAt(l, x))).toEqual([null, 1, 1, null, null, 3, 3])
  })
  it('is cut with a neighbour on either side', () => {
    const long = line([0, 0], [10, 1], [20, 2], [30, 3], [40, 4])
    expect(cut(long, [12, 28]).at).toEqual([10, 20, 30])
    expect(cut(long, [20, 20]).at).toEqual([10, 20, 30])
    expect(cut(long, [-5, 100]).at).toEqual(long.at)
    expect(cut(line(), [0, 1]).at).toEqual([])
  })
})

describe('the mean and the greatest of a window', () => {
  const l = line([0, 0], [10, 10], [20, null], [30, 4], [40, 4])
  it('are those of what is drawn, without the gaps', () => {
    expect(meanAndMax(l, [0, 40])).toEqual({ mean: 4.5, max: 10 })
    expect(meanAndMax(l, [0, 5])).toEqual({ mean: 2.5, max: 5 })
    expect(meanAndMax(l, [32, 38])).toEqual({ mean: 4, max: 4 })
  })
  it('are not there where nothing was measured', () => {
    expect(meanAndMax(l, [12, 28])).toBe(null)
    expect(meanAndMax(line([5, 7]), [0, 10])).toEqual({ mean: 7, max: 7 })
  })
})

describe('a thinned line', () => {
  const n = 100_000
  const at = Array.from({ length: n }, (_, i) => i * 1000)
  const value: (number | null)[] = at.map((_, i) => Math.sin(i / 500))
  value[54_321] = 99
  value[77_777] = -99
  value[12_345] = null
  const thinned = thin({ at, value }, 500)
  it('is small, in order, and begins and ends with the line', () => {
    expect(thinned.at.length).toBeLessThan(500 * 5 + 5)
    expect(thinned.at).toEqual([...thinned.at].sort((a, b) => a - b))
    expect(thinned.at[0]).toBe(0)
    expect(thinned.at[thinned.at.length - 1]).toBe((n - 1) * 1000)
  })
  it('keeps what stands out, and gaps', () => {
    expect(thinned.value[thinned.at.indexOf(54_321_000)]).toBe(99)
    expect(thinned.value[thinned.at.indexOf(77_777_000)]).toBe(-99)
    expect(thinned.value[thinned.at.indexOf(12_345_000)]).toBe(null)
  })
  it('has the outline of the whole in every column', () => {
    const width = ((n - 1) * 1000) / 500
    const bounds = (l: Line) => {
      const out = new Map<number, [number, number]>()
      l.at.forEach((time, i) => {
        const v = l.value[i]
        if (v === null || v === undefined) return
        const column = Math.floor(time / width)
        const b = out.get(column) ?? [Infinity, -Infinity]
        out.set(column, [Math.min(b[0], v), Math.max(b[1], v)])
      })
      return [...out]
    }
    expect(bounds(thinned)).toEqual(bounds({ at, value }))
  })
  it('is the line itself when that is short', () => {
    const short = line([1, 1], [2, 2])
    expect(thin(short, 100)).toBe(short)
  })
})

describe('lines on one clock', () => {
  const a = align([line([0, 1], [10, 3]), line([5, 10], [10, null])])
  it('have no value where they have none of their own, and null in gaps', () => {
    expect(a).toEqual({ at: [0, 5, 10], columns: [[1, undefined, 3], [undefined, 10, null]] })
  })
  it('add up where they are drawn', () => {
    expect(stack(a).columns).toEqual([[1, 2, 3], [1, 12, 3]])
  })
  it('stand on what is below them where one is absent, which says so', () => {
    const a = stack(align([line([0, 1], [1, 1], [2, null], [3, null]), line([0, null], [1, 2], [2, 2], [3, 2])]))
    expect(a.columns).toEqual([[1, 1, 0, 0], [1, 3, 2, 2]])
    expect(a.absent).toEqual([[false, false, true, true], [true, false, false, false]])
    expect(a.absent!.map(absences)).toEqual([[[1, 3]], [[0, 1]]])
  })
  it('have a gap where all have one', () => {
    const gaps = align([line([0, 1], [1, null], [2, 1]), line([0, 1], [1, null], [2, 5])])
    expect(stack(gaps).columns).toEqual([[1, null, 1], [2, null, 6]])
  })
})

describe('stacked lines', () => {
  const n = 20_000
  const at = Array.from({ length: n }, (_, i) => i)
  const a = { at, columns: [at.map((i) => (i === 777 ? 50 : 1)), at.map((i) => (i === 15_001 ? 90 : 2))] }
  const thinned = thinTogether(a, 100)
  it('are thinned to the same times, and each keeps what stands out in it', () => {
    expect(thinned.at.length).toBeLessThan(1000)
    expect(thinned.columns.map((c) => c.length)).toEqual([thinned.at.length, thinned.at.length])
    expect(thinned.columns[0]?.[thinned.at.indexOf(777)]).toBe(50)
    expect(thinned.columns[1]?.[thinned.at.indexOf(15_001)]).toBe(90)
  })
})

describe('a window of time', () => {
  it('spans all lines', () => {
    expect(extent([line([5, 1], [7, 1]), line(), line([1, 1])])).toEqual([1, 7])
    expect(extent([line()])).toBe(null)
  })
  it('stays within the whole', () => {
    expect(clampRange([-50, 50e3], [0, 100e3])).toEqual([0, 50050])
    expect(clampRange([90e3, 150e3], [0, 100e3])).toEqual([40e3, 100e3])
    expect(clampRange([5000, 5001], [0, 100e3])).toEqual([5000, 6000])
    expect(clampRange([-9e9, 9e9], [0, 100e3])).toEqual([0, 100e3])
  })
  it('zooms around a time that stays where it is', () => {
    const [from, to] = zoomRange([0, 100e3], 25e3, 0.5, [0, 100e3])
    expect((25e3 - from) / (to - from)).toBeCloseTo(0.25, 9)
    expect(to - from).toBe(50e3)
  })
})

describe('a tick of the clock', () => {
  it('has as many digits as set it apart', () => {
    expect(tickText(1.5e9, 0.5e9, 9e9)).toBe('1.5 s')
    expect(tickText(2e9, 1e9, 9e9)).toBe('2 s')
    expect(tickText(1.23456e9, 1e4, 9e9)).toBe('1.23456 s')
    expect(tickText(250e3, 50e3, 900e3)).toBe('250 µs')
  })
})
