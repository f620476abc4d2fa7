// Figures for the eye, written as the text report writes them: three significant
// figures, thousands grouped, a space before the unit.
import { lang } from './strings'

/** Nanoseconds, like "1.58 ms". */
export function dur(ns: number): string {
  if (!Number.isFinite(ns)) return '–'
  const abs = Math.abs(ns)
  if (abs === 0) return '0'
  if (abs < 1e3) return Math.round(ns) + ' ns'
  if (abs < 999.5e3) return trimmed(ns / 1e3) + ' µs'
  if (abs < 999.5e6) return trimmed(ns / 1e6) + ' ms'
  if (abs < 600e9) return trimmed(ns / 1e9) + ' s'
  return clock(Math.round(ns / 1e9))
}

/** Bytes, like "1.50 MiB". */
export function bytes(n: number): string {
  return Number.isFinite(n) ? inUnit(n, figures) : '–'
}

function inUnit(n: number, digits: (v: number) => string): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let i = 0
  while (Math.abs(n) >= 1024 && i < units.length - 1) {
    n /= 1024
    i++
  }
  return digits(n) + ' ' + (units[i] ?? '')
}

/**
 * A number with a unit in a column, where values stand below each other: three
 * figures with the zeros at their end, which say how exact they are. In a sentence
 * "1 KiB" reads better; below "1.50 KiB" it looks like another quantity.
 */
export function cell(n: number, unit: string): string {
  if (unit === 'bytes' && Number.isFinite(n) && Math.abs(n) >= 1024) return inUnit(n, trimmed)
  return num(n, unit)
}

/**
 * The values of an axis, all with the places that their step needs: "0, 0.5, 1.0" and
 * not "0, 0.500, 1". Times and bytes have units of their own to be told in.
 */
export function axis(values: readonly number[], unit: string): string[] {
  if (!['share', 'count', '', 'cores', 'per second'].includes(unit)) return values.map((v) => num(v, unit))
  const all = values.map((v) => (unit === 'share' ? 100 * v : v))
  const off = 1e-9 * Math.max(...all.map(Math.abs)) // what arithmetic leaves of round values
  let places = 0
  while (places < 6 && all.some((v) => Math.abs(v - Number(v.toFixed(places))) > off)) places++
  return all.map((v) => withUnit(group(v.toFixed(places)), unit))
}

function withUnit(digits: string, unit: string): string {
  switch (unit) {
    case 'share':
      return digits + '%'
    case 'per second':
      return digits + '/s'
    case 'cores':
      return lang() === 'zh' ? digits + ' 核' : Number(digits) === 1 ? digits + ' core' : digits + ' cores'
  }
  return digits
}

/** A number of things: "37,534". */
export function count(n: number): string {
  if (!Number.isFinite(n)) return '–'
  return figures(n)
}

/** A share from 0 to 1, like "98.4%". */
export function share(x: number): string {
  if (!Number.isFinite(x)) return '–'
  const p = 100 * x
  const abs = Math.abs(p)
  if (abs === 0 || abs >= 99.95) return p.toFixed(0) + '%'
  if (abs < 0.1) return short(p, 1) + '%'
  return p.toFixed(1) + '%'
}

/**
 * A number with a unit: those of facts (cores, seconds, bytes, ratio, count,
 * per second) and those of tables (ns, nanoseconds, share, text).
 */
export function num(n: number, unit: string): string {
  switch (unit) {
    case 'ns':
    case 'nanoseconds':
      return dur(n)
    case 'seconds':
      return dur(n * 1e9)
    case 'bytes':
      return bytes(n)
    case 'bytes per second':
      return bytes(n) + '/s'
    case 'share':
      return share(n)
    case 'ratio':
      return n >= -1 && n <= 1 ? share(n) : '×' + count(n)
    case 'count':
    case '':
      return count(n)
    case 'per second':
    case 'cores':
      return withUnit(count(n), unit)
  }
  return count(n) + ' ' + unit
}

/**
 * A moment on the window's clock, like "1.234 567 s": as many places as set it
 * apart from one `step` nanoseconds later, so that moments below each other have
 * the same. Without a step it is exact to the nanosecond, without zeros at its end.
 */
export function at(ns: number, step?: number): string {
  if (!Number.isFinite(ns)) return '–'
  const places = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(1, step ?? 1)))))
  const [whole = '0', digits = ''] = (Math.abs(ns) / 1e9).toFixed(places).split('.')
  const part = step === undefined ? digits.replace(/0+$/, '') : digits
  const grouped = part.replace(/(\d{3})(?=\d)/g, '$1 ')
  const sign = ns < 0 ? '-' : ''
  return sign + group(whole) + (grouped === '' ? '' : '.' + grouped) + ' s'
}

/** A number with three significant figures, or all of those before the point. */
export function figures(v: number): string {
  const abs = Math.abs(v)
  if (abs >= 1e15) return short(v, 3)
  if (abs >= 99.95 || v === Math.trunc(v)) return group(v.toFixed(0))
  if (abs >= 9.995) return v.toFixed(1)
  if (abs >= 0.9995) return v.toFixed(2)
  if (abs >= 0.001) return v.toFixed(3)
  return short(v, 3)
}

// short is a number of few digits, without zeros at its end.
function short(v: number, digits: number): string {
  return String(Number(v.toPrecision(digits)))
}

// trimmed is three figures, zeros at the end included.
function trimmed(v: number): string {
  const abs = Math.abs(v)
  if (abs >= 99.95) return group(v.toFixed(0))
  if (abs >= 9.995) return v.toFixed(1)
  return v.toFixed(2)
}

// group sets thousands apart, of what is before the point.
function group(digits: string): string {
  const [whole = '', part] = digits.split('.')
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (part === undefined ? '' : '.' + part)
}

// clock is for what is longer than ten minutes: "1h2m3s".
function clock(s: number): string {
  const sign = s < 0 ? '-' : ''
  s = Math.abs(s)
  const h = Math.floor(s / 3600)
  const m = Math.floor((s % 3600) / 60)
  return sign + (h > 0 ? h + 'h' : '') + m + 'm' + (s % 60) + 's'
}
