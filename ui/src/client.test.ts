import { afterEach, describe, expect, it, vi } from 'vitest'
import { ahead, plain, query, take } from './client'

// The same text as Go's url.Values.Encode gives: a report file is looked up by it.
describe('a query', () => {
  it('has its parameters sorted, and those left out that have no value', () => {
    expect(query('api/x', { r: 0, a: 'b', c: undefined })).toBe('api/x?a=b&r=0')
    expect(query('api/x', { r: 0, group: '' })).toBe('api/x?group=&r=0') // the group without a name
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

describe('an answer that is asked for ahead', () => {
  afterEach(() => vi.unstubAllGlobals())

  interface Asked {
    where: string
    give(data: unknown): void
    refuse(status: number): void
  }

  function serve(): Asked[] {
    const asked: Asked[] = []
    vi.stubGlobal('fetch', (where: string, init: RequestInit) => new Promise<Response>((resolve, reject) => {
      init.signal?.addEventListener('abort', () => reject(init.signal?.reason))
      asked.push({
        where,
        give: (data) => resolve(new Response(JSON.stringify(data))),
        refuse: (status) => resolve(new Response('{"error":"not now"}', { status })),
      })
    }))
    return asked
  }

  it('is not asked for again', async () => {
    const asked = serve()
    ahead('api/one', { r: 0 })
    ahead('api/one', { r: 0 })
    const taken = take('api/one?r=0')
    ahead('api/one', { r: 0 })
    asked[0]!.give({ n: 1 })
    expect(await taken).toEqual({ n: 1 })
    ahead('api/one', { r: 0 }) // it is known now
    expect(asked.map((a) => a.where)).toEqual(['api/one?r=0'])
  })
  it('and is refused is asked for again by whom it is for', async () => {
    const asked = serve()
    ahead('api/two')
    const taken = take('api/two')
    asked[0]!.refuse(503)
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    asked[1]!.give(2)
    expect(await taken).toBe(2)
  })
  it('and is refused before anybody wants it is no error', async () => {
    const asked = serve()
    ahead('api/three')
    asked[0]!.refuse(404)
    await new Promise((resolve) => setTimeout(resolve))
    const taken = take('api/three')
    asked[1]!.refuse(404)
    await expect(taken).rejects.toThrow('not now')
    expect(asked).toHaveLength(2)
  })
  it('can be given up by each who asked, and be asked for anew', async () => {
    const asked = serve()
    ahead('api/four')
    const stop = ahead('api/four')
    const taken = take('api/four')
    stop()
    await vi.waitFor(() => expect(asked).toHaveLength(2))
    asked[1]!.give(4)
    expect(await taken).toBe(4)
  })
})
