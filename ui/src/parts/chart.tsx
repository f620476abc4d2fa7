// A picture of quantities over time. uPlot draws it; this file gives it what it
// draws (cut to the window, thinned, stacked: see data/series.ts), the colours of
// the theme, a cursor that all charts of a screen share and that keys move as well,
// and a table with the figures behind the picture.
//
// Lines differ by colour, by dashes and by the order of the legend, so that none
// has to be told by its colour alone. The canvas is a slider to a screen reader:
// its value is the moment, its words are the figures of that moment.
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Clock } from '../data/clock'
import { useClock, useWidth } from '../data/hooks'
import { absences, align, cut, meanAndMax, stack, thin, thinTogether, tickText, valueAt, zoomRange, type Aligned, type Line, type Range } from '../data/series'
import { at as moment, axis as axisTexts, cell, num } from '../format'
import { t } from '../strings'
import { css, useTheme } from '../theme'
import { Table, type Col } from './table'
import './chart.css'

export interface ChartLine extends Line {
  name: string
  label: string
  /** A variable of the theme; by the line's place when it has none. */
  colour?: string | undefined
  /** Of a stacked chart: what the areas are compared with, drawn over them. Such lines are the last. */
  over?: boolean | undefined
}

/** A stretch of time that is shaded, or a moment that is marked. */
export interface ChartSpan {
  from: number
  to: number
  what: string
  /** A variable of the theme; that of what is wrong when it has none. */
  colour?: string | undefined
  /** Its mark is an outline: of what ended. */
  hollow?: boolean | undefined
}

/** How moments are written, where not as time since the window's start. */
export interface ChartTimes {
  /** Distances that ticks may have, ns. */
  steps: number[]
  tick(ns: number, step: number): string
  moment(ns: number): string
}

export interface ChartProps {
  /** Names the chart in the URL. */
  id: string
  title: string
  unit: string
  stacked: boolean
  lines: ChartLine[]
  source?: string | undefined
  full: Range
  range: Range
  times?: ChartTimes | undefined
  /** null is all of it. */
  onRange(range: Range | null): void
  clock: Clock
  /** Without a cursor the figures are those of the window's end, not of all of it. */
  latest?: boolean | undefined
  shaded?: ChartSpan[] | undefined
  marks?: ChartSpan[] | undefined
  hidden: ReadonlySet<string>
  onHide(line: string): void
  tableOpen: boolean
  onTable(open: boolean): void
  height?: number | undefined
}

const COLOURS = ['--accent', '--sync', '--running', '--runnable', '--syscall', '--gc', '--wait', '--fg']
const DASHES: number[][] = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 2], [12, 4]]

/** Room for the numbers left of every chart: the same, so that one moment is on one vertical line. */
const LEFT = 74

export function lineColour(l: ChartLine, i: number): string {
  return l.colour ?? (COLOURS[i % COLOURS.length] as string)
}

export function lineDash(i: number): number[] {
  return DASHES[i % DASHES.length] as number[]
}

export function Chart(p: ChartProps): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 600)
  const lines = p.lines.filter((l) => !p.hidden.has(l.name))
  const picture = usePicture(p, lines, width)
  usePlot(box, p, lines, picture, width)
  return (
    <section class="chart" id={`chart-${p.id}`} aria-labelledby={`chart-${p.id}-title`}>
      <div class="chart-head">
        <h3 id={`chart-${p.id}-title`}>{p.title}</h3>
        {p.source && <span class="chart-source">{p.source}</span>}
        <button type="button" class="quiet" aria-pressed={p.tableOpen} onClick={() => p.onTable(!p.tableOpen)}>{t('data.chart.table')}</button>
      </div>
      <Legend {...p} />
      <div class="chart-box" ref={box} />
      {p.tableOpen && <Behind {...p} />}
    </section>
  )
}

