import { describe, expect, it } from 'vitest'
import type { Killed, Recording } from './api'
import { killedText, killsOf } from './killed'
import { momentText } from './time'

const at = '2026-11-28T12:03:00Z'

function run(id: string, killed?: Killed): Recording {
  return { id, service: 'shop', start: at, kept: at, duration_ns: 5e9, bytes: 1, diagnosis: { state: 'done' }, ...(killed ? { killed } : {}) }
}

describe('killsOf', () => {
  it('has those that were killed, the last first, and counts what is beyond five', () => {
    const runs = [1, 7, 3, 5, 2, 6, 4].map((n) => run(String(n), { at: `2026-11-28T1${n}:00:00Z` }))
    const { shown, more } = killsOf([run('none'), ...runs])
    expect(shown.map((r) => r.id)).toEqual(['7', '6', '5', '4', '3'])
    expect(more).toBe(2)
    expect(killsOf([run('none')])).toEqual({ shown: [], more: 0 })
  })
})

describe('killedText', () => {
  const time = momentText(Date.parse(at))
  it('says the limit and how old the evidence was', () => {
    expect(killedText(run('a', { at, of: 'memory.max', limit_bytes: 256 << 20, age_ns: 11e9 })))
      .toBe(`Killed at ${time} by the memory limit, memory.max (256 MiB); evidence from 11.0 s before.`)
  })
  it('says what is not known of it', () => {
    expect(killedText(run('a', { at }))).toBe(`Killed at ${time}, for the machine had no memory left.`)
  })
})
