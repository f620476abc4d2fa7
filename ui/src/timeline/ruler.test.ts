import { describe, expect, it } from 'vitest'
import { exact, ruler, step } from './ruler'

describe('the ruler', () => {
  it('has round steps', () => {
    expect([1, 1.5, 3, 7, 40, 99, 100, 101, 6e8].map(step)).toEqual([1, 2, 5, 10, 50, 100, 100, 200, 1e9])
  })
  it('puts ticks inside of the window, evenly, and not too close', () => {
    for (let wide = 200; wide < 1e13; wide *= 3.1) {
      const w = { from: 7.7 * wide, to: 8.7 * wide }
      const { ticks } = ruler(w, 1000, 100)
      expect(ticks.length).toBeLessThanOrEqual(11)
      expect(ticks.length).toBeGreaterThanOrEqual(3)
      for (const t of ticks) expect(t.at >= w.from && t.at <= w.to).toBe(true)
      const by = ticks[1]!.at - ticks[0]!.at
      ticks.slice(1).forEach((t, i) => expect(t.at - ticks[i]!.at).toBeCloseTo(by, 3))
    }
  })
  it('tells neighbouring ticks apart, deep inside of a long recording', () => {
    const w = { from: 3_600e9 + 123_456_789, to: 3_600e9 + 123_457_789 }
    const { ticks, base } = ruler(w, 1200)
    expect(new Set(ticks.map((t) => t.label)).size).toBe(ticks.length)
    expect(base).toMatch(/ s$/)
    for (const t of ticks) expect(t.label.length).toBeLessThan(20)
  })
  it('labels full times where the numbers are short', () => {
    const { ticks, base } = ruler({ from: 0, to: 3e9 }, 1000)
    expect(base).toBe('')
    expect(ticks[0]!.label).toBe('0.0 s')
    expect(ticks.every((t) => t.full)).toBe(true)
  })
  it('writes no digit that the step does not need', () => {
    expect(exact(1_500_000, 1_500_000, 500_000)).toBe('1.5 ms')
    expect(exact(2_000_000, 2_000_000, 1_000_000)).toBe('2 ms')
    expect(exact(250, 250, 50)).toBe('250 ns')
  })
})
