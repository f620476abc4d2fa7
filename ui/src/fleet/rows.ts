// The rows of services and their versions, from what the server answered.
import type { FindingsAnswer, Levels, SeriesSet, Services, Version } from './api'
import { ratesOf } from './points'

export const CPU = 'process_cpu:cpu:nanoseconds:cpu:nanoseconds'
const ALLOCS = 'memory:alloc_space:bytes:space:bytes'

/** What grows by a rule: its function is in the flame graph of that, and seldom in that of CPU. */
export const GROWS: Record<string, string> = { heapgrowth: 'inuse_space', goroutinegrowth: 'goroutines' }

/** A version of a service, or a service with all of its versions. */
export interface Row {
  service: string
  /** Of a service: how many. */
  versions: VersionRow[]
  /** null for the row of a service. */
  version: string | null
  /** That sent something at the end of the time. */
  instances: number
  cores: number | null
  /** What that costs in a month; null where no price is known. */
  money: number | null
  /** Bytes; null where no heap profile came. */
  inUse: number | null
  /** Bytes in a second. */
  allocs: number | null
  first: number
  last: number
  /** Open ones; null where nothing was judged. */
  findings: { open: number; cores: number } | null
  spark: { at: number[]; values: (number | null)[] } | null
}

export interface VersionRow extends Row {
  version: string
  /** Cores of one process while it is profiled. */
  each: number | null
  totals: Version['totals']
}

export interface Answers {
  services: Services
  inUse?: Levels | undefined
  series?: SeriesSet | undefined
  findings?: FindingsAnswer | undefined
  from: number
  until: number
}

/** The services, those that cost most first. */
export function serviceRows(a: Answers): Row[] {
  const by = new Map<string, Version[]>()
  for (const v of a.services.services) by.set(v.name, [...(by.get(v.name) ?? []), v])
  const inUse = levels(a.inUse)
  const rates = a.series && ratesOf(a.series, a.from, a.until)
  const rows = [...by].map(([service, list]): Row => {
    const versions = list.map((v) => versionRow(v, a, inUse)).sort((x, y) => y.first - x.first)
    const first = Math.min(...versions.map((v) => v.first)), last = Math.max(...versions.map((v) => v.last))
    const values = rates?.values.get(service)
    return {
      service, version: null, versions, first, last,
      instances: versions.reduce((all, v) => all + v.instances, 0),
      cores: sum(versions, (v) => v.cores),
      money: sum(versions, (v) => v.money),
      inUse: sum(versions, (v) => v.inUse),
      allocs: perSecond(total(list, ALLOCS), last - first),
      findings: findingsOf(a.findings, service, null),
      spark: rates && values ? { at: rates.at, values } : null,
    }
  })
  return rows.sort((x, y) => (y.cores ?? -1) - (x.cores ?? -1) || (x.service < y.service ? -1 : 1))
}

type ByVersion = Map<string, { value: number }> | null

function levels(l: Levels | undefined): ByVersion {
  return l ? new Map(l.levels.map((one) => [key(one.service, one.version), one])) : null
}

const key = (service: string, version: string): string => JSON.stringify([service, version])

function versionRow(v: Version, a: Answers, inUse: ByVersion): VersionRow {
  const first = Date.parse(v.first), last = Date.parse(v.last)
  const each = v.covered_ns > 0 ? (v.totals[CPU] ?? 0) / v.covered_ns : null
  const cores = v.cores ?? null
  const price = a.services.core_month
  return {
    service: v.name, version: v.version, versions: [], first, last, each, totals: v.totals,
    instances: v.running,
    cores,
    money: cores === null || price === undefined ? null : cores * price,
    inUse: inUse?.get(key(v.name, v.version))?.value ?? null,
    allocs: perSecond(v.totals[ALLOCS], last - first),
    findings: findingsOf(a.findings, v.name, v.version),
    spark: null,
  }
}

function total(list: readonly Version[], type: string): number | undefined {
  return list.reduce<number | undefined>((all, v) => (v.totals[type] === undefined ? all : (all ?? 0) + v.totals[type]), undefined)
}

function perSecond(value: number | undefined, ms: number): number | null {
  return value === undefined || !(ms > 0) ? null : value / (ms / 1000)
}

// sum is null where nobody has a value.
function sum(rows: readonly VersionRow[], of: (v: VersionRow) => number | null): number | null {
  return rows.reduce<number | null>((all, v) => (of(v) === null ? all : (all ?? 0) + of(v)!), null)
}

/** The versions of which a sum is out of range: somebody sent values that cannot be. */
export function saturatedOf(s: Services | undefined, only?: string): string[] {
  return (s?.services ?? []).filter((v) => v.saturated && (only === undefined || v.name === only)).map((v) => [v.name, v.version].filter(Boolean).join(' '))
}

/** Whether the rules have looked at anything. */
export function judged(f: FindingsAnswer): boolean {
  return f.judged !== undefined
}

/** The services of which only their verdicts speak, by these: what grows over hours is in none of five minutes. */
export function silentOf(f: FindingsAnswer, only?: string): [verdict: string, services: string[]][] {
  const open = new Set(f.findings.filter((one) => one.state === 'open').map((one) => one.service))
  const by = new Map<string, string[]>()
  for (const [service, { verdict }] of Object.entries(f.verdicts)) {
    if (verdict !== 'problem' && !open.has(service) && (only === undefined || only === service)) by.set(verdict, [...(by.get(verdict) ?? []), service])
  }
  return [...by].sort()
}

function findingsOf(f: FindingsAnswer | undefined, service: string, version: string | null): Row['findings'] {
  if (!f || !judged(f)) return null
  const open = f.findings.filter((one) => one.state === 'open' && one.service === service && (version === null || one.versions.includes(version)))
  return { open: open.length, cores: open.reduce((all, one) => all + (one.cores ?? 0), 0) }
}
