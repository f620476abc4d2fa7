// What the runtime and the process did over time, all charts on one clock; and how
// much of its Ps the collector left to the program in its worst moments.
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { Chart as ChartData, Runtime as Charts } from '../api'
import { isStatic, useData } from '../client'
import { flip, hiddenOf, listOf, setOf } from '../data/choices'
import { Clock } from '../data/clock'
import { useClock } from '../data/hooks'
import { MMUPanel } from '../data/mmu'
import { clampRange, extent, zoomRange, type Range } from '../data/series'
import { at as moment, dur } from '../format'
import { useKeys } from '../keys'
import { Chart, type ChartLine, type ChartSpan } from '../parts/chart'
import { Empty, Failed, Loading } from '../parts/states'
import { Command } from '../parts/copy'
import { useOpened } from '../session'
import { t, tn } from '../strings'
import { href, setParams, usePlace } from '../url'
import '../data/data.css'
import './runtime.css'

export function Runtime(p: { r: number }): JSX.Element {
  const { data, error } = useData<Charts>('api/runtime', { r: p.r })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  if (!data.charts?.length) return <Empty text={t('data.rt.none')}><Command text="gowhy record -o run.gowhy -- ./program" /></Empty>
  return <Loaded r={p.r} data={data} />
}

interface Drawn {
  id: string
  chart: ChartData
  lines: ChartLine[]
}

function Loaded(p: { r: number; data: Charts }): JSX.Element {
  const clock = useMemo(() => new Clock(), [])
  const full = useMemo((): Range => {
    // The clock begins with the window; a counter may have been read just before.
    const to = extent((p.data.charts ?? []).flatMap(linesOf))?.[1] ?? 0
    return to > 0 ? [0, to] : [0, 1e9]
  }, [p.data])
  const { params } = usePlace()
  const range = rangeOf(params, full)
  const data = useDetail(p.r, p.data, full, range)
  const charts = useMemo(() => (data.charts ?? []).map((c): Drawn => ({ id: c.name, chart: c, lines: linesOf(c) })), [data])
  const shaded = useMemo(() => spans(data.cycles), [data])
  const marks = useMemo(() => spans(data.pauses), [data])
  const zooms = useRef(0) // of this visit: what "u" may take back without leaving the screen
  const show = (r: Range | null) => {
    zooms.current++
    setParams(toParams(r, full))
  }
  const undo = () => {
    if (zooms.current === 0) return setParams(toParams(null, full))
    zooms.current--
    history.back()
  }
  const hidden = setOf(params.get('hide'))
  const tables = setOf(params.get('tables'))
  useScrollTo(params.get('chart'))
  useKeys(
    { u: undo, 0: () => show(null) },
    [['u', t('data.rt.key.undo')], ['0', t('data.rt.key.all')], ['← →', t('data.rt.key.cursor')], ['+ -', t('data.rt.key.zoom')]],
  )
  return (
    <div class="data-screen">
      <Toolbar r={p.r} clock={clock} full={full} range={range} show={show} cycles={shaded} pauses={marks} />
      <div class="data-grid rt-grid">
        {charts.map((c) => (
          <Chart
            key={c.id}
            id={c.id}
            title={tn('data.charts.' + c.chart.name, c.chart.name)}
            unit={unitOf(c.chart.unit)}
            stacked={c.chart.stack}
            lines={c.lines}
            source={c.chart.source && t('data.chart.source', { source: c.chart.source })}
            full={full}
            range={range}
            onRange={show}
            clock={clock}
            shaded={shaded}
            marks={marks}
            hidden={hiddenOf(hidden, c.id)}
            onHide={(name) => setParams({ hide: listOf(flip(hidden, `${c.id}.${name}`)) }, { replace: true })}
            tableOpen={tables.has(c.id)}
            onTable={() => setParams({ tables: listOf(flip(tables, c.id)) }, { replace: true })}
          />
        ))}
      </div>
      {p.data.mmu && <MMUPanel r={p.r} first={p.data.mmu} />}
    </div>
  )
}

/** How long a range has to be the same before more is asked for: a wheel turns in steps. */
const RESTS_MS = 150

/**
 * What is drawn of a range: all of the run, or, once it is there, the range by
 * itself with the points that all of the run has no room for.
 */
function useDetail(r: number, whole: Charts, full: Range, range: Range): Charts {
  const zoomed = range[0] > full[0] || range[1] < full[1]
  const more = !isStatic && zoomed && (whole.charts ?? []).some((c) => c.thinned)
  const from = Math.max(0, Math.floor(range[0]))
  const to = Math.max(from + 1, Math.ceil(range[1]))
  const [asked, ask] = useState<Range | null>(null)
  useEffect(() => {
    if (!more) return ask(null)
    const rests = setTimeout(() => ask([from, to]), RESTS_MS)
    return () => clearTimeout(rests)
  }, [more, from, to])
  const { data } = useData<Charts>(asked ? 'api/runtime' : null, asked ? { r, from: asked[0], to: asked[1] } : {})
  const covers = data && data.to_ns > 0 && data.from_ns <= range[0] && data.to_ns >= range[1]
  return covers ? data : whole
}

/** The states have the colours that they have everywhere. */
const STATE_COLOURS: Record<string, string> = {
  running: '--running', runnable: '--runnable', waiting: '--wait', syscall: '--syscall', held: '--syscall', idle: '--wait',
}

