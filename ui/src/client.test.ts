import { describe, expect, it } from 'vitest'
import { plain, query } from './client'

// The same text as Go's url.Values.Encode gives: a report file is looked up by it.
describe('a query', () => {
  it('has its parameters sorted and empty ones left out', () => {
    expect(query('api/x', { r: 0, a: 'b', c: undefined, d: '' })).toBe('api/x?a=b&r=0')
    expect(query('api/x', {})).toBe('api/x')
    expect(query('api/x')).toBe('api/x')
  })
  it('escapes what Go escapes', () => {
    expect(query('p', { k: "a b+c~d*e'f(g)!h/i?j&k=l,m:n-._" })).toBe(
      'p?k=a+b%2Bc~d%2Ae%27f%28g%29%21h%2Fi%3Fj%26k%3Dl%2Cm%3An-._')
    expect(query('p', { k: 'ü世' })).toBe('p?k=%C3%BC%E4%B8%96')
  })
  it('survives half a character', () => {
    expect(query('p', { k: 'a\ud800b' })).toBe('p?k=a%EF%BF%BDb')
    expect(query('p', { k: '😀' })).toBe('p?k=%F0%9F%98%80')
  })
})

describe('a name', () => {
  const shown = (s: string) => (JSON.parse(plain(JSON.stringify({ s }))) as { s: string }).s
  it('that is harmless stays as it is', () => {
    for (const s of ['main.worker', '<img src=x>', '世界 😀', 'a\\u001b', 'C:\\b\\f', 'one\n\ttwo "three"']) expect(shown(s)).toBe(s)
  })
  it('shows the signs that cannot be seen', () => {
    expect(shown('\u001b[31mred\u0007')).toBe('\\x1b[31mred\\x07')
    expect(shown('\\\u001b')).toBe('\\\\x1b')
    expect(shown('a\u202eb\u200dc\u009f')).toBe('a\\u202eb\\u200dc\\u009f')
    expect(shown('\b\f\u2028\u{e0001}')).toBe('\\b\\f\\u2028\\U000e0001')
    expect(JSON.parse(plain('"\\u2028\\u0000"'))).toBe('\\u2028\\x00')
  })
})
