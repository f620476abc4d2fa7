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
  if (!Number.isFinite(n)) return '–'
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  let i = 0
  while (Math.abs(n) >= 1024 && i < units.length - 1) {
    n /= 1024
    i++
  }
  return figures(n) + ' ' + (units[i] ?? '')
}

/** A number of things: "37,534". */
export function count(n: number): string {
  if (!Number.isFinite(n)) return '–'
  return figures(n)
}

/** A share from 0 to 1, like "98.4 %". */
export function share(x: number): string {
  if (!Number.isFinite(x)) return '–'
  const p = 100 * x
  const abs = Math.abs(p)
  if (abs === 0 || abs >= 99.95) return p.toFixed(0) + ' %'
  if (abs < 0.1) return short(p, 1) + ' %'
  return p.toFixed(1) + ' %'
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
    case 'share':
      return share(n)
    case 'ratio':
      return n >= -1 && n <= 1 ? share(n) : '×' + count(n)
    case 'count':
    case '':
      return count(n)
    case 'per second':
      return count(n) + '/s'
    case 'cores':
      return lang() === 'zh' ? count(n) + ' 核' : count(n) === '1' ? '1 core' : count(n) + ' cores'
  }
  return count(n) + ' ' + unit
}

/**
 * A moment on the window's clock, like "1.234 567 s": as many places as set it
 * apart from one `step` nanoseconds later, nanoseconds without a step.
 */
export function at(ns: number, step = 1): string {
  if (!Number.isFinite(ns)) return '–'
  const places = Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(1, step)))))
  const [whole = '0', part = ''] = (Math.abs(ns) / 1e9).toFixed(places).split('.')
  const grouped = part.replace(/0+$/, '').replace(/(\d{3})(?=\d)/g, '$1 ')
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

function trimmed(v: number): string {
  const abs = Math.abs(v)
  if (abs >= 99.95) return v.toFixed(0)
  if (abs >= 9.995) return v.toFixed(1)
  return v.toFixed(2)
}

function group(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ',')
}

// clock is for what is longer than ten minutes: "1h2m3s".
function clock(s: number): string {
  const sign = s < 0 ? '-' : ''
  s = Math.abs(s)
  const h = Math.floor(s / 3600)
  const m = Math.floor((s % 3600) / 60)
  return sign + (h > 0 ? h + 'h' : '') + m + 'm' + (s % 60) + 's'
}
