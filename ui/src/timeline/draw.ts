// Drawing the timeline.
//
// The problem. A picture of a trace is two thousand pixels wide and forty rows
// tall, moves at sixty frames a second under the hand, and must cost the same
// whether a million or ninety million stretches of time lie behind it. It may
// not lose what is rare, and it must be honest about what has not arrived.
//
// The idea. What is drawn is bounded before it gets here. The server answers in
// tiles of 256 buckets, on levels whose buckets are powers of two nanoseconds
// wide; the level is the finest whose buckets are at least one pixel of the
// screen, so a row never has more buckets than pixels. A tile of a row is painted
// once, bucket for bucket, into a bitmap 256 pixels wide (paint.ts), and a frame
// only places bitmaps: about six for each row, whatever is in them. As a bucket is
// never narrower than a pixel, and bitmaps are stretched without smoothing, no
// column is dropped: a pause of a microsecond that the server marked in its bucket
// has its pixel in every picture.
//
// Where the right tile has not come the part of a coarser one is stretched in its
// place, at worst the one tile that covers everything; where there is none a row of
// dots says that something comes. Painting has a budget in each frame and goes on in
// the next, with the bitmaps of before standing in.
//
// Exact stretches. A tile of one lane that holds few stretches carries these
// instead of buckets. Up to CRISP of them are drawn as rectangles, with exact
// edges; more are painted into buckets as the server would. Text is written where
// it fits: a line of W pixels has at most W/LETTERS texts. On the finest level
// buckets grow wider than a pixel, and all of its stretches, few by then, are
// rectangles; so are buckets from WIDE pixels on. Each frame has at most rows ×
// (tiles × CRISP + W/LETTERS + W/WIDE × states) operations, a number that knows
// the screen and not the trace.
//
// Why not other ways. Measured with forty rows of 1,600 pixels, in Chromium without
// a graphics processor, raster included: placing bitmaps takes 3 ms a frame,
// filling a rectangle for each bucket and state 140, writing all pixels of the
// frame by hand 10; on a screen of double density 8, 190 and 22. Painting a bitmap
// takes a tenth of a millisecond, once. WebGL would be faster still, and fails
// where there is no driver: over remote desktops, in virtual machines, in the
// browser of a build server.
//
// Heights of groups have a scale of their own, the round number (1, 2, 5, …)
// above the highest column in sight, so they change when the highest column comes
// into sight; how many that column has is written at the row's begin. That of Ps is
// how many there are.
//
// Limits. A bitmap's buckets are up to two pixels wide, so the edges of what is
// painted are that coarse; the rectangles of exact stretches are not. Stretched
// parents show wider buckets until the right tile comes.
import type { Edge, Gap, Hold, Insight, Lane, Span } from '../api'
import { count, num } from '../format'
import { stateLook, stateName } from '../state'
import { t, tn } from '../strings'
import { spanAt } from './decode'
import { brief, isSingle, laneOfGoroutine, type Row } from './lanes'
import type { Outline } from './outline'
import { css, dark, ink, LOOKS, mix, paint, peak, rgb, type Palette, type Pattern, type StateLook } from './paint'
import { ruler } from './ruler'
import { partOf, type Kept, type Picture, type Tiles } from './tiles'
import { BUCKETS, bucketNs, levelFor, tileNs, tilesOf, xOf, type Window } from './window'

/** Colours of a theme, ready for pixels and for fillStyle. */
export interface Theme extends Palette {
  version: number
  fills: string[] // of states
  inks: string[] // text on them
  tiles: (CanvasPattern | null)[] // patterns of states, over their fills
  lines: string[] // of series
  bg: string
  card: string
  fg: string
  muted: string
  line: string
  accent: string
  bad: string
  warn: string
  gc: string
  hatch: CanvasPattern | null
  font: string
}

/** A Line is a quantity over time in a lane of its own. */
export interface Line {
  name: string
  outline: Outline
}

export interface Chart {
  lines: Line[]
  unit: string
  max: number
}

export interface Scene {
  window: Window
  /** Of the picture, in pixels of CSS, and how many of the screen make one. */
  width: number
  height: number
  dpr: number
  /** Where the picture's top is among the rows. */
  top: number
  rows: Row[]
  states: string[]
  hidden: boolean[]
  /** The same as a text, to compare with. */
  hiddenKey: string
  theme: Theme
  tiles: Tiles
  levels: Levels
  charts: Map<string, Chart>
  gc: { cycles: Gap[]; pauses: Gap[] } | null
  gaps: Gap[]
  insights: Insight[]
}

/** Levels that can be had; a report file has only some of those between. */
export interface Levels {
  min: number
  max: number
  only?: number[] | undefined
}

/** So many stretches of a tile are drawn one by one. */
const CRISP = 48
/** Pixels that a text needs at least. */
const LETTERS = 34
/** Buckets so many pixels wide are drawn one by one: stretched, their patterns would be others. */
const WIDE = 12
/** Milliseconds of a frame for painting new tiles. */
const BUDGET_MS = 5
/** Lanes whose height stands for their peak. */
const FIXED = ['ps', 'threads', 'kernel']
/** Pixels of air at a row's top. */
const AIR = 3

