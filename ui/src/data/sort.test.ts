import { describe, expect, it } from 'vitest'
import { nextSort, sortRows } from './sort'

describe('a click on a head', () => {
  it('sorts numbers from the largest, text from A', () => {
    expect(nextSort({ key: '', desc: false }, 'n', true)).toEqual({ key: 'n', desc: true })
    expect(nextSort({ key: 'n', desc: true }, 'name', false)).toEqual({ key: 'name', desc: false })
  })
  it('turns the direction of the same column', () => {
    expect(nextSort({ key: 'n', desc: true }, 'n', true)).toEqual({ key: 'n', desc: false })
    expect(nextSort({ key: 'n', desc: false }, 'n', true)).toEqual({ key: 'n', desc: true })
  })
})

describe('sorted rows', () => {
  const rows = [{ n: 2, id: 'a' }, { n: null, id: 'b' }, { n: 10, id: 'c' }, { n: 2, id: 'd' }, { n: NaN, id: 'e' }]
  it('are in order, equal ones as they were, and what has no value last', () => {
    expect(sortRows(rows, (r) => r.n, false).map((r) => r.id).join('')).toBe('adcbe')
    expect(sortRows(rows, (r) => r.n, true).map((r) => r.id).join('')).toBe('cadbe')
  })
  it('are a copy', () => {
    const before = [...rows]
    sortRows(rows, (r) => r.n, true)
    expect(rows).toEqual(before)
  })
  it('compare text as text', () => {
    expect(sortRows(['b', 'a', 'C'], (s) => s, false)).toEqual(['C', 'a', 'b'])
  })
})