function linesOf(c: ChartData): ChartLine[] {
  return (c.series ?? []).map((s) => ({
    name: s.name,
    label: tn('data.series.' + s.name, s.name),
    at: s.at ?? [],
    value: s.value ?? [],
    colour: STATE_COLOURS[s.name],
  }))
}

function unitOf(unit: string): string {
  return unit.replace('_', ' ')
}

function spans(gaps: { from_ns: number; to_ns: number; why: string }[] | null): ChartSpan[] {
  return (gaps ?? []).map((g) => ({ from: g.from_ns, to: g.to_ns, what: g.why }))
}

interface ToolbarProps {
  r: number
  clock: Clock
  full: Range
  range: Range
  show(r: Range | null): void
  cycles: ChartSpan[]
  pauses: ChartSpan[]
}

function Toolbar(p: ToolbarProps): JSX.Element {
  const { range, full } = p
  const step = (range[1] - range[0]) / 1000
  const whole = range[0] === full[0] && range[1] === full[1]
  const drawn = useOpened()?.runs[p.r]?.screens.includes('timeline') // not without a trace
  const zoom = (factor: number) => p.show(zoomRange(range, p.clock.at ?? (range[0] + range[1]) / 2, factor, full))
  const move = (by: number) => p.show(clampRange([range[0] + by * (range[1] - range[0]), range[1] + by * (range[1] - range[0])], full))
  return (
    <div class="rt-bar">
      <h2>{t('data.rt.title')}</h2>
      <span class="rt-range">{t('data.rt.range', { from: moment(range[0], step), to: moment(range[1], step), width: dur(range[1] - range[0]) })}</span>
      <span class="rt-tools" role="group" aria-label={t('data.rt.window')}>
        <button type="button" onClick={() => move(-0.5)} disabled={range[0] <= full[0]} title={t('data.rt.left')} aria-label={t('data.rt.left')}>←</button>
        <button type="button" onClick={() => zoom(0.5)} title={t('data.rt.in')} aria-label={t('data.rt.in')}>+</button>
        <button type="button" onClick={() => zoom(2)} disabled={whole} title={t('data.rt.out')} aria-label={t('data.rt.out')}>−</button>
        <button type="button" onClick={() => move(0.5)} disabled={range[1] >= full[1]} title={t('data.rt.right')} aria-label={t('data.rt.right')}>→</button>
        <button type="button" onClick={() => p.show(null)} disabled={whole}>{t('data.rt.all')}</button>
      </span>
      {drawn && <a href={href(`timeline?from=${Math.round(range[0])}&to=${Math.round(range[1])}`)}>{t('data.rt.timeline')}</a>}
      <Cursor {...p} />
      {(p.cycles.length > 0 || p.pauses.length > 0) && (
        <span class="rt-key">
          <svg width="22" height="12" aria-hidden="true"><rect class="rt-cycle" width="22" height="12" /></svg> {t('data.rt.cycle')}
          <svg width="12" height="10" aria-hidden="true"><path class="rt-pause" d="M1 1h10L6 9z" /></svg> {t('data.rt.pause')}
        </span>
      )}
    </div>
  )
}

// Cursor says in words where the cursor is, and what the collector did there.
function Cursor(p: ToolbarProps): JSX.Element {
  const at = useClock(p.clock)
  if (at === null) return <span class="rt-cursor muted">{t('data.rt.hint')}</span>
  const near = (p.range[1] - p.range[0]) / 400
  const cycle = p.cycles.find((c) => c.from <= at && at <= c.to)
  const pause = p.pauses.find((c) => c.from - near <= at && at <= c.to + near)
  return (
    <span class="rt-cursor">
      <b>{moment(at, (p.range[1] - p.range[0]) / 1000)}</b>
      {cycle && <> · {t('data.rt.incycle', { n: cycle.what, took: dur(cycle.to - cycle.from) })}</>}
      {pause && <> · {t('data.rt.inpause', { what: pause.what, took: dur(pause.to - pause.from) })}</>}
    </span>
  )
}

function rangeOf(params: URLSearchParams, full: Range): Range {
  const read = (name: string, otherwise: number) => {
    const text = params.get(name)
    const n = text === null || text === '' ? NaN : Number(text)
    return Number.isFinite(n) ? n : otherwise
  }
  const from = read('from', full[0]), to = read('to', full[1])
  return from < to ? clampRange([from, to], full) : full
}

function toParams(range: Range | null, full: Range): Record<string, number | null> {
  const cut = range && clampRange(range, full)
  if (!cut || (cut[0] <= full[0] && cut[1] >= full[1])) return { from: null, to: null }
  return { from: Math.round(cut[0]), to: Math.round(cut[1]) }
}

// useScrollTo brings the chart that the URL names into view, and shows which it is.
function useScrollTo(chart: string | null): void {
  const [done, setDone] = useState('')
  useEffect(() => {
    if (chart === null || chart === done) return
    const el = document.getElementById('chart-' + chart)
    if (!el) return
    setDone(chart)
    el.scrollIntoView({ block: 'center' })
    el.classList.remove('chart-flash')
    void el.offsetWidth // the animation begins again
    el.classList.add('chart-flash')
  }, [chart])
}