export function readTheme(states: string[], version: number, ctx: CanvasRenderingContext2D): Theme {
  const style = getComputedStyle(document.documentElement)
  const v = (name: string): string => style.getPropertyValue(name).trim() || 'gray'
  const fg = rgb(v('--fg'))
  const bg = rgb(v('--card'))
  const pixel = ([r, g, b]: [number, number, number], a = 255): number => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0
  const looks: StateLook[] = []
  const fills: string[] = []
  const inks: string[] = []
  const tiles: (CanvasPattern | null)[] = []
  for (const name of states) {
    const look = LOOKS[name] ?? LOOKS['unknown']!
    const colour = rgb(v(stateLook(name).fill))
    const shade = mix(colour, bg, 0.38)
    looks.push({ colour: pixel(colour), shade: pixel(shade), pattern: look.pattern, height: look.height })
    fills.push(css(colour))
    inks.push(ink(colour))
    tiles.push(patternOf(ctx, look.pattern, pixel(mix(colour, bg, 0.25))))
  }
  return {
    version,
    looks,
    fills,
    inks,
    tiles,
    rare: pixel(rgb(v('--bad'))),
    long: pixel(rgb(v('--warn'))),
    lost: pixel(mix(fg, bg, 0.45)),
    lines: ['--accent', '--warn', '--good', '--gc', '--syscall'].map((n) => css(rgb(v(n)))),
    bg: css(rgb(v('--bg'))),
    card: css(bg),
    fg: css(fg),
    muted: css(rgb(v('--muted'))),
    line: css(rgb(v('--line'))),
    accent: css(rgb(v('--accent'))),
    bad: css(rgb(v('--bad'))),
    warn: css(rgb(v('--warn'))),
    gc: css(rgb(v('--gc'))),
    hatch: patternOf(ctx, 'falling', pixel(mix(fg, bg, 0.5))),
    font: v('--mono'),
  }
}

function patternOf(ctx: CanvasRenderingContext2D, p: Pattern, colour: number): CanvasPattern | null {
  if (p === 'plain') return null
  // 60 is a multiple of every pattern's period, so that it repeats without a seam.
  const size = 60
  const c = document.createElement('canvas')
  c.width = c.height = size
  const draw = c.getContext('2d')!
  // As pixels: tens of thousands of small rectangles are most of what a theme costs.
  const image = draw.createImageData(size, size)
  const pixels = new Uint32Array(image.data.buffer)
  for (let y = 0; y < size; y++) for (let x = 0; x < size; x++) if (dark(p, x, y)) pixels[y * size + x] = colour
  draw.putImageData(image, 0, 0)
  return ctx.createPattern(c, 'repeat')
}

/** swatch draws how a state looks, for the legend. */
export function swatch(c: HTMLCanvasElement, theme: Theme, state: number): void {
  const ctx = c.getContext('2d')
  if (!ctx) return
  ctx.fillStyle = theme.fills[state] ?? 'gray'
  ctx.fillRect(0, 0, c.width, c.height)
  const over = theme.tiles[state]
  if (over) {
    ctx.fillStyle = over
    ctx.fillRect(0, 0, c.width, c.height)
  }
}