// usePicture is what uPlot gets: all lines on one clock, stacked when they add up.
function usePicture(p: ChartProps, lines: ChartLine[], width: number): Aligned {
  return useMemo(() => {
    const columns = Math.max(60, width - LEFT)
    if (!p.stacked) return align(lines.map((l) => thin(cut(l, p.range), columns)))
    const a = thinTogether(stack(align(areasOf(lines).map((l) => cut(l, p.range)))), columns)
    return { ...a, columns: [...a.columns, ...lines.filter((l) => l.over).map((l) => a.at.map((at) => valueAt(l, at)))] }
  }, [p.lines, p.stacked, p.range[0], p.range[1], width, lines.map((l) => l.name).join()])
}

// areasOf are those lines that are stacked where a chart is.
function areasOf<L extends ChartLine>(lines: L[]): L[] {
  return lines.filter((l) => !l.over)
}

function usePlot(box: { current: HTMLDivElement | null }, p: ChartProps, lines: ChartLine[], picture: Aligned, width: number): void {
  const plot = useRef<uPlot | null>(null)
  const now = useRef(p)
  now.current = p
  const shown = useRef(picture)
  shown.current = picture
  const theme = useTheme()
  const shape = lines.map((l) => l.name).join('\n') + p.unit + p.stacked + theme
  useEffect(() => {
    const el = box.current
    if (!el) return
    const u = new uPlot(options(now, lines, el.clientWidth, shown), data(picture), el)
    plot.current = u
    asSlider(u, now)
    const forget = p.clock.subscribe((at) => point(u, at))
    return () => {
      forget()
      u.destroy()
      plot.current = null
    }
  }, [shape, p.clock])
  useEffect(() => {
    const u = plot.current
    if (!u) return
    u.batch(() => {
      if (u.width !== width) u.setSize({ width, height: p.height ?? 170 })
      u.setData(data(picture), false)
      u.setScale('x', { min: p.range[0], max: p.range[1] })
    })
    point(u, p.clock.at)
    speak(u, now.current)
  }, [picture, width, shape, p.shaded, p.marks])
}

// data are the lines, and behind them, of those that are stacked, what each but the first
// stands on: that goes on where the line below has a gap.
function data(a: Aligned): uPlot.AlignedData {
  return [a.at, ...a.columns, ...(a.absent ? a.columns.slice(0, Math.max(0, a.absent.length - 1)) : [])] as uPlot.AlignedData
}

function options(now: { current: ChartProps }, lines: ChartLine[], width: number, shown: { current: Aligned }): uPlot.Options {
  const p = now.current
  const fg = css('--muted'), line = css('--line')
  const font = '11px ' + getComputedStyle(document.body).fontFamily
  const axis: Partial<uPlot.Axis> = { stroke: fg, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 } }
  return {
    width,
    height: p.height ?? 170,
    padding: [10, 22, 0, 0],
    legend: { show: false },
    scales: {
      x: { time: false, range: () => [...now.current.range] },
      y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.06 : 1] },
    },
    axes: [
      {
        ...axis, size: 26, space: 80, ...(p.times ? { incrs: p.times.steps } : {}),
        values: (_u, at, _a, _s, step) => at.map((v) => now.current.times?.tick(v, step) ?? tickText(v, step, now.current.range[1])),
      },
      { ...axis, size: LEFT, space: 28, ...(p.unit === 'bytes' ? { incrs: POWERS } : {}), values: (_u, v) => axisTexts(v, p.unit) },
    ],
    series: [{}, ...lines.map((l) => seriesOf(l, p, shown)), ...(p.stacked ? areasOf(lines).slice(1).map(() => ({ stroke: 'transparent', width: 0, points: { show: false } })) : [])],
    ...(p.stacked ? { bands: areasOf(lines).slice(1).map((_, i) => ({ series: [i + 2, i + 1 + lines.length] as [number, number] })) } : {}),
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 4 },
      points: { size: 6 },
      bind: {
        dblclick: () => () => {
          now.current.onRange(null)
          return null
        },
        mouseleave: (_u, _el, handler) => (e) => {
          now.current.clock.set(null)
          return handler(e)
        },
      },
    },
    hooks: {
      drawClear: [(u) => shade(u, now.current.shaded ?? [])],
      draw: [(u) => mark(u, now.current.marks ?? [])],
      setCursor: [(u) => pointed(u, now.current)],
      setSelect: [(u) => selected(u, now.current)],
    },
  }
}

