import { describe, expect, it } from 'vitest'
import { mateOf } from './compare'

describe('the run to compare with', () => {
  const runs = (...programs: string[]) => programs.map((program) => ({ program }))
  it('is the next of the same program', () => {
    expect(mateOf(runs('a', 'b', 'a'), 0)).toBe(2)
    expect(mateOf(runs('a', 'b', 'a'), 2)).toBe(0)
  })
  it('is the next where no program is known, or no other is the same', () => {
    expect(mateOf(runs('', '', ''), 0)).toBe(1)
    expect(mateOf(runs('a', 'b', 'c'), 2)).toBe(0)
  })
})