/** roundUp is the next of 1, 2, 5, 10, … that is at least v, or as good as that. */
export function roundUp(v: number): number {
  if (!(v > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(v))
  // Shares come rounded up, one part in 255 for each state: a column that is two
  // hundredths too high does not need another scale.
  for (const m of [1, 2, 5, 10]) if (power * m >= v * 0.98) return power * m
  return power * 10
}

/** levelOf is the level of tiles for a picture. */
export function levelOf(s: Pick<Scene, 'window' | 'width' | 'dpr' | 'levels'>): number {
  const level = levelFor((s.window.to - s.window.from) / (s.width * s.dpr), s.levels.min, s.levels.max)
  const { only } = s.levels
  if (!only || only.length === 0) return level
  return only.reduce((best, l) => (Math.abs(l - level) <= Math.abs(best - level) ? l : best))
}

/** hasTiles says which lanes are pictures of states; the rest are heads and lines. */
export const hasTiles = (lane: Lane | undefined): lane is Lane =>
  lane !== undefined && lane.kind !== 'line' && lane.kind !== 'groups'

/**
 * drawLanes draws the rows. It returns false when painting did not come to its
 * end and another frame shall be drawn.
 */
export function drawLanes(ctx: CanvasRenderingContext2D, s: Scene): boolean {
  const { theme } = s
  ctx.setTransform(s.dpr, 0, 0, s.dpr, 0, 0)
  ctx.imageSmoothingEnabled = false
  ctx.fillStyle = theme.card
  ctx.fillRect(0, 0, s.width, s.height)
  if (s.gc) shadeCycles(ctx, s, s.gc.cycles)
  const level = levelOf(s)
  const [first, last] = tilesOf(s.window, level)
  const brush: Brush = { ends: performance.now() + BUDGET_MS, done: true }
  ctx.font = `11px ${theme.font}`
  ctx.textBaseline = 'middle'
  for (const row of s.rows) {
    const y = row.y - s.top
    ctx.fillStyle = theme.line
    ctx.fillRect(0, y + row.h - 1, s.width, 1)
    if (row.lane?.kind === 'line') drawChart(ctx, s, row, y)
    else if (hasTiles(row.lane)) drawRow(ctx, s, row, row.lane, y, level, first, last, brush)
    insightsOf(s.insights, row.lane).forEach((f, i) => drawInsight(ctx, s, f, y + 3 * i, i))
  }
  if (s.gc) drawPauses(ctx, s, s.gc.pauses)
  drawGaps(ctx, s, 0, s.height)
  return brush.done
}

/** A Brush has the time that painting may take in this frame. */
interface Brush {
  ends: number
  done: boolean
}

interface Placed {
  kept: Kept
  level: number
  tile: number
  /** Of the wanted tile, in the kept one. */
  from: number
  count: number
  /** Of the wanted tile on the screen: whole pixels of it, so that no seam shows. */
  x: number
  w: number
  /** When the wanted tile begins. */
  start: number
}

function place(s: Scene, lane: string, level: number, first: number, last: number, missing?: (x: number, w: number) => void): Placed[] {
  const out: Placed[] = []
  const wide = tileNs(level)
  const snap = (x: number): number => Math.round(x * s.dpr) / s.dpr
  for (let tile = first; tile <= last; tile++) {
    const found = s.tiles.best(level, tile, lane)
    const x = snap(xOf(s.window, s.width, tile * wide))
    const w = snap(xOf(s.window, s.width, (tile + 1) * wide)) - x
    if (found) out.push({ ...found, ...partOf(level, tile, found.level, found.tile), x, w, start: tile * wide })
    else missing?.(x, w)
  }
  return out
}

function drawRow(ctx: CanvasRenderingContext2D, s: Scene, row: Row, lane: Lane, y: number, level: number, first: number, last: number, brush: Brush): void {
  const single = isSingle(lane.kind)
  const h = row.h - AIR
  // What has not come is not the same as nothing: a row of dots stands for it.
  const placed = place(s, lane.id, level, first, last, (x, w) => {
    ctx.fillStyle = s.theme.line
    for (let at = Math.max(0, x) - (Math.max(0, x) % 8) + 4; at < Math.min(x + w, s.width); at += 8) ctx.fillRect(at, y + row.h / 2 - 1, 2, 2)
  })
  let top = 0
  let most = 0
  if (!single) {
    // Of Ps, threads and CPUs there are so many, whatever they do at the moment.
    const fixed = FIXED.includes(lane.kind) && !s.hidden.some(Boolean)
    for (const p of placed) top = Math.max(top, peakOf(p.kept, s))
    most = fixed ? Math.max(1, Math.round(Math.max(lane.peak, top))) : top
    top = fixed ? Math.max(1, Math.round(Math.max(lane.peak, top))) : roundUp(top)
  }
  const bucketPx = (bucketNs(level) / (s.window.to - s.window.from)) * s.width
  for (const p of placed) {
    const { spans } = p.kept.tile
    const crisp = spans !== null && p.level === level && (spans.length <= CRISP || bucketPx >= 2)
    if (crisp) {
      drawSpans(ctx, s, lane, spans, y + AIR - 1, h, p)
      continue
    }
    if (bucketPx >= WIDE && p.level === level) {
      drawBuckets(ctx, s, p, y + AIR - 1, h, single, top)
      continue
    }
    const picture = pictureOf(p, s, lane, Math.round(h * s.dpr), single, top, brush)
    if (picture) {
      ctx.drawImage(picture.image, p.from, 0, Math.max(p.count, 1e-6), Math.round(h * s.dpr), p.x, y + AIR - 1, p.w, h)
    }
    if (spans && p.level === level) drawTexts(ctx, s, lane, p.kept, y + AIR - 1, h, p)
  }
  if (!single && placed.length > 0 && row.depth >= 0) writeScale(ctx, s, scaleText(lane, most), y)
}

/**
 * scaleText is how many there are at most in what is in sight. Shares come rounded up, so it
 * is never more than the lane has at all; less than one is a part of a bucket's time.
 */
export function scaleText(lane: Pick<Lane, 'kind' | 'peak'>, most: number): string {
  const n = Math.round(lane.peak > 0 ? Math.min(most, lane.peak) : most)
  const words = tn('timeline.scale.' + lane.kind + (n <= 1 ? '.one' : ''), tn('timeline.scale.' + lane.kind, '{n}'))
  return words.replace('{n}', most < 0.5 ? '< 1' : count(n))
}

function writeScale(ctx: CanvasRenderingContext2D, s: Scene, text: string, y: number): void {
  ctx.font = `10px ${s.theme.font}`
  ctx.fillStyle = s.theme.card
  ctx.globalAlpha = 0.8
  ctx.fillRect(0, y, text.length * 6.1 + 5, 12)
  ctx.globalAlpha = 1
  ctx.fillStyle = s.theme.muted
  ctx.fillText(text, 2, y + 6.5)
  ctx.font = `11px ${s.theme.font}`
}

/** The highest column, which is remembered with the tile until what is hidden changes. */
const peaks = new WeakMap<Kept, { hidden: string; top: number }>()

function peakOf(kept: Kept, s: Scene): number {
  let known = peaks.get(kept)
  if (!known || known.hidden !== s.hiddenKey) {
    peaks.set(kept, (known = { hidden: s.hiddenKey, top: peak(kept.tile, s.states.length, s.hidden) }))
  }
  return known.top
}

const easels = new Map<number, { canvas: OffscreenCanvas; ctx: OffscreenCanvasRenderingContext2D; data: ImageData; pixels: Uint32Array }>()

function easel(h: number) {
  let e = easels.get(h)
  if (!e) {
    if (easels.size > 40) easels.clear()
    const canvas = new OffscreenCanvas(BUCKETS, h)
    const ctx = canvas.getContext('2d', { willReadFrequently: true })!
    const data = ctx.createImageData(BUCKETS, h)
    e = { canvas, ctx, data, pixels: new Uint32Array(data.data.buffer) }
    easels.set(h, e)
  }
  return e
}

function pictureOf(p: Placed, s: Scene, lane: Lane, h: number, single: boolean, top: number, brush: Brush): Picture | undefined {
  const { kept } = p
  if (!kept.tile.shares) return undefined
  const plain = lane.kind === 'gc' || lane.kind === 'stw' // they are themselves what marks tell
  const key = `${s.theme.version} ${h} ${single ? '' : top} ${s.hiddenKey}`
  if (kept.picture?.key === key) return kept.picture
  if (performance.now() > brush.ends) {
    brush.done = false
    return kept.picture
  }
  const e = easel(h)
  paint(e.pixels, h, plain ? { ...kept.tile, marks: null } : kept.tile, s.states.length, s.theme, s.hidden, single, top)
  e.ctx.putImageData(e.data, 0, 0)
  kept.picture?.image.close?.()
  kept.picture = { image: e.canvas.transferToImageBitmap(), key, top, bytes: BUCKETS * h * 4 }
  s.tiles.painted(p.level, p.tile, lane.id, kept)
  return kept.picture
}

function drawSpans(ctx: CanvasRenderingContext2D, s: Scene, lane: Lane, spans: Span[], y: number, h: number, p: Placed): void {
  const right = p.x + p.w
  let fill = ''
  let drawn = -1 // the last pixel that has something
  for (const span of spans) {
    if (s.hidden[span.state]) continue
    const look = s.theme.looks[span.state]
    if (!look) continue
    const x0 = Math.max(xOf(s.window, s.width, span.from_ns), p.x, -1)
    const x1 = Math.min(xOf(s.window, s.width, span.to_ns), right, s.width + 1)
    if (x1 < x0 || x1 < 0 || x0 > s.width) continue
    const thin = x1 - x0 < 0.5
    if (thin && Math.floor(x0 * s.dpr) === drawn) continue
    drawn = Math.floor(x1 * s.dpr)
    const w = Math.max(x1 - x0, 1 / s.dpr)
    const tall = Math.max(2, Math.round(h * look.height))
    const top = y + h - tall
    const colour = s.theme.fills[span.state]!
    if (colour !== fill) ctx.fillStyle = fill = colour
    ctx.fillRect(x0, top, w, tall)
    if (w < 4) continue
    const over = s.theme.tiles[span.state]
    if (over) {
      ctx.fillStyle = over
      ctx.fillRect(x0, top, w, tall)
      fill = ''
    }
    // A line apart, where it can be seen: runs of two goroutines are two.
    if (x1 < right) {
      ctx.fillStyle = s.theme.card
      ctx.fillRect(x1 - 0.5, top, 0.5, tall)
      fill = ''
    }
    if (w >= LETTERS && startsHere(s, span, p)) {
      writeSpan(ctx, s, lane, span, x0, top, tall, y)
      fill = ''
    }
  }
}

// drawBuckets is what paint does, where the finest level has buckets of many pixels.
function drawBuckets(ctx: CanvasRenderingContext2D, s: Scene, p: Placed, y: number, h: number, single: boolean, top: number): void {
  const { shares, max } = p.kept.tile
  if (!shares) return
  const n = s.states.length
  const w = p.w / BUCKETS
  const edge = (b: number): number => Math.round((p.x + b * w) * s.dpr) / s.dpr
  const alike = (a: number, b: number): boolean => {
    for (let st = 0; st < n; st++) if (shares[a * n + st] !== shares[b * n + st]) return false
    return true
  }
  const last = Math.min(BUCKETS - 1, Math.floor((s.width - p.x) / w))
  for (let b = Math.max(0, Math.floor(-p.x / w)); b <= last; ) {
    let end = b + 1
    while (end <= last && alike(b, end)) end++
    const x = edge(b)
    const wide = edge(end) - x
    let sum = 0
    for (let st = 0; st < n; st++) {
      const share = shares[b * n + st]!
      if (share === 0 || s.hidden[st]) continue
      const tall = single ? (share / 255) * h * s.theme.looks[st]!.height : top > 0 ? ((share / 255) * max * h) / top : 0
      const up = Math.max(0, Math.round(h - sum - tall))
      const down = Math.max(up + 1, Math.round(h - sum))
      sum += tall
      ctx.fillStyle = s.theme.fills[st]!
      ctx.fillRect(x, y + up, wide, down - up)
      const over = s.theme.tiles[st]
      if (!over) continue
      ctx.fillStyle = over
      ctx.fillRect(x, y + up, wide, down - up)
    }
    b = end
  }
}

// A stretch that goes over the edges of tiles comes with each of them; its text
// is written with the first in sight.
function startsHere(s: Scene, span: Span, p: Placed): boolean {
  return span.from_ns >= s.window.from ? span.from_ns >= p.start : p.start <= s.window.from
}

// writeSpan writes a text over the whole stretch, also where it goes on in the next tile.
function writeSpan(ctx: CanvasRenderingContext2D, s: Scene, lane: Lane, span: Span, x: number, top: number, tall: number, y: number): void {
  const end = Math.min(xOf(s.window, s.width, span.to_ns), s.width)
  const text = textOf(lane, span, s.states, Math.floor((end - x - 6) / LETTER))
  if (text === '') return
  // Above a bar that is too low to hold it.
  const inside = tall >= 12
  if (inside && s.theme.tiles[span.state]) {
    // Letters on a pattern are hard to read: it makes room for them.
    ctx.fillStyle = s.theme.fills[span.state]!
    ctx.fillRect(x + 1, top, text.length * LETTER + 4, tall)
  }
  ctx.fillStyle = inside ? s.theme.inks[span.state]! : s.theme.fg
  ctx.fillText(text, x + 3, inside ? top + tall / 2 + 0.5 : (y + top) / 2 + 1)
}

/** Pixels of a letter of the picture's font, which is of one width. */
const LETTER = 6.65

export function cut(text: string, letters: number): string {
  if (letters >= text.length) return text
  return letters < 3 ? '' : text.slice(0, letters - 1) + '…'
}

/** textOf is what stands in a stretch, in so many letters: what the lane itself does not tell. */
export function textOf(lane: Pick<Lane, 'kind'>, span: Span, states: string[], letters: number): string {
  const state = states[span.state] ?? ''
  switch (lane.kind) {
    case 'p':
    case 'm':
    case 'samples':
      return cut(span.goroutine > 0 ? `${brief(span.group)} ${span.goroutine}` : span.reason || state, letters)
    case 'gc':
    case 'stw':
    case 'task':
    case 'regions':
      return cut(span.reason || state, letters)
    case 'cpu':
      return cut(brief(span.reason) || state, letters)
  }
  const { letter } = stateLook(state)
  const text = `${letter} ${span.reason || stateName(state)}`
  // Half a state's word tells no more than its letter.
  return text.length <= letters || span.reason !== '' ? cut(text, letters) : letter
}

function drawTexts(ctx: CanvasRenderingContext2D, s: Scene, lane: Lane, kept: Kept, y: number, h: number, p: Placed): void {
  const { spans, longest } = kept.tile
  if (!spans || !longest) return
  const perNs = s.width / (s.window.to - s.window.from)
  for (const i of longest) {
    const span = spans[i]!
    if ((span.to_ns - span.from_ns) * perNs < LETTERS) break
    if (s.hidden[span.state] || !s.theme.looks[span.state]) continue
    const x0 = Math.max(xOf(s.window, s.width, span.from_ns), p.x, 0)
    const w = Math.min(xOf(s.window, s.width, span.to_ns), p.x + p.w, s.width) - x0
    if (w < LETTERS || !startsHere(s, span, p)) continue
    const tall = Math.max(2, Math.round(h * s.theme.looks[span.state]!.height))
    writeSpan(ctx, s, lane, span, x0, y + h - tall, tall, y)
  }
}

function drawChart(ctx: CanvasRenderingContext2D, s: Scene, row: Row, y: number): void {
  const chart = s.charts.get(row.id)
  if (!chart) return
  const h = row.h - AIR - 2
  const max = chart.max > 0 ? chart.max : 1
  const yOf = (v: number): number => y + AIR + h - (Math.max(v, 0) / max) * h
  chart.lines.forEach((line, i) => {
    const colour = s.theme.lines[i % s.theme.lines.length]!
    const points = line.outline.points(s.window.from, s.window.to, s.width * 2)
    ctx.strokeStyle = colour
    ctx.lineWidth = 1.25
    // The second line is dashed, the third dotted: not by colour alone.
    ctx.setLineDash(i === 0 ? [] : i === 1 ? [6, 3] : [2, 2])
    ctx.beginPath()
    let pen = false
    for (const p of points) {
      if (Number.isNaN(p.low)) {
        pen = false
        continue
      }
      const x = xOf(s.window, s.width, p.at)
      if (pen) ctx.lineTo(x, yOf(p.low))
      else ctx.moveTo(x, yOf(p.low))
      pen = true
      if (p.high !== p.low) ctx.lineTo(x, yOf(p.high))
    }
    ctx.stroke()
  })
  ctx.setLineDash([])
  writeScale(ctx, s, num(max, chart.unit), y)
}

/** inSight is the part of a list, ordered by time, that touches a window. */
export function inSight<T extends { from_ns: number; to_ns: number }>(list: T[], w: Window): T[] {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (list[middle]!.to_ns < w.from) low = middle + 1
    else high = middle
  }
  let end = low
  let top = list.length
  while (end < top) {
    const middle = (end + top) >> 1
    if (list[middle]!.from_ns <= w.to) end = middle + 1
    else top = middle
  }
  return list.slice(low, end)
}

