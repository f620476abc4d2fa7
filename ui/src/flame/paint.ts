// Painting a flame graph: rectangles of one colour together, then the marks of
// kinds, then names where they have room.
//
// Whose a function is has a colour and, for eyes that see none, a mark along the
// rectangle's lower edge. A change has a colour and a sign before the name. What a
// search leaves aside is pale.
import { css, ink, mix, rgb } from '../timeline/paint'
import { css as variable } from '../theme'
import { SHADES, shade, signOf } from './diff'
import { visible, type Layout, type Span } from './layout'
import { fit } from './text'
import { compared, KINDS, type FrameKind, type Tree } from './tree'

type RGB = [number, number, number]

/** Pixels of a row, a gap of one among them. */
export const ROW = 19

/** Along the lower edge: which of 8 pixels are marked, and how high. */
export const MARKS: Record<FrameKind, { dots: string; height: number }> = {
  own: { dots: '########', height: 3 },
  dep: { dots: '######..', height: 2 },
  std: { dots: '##..##..', height: 2 },
  runtime: { dots: '#...#...', height: 2 },
  kernel: { dots: '#.#.#.#.', height: 3 },
}

/** Shades of one kind, so that neighbours can be told apart. */
const TINTS = 3

export interface Look {
  fonts: { plain: string; own: string; runtime: string }
  cell: number // pixels of a character
  card: string
  fg: string
  accent: string
  dust: string
  root: Fill
  kinds: Fill[] // kind × tint
  diff: Fill[] // -SHADES … SHADES
  marks: (CanvasPattern | string)[]
}

interface Fill {
  full: string
  pale: string
  ink: string
  paleInk: string
}

/** The colours of the theme as it is now. */
export function readLook(ctx: CanvasRenderingContext2D): Look {
  const card = rgb(variable('--card')), fg = rgb(variable('--fg')), muted = rgb(variable('--muted'))
  const mono = variable('--mono') || 'monospace'
  const look: Look = {
    fonts: { plain: `12px ${mono}`, own: `600 12px ${mono}`, runtime: `italic 12px ${mono}` },
    cell: 7.3,
    card: css(card), fg: css(fg), accent: variable('--accent'), dust: css(mix(card, muted, 0.35)),
    root: fill(mix(card, muted, 0.25), card),
    kinds: KINDS.flatMap((k) => {
      const c = rgb(variable('--' + k))
      return Array.from({ length: TINTS }, (_, i) => fill(mix(c, card, i * 0.11), card))
    }),
    diff: Array.from({ length: 2 * SHADES + 1 }, (_, i) => fill(diffColour(i - SHADES, card), card)),
    marks: KINDS.map((k) => pattern(ctx, k, css(mix(rgb(variable('--' + k)), rgb(variable('--on-kind')), 0.55)))),
  }
  ctx.font = look.fonts.plain
  look.cell = ctx.measureText('MMMMMMMMMM').width / 10 || 7.3
  return look
}

function fill(c: RGB, card: RGB): Fill {
  const pale = mix(c, card, 0.78)
  return { full: css(c), pale: css(pale), ink: ink(c), paleInk: css(mix(rgb(ink(pale)), pale, 0.35)) }
}

function diffColour(shade: number, card: RGB): RGB {
  if (shade === 0) return mix(card, rgb(variable('--muted')), 0.18)
  const to = rgb(variable(shade > 0 ? '--bad' : '--net'))
  return mix(card, to, 0.15 + (0.6 * Math.abs(shade)) / SHADES)
}

function pattern(ctx: CanvasRenderingContext2D, k: FrameKind, colour: string): CanvasPattern | string {
  const tile = document.createElement('canvas')
  tile.width = 8
  tile.height = 1
  const c = tile.getContext('2d')
  if (!c) return colour
  c.fillStyle = colour
  ;[...MARKS[k].dots].forEach((dot, x) => dot === '#' && c.fillRect(x, 0, 1, 1))
  return ctx.createPattern(tile, 'repeat') ?? colour
}

export interface Picture {
  tree: Tree
  layout: Layout
  window: Span
  /** In CSS pixels; ratio is what one of them is in those of the screen. */
  width: number
  height: number
  ratio: number
  /** Rows of the tree by their upper edge: the root's at the bottom or at the top. */
  up: boolean
  rows: number
  scroll: number
  /** For each function, 1 when the search found it; null without a search. */
  match: Uint8Array | null
  cursor: number
  hover: number
  /** Names as they are drawn, by function. */
  names: string[]
  rootName: string
}

/** Upper edge of a row. */
export function rowTop(p: { up: boolean; rows: number; scroll: number }, row: number): number {
  return (p.up ? p.rows - 1 - row : row) * ROW - p.scroll
}

/** The row at a height. */
export function rowAt(p: { up: boolean; rows: number; scroll: number }, y: number): number {
  const row = Math.floor((y + p.scroll) / ROW)
  return p.up ? p.rows - 1 - row : row
}

interface Shown {
  node: Int32Array
  row: Int32Array
  x: Float64Array
  w: Float64Array
  fill: Int16Array
  n: number
}

const DUST = -2
const ROOT = -1

export function paint(ctx: CanvasRenderingContext2D, p: Picture, look: Look): void {
  ctx.setTransform(p.ratio, 0, 0, p.ratio, 0, 0)
  ctx.fillStyle = look.card
  ctx.fillRect(0, 0, p.width, p.height)
  const shown = collect(p)
  paintFills(ctx, p, look, shown)
  if (!compared(p.tree)) paintMarks(ctx, p, look, shown)
  paintNames(ctx, p, look, shown)
  outline(ctx, p, shown, p.hover, look.fg, 1)
  outline(ctx, p, shown, p.cursor, look.accent, 2)
}

