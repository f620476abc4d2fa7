import { describe, expect, it } from 'vitest'
import type { Held, Recording } from './api'
import { holderRows } from './held'

const held = (name: string, bytes: number, grew?: number): Held => ({ kind: 'global', name, way: name + ' → []byte', bytes, ...(grew === undefined ? {} : { grew_bytes: grew }) })

function run(start: string, list?: Held[]): Recording {
  return { id: start, service: 'shop', start, kept: start, duration_ns: 5e9, bytes: 1, diagnosis: { state: 'done', ...(list ? { held: list } : {}) } }
}

describe('holderRows', () => {
  it('puts the looks in the order of time, and what is held most last first', () => {
    const { looks, rows } = holderRows([
      run('2026-11-28T12:00:00Z', [held('cache', 300, 20), held('pool', 10)]),
      run('2026-11-28T11:00:00Z'),
      run('2026-11-28T10:00:00Z', [held('cache', 100, 10), held('index', 50)]),
    ])
    expect(looks.map((r) => r.start)).toEqual(['2026-11-28T10:00:00Z', '2026-11-28T12:00:00Z'])
    expect(rows.map((r) => [r.way, r.over, r.last, r.grew])).toEqual([
      ['cache → []byte', [100, 300], 300, 20],
      ['index → []byte', [50, null], 50, null],
      ['pool → []byte', [null, 10], 10, null],
    ])
  })
  it('tells goroutines from a variable of the same name', () => {
    const { rows } = holderRows([run('2026-11-28T10:00:00Z', [held('main.run', 5), { ...held('main.run', 4), kind: 'goroutines' }])])
    expect(rows).toHaveLength(2)
  })
  it('has no rows without a look', () => {
    expect(holderRows([run('2026-11-28T10:00:00Z')])).toEqual({ looks: [], rows: [] })
  })
})
