// Values and places of frames in words.
import { bytes, cell, count, dur } from '../format'
import { t } from '../strings'
import { change, signed } from './diff'
import { plain } from './text'
import type { Tree } from './tree'

/** A value of a tree: nanoseconds, bytes or a number of things. */
export function amount(v: number, unit: string): string {
  if (unit === 'nanoseconds') return dur(v)
  if (unit === 'bytes') return bytes(v)
  return count(v)
}

/** The same in a column. */
export function amountCell(v: number, unit: string): string {
  return unit === 'bytes' ? cell(v, unit) : amount(v, unit)
}

/** Where a frame is: the end of its file's path, and its line; "" when not known. */
export function placeOf(t: Tree, i: number): string {
  const f = t.func[i]!
  const file = f < 0 ? '' : (t.funcs.files[f] ?? '')
  if (file === '') return ''
  const line = t.line[i]!
  return plain(file) + (line > 0 ? ':' + line : '')
}

/** How a value changed from the base run's. */
export function changeText(value: number, base: number): string {
  const c = change(value, base)
  if (c.kind === 'more' || c.kind === 'less') return signed(c.ratio)
  return t(`flame.${c.kind}`)
}