/** bars joins what falls on the same pixels: at most as many as the picture is wide. */
function bars(s: Scene, list: Gap[], least: number): [x: number, w: number][] {
  const out: [number, number][] = []
  for (const g of inSight(list, s.window)) {
    const x0 = Math.max(0, xOf(s.window, s.width, g.from_ns))
    const x1 = Math.min(s.width, Math.max(xOf(s.window, s.width, g.to_ns), x0 + least))
    const before = out[out.length - 1]
    if (before && x0 <= before[0] + before[1] + 0.5 / s.dpr) before[1] = Math.max(before[1], x1 - before[0])
    else out.push([x0, x1 - x0])
  }
  return out
}

/** insightsOf are the findings that a lane shows: those about its group. */
export const insightsOf = (all: readonly Insight[], lane: Lane | undefined): Insight[] =>
  lane?.kind === 'g' ? all.filter((f) => f.group === lane.label) : []

// drawInsight draws when a lane shows a finding, as a bar along its top, and which it is.
function drawInsight(ctx: CanvasRenderingContext2D, s: Scene, f: Insight, y: number, before: number): void {
  const list = bars(s, f.windows, 2)
  const first = list[0]
  if (!first) return
  ctx.fillStyle = f.remark ? s.theme.warn : s.theme.bad
  for (const [x, w] of list) ctx.fillRect(x, y, w, 2)
  // Where the first is, behind what the row's scale says; one after the other.
  const room = Math.floor((s.width - 150) / 2 / LETTER)
  const text = cut(`${f.finding}  ${f.title}`, room)
  if (text === '' || before > 1) return
  const x = Math.max(Math.min(first[0], s.width - text.length * LETTER - 8), 120) + before * (room * LETTER) / 2
  ctx.font = `600 11px ${s.theme.font}`
  ctx.fillRect(x, y, text.length * LETTER + 8, 14)
  ctx.fillStyle = s.theme.card
  ctx.fillText(text, x + 4, y + 7.5)
  ctx.font = `11px ${s.theme.font}`
}

