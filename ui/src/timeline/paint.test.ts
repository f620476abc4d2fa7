import { describe, expect, it } from 'vitest'
import { EMPTY, LOST, RARE, type LaneTile } from './decode'
import { STATES as NAMED } from '../state'
import { abgr, dark, ink, LOOKS, luminance, paint, peak, rgb, type Palette, type Pattern } from './paint'
import { BUCKETS } from './window'

const STATES = 2
const H = 20
const A = 0xff0000aa
const B = 0xff00bb00

const palette: Palette = {
  looks: [
    { colour: A, shade: 0xff0000ab, pattern: 'plain', height: 1 },
    { colour: B, shade: 0xff00bb01, pattern: 'plain', height: 0.5 },
  ],
  rare: 1, long: 2, lost: 3,
}

function tile(set: (shares: Uint8Array, marks: Uint8Array) => void, max = 1): LaneTile {
  const shares = new Uint8Array(BUCKETS * STATES)
  const marks = new Uint8Array(BUCKETS)
  set(shares, marks)
  return { max, shares, marks, spans: null, longest: null, bytes: 0 }
}

function column(t: LaneTile, b: number, o: { single?: boolean; top?: number; hidden?: boolean[] } = {}): number[] {
  const out = new Uint32Array(BUCKETS * H)
  paint(out, H, t, STATES, palette, o.hidden ?? [false, false], o.single ?? false, o.top ?? t.max)
  return Array.from({ length: H }, (_, y) => out[y * BUCKETS + b]!)
}

const count = (c: number[], v: number): number => c.filter((x) => x === v).length

describe('a painted column', () => {
  it('is as high as the numbers in it, running below', () => {
    const t = tile((s) => { s[0] = 128; s[1] = 127 }, 10)
    const c = column(t, 0)
    expect(count(c, A)).toBe(10)
    expect(count(c, B)).toBe(10)
    expect(c[H - 1]).toBe(A)
    expect(count(column(t, 0, { top: 20 }), A)).toBe(5)
  })
  it('has a pixel for the least that happened, below and above much of another', () => {
    const few = column(tile((s) => { s[0] = 1; s[1] = 200 }, 10_000), 0)
    expect(count(few, A)).toBe(1)
    const above = column(tile((s) => { s[0] = 255; s[1] = 1 }), 0, { single: true })
    expect(count(above, A)).toBe(H)
    const some = column(tile((s) => { s[0] = 100; s[1] = 1 }), 0, { single: true })
    expect(count(some, B)).toBe(1)
  })
  it('of a single lane has the height of its state', () => {
    const c = column(tile((s) => { s[1] = 255 }), 0, { single: true })
    expect(count(c, B)).toBe(H / 2)
  })
  it('leaves out what is hidden', () => {
    const t = tile((s) => { s[0] = 100; s[1] = 100 })
    expect(count(column(t, 0, { hidden: [true, false] }), A)).toBe(0)
    expect(peak(t, STATES, [true, false])).toBeCloseTo(100 / 255)
    expect(peak(t, STATES, [false, false])).toBeCloseTo(200 / 255)
  })
  it('shows marks where nothing else is, and lost evidence over all of its height', () => {
    const t = tile((_, m) => { m[7] = RARE; m[9] = LOST })
    expect(count(column(t, 7), 1)).toBeGreaterThan(1)
    expect(count(column(t, 8), 1)).toBe(0)
    expect(count(column(t, 9), 3)).toBe(H / 4)
  })
  it('does not go beyond the picture when a scale is too small', () => {
    const c = column(tile((s) => { s[0] = 255; s[1] = 255 }, 100), 3 * 0, { top: 1 })
    expect(count(c, A)).toBe(H)
  })
  it('of an empty tile is empty', () => {
    expect(column(EMPTY, 0).every((v) => v === 0)).toBe(true)
  })
})

describe('how states look', () => {
  it('differs in the pattern, not in colour alone', () => {
    const picture = (p: Pattern) => Array.from({ length: 60 * 60 }, (_, i) => (dark(p, i % 60, Math.floor(i / 60)) ? 1 : 0)).join('')
    const pictures = Object.values(LOOKS).map((l) => picture(l.pattern))
    expect(new Set(pictures).size).toBe(pictures.length)
    expect(Object.keys(LOOKS)).toEqual(Object.keys(NAMED))
    expect(new Set(Object.values(NAMED).map((l) => l.letter)).size).toBe(pictures.length)
  })
  it('repeats without a seam every 60 pixels', () => {
    for (const { pattern } of Object.values(LOOKS)) {
      for (let i = 0; i < 60; i++) {
        expect(dark(pattern, i + 60, 7)).toBe(dark(pattern, i, 7))
        expect(dark(pattern, 7, i + 60)).toBe(dark(pattern, 7, i))
      }
    }
  })
})

describe('colours', () => {
  it('are read in the forms that browsers give', () => {
    expect(rgb('#fff')).toEqual([255, 255, 255])
    expect(rgb(' #1f7a4d')).toEqual([0x1f, 0x7a, 0x4d])
    expect(rgb('rgb(1, 2, 3)')).toEqual([1, 2, 3])
    expect(rgb('rgb(1 2 3 / 50%)')).toEqual([1, 2, 3])
    expect(rgb('nonsense')).toEqual([128, 128, 128])
    expect(abgr('#010203')).toBe(0xff030201)
  })
  it('have ink that can be read on them', () => {
    const contrast = (a: number, b: number) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    for (let r = 0; r < 256; r += 51) for (let g = 0; g < 256; g += 51) for (let b = 0; b < 256; b += 51) {
      expect(contrast(luminance([r, g, b]), ink([r, g, b]) === '#000' ? 0 : 1)).toBeGreaterThanOrEqual(4.5)
    }
  })
})
