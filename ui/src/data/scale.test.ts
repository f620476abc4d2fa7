import { describe, expect, it } from 'vitest'
import { changeAt, changeSpan, scale, ticks } from './scale'

describe('a scale', () => {
  it('goes from one end to the other, and no further', () => {
    const x = scale(0, 10, 100, 200)
    expect([0, 5, 10, -1, 99].map(x)).toEqual([100, 150, 200, 100, 200])
  })
  it('is logarithmic where it can be', () => {
    const x = scale(1, 100, 0, 200, true)
    expect(x(10)).toBeCloseTo(100, 9)
    expect(scale(0, 100, 0, 200, true).log).toBe(false)
  })
  it('puts everything in the middle when there is one value', () => {
    expect(scale(3, 3, 0, 10)(3)).toBe(5)
  })
})

describe('ticks', () => {
  it('are round and inside', () => {
    expect(ticks(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10])
    expect(ticks(0.13, 0.42, 3).map((v) => Number(v.toFixed(6)))).toEqual([0.2, 0.3, 0.4])
  })
  it('are powers of ten on a long logarithmic axis', () => {
    expect(ticks(1e3, 1e9, 7, true)).toEqual([1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9])
    expect(ticks(1e3, 1e9, 3, true).length).toBeLessThanOrEqual(4)
    expect(ticks(1, 100, 9, true)).toEqual([1, 2, 5, 10, 20, 50, 100])
  })
  it('of nothing is that', () => {
    expect(ticks(4, 4, 5)).toEqual([4])
  })
})

const change = (ratio: number | null, low: number | null = null, high: number | null = null) => ({ ratio, low, high })

describe('the scale of changes', () => {
  it('holds the intervals', () => {
    const span = changeSpan([change(0.5, 0.4, 0.6), change(1.1, 1, 1.2)])
    expect(changeAt(0.4, span, 100).beyond).toBe(false)
    expect(changeAt(1.2, span, 100).beyond).toBe(false)
  })
  it('is not spoiled by one wild row', () => {
    const calm = Array.from({ length: 30 }, () => change(1.1, 1.05, 1.15))
    const span = changeSpan([...calm, change(5000, 1000, 9000)])
    expect(span).toBeLessThan(1)
    expect(changeAt(5000, span, 100)).toEqual({ at: 100, beyond: true })
  })
  it('never shrinks to nothing', () => {
    expect(changeSpan([change(1, 1, 1)])).toBeGreaterThan(0.05)
    expect(changeSpan([change(null)])).toBeGreaterThan(0.05)
  })
})

describe('the place of a change', () => {
  it('has the same in the middle, half and twice equally far from it', () => {
    expect(changeAt(1, 1, 160).at).toBe(80)
    expect(80 - changeAt(0.5, 2, 160).at).toBeCloseTo(changeAt(2, 2, 160).at - 80, 9)
  })
  it('of nothing left is beyond the edge', () => {
    expect(changeAt(0, 1, 160)).toEqual({ at: 0, beyond: true })
  })
})
