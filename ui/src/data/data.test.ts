import { describe, expect, it } from 'vitest'
import { accountParts, chosenColumns, columnsParam, defaultColumns } from './accounts'
import { changeText } from './interval'
import { MOST_ROWS, placeInRows } from './lanes'
import { utilAt } from './mmu'
import { metricInfo, metricText, rowRatio, type Round } from './results'
import { median, pairsOf } from './rounds'
import { States } from '../api'
import { stateName, stateOf, waitState } from '../state'
import { lawAt, usable } from './tune'
import { range } from './twolines'
import { ownText } from './twotrials'
import { matesOf } from '../screens/compare'
import { bars, commonSpan } from '../parts/histogram'
import { tableText, track } from '../parts/table'

const keys = ['group', 'start', 'count', 'runs', 'total', 'running', 'runnable', 'syscall', 'syscall_blocked', 'blocked', 'blocked:chan receive', 'blocked:network', 'blocked:sleep', 'unknown', 'range:GC mark assist', 'delay_p99']
const columns = keys.map((key) => ({ key, unit: key === 'group' || key === 'start' ? 'text' : key === 'count' ? 'count' : 'ns' }))
const cells = ['main.work', 'a.go:1', 3, 9, 100, 10, 5, 3, 2, 75, 40, 20, 5, 5, 7, 1]

describe('the bar of an account', () => {
  const parts = Object.fromEntries(accountParts(columns, cells).map((p) => [p.state, p.value]))
  it('adds up to its total', () => {
    expect(Object.values(parts).reduce((a, b) => a + b, 0)).toBe(100)
  })
  it('has waits by what they are for, those without a column as other', () => {
    expect(parts).toEqual({ running: 10, runnable: 5, syscall: 5, sync: 40, net: 20, wait: 15, unknown: 5 })
  })
  it('draws reasons as the timeline does', () => {
    expect(['network', 'chan send', 'sync.(*Cond).Wait', 'select', 'sleep'].map(waitState)).toEqual(['net', 'sync', 'sync', 'sync', 'wait'])
  })
  it('takes what a goroutine waits for from beside its status', () => {
    expect([stateOf('waiting', 'IO wait'), stateOf('waiting', 'sync.Mutex.Lock'), stateOf('waiting'), stateOf('running'), stateOf('constructor')])
      .toEqual(['net', 'sync', 'wait', 'running', 'wait'])
  })
  it('calls states what the terminal calls them', () => {
    for (const s of States) expect(stateName(s.word)).toBe(s.name)
  })
})

describe('columns', () => {
  it('are those that say something when nobody chose', () => {
    const shown = defaultColumns(columns, cells, false)
    expect(shown.slice(0, 2)).toEqual(['group', 'bar'])
    expect(shown).toContain('blocked:chan receive')
    expect(shown).not.toContain('start')
    const idle = [...columns, { key: 'blocked:system goroutine wait', unit: 'ns' }]
    expect(defaultColumns(idle, [...cells, 1e9], false)).not.toContain('blocked:system goroutine wait')
    expect(shown).not.toContain('range:GC mark assist')
    expect(defaultColumns(columns, cells, true)).not.toContain('group')
  })
  it('survive the URL, commas and all', () => {
    const odd = [{ key: 'blocked:a,b%2C', unit: 'ns' }, ...columns]
    expect(chosenColumns(columnsParam(['blocked:a,b%2C', 'total']), odd)).toEqual(['blocked:a,b%2C', 'total'])
  })
  it('that nobody knows are left out', () => {
    expect(chosenColumns('nope,total,%E0%A4', columns)).toEqual(['total'])
    expect(chosenColumns('nope', columns)).toBe(null)
    expect(chosenColumns(null, columns)).toBe(null)
  })
})

describe('a table', () => {
  it('is copied with what its cells say', () => {
    const cols = [
      { key: 'a', title: 'A', cell: (r: { a: number }) => `${r.a} ns`, text: (r: { a: number }) => String(r.a) },
      { key: 'b', title: 'B', cell: () => ['x', 1] },
    ]
    expect(tableText(cols, [{ a: 5 }])).toEqual([['A', 'B'], ['5', 'x1']])
  })
  it('has tracks that do not depend on its rows', () => {
    const cell = () => ''
    expect(track({ key: 'n', title: 'n', align: 'right', cell })).toMatch(/rem, .5fr\)$/)
    expect(track({ key: 't', title: 't', cell })).toMatch(/^minmax/)
    expect(track({ key: 't', title: 't', cell, width: '9rem' })).toBe('9rem')
  })
})

describe('a task', () => {
  it('has what overlaps in rows of its own', () => {
    const rows = placeInRows([{ from: 10, to: 20 }, { from: 0, to: 100 }, { from: 20, to: 30 }, { from: 12, to: 15 }])
    expect(rows.map((r) => [r.of.from, r.row])).toEqual([[0, 0], [10, 1], [12, 2], [20, 1]])
  })
  it('never has more rows than are drawn', () => {
    const rows = placeInRows(Array.from({ length: 1000 }, (_, i) => ({ from: i, to: 5000 })))
    expect(Math.max(...rows.map((r) => r.row))).toBe(MOST_ROWS - 1)
  })
})

describe('a histogram', () => {
  const h = { low_ns: [0, 100, 400], high_ns: [50, 200, 800], counts: [2, 0, 1], p50_ns: 30, p90_ns: 500, p99_ns: 700, max_ns: 790, mean_ns: 200, n: 3 }
  it('has only buckets with something, and a place for 0 on a logarithm', () => {
    expect(bars(h)).toEqual([{ low: 1, high: 50, n: 2 }, { low: 400, high: 800, n: 1 }])
  })
  it('shares an axis with others', () => {
    expect(commonSpan([h, { ...h, low_ns: [1000], high_ns: [9000], counts: [1], max_ns: 8000 }])).toEqual([1, 9000])
    expect(commonSpan([])).toEqual([1, 10])
  })
})

