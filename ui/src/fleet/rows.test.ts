import { describe, expect, it } from 'vitest'
import type { Finding, FindingsAnswer, Levels, Version } from './api'
import { CPU, saturatedOf, serviceRows, silentOf } from './rows'
import { worseOf } from './worse'
import { alsoName, alsoText, chanceText, costText, deltaText, findingCost, findingsText, moneyText, proofOf, timesText } from './words'

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
const version = (name: string, v: string, running: number, first: number, last: number, cpu: number, covered: number, allocs?: number): Version => ({
  name, version: v, instances: 9, running, ...(covered > 0 ? { cores: (cpu / covered) * running } : {}), first: at(first), last: at(last), covered_ns: covered,
  totals: { [CPU]: cpu, ...(allocs === undefined ? {} : { 'memory:alloc_space:bytes:space:bytes': allocs }) },
})
const levels = (...all: [service: string, version: string, instances: number, value: number][]): Levels =>
  ({ levels: all.map(([service, v, instances, value]) => ({ service, version: v, instances, value })), omitted: 0 })
const services = { services: [version('a', 'v1', 0, 0, 60, 50, 100, 6000), version('a', 'v2', 3, 50, 100, 30, 100, 6000), version('b', '', 0, 0, 1, 0, 0), version('c', 'v1', 1, 0, 10, 800, 1000)], omitted: 0 }
const span = { from: 0, until: 60_000 }

describe('rows of services', () => {
  const rows = serviceRows({ services, inUse: levels(['a', 'v2', 3, 500]), ...span })
  it('count what runs at the end, those that cost most first', () => {
    expect(rows.map((r) => [r.service, r.cores, r.instances])).toEqual([['a', expect.closeTo(0.9), 3], ['c', 0.8, 1], ['b', null, 0]])
    expect(rows[0]!.versions.map((v) => [v.version, v.each, v.cores, v.instances])).toEqual([['v2', 0.3, expect.closeTo(0.9), 3], ['v1', 0.5, 0, 0]])
  })
  it('have rates over the time that a service sent, and levels as they are', () => {
    expect([rows[0]!.allocs, rows[0]!.inUse]).toEqual([2, 500])
    expect(rows[0]!.versions.map((v) => v.allocs)).toEqual([2, expect.closeTo(1.667)])
    expect([rows[2]!.allocs, rows[2]!.inUse]).toEqual([null, null])
  })
  it('do not claim what was not answered', () => {
    const [first] = serviceRows({ services, ...span })
    expect([first!.inUse, first!.findings, first!.spark]).toEqual([null, null, null])
  })
  it('have money where there is a price', () => {
    const [first] = serviceRows({ services: { ...services, core_month: 20, currency: 'EUR' }, ...span })
    expect([first!.money, rows[0]!.money]).toEqual([expect.closeTo(18), null])
    expect([moneyText(18.4, 'EUR'), moneyText(1234.5, 'EUR'), moneyText(0.25, 'EUR')]).toEqual(['18 EUR', '1,235 EUR', '0.250 EUR'])
  })
  it('tell whose sums are out of range', () => {
    const some = { services: [{ ...services.services[0]!, saturated: true }, { ...services.services[2]!, saturated: true }, services.services[1]!], omitted: 0 }
    expect([saturatedOf(some), saturatedOf(some, 'b'), saturatedOf(services), saturatedOf(undefined)]).toEqual([['a v1', 'b'], ['b'], [], []])
  })
  it('have the findings that are open', () => {
    const finding = (service: string, versions: string[], state: 'open' | 'gone', cores?: number): Finding =>
      ({ service, versions, rule: 'r', title: '', summary: '', first: '', earlier: false, last: '', state, spans: 2, instances: 1, cost: 1, unit: 'cores', what: '', whole: true, prove: '', remedy: '', ...(cores === undefined ? {} : { cores, money: 10 }), confidence: '', trend: [], evidence: [], facts: [], command: '' })
    const findings: FindingsAnswer = { findings: [finding('a', ['v2'], 'open', 0.25), finding('a', ['v1', 'v2'], 'open'), finding('a', ['v1'], 'gone', 9), finding('c', ['v1'], 'open')], omitted: 0, verdicts: {}, judged: at(1) }
    const [a] = serviceRows({ services, findings, ...span })
    expect([a!.findings, a!.versions.map((v) => v.findings!.open)]).toEqual([{ open: 2, cores: 0.25 }, [2, 1]])
    expect(serviceRows({ services, findings: { findings: [], omitted: 0, verdicts: {} }, ...span })[0]!.findings).toBeNull()
    expect([a!.findings, null, { open: 0, cores: 0 }].map(findingsText)).toEqual(['2, 0.250 cores', '–', '0'])
  })
})

