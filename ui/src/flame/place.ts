// What of the flame graph stands in the URL, read and written.
//
//   kind     which tree; absent: the first that the run has
//   view     flame, icicle, sandwich or table
//   group    only goroutines with this start function
//   label    only samples with this pprof label, key=value
//   from, to a window of the trace, ns
//   src=1    the lines of the function that the keys are at, beside the picture
//   line     of these, the one that is looked for
//   base     a run to compare with, by its index
//   q        what is searched for
//   focus    the frame that is zoomed to: "~" and a mark of its path, or a
//            function's name, which stands for its largest frame
//   x        a window that is neither the whole nor the focus: "from-to" of 0 … 1
//   ufocus, ux   the same, of the callers in the sandwich
//   fn       the sandwich's function, by its name
//   hide     kinds of functions that are merged into their callers, with commas
//   inv=1    upside down: from what had the value to who called it
//   sort     column of the table, with "-" before it: largest first
import { KINDS, type FrameKind, type Tree, nameOf } from './tree'
import type { Span } from './layout'

export const VIEWS = ['flame', 'icicle', 'sandwich', 'table'] as const
export type ViewName = (typeof VIEWS)[number]

export interface View {
  kind: string
  view: ViewName
  group: string
  label: string
  time: { from: number; to: number } | null
  source: boolean
  line: number
  base: string
  q: string
  focus: string
  window: Span | null
  upFocus: string
  upWindow: Span | null
  fn: string
  hide: FrameKind[]
  inverted: boolean
  sort: string
  desc: boolean
}

export function readView(p: URLSearchParams): View {
  const view = VIEWS.find((v) => v === p.get('view')) ?? 'flame'
  const hide = (p.get('hide') ?? '').split(',')
  const sort = p.get('sort') ?? '-self'
  return {
    kind: p.get('kind') ?? '',
    view,
    group: p.get('group') ?? '',
    label: p.get('label') ?? '',
    time: readTime(p.get('from'), p.get('to')),
    source: p.get('src') === '1',
    line: /^\d{1,7}$/.test(p.get('line') ?? '') ? Number(p.get('line')) : 0,
    base: /^\d{1,4}$/.test(p.get('base') ?? '') ? p.get('base')! : '',
    q: p.get('q') ?? '',
    focus: p.get('focus') ?? '',
    window: readSpan(p.get('x')),
    upFocus: p.get('ufocus') ?? '',
    upWindow: readSpan(p.get('ux')),
    fn: p.get('fn') ?? '',
    hide: KINDS.filter((k) => hide.includes(k)),
    inverted: p.get('inv') === '1',
    sort: sort.replace(/^-/, ''),
    desc: sort.startsWith('-'),
  }
}

function readTime(from: string | null, to: string | null): View['time'] {
  const number = (s: string | null) => (s !== null && /^\d{1,18}$/.test(s) ? Number(s) : NaN)
  const [a, b] = [number(from), number(to)]
  return b > a ? { from: a, to: b } : null
}

function readSpan(s: string | null): Span | null {
  const m = /^(\d(?:\.\d+)?(?:e-\d+)?)-(\d(?:\.\d+)?(?:e-\d+)?)$/.exec(s ?? '')
  if (!m) return null
  const span = { from: Number(m[1]), to: Number(m[2]) }
  return span.from >= 0 && span.to <= 1 && span.to - span.from >= 1e-12 ? span : null
}

export function writeSpan(s: Span | null): string | null {
  if (!s || (s.from <= 0 && s.to >= 1)) return null
  const digits = Math.min(17, Math.max(4, 4 - Math.floor(Math.log10(s.to - s.from))))
  const text = (v: number) => String(Number(Math.min(1, Math.max(0, v)).toPrecision(digits)))
  return `${text(s.from)}-${text(s.to)}`
}

/** The mark of a node's path: it is the same in another run, and as short for a deep one. */
export function markOf(t: Tree, i: number): string {
  if (i <= 0) return ''
  let a = SEED_A, b = SEED_B
  const path: number[] = []
  for (let at = i; at > 0; at = t.parent[at]!) path.push(at)
  for (let k = path.length - 1; k >= 0; k--) {
    const h = hash(nameOf(t, path[k]!))
    a = mix(a, h.a)
    b = mix(b, h.b)
  }
  return mark(a, b)
}

/** The node that a mark or a function's name stands for; 0, the root, where there is none. */
export function findFocus(t: Tree, focus: string): number {
  if (focus === '') return 0
  const form = /^~([0-9a-z]{1,7})\.([0-9a-z]{1,7})$/.exec(focus)
  if (!form) return largest(t, focus)
  const wantA = parseInt(form[1]!, 36) | 0, wantB = parseInt(form[2]!, 36) | 0
  const names = t.funcs.names.map(hash)
  const a = new Int32Array(t.n), b = new Int32Array(t.n)
  a[0] = SEED_A
  b[0] = SEED_B
  for (let i = 1; i < t.n; i++) {
    const h = names[t.func[i]!]!
    a[i] = mix(a[t.parent[i]!]!, h.a)
    b[i] = mix(b[t.parent[i]!]!, h.b)
    if (a[i] === wantA && b[i] === wantB) return i
  }
  return 0
}

function largest(t: Tree, name: string): number {
  let best = 0
  for (let i = 1; i < t.n; i++) {
    if (t.funcs.names[t.func[i]!] !== name) continue
    if (best === 0 || t.sum[i]! > t.sum[best]!) best = i
  }
  return best
}

const SEED_A = 0x2c1b3c6d, SEED_B = 0x297a2d39

const mark = (a: number, b: number): string => '~' + (a >>> 0).toString(36) + '.' + (b >>> 0).toString(36)

// Two words of 32 bits: with one, two of 200,000 paths would share a mark.
function hash(s: string): { a: number; b: number } {
  let a = 0x811c9dc5 | 0, b = 0x1b873593
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i)
    a = Math.imul(a ^ c, 0x01000193)
    b = Math.imul(b ^ c, 0x5bd1e995)
    b ^= b >>> 13
  }
  return { a, b }
}

function mix(a: number, b: number): number {
  let h = Math.imul(a ^ b, 0xcc9e2d51)
  h = (h << 13) | (h >>> 19)
  return (Math.imul(h, 5) + 0x64654e6b) | 0
}
