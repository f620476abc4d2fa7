import { describe, expect, it } from 'vitest'
import { at, axis, bytes, cell, count, dur, num, share } from './format'

describe('a duration', () => {
  it.each([
    [0, '0'], [1, '1 ns'], [999, '999 ns'], [1000, '1.00 µs'], [999_499, '999 µs'], [999_500, '1.00 ms'],
    [1_580_000, '1.58 ms'], [63_700, '63.7 µs'], [345_000, '345 µs'], [3e9, '3.00 s'], [599e9, '599 s'],
    [600e9, '10m0s'], [3723e9, '1h2m3s'], [-2e6, '-2.00 ms'], [NaN, '–'], [Infinity, '–'],
  ])('of %d ns is %s', (ns, want) => expect(dur(ns)).toBe(want))
})

describe('an amount', () => {
  it.each([
    [0, '0'], [1, '1'], [59.4, '59.4'], [37534.2, '37,534'], [659225, '659,225'], [1e6, '1,000,000'],
    [1.224, '1.22'], [0.776, '0.776'], [0.0003712, '0.000371'], [1e15, '1000000000000000'], [-1234, '-1,234'], [NaN, '–'],
  ])('%d is %s', (n, want) => expect(count(n)).toBe(want))
  it('has as many figures where rounding adds a digit', () => {
    expect(count(9.999)).toBe('10.0')
    expect(count(99.96)).toBe('100')
  })
  it.each([[0, '0 B'], [1023, '1,023 B'], [1024, '1 KiB'], [1536, '1.50 KiB'], [5 * 2 ** 30, '5 GiB'], [2 ** 60, '1,048,576 TiB']])(
    '%d bytes are %s', (n, want) => expect(bytes(n)).toBe(want))
  it.each([[0, '0%'], [1, '100%'], [0.984, '98.4%'], [0.0004, '0.04%'], [0.00000034, '0.00003%'], [12.5, '1250%']])(
    'the share %d is %s', (x, want) => expect(share(x)).toBe(want))
})

describe('a number with its unit', () => {
  it.each([
    [1, 'cores', '1 core'], [1.22, 'cores', '1.22 cores'], [0.00158, 'seconds', '1.58 ms'], [0.984, 'ratio', '98.4%'],
    [1.63, 'ratio', '×1.63'], [37534, 'per second', '37,534/s'], [2048, 'bytes', '2 KiB'], [7, 'count', '7'], [1500, 'ns', '1.50 µs'],
    [3, '<b>', '3 <b>'],
  ])('%d %s is %s', (n, unit, want) => expect(num(n, unit)).toBe(want))
})

describe('a moment', () => {
  it('has the places that it is exact to', () => {
    expect(at(1_234_567_890)).toBe('1.234 567 89 s')
    expect(at(1_234_567_890, 1e6)).toBe('1.235 s')
    expect(at(0)).toBe('0 s')
    expect(at(1_500_000_000)).toBe('1.5 s')
    expect(at(61_000_000_000, 1e9)).toBe('61 s')
    expect(at(-5, 1)).toBe('-0.000 000 005 s')
  })
  it('tells apart what is a step apart', () => {
    for (const step of [1, 10, 1e3, 5e4, 1e6, 2e8]) expect(at(1e9, step)).not.toBe(at(1e9 + step, step))
  })
})

describe('a column', () => {
  const places = (text: string) => text.replace(/ [^ ]*$/, '').replace(/[,. ]/g, '')
  it('of moments has the same places in each', () => {
    const column = [0, 1_500_000_000, 1_234_567_890, 12_000_000_000, 999].map((ns) => at(ns, 1000))
    expect(column).toEqual(['0.000 000 s', '1.500 000 s', '1.234 568 s', '12.000 000 s', '0.000 001 s'])
    for (const step of [1, 1e3, 1e6, 2e8]) {
      const ends = [0, 5e8, 1e9, 1_234_567_890].map((ns) => at(ns, step).split('.')[1])
      expect(new Set(ends.map((e) => e?.length)).size).toBe(1)
    }
  })
  it.each([
    [[1e9, 1.5e9, 1.234e9, 12e9, 1e6, 1500], 'ns', ['1.00 s', '1.50 s', '1.23 s', '12.0 s', '1.00 ms', '1.50 µs']],
    [[1, 1.5, 0.01], 'seconds', ['1.00 s', '1.50 s', '10.0 ms']],
    [[1024, 1536, 2 ** 30, 10 * 2 ** 20, 1000 * 2 ** 20], 'bytes', ['1.00 KiB', '1.50 KiB', '1.00 GiB', '10.0 MiB', '1,000 MiB']],
  ])('of %j %s has three figures in each', (values, unit, want) => {
    const got = values.map((v) => cell(v, unit))
    expect(got).toEqual(want)
    for (const text of got) expect(places(text).length).toBeGreaterThanOrEqual(3)
  })
  it('of bytes and of counts has no parts of one', () => {
    expect(cell(0, 'bytes')).toBe('0 B')
    expect(cell(512, 'bytes')).toBe('512 B')
    expect(cell(7, 'count')).toBe('7')
    expect(cell(NaN, 'bytes')).toBe('–')
    expect(cell(2 ** 60, 'bytes')).toBe('1,048,576 TiB')
  })
})

describe('an axis', () => {
  it.each([
    [[0, 0.5, 1, 1.5, 2], 'count', ['0.0', '0.5', '1.0', '1.5', '2.0']],
    [[0, 1, 2], 'count', ['0', '1', '2']],
    [[0, 0.25, 0.5], '', ['0.00', '0.25', '0.50']],
    [[0, 20000, 40000], 'per second', ['0/s', '20,000/s', '40,000/s']],
    [[0, 0.2, 0.4, 0.6], 'share', ['0%', '20%', '40%', '60%']],
    [[0, 0.0005, 0.001], 'share', ['0.00%', '0.05%', '0.10%']],
    [[0, 0.5, 1], 'cores', ['0.0 cores', '0.5 cores', '1.0 core']],
    [[0, 5e8, 1e9], 'ns', ['0', '500 ms', '1.00 s']],
    [[7], 'count', ['7']],
    [[], 'count', []],
    [[1000, 1000.5], '', ['1,000.0', '1,000.5']],
  ])('%j %s has the places of its step', (values, unit, want) => expect(axis(values, unit)).toEqual(want))
})