describe('the utilization of a window', () => {
  const mmu = { window_ns: [10, 1000], util: [0, 0.8] }
  it('is read between the lengths that were computed', () => {
    expect(utilAt(mmu, 100)).toBeCloseTo(0.4, 9)
    expect([1, 10, 1000, 9999].map((w) => utilAt(mmu, w))).toEqual([0, 0, 0.8, 0.8])
    expect(utilAt({ window_ns: [], util: [] }, 5)).toBeNaN()
    const computed = { ...mmu, worst: [{ at_ns: 7, window_ns: 100, util: 0.41 }] }
    expect([utilAt(computed, 100), utilAt(computed, 1000)]).toEqual([0.41, 0.8])
  })
})

describe('a change', () => {
  it('is a percentage, from three times on a factor', () => {
    expect([1, 1.1, 0.5, 1.0001, 3, 250, null, Infinity].map((r) => changeText(r))).toEqual(['0%', '+10%', '−50%', '0%', '×3', '×250', '–', '–'])
  })
  it('needs both sides and something to compare with', () => {
    expect([rowRatio(2, 3), rowRatio(0, 3), rowRatio(null, 3), rowRatio(2, 0)]).toEqual([1.5, null, null, 0])
  })
})

describe('a metric', () => {
  it('has its unit, also behind the name of a benchmark', () => {
    expect(metricText('elapsed', 1.5)).toBe('1.50 s')
    expect(metricText('BenchmarkParse ns/op', 2500)).toBe('2.50 µs')
    expect(metricText('peak-rss', 1 << 20)).toBe('1.00 MiB')
    expect(['2', '0.25', '1.5'].map((v) => metricText('ns/op', Number(v)))).toEqual(['2.00 ns', '0.250 ns', '1.50 ns'])
    expect(metricText('ops/s', null)).toBe('–')
    expect(metricInfo('things/s').more).toBe(true)
  })
})

describe('rounds', () => {
  const round = (pair: number, arm: 'A' | 'B', v: number, more: Partial<Round> = {}): Round =>
    ({ pair, arm, values: { p99: v }, begin: '', elapsed_ns: 1, conditions: { others: 0, steal: 0, pressure: 0, runqueue: 0 }, ...more })
  it('are pairs, without warming up, counting and what was dropped', () => {
    const rounds = [round(0, 'A', 9), round(2, 'B', 4), round(2, 'A', 3), round(1, 'A', 1), round(1, 'B', 2, { dropped: 'busy' }), round(3, 'A', 5, { count: true })]
    expect(pairsOf(rounds, 'p99')).toEqual([{ pair: 1, a: 1, b: null }, { pair: 2, a: 3, b: 4 }])
    expect(pairsOf(rounds, 'p50')).toEqual([])
  })
  it('have a median', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
    expect(median([])).toBeNaN()
  })
})

describe('a curve', () => {
  const interval = (value: number | null) => ({ value, low: value, high: value })
  it('knows which points were measured', () => {
    const point = { value: 1, goal: interval(5), ratio: 1, error: 0, values: {}, kept: true, visits: [] }
    expect(usable(point)).toBe(true)
    expect(usable({ ...point, ratio: 0 })).toBe(false)
    expect(usable({ ...point, goal: interval(null) })).toBe(false)
  })
  it('follows the law', () => {
    const law = { lambda: interval(100), unit: 'ops/s', sigma: interval(0.5), kappa: interval(0), peak: null, r2: 1, tested: [1, 8] as [number, number] }
    expect(lawAt(law, 1)).toBe(100)
    expect(lawAt(law, 3)).toBeCloseTo(150, 9)
  })
})

describe('two saved results', () => {
  const of = (...kinds: string[]) => kinds.map((kind, i) => ({ name: `${i}.json`, kind, summary: '' }))
  it('can be chosen where they are of one kind', () => {
    const list = of('verify', 'tune', 'verify', 'comparison', 'verify', 'comparison')
    expect(matesOf(list, 0, false)).toEqual([2, 4])
    expect(matesOf(list, 2, false)).toEqual([0, 4])
    expect(matesOf(list, 1, false)).toEqual([])
    expect(matesOf(list, 3, false)).toEqual([])
    expect(matesOf(list, 9, false)).toEqual([])
  })
  it('are in a report file the first against the others', () => {
    const list = of('tune', 'tune', 'tune')
    expect([0, 1, 2].map((i) => matesOf(list, i, true))).toEqual([[1, 2], [0], [0]])
  })
  it('say their own effect with its interval', () => {
    expect(ownText(0.865, { low: 0.845, high: 0.934 })).toBe('−14% (−16% … −6.6%)')
    expect(ownText(0.5, { low: 0.5, high: 0.5, exact: true })).toContain('−50% (')
    expect(ownText(1.2, { low: null, high: 1.3 })).toBe('+20%')
    expect(ownText(1.2, undefined)).toBe('+20%')
  })
  it('share an axis that has room for both', () => {
    expect(range([3, null, 1, undefined, NaN], { zero: true })?.[0]).toBe(0)
    const [low, high] = range([1, 3], {}) as [number, number]
    expect(low).toBeLessThan(1)
    expect(high).toBeGreaterThan(3)
    expect(range([0, 10, 1000], { log: true })?.map(Math.round)).toEqual([9, 1080])
    expect(range([5], {})).toEqual([4.75, 5.25])
    expect(range([null, NaN], {})).toBe(null)
    expect(range([0, -1], { log: true })).toBe(null)
  })
})
