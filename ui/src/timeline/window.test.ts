import { describe, expect, it } from 'vitest'
import { around, BUCKETS, fit, keep, levelFor, pan, SHORTEST, tileNs, tilesOf, timeAt, xOf, zoom } from './window'

const end = 1e9

describe('a window', () => {
  it('stays within the recording, however it is moved', () => {
    for (const ns of [-5e9, -1, 0, 1, 3e8, 7e9]) {
      const w = pan({ from: 2e8, to: 3e8 }, ns, end)
      expect(w.from).toBeGreaterThanOrEqual(0)
      expect(w.to).toBeLessThanOrEqual(end)
      expect(w.to - w.from).toBeCloseTo(1e8)
    }
  })
  it('keeps what lies under the pointer while it zooms', () => {
    const w = { from: 1e8, to: 5e8 }
    const at = 2e8
    for (const factor of [0.5, 0.01, 1.2]) {
      const z = zoom(w, at, factor, end)
      expect(xOf(z, 1000, at)).toBeCloseTo(xOf(w, 1000, at), 6)
    }
  })
  it('becomes no shorter than a clock’s tick and no longer than everything', () => {
    const short = zoom({ from: 0, to: 1000 }, 500, 1e-9, end)
    expect(short.to - short.from).toBe(SHORTEST)
    expect(zoom({ from: 4e8, to: 5e8 }, 4.5e8, 1e9, end)).toEqual({ from: 0, to: end })
  })
  it('of an address that makes no sense is everything', () => {
    expect(keep({ from: NaN, to: 5 }, end)).toEqual({ from: 0, to: end })
    expect(keep({ from: -Infinity, to: Infinity }, end)).toEqual({ from: 0, to: end })
    const behind = keep({ from: 5e9, to: 6e9 }, end)
    expect(behind.to).toBeLessThanOrEqual(end)
  })
  it('around a moment in sight is the same one; around another it holds it', () => {
    const w = { from: 1e8, to: 2e8 }
    expect(around(w, 1.5e8, end)).toBe(w)
    const moved = around(w, 8e8, end)
    expect(moved.from).toBeLessThan(8e8)
    expect(moved.to).toBeGreaterThan(8e8)
    expect(moved.to - moved.from).toBeCloseTo(1e8)
  })
  it('fits a stretch with air on both sides, and one without length', () => {
    const w = fit(3e8, 4e8, end)
    expect(w.from).toBeLessThan(3e8)
    expect(w.to).toBeGreaterThan(4e8)
    const moment = fit(3e8, 3e8, end)
    expect(moment.to - moment.from).toBeGreaterThanOrEqual(SHORTEST)
    expect(moment.from <= 3e8 && moment.to >= 3e8).toBe(true)
  })
  it('maps pixels to times and back', () => {
    const w = { from: 123_456, to: 987_654 }
    for (const x of [0, 1, 511.5, 1000]) expect(xOf(w, 1000, timeAt(w, 1000, x))).toBeCloseTo(x, 6)
  })
})

describe('the level of tiles', () => {
  it('has buckets of one to two pixels, whatever the zoom', () => {
    for (let ns = 100; ns < 1e12; ns *= 1.37) {
      const perPixel = ns / 1234
      const level = levelFor(perPixel, 0, 60)
      const pixels = 2 ** level / perPixel
      if (level > 0) expect(pixels).toBeGreaterThanOrEqual(1 - 1e-6)
      if (level > 0) expect(pixels).toBeLessThan(2 + 1e-6)
    }
  })
  it('is one that the server has', () => {
    expect(levelFor(0.001, 6, 30)).toBe(6)
    expect(levelFor(1e15, 6, 30)).toBe(30)
  })
  it('covers the window with its tiles, and with no tile too many', () => {
    for (const w of [{ from: 0, to: 1000 }, { from: tileNs(4), to: tileNs(4) * 3 }, { from: 12_345, to: 999_999 }]) {
      const [first, last] = tilesOf(w, 4)
      expect(first * tileNs(4)).toBeLessThanOrEqual(w.from)
      expect((first + 1) * tileNs(4)).toBeGreaterThan(w.from)
      expect((last + 1) * tileNs(4)).toBeGreaterThanOrEqual(w.to)
      expect(last * tileNs(4)).toBeLessThan(w.to)
    }
    expect(tileNs(0)).toBe(BUCKETS)
  })
})
