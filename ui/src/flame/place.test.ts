import { describe, expect, it } from 'vitest'
import { change, shade, SHADES, signed } from './diff'
import { findFocus, markOf, readView, writeSpan } from './place'
import { bag, tree } from './testing'
import { fit, plain, short } from './text'
import { nameOf } from './tree'

describe('the URL', () => {
  it('is read, whatever stands in it', () => {
    const v = readView(new URLSearchParams('kind=net&view=icicle&hide=runtime,nonsense,std&x=0.25-0.5&sort=-total&inv=1&base=1'))
    expect(v).toMatchObject({ kind: 'net', view: 'icicle', hide: ['std', 'runtime'], window: { from: 0.25, to: 0.5 }, sort: 'total', desc: true, inverted: true, base: '1' })
    const odd = readView(new URLSearchParams('view=nonsense&x=0.5-0.25&base=-1&sort=file'))
    expect(odd).toMatchObject({ view: 'flame', window: null, base: '', sort: 'file', desc: false })
    for (const x of ['1e9-2', 'NaN-1', '0-0', '--', '0.1', '-0.5-1', '0-1.5']) expect(readView(new URLSearchParams({ x })).window).toBeNull()
  })
  it('keeps a window to a thousandth of its width', () => {
    for (const s of [{ from: 0.1234567, to: 0.1234569 }, { from: 0.3, to: 0.9 }, { from: 0, to: 1e-7 }]) {
      const back = readView(new URLSearchParams({ x: writeSpan(s)! })).window!
      expect(Math.abs(back.from - s.from) + Math.abs(back.to - s.to)).toBeLessThan((s.to - s.from) / 1000)
    }
    expect(writeSpan({ from: 0, to: 1 })).toBeNull()
  })
})

describe('the mark of a path', () => {
  it('finds its node again, in another tree too', () => {
    const t = tree(...bag(3, 60)), other = tree(...bag(3, 60), ['zz;zy', 500])
    for (let i = 1; i < t.n; i++) {
      expect(findFocus(t, markOf(t, i))).toBe(i)
      const there = findFocus(other, markOf(t, i))
      expect(nameOf(other, there)).toBe(nameOf(t, i))
    }
    expect(new Set(Array.from({ length: t.n }, (_, i) => markOf(t, i))).size).toBe(t.n)
  })
  it('may be a function: its largest frame', () => {
    const t = tree(['ma;mf', 1], ['mb;mf', 5], ['mb', 9])
    const i = findFocus(t, 'mf')
    expect([nameOf(t, i), t.sum[i], nameOf(t, t.parent[i]!)]).toEqual(['mf', 5, 'mb'])
    for (const f of ['', 'nonsense', '~1.1', '~', '~zzzzzzzzzzzzz.1']) expect(findFocus(t, f)).toBe(0)
  })
})

describe('names', () => {
  it('are cut to their room, the function last', () => {
    const name = 'github.com/x/y.(*T[go.shape.struct { a/b.C }]).Do'
    expect(short(name)).toBe('y.(*T[go.shape.struct { a/b.C }]).Do')
    expect(fit('net/http.(*conn).serve', 30)).toBe('net/http.(*conn).serve')
    expect(fit('net/http.(*conn).serve', 18)).toBe('http.(*conn).serve')
    expect(fit('net/http.(*conn).serve', 13)).toBe('(*conn).serve')
    expect(fit('net/http.(*conn).serve', 8)).toBe('(*conn)…')
    expect(fit('runtime.memmove', 7)).toBe('memmove')
    expect(fit('schedule.part.0', 9)).toBe('schedule…')
    expect(fit('[blocked: a.b]', 7)).toBe('[block…')
    expect(fit('net/http.(*conn).serve', 2)).toBe('')
    expect(fit('函数名字', 7)).toBe('函数名…')
  })
  it('have a sign for what has no shape', () => {
    expect(plain('a\u001b[31m\u202eb\n\u200bc')).toBe('a\ufffd[31m\ufffdb\ufffd\ufffdc')
    expect(plain('<b>&amp; é 名')).toBe('<b>&amp; é 名')
  })
})

describe('a change', () => {
  it('has a kind, a sign and a shade', () => {
    expect(change(5, 0)).toMatchObject({ kind: 'new', delta: 5 })
    expect(change(0, 5)).toMatchObject({ kind: 'gone', ratio: -1 })
    expect(change(1000, 1001).kind).toBe('same')
    expect(change(3, 2)).toMatchObject({ kind: 'more', ratio: 0.5 })
    expect([shade(5, 0), shade(0, 5), shade(5, 5), shade(0, 0)]).toEqual([SHADES, -SHADES, 0, 0])
    expect(shade(11, 10)).toBeGreaterThan(0)
    expect(shade(10, 11)).toBeLessThan(0)
  })
  it('is written with its sign', () => {
    expect([0.5, -0.25, 0.031, 12].map(signed)).toEqual(['+50%', '−25%', '+3.1%', '+1200%'])
  })
})
