// Changes and findings in words: those of `gowhy fleet versions`.
import { count, dur, figures, num } from '../format'
import { word } from '../shell'
import { t } from '../strings'
import type { Change } from './api'
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
  return `gowhy verify --base ${word(c.base)} --head ${word(c.head)} --package PACKAGE -- {binary} ARGUMENTS`
}

/** "3, 0.4 cores, 12 EUR". */
export function findingsText(f: Row['findings'], currency: string): string {
  if (f === null) return '–'
  if (f.open === 0) return '0'
  return [count(f.open), ...(f.cores > 0 ? [num(f.cores, 'cores')] : []), ...(currency !== '' && f.money > 0 ? [`${count(f.money)} ${currency}`] : [])].join(', ')
}