/** Steps of an axis of bytes: what is a whole number of KiB, MiB, GiB. */
const POWERS = Array.from({ length: 50 }, (_, i) => 2 ** i)

function seriesOf(l: ChartLine, p: ChartProps, shown: { current: Aligned }): uPlot.Series {
  const i = p.lines.indexOf(l)
  const colour = css(lineColour(l, i))
  return {
    stroke: colour,
    width: 1.5,
    dash: lineDash(i),
    ...(p.stacked && !l.over ? { fill: faint(colour), gaps: (u: uPlot, k: number, _a: number, _b: number, gaps: uPlot.Series.Gaps) => withAbsences(u, shown.current, k, gaps) } : {}),
    points: { show: (u: uPlot, k: number) => lonely(u, k), size: 4, fill: colour },
  }
}

// withAbsences are the gaps of a line, with those stretches in which only others go on.
function withAbsences(u: uPlot, a: Aligned, k: number, gaps: uPlot.Series.Gaps): uPlot.Series.Gaps {
  const x = (i: number) => Math.round(u.valToPos(a.at[i]!, 'x', true))
  const more = absences(a.absent?.[k - 1] ?? []).map(([from, to]): uPlot.Series.Gap => [x(from), x(to)])
  return [...gaps, ...more].sort((one, other) => one[0] - other[0])
}

// faint is a colour of the theme, which are #rrggbb, for areas.
function faint(colour: string): string {
  return /^#[0-9a-f]{6}$/i.test(colour) ? colour + '52' : colour
}

// lonely reports whether a line has so few values that only points show them.
function lonely(u: uPlot, k: number): boolean {
  let n = 0
  for (const v of u.data[k] ?? []) {
    if (v !== null && v !== undefined && ++n > 12) return false
  }
  return true
}

/** How far apart marks are at least, and what is shaded on average, so that the lines can be seen. */
const MARKS_APART = 24

// inSight are those in the window.
function inSight(u: uPlot, spans: ChartSpan[]): ChartSpan[] {
  const { min, max } = u.scales['x']!
  return spans.filter((s) => s.to >= (min ?? -Infinity) && s.from <= (max ?? Infinity))
}

// shade paints what is shaded; neighbours that meet in one pixel are painted once. Many
// are a strip at the bottom.
function shade(u: uPlot, all: ChartSpan[]): void {
  const { ctx, bbox } = u
  const spans = inSight(u, all)
  const dense = spans.length > bbox.width / devicePixelRatio / MARKS_APART
  const strip = 4 * devicePixelRatio
  ctx.save()
  ctx.fillStyle = css('--gc')
  ctx.globalAlpha = dense ? 0.5 : 0.16
  let painted = -Infinity
  for (const s of spans) {
    const from = Math.max(bbox.left, Math.floor(u.valToPos(s.from, 'x', true)), painted)
    const to = Math.min(bbox.left + bbox.width, Math.ceil(u.valToPos(s.to, 'x', true)))
    if (to <= from || from > bbox.left + bbox.width) continue
    if (dense) ctx.fillRect(from, bbox.top + bbox.height - strip, to - from, strip)
    else ctx.fillRect(from, bbox.top, to - from, bbox.height)
    painted = to
  }
  ctx.restore()
}

