import { describe, expect, it } from 'vitest'
import { fit, rank } from './rank'

describe('a name that is looked for by a few letters', () => {
  const names = ['main.(*Pool).worker', 'net/http.(*conn).serve', 'runtime.main', 'Timeline', 'main.handle'].map((name) => ({ name }))
  it('is found by its beginning first, then by that of a word, then in the middle', () => {
    expect(rank(names, 'main').map((n) => n.name)).toEqual(['main.handle', 'main.(*Pool).worker', 'runtime.main'])
    expect(rank(names, 'ime').map((n) => n.name)).toEqual(['Timeline', 'runtime.main'])
    expect(fit('PoolWorker', 'worker')).toBeGreaterThan(fit('networker', 'worker'))
  })
  it('is found by letters with others between them, close ones first', () => {
    expect(rank(names, 'mplw')[0]?.name).toBe('main.(*Pool).worker')
    expect(rank(names, 'xyz')).toEqual([])
  })
  it('is every one while nothing is typed', () => {
    expect(rank(names, ' ')).toEqual(names)
  })
  it('is found by the part that people say', () => {
    expect(rank([{ name: 'example.org/very/long/path.(*T).Serve', short: '(*T).Serve' }], '(*t)')).toHaveLength(1)
  })
})
