import { describe, expect, it } from 'vitest'
import { chartTimes, fieldOf, momentText, readSpan, rfc3339, stepFor, stepText } from './time'

const NOW = Date.parse('2026-11-25T12:00:00Z')
const HOUR = 3_600_000
const read = (query: string) => readSpan(new URLSearchParams(query), NOW)

describe('the time of an address', () => {
  it('is the last hours, until now', () => {
    expect(read('')).toEqual({ choice: '6h', from: NOW - 6 * HOUR, until: NOW, wrong: false })
    expect(read('span=7d')).toEqual({ choice: '7d', from: NOW - 7 * 24 * HOUR, until: NOW, wrong: false })
  })
  it('is from one moment to another', () => {
    expect(read('span=1h&from=2026-11-24T00:00:00Z&until=2026-11-24T06:00:00%2B00:00'))
      .toEqual({ choice: 'custom', from: Date.parse('2026-11-24T00:00:00Z'), until: Date.parse('2026-11-24T06:00:00Z'), wrong: false })
  })
  it('is the usual one where it is none, and says so', () => {
    for (const query of ['from=2026-11-24T06:00:00Z&until=2026-11-24T00:00:00Z', 'from=2026-11-24T00:00:00Z', 'until=soon', 'from=a&until=b']) {
      expect(read(query), query).toEqual({ ...read(''), wrong: true })
    }
    expect(read('span=2y')).toEqual(read(''))
    expect(read('span=constructor')).toEqual(read(''))
  })
  it('is asked for in whole seconds', () => {
    expect(rfc3339(NOW + 999)).toBe('2026-11-25T12:00:00Z')
  })
})

describe('a step', () => {
  it('makes no more points than are wanted', () => {
    for (const query of ['span=1h', 'span=6h', 'span=24h', 'span=7d', 'from=2020-01-01T00:00:00Z&until=2026-01-01T00:00:00Z']) {
      const span = read(query)
      for (const most of [60, 400]) expect((span.until - span.from) / stepFor(span, most), query).toBeLessThanOrEqual(most)
    }
  })
  it('is one that a clock has', () => {
    expect(stepText(stepFor(read('span=6h'), 60))).toBe('600s')
    expect(stepText(stepFor(read('span=1h'), 400))).toBe('15s')
  })
})

describe('a moment', () => {
  it('has its day where that is another', () => {
    const noon = new Date(2026, 10, 25, 12, 5).getTime()
    expect(momentText(noon, noon + HOUR)).toBe('12:05')
    expect(momentText(noon, noon + 24 * HOUR)).toBe('2026-11-25 12:05')
    expect(momentText(NaN)).toBe('–')
    expect(fieldOf(noon)).toBe('2026-11-25T12:05')
  })
  it('is as short under a chart as its step lets it be', () => {
    const times = chartTimes(new Date(2026, 10, 25, 12, 5).getTime())
    expect(times.tick(HOUR * 1e6, HOUR * 1e6)).toBe('13:05')
    expect(times.tick(0, 24 * HOUR * 1e6)).toBe('11-25')
    expect(times.moment(60e9)).toBe('2026-11-25 12:06')
  })
})