// mark puts a triangle at the top edge for each pause; of those that would touch, for
// the longest.
function mark(u: uPlot, all: ChartSpan[]): void {
  const { ctx, bbox } = u
  const size = 4 * devicePixelRatio
  const longest = new Map<number, ChartSpan>()
  for (const s of inSight(u, all)) {
    const piece = Math.floor(u.valToPos((s.from + s.to) / 2, 'x') / MARKS_APART)
    const known = longest.get(piece)
    if (!known || s.to - s.from > known.to - known.from) longest.set(piece, s)
  }
  ctx.save()
  for (const s of longest.values()) {
    ctx.fillStyle = ctx.strokeStyle = css(s.colour ?? '--bad')
    ctx.lineWidth = devicePixelRatio
    const at = u.valToPos((s.from + s.to) / 2, 'x', true)
    if (at < bbox.left || at > bbox.left + bbox.width) continue
    ctx.beginPath()
    ctx.moveTo(at - size, bbox.top - size * 1.6)
    ctx.lineTo(at + size, bbox.top - size * 1.6)
    ctx.lineTo(at, bbox.top)
    ctx.closePath()
    if (s.hollow) ctx.stroke()
    else ctx.fill()
  }
  ctx.restore()
}

// following is set while a chart moves its cursor because another one did.
let following = false

// point moves a chart's cursor to a time.
function point(u: uPlot, at: number | null): void {
  following = true
  if (at === null) u.setCursor({ left: -10, top: -10 })
  else u.setCursor({ left: u.valToPos(at, 'x'), top: u.over.clientHeight / 2 })
  following = false
}

// pointed tells the others where the mouse is.
function pointed(u: uPlot, p: ChartProps): void {
  const left = u.cursor.left ?? -1
  if (following || left < 0) return
  p.clock.set(Math.round(u.posToVal(left, 'x')))
}

function selected(u: uPlot, p: ChartProps): void {
  const { left, width } = u.select
  if (width < 4) return
  const from = Math.round(u.posToVal(left, 'x')), to = Math.round(u.posToVal(left + width, 'x'))
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
  p.onRange([from, to])
}

// asSlider makes the picture one that keys and screen readers can use.
function asSlider(u: uPlot, now: { current: ChartProps }): void {
  const el = u.over
  el.tabIndex = 0
  el.setAttribute('role', 'slider')
  el.setAttribute('aria-labelledby', `chart-${now.current.id}-title`)
  speak(u, now.current)
  el.addEventListener('keydown', (e) => {
    if (!keyed(e, now.current)) return
    e.preventDefault()
    e.stopPropagation()
    speak(u, now.current)
  })
}

// speak tells a screen reader the moment and the figures of it.
function speak(u: uPlot, p: ChartProps): void {
  const at = p.clock.at ?? p.range[0]
  const el = u.over
  el.setAttribute('aria-valuemin', String(p.range[0]))
  el.setAttribute('aria-valuemax', String(p.range[1]))
  el.setAttribute('aria-valuenow', String(at))
  const figures = p.lines.filter((l) => !p.hidden.has(l.name)).map((l) => `${l.label} ${figure(l, at, p.unit)}`)
  el.setAttribute('aria-valuetext', [p.times?.moment(at) ?? moment(at, (p.range[1] - p.range[0]) / 100), ...figures].join(', '))
}

// keyed does what a key asks for; false for keys that are not the chart's.
function keyed(e: KeyboardEvent, p: ChartProps): boolean {
  if (e.ctrlKey || e.metaKey || e.altKey) return false
  const [from, to] = p.range
  const at = p.clock.at ?? from
  const step = (to - from) / (e.shiftKey ? 10 : 100)
  const move = (time: number) => p.clock.set(Math.round(Math.min(to, Math.max(from, time))))
  const steps: Record<string, () => void> = {
    ArrowRight: () => move(at + step),
    ArrowLeft: () => move(at - step),
    PageDown: () => move(at + (to - from) / 10),
    PageUp: () => move(at - (to - from) / 10),
    Home: () => move(from),
    End: () => move(to),
    '+': () => p.onRange(zoomRange(p.range, at, 0.5, p.full)),
    '=': () => p.onRange(zoomRange(p.range, at, 0.5, p.full)),
    '-': () => p.onRange(zoomRange(p.range, at, 2, p.full)),
    '0': () => p.onRange(null),
    Escape: () => p.clock.set(null),
  }
  const act = steps[e.key]
  act?.()
  return act !== undefined
}

function figure(l: Line, at: number, unit: string): string {
  const v = valueAt(l, at)
  return v === null ? '–' : num(v, unit)
}

