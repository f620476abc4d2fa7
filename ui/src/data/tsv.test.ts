import { describe, expect, it } from 'vitest'
import { textOf, tsv, tsvCell } from './tsv'

describe('a cell of TSV', () => {
  it('is its text where nothing in it has a meaning', () => {
    expect(tsvCell('main.worker')).toBe('main.worker')
    expect(tsvCell('-12.5')).toBe('-12.5')
    expect(tsvCell('+3%')).toBe('+3%')
  })
  it('is quoted when it would end a cell or a row', () => {
    expect(tsvCell('a\tb')).toBe('"a\tb"')
    expect(tsvCell('a\nb')).toBe('"a\nb"')
    expect(tsvCell('say "x"')).toBe('"say ""x"""')
  })
  it('is no formula of a spreadsheet', () => {
    for (const evil of ['=1+1', '@SUM(A1)', '+cmd|calc', '-cmd']) expect(tsvCell(evil)).toBe("'" + evil)
  })
})

describe('rows as TSV', () => {
  it('are lines of cells', () => {
    expect(tsv([['a', 'b'], ['1', '2']])).toBe('a\tb\n1\t2\n')
  })
})

describe('the text of a cell', () => {
  it('is what is written in its elements', () => {
    const child = { type: 'b', props: { children: ['x', 7] }, key: null }
    expect(textOf(['a ', child, null, false, undefined, 3n])).toBe('a x73')
    expect(textOf({ type: 'svg', props: {}, key: null })).toBe('')
  })
})