function shadeCycles(ctx: CanvasRenderingContext2D, s: Scene, cycles: Gap[]): void {
  ctx.globalAlpha = 0.1
  ctx.fillStyle = s.theme.gc
  for (const [x, w] of bars(s, cycles, 0.5)) ctx.fillRect(x, 0, w, s.height)
  ctx.globalAlpha = 1
}

function drawPauses(ctx: CanvasRenderingContext2D, s: Scene, pauses: Gap[]): void {
  // Where they stand closer than a dozen pixels on average, lines would be a veil
  // over everything; the lane of pauses has them.
  if (inSight(pauses, s.window).length > s.width / 12) return
  ctx.fillStyle = s.theme.bad
  for (const [x, w] of bars(s, pauses, 1 / s.dpr)) {
    ctx.globalAlpha = 0.5
    ctx.fillRect(x, 0, 1 / s.dpr, s.height)
    if (w < 3) continue
    ctx.fillRect(x + w, 0, 1 / s.dpr, s.height)
    ctx.globalAlpha = 0.09
    ctx.fillRect(x, 0, w, s.height)
  }
  ctx.globalAlpha = 1
}

function drawGaps(ctx: CanvasRenderingContext2D, s: Scene, y: number, h: number): void {
  if (!s.theme.hatch || s.gaps.length === 0) return
  ctx.globalAlpha = 0.6
  ctx.fillStyle = s.theme.hatch
  for (const [x, w] of bars(s, s.gaps, 2)) ctx.fillRect(x, y, w, h)
  ctx.globalAlpha = 1
}

