// Changes and findings in words: those of `gowhy fleet versions`.
import { count, dur, figures, num } from '../format'
import { word } from '../shell'
import { t, tn } from '../strings'
import type { Also, Change, Finding, Recording, RecordingFinding } from './api'
import type { Row } from './rows'

/** A cost in the unit of a change: "15 cores", "569 µs an operation". */
export function costText(x: number | undefined, unit: string): string {
  if (x === undefined) return '–'
  return unit === 'cores' ? num(x, 'cores') : t('fleet.change.peroperation', { v: dur(x * 1e9) })
}

/** A difference of costs with its sign. */
export function deltaText(x: number, unit: string): string {
  const text = unit === 'cores' ? num(Math.abs(x), 'cores') : dur(Math.abs(x) * 1e9)
  return (x > 0 ? '+' : x < 0 ? '−' : '') + text
}

/** What else changed: "Bytes allocated". */
export function alsoName(type: string): string {
  const kind = type.split(':')[1] ?? type
  const of = type.startsWith('mutex:') ? 'mutex_' : type.startsWith('block:') ? 'block_' : ''
  return tn('fleet.also.' + of + kind, kind)
}

/** By how much: "1.25 times, 15 KiB per operation, previously 12 KiB". */
export function alsoText(a: Also): string {
  const per = a.unit.endsWith('/operation') ? 'fleet.change.peroperation' : 'fleet.persecond'
  return t('fleet.also.times', { ratio: figures(a.ratio), is: t(per, { v: amount(a.is, a.unit) }), was: amount(a.was, a.unit) })
}

function amount(x: number, unit: string): string {
  if (unit.startsWith('bytes')) return num(x, 'bytes')
  return unit.startsWith('objects') ? figures(x) : dur(x * 1e9)
}

/** "1.12 times (1.10 to 1.14)". */
export function timesText(c: Change): string {
  return t('fleet.change.times', { ratio: ratio(c.ratio), low: ratio(c.low), high: ratio(c.high) })
}

function ratio(x: number | undefined): string {
  return x === undefined ? '–' : figures(x)
}

/** A probability; how small one is beyond a thousandth says nothing to anybody. */
export function chanceText(p: number): string {
  return p < LEAST_CHANCE ? t('fleet.change.p.least', { p: LEAST_CHANCE }) : figures(p)
}

const LEAST_CHANCE = 0.001

/** Which processes a change rests on. */
export function fromText(c: Change): string {
  const n = { base: c.base_processes, head: c.head_processes }
  return t(c.paired ? 'fleet.change.paired' : 'fleet.change.unpaired', n)
}

/** The command that proves a change, for who has the program. */
export function proofOf(c: Change): string {
  return `gowhy verify --base ${word(c.base)} --head ${word(c.head)} -- {binary}`
}

/** Findings that are open, and what they cost: "3, 0.4 cores". */
export function findingsText(f: Row['findings']): string {
  if (f === null) return '–'
  return count(f.open) + (f.cores > 0 ? ', ' + num(f.cores, 'cores') : '')
}

/** Money as a price is written, without its fractions: "90 EUR". */
export function moneyText(x: number, currency: string): string {
  return `${x >= 10 ? count(Math.round(x)) : figures(x)} ${currency}`
}

/** What a finding costs: "3.07 cores (CPU in compiling), all 20 processes, 90 EUR a month". */
export function findingCost(f: Finding, currency: string): string {
  const of = f.instances === 1 ? 'fleet.findings.of.one' : f.whole ? 'fleet.findings.of.all' : 'fleet.findings.of.mean'
  return [
    num(f.cost, f.unit) + (f.what === '' ? '' : ` (${f.what})`),
    t(of, { n: count(f.instances) }),
    ...(f.money !== undefined && currency !== '' ? [t('fleet.amonth', { v: moneyText(f.money, currency) })] : []),
  ].join(', ')
}

/** As many digits of an ID as tell recordings apart. */
export const SHORT = 12

/** The first cause that was found in a recording; a remark is none. */
export function firstCause(r: Recording): RecordingFinding | undefined {
  return r.diagnosis.findings?.find((f) => !f.remark)
}