// collect finds what is in sight, with the colour of each.
function collect(p: Picture): Shown {
  const most = Math.ceil(p.height / ROW) + 2
  const top = rowAt(p, 0), bottom = rowAt(p, p.height - 1)
  const rows = { first: Math.max(0, Math.min(top, bottom)), last: Math.min(p.rows - 1, Math.max(top, bottom)) }
  const room = Math.ceil(p.width / 0.5 + 4) * most
  const s: Shown = { node: new Int32Array(room), row: new Int32Array(room), x: new Float64Array(room), w: new Float64Array(room), fill: new Int16Array(room), n: 0 }
  visible(p.tree, p.layout, p.window, p.width, rows, (node, row, x, w) => {
    if (s.n === room) return
    const i = s.n++
    s.node[i] = node
    s.row[i] = row
    s.x[i] = x
    s.w[i] = w
    s.fill[i] = fillOf(p.tree, node)
  })
  return s
}

function fillOf(t: Tree, node: number): number {
  if (node < 0) return DUST
  const f = t.func[node]!
  const base = compared(t)
  if (base) return shade(t.sum[node]!, base.sum[node]!) + SHADES
  if (f < 0) return ROOT
  return t.funcs.kinds[f]! * TINTS + (Math.imul(f, 0x9e3779b1) >>> 16) % TINTS
}

function fillFor(p: Picture, look: Look, fill: number): Fill {
  if (compared(p.tree)) return look.diff[fill]!
  return fill === ROOT ? look.root : look.kinds[fill]!
}

/** A node that a search leaves aside or, where no search is, the marks do. */
function aside(p: Picture, node: number): boolean {
  const f = p.tree.func[node]!
  if (p.match === null && p.tree.marked) return p.tree.base!.sum[node] === 0
  return p.match !== null && (f < 0 || p.match[f] === 0)
}

function paintFills(ctx: CanvasRenderingContext2D, p: Picture, look: Look, s: Shown): void {
  const groups = new Map<string, number[]>()
  for (let i = 0; i < s.n; i++) {
    const node = s.node[i]!
    const colour = node < 0 ? look.dust : fillFor(p, look, s.fill[i]!)[aside(p, node) ? 'pale' : 'full']
    const list = groups.get(colour)
    if (list) list.push(i)
    else groups.set(colour, [i])
  }
  for (const [colour, list] of groups) {
    ctx.fillStyle = colour
    for (const i of list) {
      const w = s.w[i]!
      // The gap to the next one: where both are narrow it would be all there is.
      ctx.fillRect(s.x[i]!, rowTop(p, s.row[i]!), w > 3 ? w - 1 : w > 1 ? w - 0.4 : w, ROW - 1)
    }
  }
}

function paintMarks(ctx: CanvasRenderingContext2D, p: Picture, look: Look, s: Shown): void {
  for (let k = 0; k < KINDS.length; k++) {
    const { height } = MARKS[KINDS[k]!]
    ctx.fillStyle = look.marks[k]!
    for (let i = 0; i < s.n; i++) {
      const node = s.node[i]!
      if (node < 0 || s.w[i]! < 6 || aside(p, node)) continue
      const f = p.tree.func[node]!
      if (f < 0 || p.tree.funcs.kinds[f] !== k) continue
      ctx.fillRect(s.x[i]!, rowTop(p, s.row[i]!) + ROW - 1 - height, s.w[i]! - 1, height)
    }
  }
}

function paintNames(ctx: CanvasRenderingContext2D, p: Picture, look: Look, s: Shown): void {
  ctx.textBaseline = 'middle'
  let font = ''
  for (let i = 0; i < s.n; i++) {
    const node = s.node[i]!
    const cells = Math.floor((s.w[i]! - 7) / look.cell)
    if (node < 0 || cells < 3) continue
    const f = p.tree.func[node]!
    const kind = f < 0 ? '' : KINDS[p.tree.funcs.kinds[f]!]
    const want = kind === 'own' ? look.fonts.own : kind === 'runtime' || kind === 'kernel' ? look.fonts.runtime : look.fonts.plain
    if (want !== font) ctx.font = font = want
    const fill = fillFor(p, look, s.fill[i]!)
    ctx.fillStyle = aside(p, node) ? fill.paleInk : fill.ink
    ctx.fillText(labelOf(p, node, cells), s.x[i]! + 3.5, rowTop(p, s.row[i]!) + ROW / 2 - 1)
  }
}

function labelOf(p: Picture, node: number, cells: number): string {
  const f = p.tree.func[node]!
  const name = f < 0 ? p.rootName : p.names[f]!
  const base = compared(p.tree)
  if (!base) return fit(name, cells)
  const sign = signOf(p.tree.sum[node]!, base.sum[node]!)
  return sign.length + 4 > cells ? sign.slice(0, cells) : sign + ' ' + fit(name, cells - sign.length - 1)
}

function outline(ctx: CanvasRenderingContext2D, p: Picture, s: Shown, node: number, colour: string, width: number): void {
  if (node < 0) return
  for (let i = 0; i < s.n; i++) {
    if (s.node[i] !== node) continue
    ctx.strokeStyle = colour
    ctx.lineWidth = width
    ctx.strokeRect(s.x[i]! + width / 2, rowTop(p, s.row[i]!) + width / 2, Math.max(1, s.w[i]! - 1 - width), ROW - 1 - width)
    return
  }
}