/** drawRuler draws the ticks above the picture, and returns what labels with a plus count from. */
export function drawRuler(ctx: CanvasRenderingContext2D, s: Pick<Scene, 'window' | 'width' | 'dpr' | 'theme'>, h: number): string {
  ctx.setTransform(s.dpr, 0, 0, s.dpr, 0, 0)
  ctx.fillStyle = s.theme.bg
  ctx.fillRect(0, 0, s.width, h)
  ctx.textBaseline = 'middle'
  const { ticks, base } = ruler(s.window, s.width)
  for (const t of ticks) {
    const x = xOf(s.window, s.width, t.at)
    ctx.fillStyle = t.full ? s.theme.fg : s.theme.muted
    ctx.fillRect(x, t.full ? h - 9 : h - 6, 1, 9)
    ctx.font = `${t.full ? '600 ' : ''}11px ${s.theme.font}`
    const room = x + 4 + t.label.length * LETTER
    if (room < s.width) ctx.fillText(t.label, x + 4, h / 2)
  }
  return base
}

/** drawOverview draws everything there is, and where the window is in it. */
export function drawOverview(ctx: CanvasRenderingContext2D, s: Scene, lane: Lane | undefined, window: Window): boolean {
  const { theme } = s
  ctx.setTransform(s.dpr, 0, 0, s.dpr, 0, 0)
  ctx.imageSmoothingEnabled = false
  ctx.fillStyle = theme.card
  ctx.fillRect(0, 0, s.width, s.height)
  if (s.gc) shadeCycles(ctx, s, s.gc.cycles)
  const brush: Brush = { ends: performance.now() + BUDGET_MS, done: true }
  if (lane && hasTiles(lane)) {
    const level = levelOf(s)
    const [first, last] = tilesOf(s.window, level)
    const row: Row = { id: lane.id, lane, parent: '', depth: -1, y: 0, h: s.height, index: 0, of: 1 }
    drawRow(ctx, s, row, lane, 0, level, first, last, brush)
  }
  drawGaps(ctx, s, 0, s.height)
  const x0 = xOf(s.window, s.width, window.from)
  const x1 = Math.max(xOf(s.window, s.width, window.to), x0 + 2)
  ctx.fillStyle = theme.bg
  ctx.globalAlpha = 0.66
  ctx.fillRect(0, 0, x0, s.height)
  ctx.fillRect(x1, 0, s.width - x1, s.height)
  ctx.globalAlpha = 1
  ctx.strokeStyle = theme.accent
  ctx.lineWidth = 2
  ctx.strokeRect(x0, 1, x1 - x0, s.height - 2)
  return brush.done
}

/** What lies over the picture and changes without it. */
export interface Overlay {
  /** Where the pointer is, in pixels; null when it is elsewhere. */
  pointer: number | null
  focus: string
  marked: ReadonlySet<string>
  selected: Window | null
  /** What somebody wrote about it. */
  note: string
  dragged: Window | null
  span: { lane: string; span: Span } | null
  edges: Edge[]
  /** The wake-ups of the selected stretch stand out among the others. */
  strong: Edge[]
  /** Who has what a group waits for. */
  holds: { group: string; list: Hold[] } | null
}

