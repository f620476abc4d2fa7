import { describe, expect, it } from 'vitest'
import { scrollToRow, virtualWindow } from './virtual'

const ROW = 30

describe('the window of rows', () => {
  it('draws all of a short list, at its top', () => {
    expect(virtualWindow(0, 560, 5, ROW)).toEqual({ first: 0, end: 5, top: 0, height: 150 })
  })
  it('draws a few of many, where they belong', () => {
    const w = virtualWindow(30 * 1000, 600, 100_000, ROW)
    expect(w.first).toBeLessThanOrEqual(1000)
    expect(w.end).toBeGreaterThanOrEqual(1020)
    expect(w.end - w.first).toBeLessThan(60)
    expect(w.top).toBe(w.first * ROW)
    expect(w.height).toBe(3_000_000)
  })
  it('covers the view at every place, however long the list is', () => {
    for (const rows of [1, 7, 100, 100_000, 5_000_000]) {
      const view = 555
      const { height } = virtualWindow(0, view, rows, ROW)
      for (let i = 0; i <= 50; i++) {
        const scroll = (Math.max(0, height - view) * i) / 50
        const w = virtualWindow(scroll, view, rows, ROW)
        expect(w.top).toBeLessThanOrEqual(scroll + 1e-6)
        const bottom = w.top + (w.end - w.first) * ROW
        expect(bottom).toBeGreaterThanOrEqual(Math.min(scroll + view, rows * ROW) - 1e-6)
        expect(w.end - w.first).toBeLessThanOrEqual(Math.ceil(view / ROW) + 20)
      }
    }
  })
  it('shows the last row of a list that is higher than a browser can be', () => {
    const rows = 5_000_000, view = 600
    const { height } = virtualWindow(0, view, rows, ROW)
    expect(height).toBeLessThan(17_000_000)
    const w = virtualWindow(height - view, view, rows, ROW)
    expect(w.end).toBe(rows)
    expect(w.top + (w.end - w.first) * ROW).toBeCloseTo(height, 3)
  })
  it('has nothing of nothing', () => {
    expect(virtualWindow(0, 560, 0, ROW)).toMatchObject({ first: 0, end: 0, height: 0 })
  })
})

describe('scrolling to a row', () => {
  it('stays when the row is in view', () => {
    expect(scrollToRow(3, 0, 600, 1000, ROW)).toBe(0)
  })
  it('brings a row below to the bottom and one above to the top', () => {
    expect(scrollToRow(100, 0, 600, 1000, ROW)).toBeCloseTo(101 * ROW - 600, 6)
    expect(scrollToRow(2, 900, 600, 1000, ROW)).toBeCloseTo(60, 6)
  })
  it('reaches every row of a very long list', () => {
    const rows = 2_000_000, view = 600
    for (const row of [0, 1, 77, 999_999, 1_999_998, 1_999_999]) {
      const scroll = scrollToRow(row, 4_000_000, view, rows, ROW)
      const w = virtualWindow(scroll, view, rows, ROW)
      expect(w.first).toBeLessThanOrEqual(row)
      expect(w.end).toBeGreaterThan(row)
      const at = w.top + (row - w.first) * ROW - scroll
      expect(at).toBeGreaterThan(-1)
      expect(at + ROW).toBeLessThan(view + 1)
    }
  })
})
