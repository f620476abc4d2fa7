import { describe, expect, it } from 'vitest'
import { wall, wallTimes } from './times'
import { asked, readView, spanBeside } from './view'

const view = (q: string) => readView(new URLSearchParams(q))

describe('the address', () => {
  it('means the last minute when it says nothing', () => expect(view('')).toEqual({ pid: undefined, span: 60, window: null }))
  it('names program, length and window', () => expect(view('pid=42&span=300&from=1000&to=2000')).toEqual({ pid: '42', span: 300, window: { from: 1000, to: 2000 } }))
  it('is not believed where it makes no sense', () => expect(view('pid=-1&span=7&from=2&to=1')).toEqual({ pid: undefined, span: 60, window: null }))
})

it('windows get longer and shorter within what is kept', () => {
  expect([spanBeside(60, 1), spanBeside(300, 1), spanBeside(900, 1), spanBeside(60, -1)]).toEqual([300, 900, 900, 60])
})

describe('what is asked of the flame graph', () => {
  const piece = (from_ms: number, to_ms: number) => ({ from_ms, to_ms, traced: false })
  const pieces = [piece(0, 10_000), piece(10_000, 20_000), piece(20_000, 50_000)]
  it('is the last half minute that was recorded', () => expect(asked(pieces, null)).toEqual({ from: 20_000, to: 50_000 }))
  it('is what there is at first', () => expect(asked(pieces.slice(0, 1), null)).toEqual({ from: 0, to: 10_000 }))
  it('is nothing without a piece', () => {
    expect(asked([], null)).toBeNull()
    expect(asked(pieces, { from: 60_000, to: 70_000 })).toBeNull()
  })
  it('is the window, up to what was recorded of it', () => {
    expect(asked(pieces, { from: 5000, to: 12_000 })).toEqual({ from: 5000, to: 12_000 })
    expect(asked(pieces, { from: 45_000, to: 60_000 })).toEqual({ from: 45_000, to: 50_000 })
  })
})

describe('the clock', () => {
  const noon = new Date(2026, 10, 25, 12, 3, 20, 456).getTime()
  it('shows as much as a step needs', () => {
    expect([wall(noon), wall(noon, 100), wall(noon, 10), wall(noon, 1)]).toEqual(['12:03:20', '12:03:20.4', '12:03:20.45', '12:03:20.456'])
  })
  it('is that of the charts', () => {
    const times = wallTimes(noon - 456)
    expect(times.tick(10e9, 10e9)).toBe('12:03:30')
    expect(times.tick(40e9, 60e9)).toBe('12:04')
    expect(times.moment(1.5e9)).toBe('12:03:21.5')
  })
})
