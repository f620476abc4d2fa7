import { describe, expect, it } from 'vitest'
import type { SeriesSet } from './api'
import { ratesOf, trendOf } from './points'

const set = (step: number, ...series: [key: string, points: [ms: number, value: number][]][]): SeriesSet =>
  ({ step_ns: step * 1e6, series: series.map(([key, points]) => ({ key, total: 0, points })), omitted: 0 })
const sum = (values: (number | null)[]) => values.reduce<number>((all, v) => all + (v ?? 0), 0)

describe('rates', () => {
  it('are by second, and nothing where nobody sent', () => {
    const r = ratesOf(set(10_000, ['a', [[20_000, 50], [30_000, 100]]], ['b', [[30_000, 10]]]), 0, 60_000)
    expect(r.at).toEqual([5000, 15_000, 25_000, 35_000, 45_000, 55_000])
    expect(r.values.get('a')).toEqual([null, null, 5, 10, null, null])
    expect(r.values.get('b')).toEqual([null, null, null, 1, null, null])
  })
  it('are of the part of the last step that there is', () => {
    const r = ratesOf(set(10_000, ['a', [[0, 10], [10_000, 5]]]), 0, 15_000)
    expect(r.values.get('a')).toEqual([1, 1])
  })
  it('do not fall to nothing between what was sent less often than the steps', () => {
    const sent = Array.from({ length: 12 }, (_, i): [number, number] => [i * 300_000, 300])
    const r = ratesOf(set(60_000, ['a', sent]), 0, 3_600_000)
    expect(r.values.get('a')).toEqual(Array(12).fill(1))
  })
  it('have a gap where one of several is missing, and before it began', () => {
    const all = Array.from({ length: 24 }, (_, i): [number, number] => [i * 3_600_000, 3600])
    const r = ratesOf(set(3_600_000, ['a', all], ['b', all.filter((_, i) => i < 5 || i > 10)], ['c', all.slice(20)]), 0, 24 * 3_600_000)
    expect(r.values.get('a')).toEqual(Array(24).fill(1))
    expect(r.values.get('b')).toEqual([...Array(5).fill(1), ...Array(6).fill(null), ...Array(13).fill(1)])
    expect(r.values.get('c')).toEqual([...Array(20).fill(null), ...Array(4).fill(1)])
  })
  it('keep their steps where nobody sent for long', () => {
    const all = Array.from({ length: 100 }, (_, i): [number, number] => [i * 1000, 1]).filter((_, i) => i < 20 || i >= 60)
    const r = ratesOf(set(1000, ['a', all]), 0, 100_000)
    expect(r.at.length).toBe(100)
    expect(r.values.get('a')!.filter((v) => v === null).length).toBe(40)
  })
  it('of one that sends less often are the same from one time to the next', () => {
    const often = Array.from({ length: 40 }, (_, i): [number, number] => [i * 1000, 1])
    const r = ratesOf(set(1000, ['a', often], ['b', often.filter((_, i) => i % 5 === 0).map(([ms]) => [ms, 10])]), 0, 40_000)
    expect(r.values.get('b')).toEqual(Array(40).fill(2))
  })
  it('keep their sum, whatever steps are made one', () => {
    for (const every of [1, 2, 3, 5, 7, 11]) {
      const sent = Array.from({ length: 100 }, (_, i) => i).filter((i) => i % every === 0).map((i): [number, number] => [i * 1000, i + 1])
      const r = ratesOf(set(1000, ['a', sent]), 0, 100_000)
      const merged = 100 / r.at.length
      const lengths = r.at.map((_, i) => Math.min(100, (i + 1) * Math.ceil(merged)) - i * Math.ceil(merged))
      expect(sum(r.values.get('a')!.map((v, i) => v && v * lengths[i]!)), String(every)).toBeCloseTo(sent.reduce((all, [, v]) => all + v, 0), 6)
    }
  })
  it('of nothing are nothing', () => {
    expect(ratesOf(set(1000), 0, 3000)).toEqual({ at: [500, 1500, 2500], values: new Map() })
  })
})

describe('the trend of a finding', () => {
  const at = (minutes: number) => new Date(minutes * 60_000).toISOString()
  it('has a gap for spans without it', () => {
    expect(trendOf([{ at: at(0), cost: 1 }, { at: at(5), cost: 2 }, { at: at(20), cost: 3 }])).toEqual([1, 2, null, null, 3])
  })
  it('is one value, or none', () => {
    expect(trendOf([{ at: at(0), cost: 1 }])).toEqual([1])
    expect(trendOf([])).toEqual([])
  })
  it('is bounded', () => {
    expect(trendOf([{ at: at(0), cost: 1 }, { at: at(1), cost: 2 }, { at: at(1e6), cost: 3 }]).length).toBeLessThan(2100)
  })
})
