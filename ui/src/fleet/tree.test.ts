import { describe, expect, it } from 'vitest'
import { change } from '../flame/diff'
import { sums } from '../flame/testing'
import { fromColumns, leftOut, without } from '../flame/tree'
import type { FlameAnswer, Side } from './api'
import { columnsOf, kindOf, kindsOf, scaleOf } from './tree'

const side = (total: number, covered_ns: number, operations = 0): Side => ({ version: 'v', total, covered_ns, operations })
const alone: FlameAnswer = {
  unit: 'nanoseconds', head: side(100, 10), functions: ['main.main', 'runtime.gc', 'example.com/a.F'], files: ['a.go', 'b.go', 'c.go'],
  root: [-1, 0, 100, [[0, 10, 95, [[1, 20, 20], [2, 60, 60], [-2, 5, 5]]], [-2, 5, 5]]],
}
const both: FlameAnswer = {
  ...alone, head: side(100, 10, 50), base: side(80, 10, 100),
  root: [-1, 0, 100, 0, 80, [[0, 10, 95, 8, 80, [[1, 20, 20, 64, 64], [2, 60, 60, 0, 0], [-2, 5, 5, 8, 8]]], [-2, 5, 5, 0, 0]]],
}

describe('a tree of a fleet', () => {
  it('has all that was sent, the largest first, what was too small in its caller', () => {
    const c = columnsOf(alone, 'cpu')
    expect(c.func).toEqual([-1, 0, 2, 1])
    const t = fromColumns(c)
    expect(sums(t)).toEqual({ '': 100, '/main.main': 95, '/main.main/example.com/a.F': 60, '/main.main/runtime.gc': 20 })
    expect(leftOut(t)).toBe(10)
    expect(t.base).toBeNull()
    expect(c.left_nodes).toBe(2)
  })
  it('of two versions has the base at as much work as the head', () => {
    const c = columnsOf(both, 'cpu')
    expect([c.ratio, c.per_what, c.base_total]).toEqual([0.5, 'operation', 40])
    const t = fromColumns(c)
    expect([...t.base!.sum]).toEqual([40, 40, 0, 32])
    expect([...t.base!.self]).toEqual([0, 4, 0, 32])
    expect([...t.base!.rest]).toEqual([0, 4, 0, 0])
    expect(change(t.sum[2]!, t.base!.sum[2]!).kind).toBe('new')
    expect(change(t.sum[3]!, t.base!.sum[3]!).ratio).toBeCloseTo(-0.375)
    expect([...without(t, ['runtime']).base!.sum]).toEqual([40, 40, 0])
  })
  it('of nothing is a root', () => {
    expect(fromColumns(columnsOf({ ...alone, head: side(0, 0), functions: [], files: [], root: [-1, 0, 0] }, 'cpu')).n).toBe(1)
  })
  it('may be deeper than a script may call itself', () => {
    let root: FlameAnswer['root'] = [0, 1, 1]
    for (let i = 0; i < 50_000; i++) root = [0, 0, 1, [root]]
    expect(fromColumns(columnsOf({ ...alone, root: [-1, 0, 1, [root]] }, 'cpu')).rows).toBe(50_002)
  })
})

describe('two sides', () => {
  it('are compared by operation, else by second, else as they are', () => {
    expect(scaleOf(side(1, 30, 4), side(1, 10, 2))).toEqual({ ratio: 2, per: 'operation' })
    expect(scaleOf(side(1, 30, 4), side(1, 10, 0))).toEqual({ ratio: 3, per: 'second' })
    expect(scaleOf(side(1, 30), side(1, 0))).toEqual({ ratio: 1, per: '' })
  })
})

describe('whose a function is', () => {
  it('follows from its name', () => {
    const kinds = { 'runtime.mallocgc': 3, 'runtime/internal/atomic.Load': 3, 'internal/runtime/maps.(*Map).get': 3, 'encoding/json.Marshal': 2, 'strings.(*Builder).Grow': 2, 'main.main': 0, 'github.com/a/b.F': 0, 'example.com/x.(*T).M': 0, '(no stack)': 0, x: 0 }
    expect(Object.fromEntries(Object.keys(kinds).map((name) => [name, kindOf(name)]))).toEqual(kinds)
  })
})

describe('kinds of stacks', () => {
  it('are named as the server names them, CPU first', () => {
    expect(kindsOf(['wall:wall:nanoseconds:cpu:nanoseconds', 'memory:inuse_space:bytes:space:bytes', 'operations:operations:count:operations:count', 'process_cpu:cpu:nanoseconds:cpu:nanoseconds', 'memory:inuse_space:bytes:space:bytes']))
      .toEqual(['cpu', 'inuse_space', 'wall:wall:nanoseconds:cpu:nanoseconds'])
  })
})
