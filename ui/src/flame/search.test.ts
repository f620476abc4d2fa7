import { describe, expect, it } from 'vitest'
import { nextMatch, readQuery, search } from './search'
import { bag, tree } from './testing'
import { nameOf } from './tree'

describe('a query', () => {
  it('is a text in any case', () => {
    expect(readQuery('Serve').test!('net/http.(*conn).serve')).toBe(true)
    expect(readQuery('(*conn)').test!('net/http.(*conn).serve')).toBe(true)
    expect(readQuery('').test).toBeNull()
  })
  it('is a regular expression between slashes', () => {
    expect(readQuery('/^main\\./').test!('main.f')).toBe(true)
    expect(readQuery('/^MAIN/').test!('main.f')).toBe(false)
    expect(readQuery('/^MAIN/i').test!('main.f')).toBe(true)
  })
  it('says what is wrong with one', () => {
    const q = readQuery('/(/')
    expect(q.test).toBeNull()
    expect(q.wrong).not.toBe('')
  })
})

describe('what a search adds up to', () => {
  it('counts nothing twice', () => {
    const t = tree(['ma;mf;mf', 4], ['ma;mb;mf', 2], ['mf;mb', 1], ['ma', 8])
    const f = search(t, (n) => n === 'mf')
    expect([f.functions, f.nodes, f.sum]).toEqual([1, 4, 7])
    expect(search(t, (n) => n === 'ma' || n === 'mf').sum).toBe(15)
  })
  it('is what brute force says', () => {
    for (let seed = 1; seed < 40; seed++) {
      const lines = bag(seed, 60, true)
      const t = tree(...lines)
      const test = (n: string) => n === 'mb' || n === 'ra'
      const want = lines.filter(([p]) => p.split(';').some(test))
      const got = search(t, test)
      expect(got.sum).toBe(want.reduce((s, [, v]) => s + v, 0))
      expect(got.base).toBe(want.reduce((s, [, , b]) => s + (b ?? 0), 0))
    }
  })
  it('can be of one frame and what is below it', () => {
    const t = tree(['ma;mf', 4], ['mb;mf;mc', 2], ['mb', 1])
    const mb = [...t.func].findIndex((_, i) => nameOf(t, i) === 'mb')
    expect(search(t, (n) => n === 'mf', mb).sum).toBe(2)
    // Inside a match everything is.
    expect(search(t, (n) => n === 'mb', mb + 1)).toMatchObject({ sum: 2, nodes: 0 })
  })
})

describe('the next match', () => {
  it('goes round', () => {
    const t = tree(['ma;mf', 4], ['mf', 2])
    const { match } = search(t, (n) => n === 'mf')
    const first = nextMatch(t, match, 0, 1)
    const second = nextMatch(t, match, first, 1)
    expect(nameOf(t, first)).toBe('mf')
    expect(second).not.toBe(first)
    expect(nextMatch(t, match, second, 1)).toBe(first)
    expect(nextMatch(t, match, first, -1)).toBe(second)
    expect(nextMatch(t, new Uint8Array(9), 0, 1)).toBe(-1)
  })
})
