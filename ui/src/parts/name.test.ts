import { describe, expect, it } from 'vitest'
import { headAndTail } from './name'

describe('a name that has to be cut', () => {
  it('keeps its end: the method, the function, the file and line', () => {
    expect(headAndTail('net/http.(*connReader).backgroundRead')).toEqual(['net/http.(*connReader).', 'backgroundRead'])
    expect(headAndTail('/tmp/shop/internal/price/table.go:58')).toEqual(['/tmp/shop/internal/price/', 'table.go:58'])
    expect(headAndTail('main.main')).toEqual(['main.', 'main'])
  })
  it('is not cut in its type arguments, and a single word not at all', () => {
    expect(headAndTail('shop/cache.Get[go.shape.string,a/b.T]')).toEqual(['shop/cache.', 'Get[go.shape.string,a/b.T]'])
    expect(headAndTail('trace.out')).toEqual(['trace.', 'out'])
    expect(headAndTail('manifest')).toEqual(['', 'manifest'])
    expect(headAndTail('table.go')).toEqual(['', 'table.go'])
    expect(headAndTail('')).toEqual(['', ''])
  })
})