export function drawOverlay(ctx: CanvasRenderingContext2D, s: Scene, o: Overlay): void {
  const { theme } = s
  ctx.setTransform(s.dpr, 0, 0, s.dpr, 0, 0)
  ctx.clearRect(0, 0, s.width, s.height)
  const rows = new Map<string, Row>()
  for (const r of s.rows) if (!rows.has(r.id)) rows.set(r.id, r)
  for (const r of s.rows) {
    if (r.id !== o.focus && !o.marked.has(r.id)) continue
    ctx.fillStyle = theme.accent
    ctx.globalAlpha = r.id === o.focus ? 0.09 : 0.06
    ctx.fillRect(0, r.y - s.top, s.width, r.h)
    ctx.globalAlpha = 1
  }
  const window = o.dragged ?? o.selected
  if (window) {
    const x0 = xOf(s.window, s.width, window.from)
    const x1 = xOf(s.window, s.width, window.to)
    ctx.fillStyle = theme.accent
    ctx.globalAlpha = 0.14
    ctx.fillRect(x0, 0, x1 - x0, s.height)
    ctx.globalAlpha = 1
    ctx.fillRect(x0 - 0.5, 0, 1, s.height)
    ctx.fillRect(x1 - 0.5, 0, 1, s.height)
    if (o.note !== '' && !o.dragged) writeNote(ctx, s, o.note, Math.max(x0, 0))
  }
  if (o.holds) drawHolds(ctx, s, o.holds)
  if (o.span) outlineSpan(ctx, s, rows.get(o.span.lane), o.span.span)
  for (const e of o.edges) arrow(ctx, s, rows, e, theme.muted, 1)
  for (const e of o.strong) arrow(ctx, s, rows, e, theme.fg, 1.75)
  if (o.pointer !== null) {
    ctx.fillStyle = theme.muted
    ctx.fillRect(o.pointer, 0, 1 / s.dpr, s.height)
  }
}

/** Height of the band that says who has what is waited for. */
const BAND = 11

// drawHolds draws who has what a group waits for: all of them one behind the other at the
// foot of the group's lane, and each at that of its own. One that may have begun later is
// fainter.
function drawHolds(ctx: CanvasRenderingContext2D, s: Scene, o: NonNullable<Overlay['holds']>): void {
  const { theme } = s
  const list = inSight(o.list, s.window)
  ctx.font = `10px ${theme.font}`
  ctx.textBaseline = 'middle'
  for (const row of s.rows) {
    const group = row.lane?.kind === 'g' && row.lane.label === o.group
    const own = row.id.startsWith('go:') ? Number.parseInt(row.id.slice(3)) : -1
    if (!group && own < 0) continue
    const y = row.y - s.top + row.h - BAND - 2
    let drawn = -1
    list.forEach((h, i) => {
      if (!group && h.goroutine !== own) return
      const x0 = Math.max(xOf(s.window, s.width, h.from_ns), 0)
      const w = Math.max(Math.min(xOf(s.window, s.width, h.to_ns), s.width) - x0, 1 / s.dpr)
      if (x0 + w <= drawn) return
      drawn = Math.ceil((x0 + w) * s.dpr) / s.dpr
      ctx.globalAlpha = h.sure ? 0.95 : 0.6
      ctx.fillStyle = group && i % 2 === 1 ? theme.fg : theme.accent
      ctx.fillRect(x0, y, w, BAND)
      ctx.globalAlpha = 1
      const text = holdText(h, group, Math.floor((w - 6) / LETTER))
      if (text === '') return
      ctx.fillStyle = theme.card
      ctx.fillText(text, x0 + 3, y + BAND / 2 + 0.5)
    })
  }
  ctx.font = `11px ${theme.font}`
}

/**
 * turnsOf are the holds as they are drawn: who takes from a channel again and again serves
 * it all the while, and a lock that is taken again was free between.
 */
export function turnsOf(list: readonly Hold[], queue: string): Hold[] {
  if (queue !== 'channel') return [...list]
  const out: Hold[] = []
  for (const h of list) {
    const last = out[out.length - 1]
    if (last && last.goroutine === h.goroutine && last.to_ns >= h.from_ns) last.to_ns = Math.max(last.to_ns, h.to_ns)
    else out.push({ ...h, sure: true })
  }
  return out
}

/** holdText is what stands in a band: who it is, or in its own lane that it has it. */
export function holdText(h: Pick<Hold, 'goroutine' | 'group'>, named: boolean, letters: number): string {
  if (!named) return cut(t('timeline.holds.has'), letters)
  const id = String(h.goroutine)
  const whole = `${brief(h.group)} ${id}`
  return whole.length <= letters ? whole : id.length <= letters ? id : ''
}

function writeNote(ctx: CanvasRenderingContext2D, s: Scene, note: string, x: number): void {
  ctx.font = `12px ${s.theme.font}`
  ctx.textBaseline = 'middle'
  const text = cut(note, Math.floor((s.width - x - 12) / LETTER))
  ctx.fillStyle = s.theme.accent
  ctx.fillRect(x, 0, ctx.measureText(text).width + 10, 18)
  ctx.fillStyle = s.theme.card
  ctx.fillText(text, x + 5, 9.5)
}