// Legend has a button for each line that hides it, with its figure at the cursor,
// or its mean and greatest of the window while there is no cursor.
function Legend(p: ChartProps): JSX.Element {
  const pointed = useClock(p.clock)
  const cursor = pointed ?? (p.latest ? p.range[1] : null)
  const window = useMemo(() => p.lines.map((l) => meanAndMax(l, p.range)), [p.lines, p.range[0], p.range[1]])
  const said = (l: Line, i: number): string => {
    if (cursor !== null) return figure(l, cursor, p.unit)
    const w = window[i]
    return w ? t('data.chart.window', { mean: num(w.mean, p.unit), max: num(w.max, p.unit) }) : '–'
  }
  const sum = () => p.lines.reduce((all, l, i) => all + (p.hidden.has(l.name) || l.over ? 0 : cursor !== null ? valueAt(l, cursor) ?? 0 : window[i]?.mean ?? 0), 0)
  return (
    <ul class="chart-legend">
      {p.lines.map((l, i) => (
        <li key={l.name}>
          <button type="button" class="chart-line" aria-pressed={!p.hidden.has(l.name)} onClick={() => p.onHide(l.name)} title={t('data.chart.hide')}>
            <Swatch colour={lineColour(l, i)} dash={lineDash(i)} filled={p.stacked && !l.over} />
            <span>{l.label}</span>
            <b>{said(l, i)}</b>
          </button>
        </li>
      ))}
      {p.stacked && areasOf(p.lines).length > 1 && (
        <li class="chart-sum">{t('data.chart.sum')} <b>{cursor !== null ? num(sum(), p.unit) : t('data.chart.mean', { mean: num(sum(), p.unit) })}</b></li>
      )}
    </ul>
  )
}

/** A piece of a line, as it is drawn in the picture. */
export function Swatch(p: { colour: string; dash: number[]; filled?: boolean }): JSX.Element {
  const paint = `var(${p.colour})`
  const ref = (el: SVGSVGElement | null) => el?.style.setProperty('color', paint)
  return (
    <svg ref={ref} class="chart-swatch" viewBox="0 0 22 10" width="22" height="10" aria-hidden="true">
      {p.filled && <rect x="0" y="4" width="22" height="6" fill="currentColor" opacity=".32" />}
      <line x1="0" x2="22" y1="4" y2="4" stroke="currentColor" stroke-width="2" stroke-dasharray={p.dash.join(' ')} />
    </svg>
  )
}

interface BehindRow {
  at: number
  values: (number | null | undefined)[]
}

// Behind is the table of what the picture shows: every value in the window that was sent.
function Behind(p: ChartProps): JSX.Element {
  const rows = useMemo(() => {
    const inside = p.lines.map((l) => {
      const keep = l.at.map((_, i) => i).filter((i) => (l.at[i] as number) >= p.range[0] && (l.at[i] as number) <= p.range[1])
      return { at: keep.map((i) => l.at[i] as number), value: keep.map((i) => l.value[i] ?? null) }
    })
    const a = align(inside)
    return a.at.map((time, i): BehindRow => ({ at: time, values: a.columns.map((c) => c[i]) }))
  }, [p.lines, p.range[0], p.range[1]])
  const cols: Col<BehindRow>[] = [
    { key: 'at', title: t('data.chart.at'), align: 'right', sortable: true, width: '10.4rem', value: (r) => r.at, cell: (r) => p.times?.moment(r.at) ?? moment(r.at, 1) },
    ...p.lines.map((l, i): Col<BehindRow> => ({
      key: l.name,
      title: l.label,
      align: 'right',
      sortable: true,
      value: (r) => r.values[i],
      cell: (r) => (r.values[i] === null || r.values[i] === undefined ? '' : cell(r.values[i] as number, p.unit)),
      text: (r) => (r.values[i] === null || r.values[i] === undefined ? '' : String(r.values[i])),
    })),
  ]
  return <Table caption={t('data.chart.behind', { title: p.title })} cols={cols} rows={rows} height={320} empty={t('data.chart.none')} />
}
