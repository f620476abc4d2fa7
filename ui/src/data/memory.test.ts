import { describe, expect, it } from 'vitest'
import type { MemoryRow, Series } from '../api'
import { groupsOf, keyOf, leastUse, overTime } from './memory'

const row = (of: string, name: string): MemoryRow => ({
  of, name, value: 1, unit: 'bytes', share: null, from: '', growth: null, growth_low: null, growth_high: null, headroom: null, reached_seconds: null,
})
const series = (name: string, value: (number | null)[]): Series => ({ name, at: value.map((_, i) => i), value })
const chart = (...list: Series[]) => ({ name: 'account', unit: 'bytes', stack: true, source: '', thinned: false, series: list })

describe('the rows of memory', () => {
  it('are in groups, a sum in that which it is the sum of', () => {
    const groups = groupsOf([row('resident', 'a'), row('resident', 'b'), row('all', 'sum'), row('limit', 'c'), row('alloc', 'd')])
    expect(groups.map((g) => [g.of, g.rows.map((r) => r.name).join()])).toEqual([['resident', 'a,b,sum'], ['limit', 'c'], ['alloc', 'd']])
  })
  it('may be a sum alone', () => {
    expect(groupsOf([row('all', 'sum')]).map((g) => g.of)).toEqual(['all'])
    expect(groupsOf([])).toEqual([])
  })
})

describe('memory over time', () => {
  const parts = chart(series('a', [10, 20]), series('b', [0, 30]))
  it('has its limits over it, but for those that are far above', () => {
    const over = overTime({ chart: parts, limits: [series('GOMEMLIMIT', [60, 60]), series('GOGC: x', [null, 100]), series('group', [151, 151])] })
    expect(over?.lines.map((l) => [l.name, l.over ?? false, l.colour ?? ''])).toEqual([
      ['a', false, ''], ['b', false, ''], ['GOMEMLIMIT', true, '--warn'], ['GOGC: x', true, '--gc'],
    ])
    expect(over?.far.map((s) => s.name)).toEqual(['group'])
    expect(over?.full).toEqual([0, 1])
  })
  it('is not there where nothing was read twice', () => {
    expect(overTime({ chart: null, limits: [] })).toBeNull()
    expect(overTime({ chart: chart(series('a', [1])), limits: [] })).toBeNull()
  })
})

describe('a holder', () => {
  const station = (name: string, use: number | null) => ({ name, objects: 1, retained: 1, use, again: null })
  it('is named by its kind as well', () => {
    expect(keyOf({ kind: 'global', name: 'main.cache' })).toBe('global main.cache')
  })
  it('is in use as its least part is', () => {
    expect(leastUse({ way: [station('a', null), station('b', 0.5), station('c', 0.1), station('d', 0.9)] })).toBe(0.1)
    expect(leastUse({ way: [station('a', null)] })).toBeNull()
    expect(leastUse({ way: [station('a', 0), station('b', 0.2)] })).toBe(0)
  })
})