describe('what is silent', () => {
  it('is no service that grows', () => {
    const growth = { service: 'leak', state: 'open', rule: 'heapgrowth' } as Finding
    const gone = { service: 'was', state: 'gone', rule: 'heapgrowth' } as Finding
    const thin = { verdict: 'too-thin', at: '' }
    const of: FindingsAnswer = { findings: [growth, gone], omitted: 0, verdicts: { leak: thin, was: thin, idle: { verdict: 'idle', at: '' }, bad: { verdict: 'problem', at: '' } } }
    expect(silentOf(of)).toEqual([['idle', ['idle']], ['too-thin', ['was']]])
    expect([silentOf(of, 'leak'), silentOf(of, 'was')]).toEqual([[], [['too-thin', ['was']]]])
  })
})

describe('words of a change', () => {
  const c = { service: 's', base: 'v1', head: "v2; rm -rf '", since: '', verdict: 'worse' as const, type: CPU, unit: 'CPU/operation', ratio: 1.12, low: 1.1, high: 1.14, base_processes: 2, head_processes: 2, paired: true }
  it('are those of the terminal', () => {
    expect(timesText(c)).toBe('1.12 times (1.10 to 1.14)')
    expect([costText(0.000569, 'CPU/operation'), costText(15, 'cores'), costText(undefined, 'cores')]).toEqual(['569 µs per operation', '15 cores', '–'])
    expect([deltaText(0.0001, 'CPU/operation'), deltaText(-0.5, 'cores'), deltaText(0, 'cores')]).toEqual(['+100 µs', '−0.500 cores', '0 cores'])
    expect([chanceText(0.04), chanceText(1e-9)]).toEqual(['0.040', 'below 0.001'])
  })
  it('say what else changed, in its own unit', () => {
    const also = (type: string, unit: string, was: number, is: number) => ({ type, unit, was, is, ratio: is / was })
    const all = [
      also('memory:alloc_space:bytes:space:bytes', 'bytes/operation', 12 << 10, 15 << 10), also('memory:alloc_objects:count:space:bytes', 'objects/second', 100, 790),
      also('mutex:delay:nanoseconds:contentions:count', 'waiting for locks/operation', 1e-6, 3e-6), also('block:delay:nanoseconds:contentions:count', 'waiting', 0.5, 1),
    ]
    expect(all.map((a) => `${alsoName(a.type)}: ${alsoText(a)}`)).toEqual([
      'Bytes allocated: 1.25 times, 15 KiB per operation, previously 12 KiB', 'Objects allocated: 7.90 times, 790/s, previously 100',
      'Waiting for locks: 3 times, 3.00 µs per operation, previously 1.00 µs', 'Waiting: 2 times, 1.00 s/s, previously 500 ms',
    ])
    expect(alsoName('odd')).toBe('odd')
  })
  it('name a command that a shell takes for no other', () => {
    expect(proofOf(c)).toBe("gowhy verify --base v1 --head 'v2; rm -rf '\\''' -- {binary}")
  })
})

describe('the cost of a finding', () => {
  const f = { cost: 3.07, unit: 'cores', what: 'CPU in compiling', whole: true, instances: 20, money: 90 } as Finding
  it('is written as in the terminal', () => {
    expect(findingCost(f, 'EUR')).toBe('3.07 cores (CPU in compiling), all 20 processes, 90 EUR a month')
    expect(findingCost({ cost: 2 << 20, unit: 'bytes per second', what: 'growth of memory in use', whole: true, instances: 20 } as Finding, 'EUR')).toBe('2 MiB/s (growth of memory in use), all 20 processes')
    expect(findingCost({ cost: 0.25, unit: 'per second', what: 'growth of goroutines', whole: true, instances: 2 } as Finding, 'EUR')).toBe('0.250/s (growth of goroutines), all 2 processes')
    expect(findingCost({ ...f, whole: false, what: '' }, '')).toBe('3.07 cores, a mean one of 20 processes')
    expect(findingCost({ ...f, instances: 1, cost: 0.2, unit: 'share' }, '')).toBe('20.0% (CPU in compiling), one process')
  })
})

describe('what got worse', () => {
  const finding = (rule: string, first: number, earlier: boolean, state: 'open' | 'gone' = 'open') => ({ service: 's', rule, title: rule, first: at(first), earlier, state, function: 'main.f' }) as Finding
  it('is deploys, steps, growth and new causes, the latest first', () => {
    const change = (verdict: 'worse' | 'better', since: number) => ({ service: 'a', base: 'v1', head: 'v2', since: at(since), verdict, ratio: 1.5, low: 1.4, high: 1.6 }) as never
    const list = worseOf(
      { changes: [change('worse', 5), change('better', 6)], omitted: 0, steps: [finding('step', 7, false)] },
      { findings: [finding('regexp', 9, false), finding('old', 1, true), finding('gone', 8, false, 'gone'), finding('heapgrowth', 2, true)], verdicts: {}, omitted: 0 },
    )
    expect(list.map((w) => [w.service, w.head || w.what, w.earlier])).toEqual([['s', 'regexp', false], ['s', 'step', false], ['a', 'v2', false], ['s', 'heapgrowth', true]])
    expect(list[2]!.what).toBe('1.50 times (1.40 to 1.60)')
  })
  it('is nothing before there is an answer', () => {
    expect(worseOf(undefined, undefined)).toEqual([])
  })
})