function outlineSpan(ctx: CanvasRenderingContext2D, s: Scene, row: Row | undefined, span: Span): void {
  if (!row) return
  const x0 = Math.max(xOf(s.window, s.width, span.from_ns), -4)
  const x1 = Math.min(xOf(s.window, s.width, span.to_ns), s.width + 4)
  if (x1 < 0 || x0 > s.width) return
  ctx.strokeStyle = s.theme.fg
  ctx.lineWidth = 2
  ctx.strokeRect(x0 - 1, row.y - s.top + 1, Math.max(x1 - x0, 1) + 2, row.h - 3)
}

/**
 * arrow goes from who woke to who was woken. Of a goroutine whose lane is not in
 * sight its group stands for it; of one that has neither, the picture's edge.
 */
function arrow(ctx: CanvasRenderingContext2D, s: Scene, rows: Map<string, Row>, e: Edge, colour: string, width: number): void {
  const x = xOf(s.window, s.width, e.at_ns)
  if (x < -20 || x > s.width + 20) return
  const find = (g: number, group: string): Row | undefined =>
    rows.get(laneOfGoroutine(g)) ?? s.rows.find((r) => r.lane?.kind === 'g' && r.lane.label === group)
  const from = find(e.waker, e.waker_group)
  const to = find(e.woken, e.woken_group)
  if ((!from && !to) || from === to) return
  const middle = (r: Row | undefined, other: Row): number =>
    r ? r.y - s.top + r.h / 2 : other.y - s.top > s.height / 2 ? 0 : s.height
  const y0 = middle(from, to ?? from!)
  const y1 = middle(to, from ?? to!)
  const down = y1 > y0 ? 1 : -1
  ctx.strokeStyle = ctx.fillStyle = colour
  ctx.lineWidth = width
  ctx.beginPath()
  ctx.moveTo(x, y0)
  ctx.lineTo(x, y1 - 5 * down)
  ctx.stroke()
  ctx.beginPath()
  ctx.arc(x, y0, width + 1, 0, 2 * Math.PI)
  ctx.fill()
  ctx.beginPath()
  ctx.moveTo(x, y1)
  ctx.lineTo(x - 3.5, y1 - 7 * down)
  ctx.lineTo(x + 3.5, y1 - 7 * down)
  ctx.fill()
}

/** A Hit is what lies under a point of the picture. */
export interface Hit {
  row: Row
  at: number
  span: Span | undefined
  /** Where there is no exact stretch: the states of the bucket, in the lane's unit, each at most so much and less than a step below. */
  bucket: { state: number; most: number; step: number }[]
}

/** hit finds what is drawn at a point, from what is kept: it asks nobody. */
export function hit(s: Scene, x: number, y: number): Hit | undefined {
  const row = s.rows.find((r) => y >= r.y - s.top && y < r.y - s.top + r.h)
  if (!row) return undefined
  const at = s.window.from + (x / s.width) * (s.window.to - s.window.from)
  const out: Hit = { row, at, span: undefined, bucket: [] }
  if (!hasTiles(row.lane)) return out
  const level = levelOf(s)
  const found = s.tiles.best(level, Math.floor(at / tileNs(level)), row.lane.id)
  if (!found) return out
  const { tile } = found.kept
  if (tile.spans) {
    // Within two pixels counts: a stretch may be narrower than a hand is steady.
    const near = (2 * (s.window.to - s.window.from)) / s.width
    out.span = spanAt(tile.spans, at) ?? nearest(tile.spans, at, near)
    return out
  }
  if (!tile.shares) return out
  const b = Math.min(BUCKETS - 1, Math.max(0, Math.floor(at / bucketNs(found.level) - found.tile * BUCKETS)))
  for (let i = 0; i < s.states.length; i++) {
    const v = tile.shares[b * s.states.length + i]!
    if (v > 0) out.bucket.push({ state: i, most: (v / 255) * tile.max, step: tile.max / 255 })
  }
  return out
}

function nearest(spans: Span[], at: number, near: number): Span | undefined {
  let best: Span | undefined
  let least = near
  for (const s of spans) {
    const d = at < s.from_ns ? s.from_ns - at : at >= s.to_ns ? at - s.to_ns : 0
    if (d < least) {
      least = d
      best = s
    }
  }
  return best
}

/** sums are the average numbers (of a single lane: shares of time) in each state over a window, from what is drawn. */
export function sums(s: Scene, lane: Lane): number[] | undefined {
  const level = levelOf(s)
  const [first, last] = tilesOf(s.window, level)
  const placed = place(s, lane.id, level, first, last)
  if (placed.length < last - first + 1) return undefined
  const n = s.states.length
  const out = new Array<number>(n).fill(0)
  const wide = bucketNs(level)
  for (const [i, p] of placed.entries()) {
    const { shares, max } = p.kept.tile
    if (!shares) continue
    const buckets = p.level === level ? BUCKETS : Math.max(1, p.count)
    const each = (wide * BUCKETS) / buckets
    const start = (first + i) * wide * BUCKETS
    for (let b = 0; b < buckets; b++) {
      const from = Math.max(start + b * each, s.window.from)
      const to = Math.min(start + (b + 1) * each, s.window.to)
      if (to <= from) continue
      const k = Math.min(BUCKETS - 1, Math.floor(p.from) + b)
      for (let st = 0; st < n; st++) out[st] = out[st]! + (shares[k * n + st]! / 255) * max * (to - from)
    }
  }
  return out.map((v) => v / (s.window.to - s.window.from))
}
