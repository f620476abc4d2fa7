// The curve of a search: what each value of a knob measured, with its interval,
// the recommended one, and what law and formulas of the literature say beside it.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { count, dur, figures, share } from '../format'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { changeText } from './interval'
import { useWidth } from './hooks'
import { Panel, Warnings } from './panel'
import { knobText, metricText, type Curve, type Formula, type Interval, type Point, type Tuned, type USL } from './results'
import { scale, ticks, type Scale } from './scale'
import { EffectsTable } from './trial'

export function TuneView(p: { of: Tuned }): JSX.Element {
  const r = p.of
  const curves = r.curves ?? []
  return (
    <>
      <Panel>
        <p class="cmp-summary">{t('data.tune.use', { setting: settingText(r) })}</p>
        <p class="data-note">{t('data.tune.how', { runs: count(r.runs), dropped: count(r.dropped), took: dur(r.took_ns) })}</p>
        {(r.command?.length ?? 0) > 0 && <p class="mono cmp-command">{(r.command ?? []).join(' ')}</p>}
        {(r.keep?.length ?? 0) > 0 && <p>{t('data.tune.keep')} {(r.keep ?? []).map((k) => `${k.metric} ${k.at_most ? '≤' : '≥'} ${metricText(k.metric, k.limit)}`).join(', ')}</p>}
        <Warnings list={r.warnings} />
      </Panel>
      {curves.map((c) => <CurvePanel key={c.knob.name} curve={c} />)}
      {r.together && <><h3>{t('data.tune.together')}</h3><EffectsTable trial={r.together} /></>}
    </>
  )
}

function settingText(r: Tuned): string {
  return (r.curves ?? []).map((c) => {
    const v = r.chosen?.[c.knob.name] ?? r.start?.[c.knob.name]
    return v === undefined ? c.knob.name : `${c.knob.name}=${knobText(c.knob, v)}`
  }).join(' ')
}

/** Whether a point has an estimate. */
export function usable(p: Point): boolean {
  return p.ratio > 0 && p.goal.value !== null && p.goal.value > 0
}

function CurvePanel(p: { curve: Curve }): JSX.Element {
  const c = p.curve
  return (
    <Panel title={t('data.tune.over', { metric: c.goal.metric, knob: c.knob.name })}>
      <Picture curve={c} />
      <Points curve={c} />
      {c.usl && <Law law={c.usl} />}
      {c.no_usl && <p class="data-note">{t('data.tune.nolaw', { why: c.no_usl })}</p>}
      {(c.formulas?.length ?? 0) > 0 && <Formulas list={c.formulas ?? []} chosen={c.points?.[c.chosen]?.value} />}
      {c.no_formulas && <p class="data-note">{t('data.tune.noformulas', { why: c.no_formulas })}</p>}
    </Panel>
  )
}

const LEFT = 86
const GOAL = 260
const MEMORY = 80
const FOOT = 30

interface Frame { x: Scale; y: Scale; width: number }

function Picture(p: { curve: Curve }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 720)
  const points = p.curve.points ?? []
  const measured = points.filter(usable)
  if (measured.length === 0) return <div ref={box} />
  const memory = p.curve.goal.metric === 'peak-rss' ? [] : measured.filter((m) => (m.values?.['peak-rss'] ?? 0) > 0)
  const values = points.map((m) => m.value)
  const low = Math.min(...values), high = Math.max(...values)
  const frame: Frame = { x: scale(low, high, LEFT + 14, width - 26, low > 0 && high / low > 3), y: goalScale(measured), width }
  const height = GOAL + (memory.length > 0 ? MEMORY + 26 : 0) + FOOT
  return (
    <div ref={box}>
      <svg class="tune-svg" role="img" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-label={alt(p.curve)}>
        {ticks(frame.y.low, frame.y.high, 5, frame.y.log).map((v) => (
          <g key={v}>
            <line class="grid" x1={LEFT} x2={width - 10} y1={frame.y(v)} y2={frame.y(v)} />
            <text x={LEFT - 6} y={frame.y(v) + 4} text-anchor="end">{metricText(p.curve.goal.metric, v)}</text>
          </g>
        ))}
        <Band points={measured} frame={frame} />
        {p.curve.usl && <LawLine curve={p.curve} law={p.curve.usl} frame={frame} />}
        {points.map((m, i) => <Mark key={i} curve={p.curve} point={m} index={i} frame={frame} />)}
        {memory.length > 0 && <Memory points={memory} frame={frame} top={GOAL + 22} />}
        <Values curve={p.curve} frame={frame} at={height - 10} />
      </svg>
      <Key curve={p.curve} />
    </div>
  )
}

function goalScale(points: readonly Point[]): Scale {
  const all = points.flatMap((m) => [m.goal.low, m.goal.value, m.goal.high]).filter((v): v is number => v !== null && v > 0)
  const low = Math.min(...all), high = Math.max(...all)
  const log = high / low > 20
  const room = (high - low) * 0.06 || high * 0.05
  return log ? scale(low * 0.9, high * 1.1, GOAL, 12, true) : scale(Math.max(0, low - room), high + room, GOAL, 12)
}

// Band joins the intervals of neighbours, so that the eye sees where the curve may run.
function Band(p: { points: Point[]; frame: Frame }): JSX.Element {
  const { x, y } = p.frame
  const at = (m: Point, v: number | null) => `${x(m.value).toFixed(1)},${y(v ?? m.goal.value ?? 0).toFixed(1)}`
  const over = p.points.map((m) => at(m, m.goal.high))
  const under = [...p.points].reverse().map((m) => at(m, m.goal.low))
  return (
    <>
      {p.points.length > 1 && <polygon class="band" points={[...over, ...under].join(' ')} />}
      <polyline class="line" points={p.points.map((m) => at(m, m.goal.value)).join(' ')} />
    </>
  )
}

// Mark is a point with its interval: larger when it is recommended, hollow when it
// breaks a limit, a cross when the program failed.
function Mark(p: { curve: Curve; point: Point; index: number; frame: Frame }): JSX.Element {
  const { x, y } = p.frame
  const m = p.point, metric = p.curve.goal.metric
  const name = `${p.curve.knob.name}=${knobText(p.curve.knob, m.value)}`
  if (!usable(m)) {
    return <text class="failed" x={x(m.value)} y={GOAL - 4} text-anchor="middle">✗<title>{t('data.tune.failed', { setting: name, why: m.failed ?? '' })}</title></text>
  }
  const at = x(m.value), value = m.goal.value ?? 0
  const chosen = p.index === p.curve.chosen
  return (
    <g>
      <title>{`${name}: ${metricText(metric, value)} (${metricText(metric, m.goal.low)} … ${metricText(metric, m.goal.high)})`}</title>
      <line class="interval-line" x1={at} x2={at} y1={y(m.goal.low ?? value)} y2={y(m.goal.high ?? value)} />
      {chosen
        ? <rect class="chosen" x={at - 6} y={y(value) - 6} width="12" height="12" transform={`rotate(45 ${at} ${y(value)})`} />
        : <circle class={m.kept ? 'point' : 'point hollow'} cx={at} cy={y(value)} r="4" />}
    </g>
  )
}

/** The throughput that the law gives for n at once. */
export function lawAt(law: USL, n: number): number {
  const lambda = law.lambda.value ?? 0, sigma = law.sigma.value ?? 0, kappa = law.kappa.value ?? 0
  return (lambda * n) / (1 + sigma * (n - 1) + kappa * n * (n - 1))
}

// LawLine draws the law within the range that was tested, brought to the goal's
// unit by the points themselves: their mean distance on a log scale is none.
function LawLine(p: { curve: Curve; law: USL; frame: Frame }): JSX.Element | null {
  const [from, to] = p.law.tested
  if (!(to > from && from >= 1)) return null
  const goal = (n: number) => (p.curve.goal.metric === 'ops/s' ? lawAt(p.law, n) : 1 / lawAt(p.law, n))
  const logs = (p.curve.points ?? []).filter((m) => usable(m) && m.value >= 1).map((m) => Math.log((m.goal.value ?? 1) / goal(m.value)))
  const factor = Math.exp(logs.reduce((a, b) => a + b, 0) / Math.max(1, logs.length))
  const path: string[] = []
  for (let i = 0; i <= 120; i++) {
    const n = from * (to / from) ** (i / 120)
    const v = factor * goal(n)
    if (v > 0 && Number.isFinite(v)) path.push(`${p.frame.x(n).toFixed(1)},${p.frame.y(v).toFixed(1)}`)
  }
  return <polyline class="law" points={path.join(' ')} />
}

// Memory is drawn from 0: what it costs is absolute.
function Memory(p: { points: Point[]; frame: Frame; top: number }): JSX.Element {
  const of = (m: Point) => m.values?.['peak-rss'] ?? 0
  const most = Math.max(...p.points.map(of))
  const y = scale(0, most, p.top + MEMORY, p.top)
  return (
    <g class="memory">
      <text x={LEFT} y={p.top - 8}>{t('data.tune.memory')}</text>
      {[0, most].map((v) => (
        <g key={v}>
          <line class="grid" x1={LEFT} x2={p.frame.width - 10} y1={y(v)} y2={y(v)} />
          <text x={LEFT - 6} y={y(v) + 4} text-anchor="end">{metricText('peak-rss', v)}</text>
        </g>
      ))}
      <polyline points={p.points.map((m) => `${p.frame.x(m.value).toFixed(1)},${y(of(m)).toFixed(1)}`).join(' ')} />
      {p.points.map((m) => <circle key={m.value} cx={p.frame.x(m.value)} cy={y(of(m))} r="3" />)}
    </g>
  )
}

// Values names the points below the axis, as many as there is room for; the
// recommended one has the first right to it.
function Values(p: { curve: Curve; frame: Frame; at: number }): JSX.Element {
  const points = p.curve.points ?? []
  const taken: number[] = []
  const order = [p.curve.chosen, points.length - 1, ...points.keys()]
  const shown = [...new Set(order)].filter((i) => {
    const m = points[i]
    if (!m) return false
    const x = p.frame.x(m.value), room = 16 + 7 * knobText(p.curve.knob, m.value).length
    if (taken.some((other) => Math.abs(other - x) < room)) return false
    taken.push(x)
    return true
  })
  return (
    <>
      {shown.map((i) => {
        const m = points[i] as Point
        return <text key={i} class={i === p.curve.chosen ? 'chosen-name' : ''} x={p.frame.x(m.value)} y={p.at} text-anchor="middle">{knobText(p.curve.knob, m.value)}</text>
      })}
    </>
  )
}

function Key(p: { curve: Curve }): JSX.Element {
  const points = p.curve.points ?? []
  return (
    <p class="tune-key tune-svg">
      {p.curve.chosen >= 0 && <span><svg width="14" height="14" aria-hidden="true"><rect class="chosen" x="3" y="3" width="8" height="8" transform="rotate(45 7 7)" /></svg> {t('data.tune.recommended')}</span>}
      <span><svg width="14" height="14" aria-hidden="true"><circle class="point" cx="7" cy="7" r="4" /></svg> {t('data.tune.measured')}</span>
      {points.some((m) => usable(m) && !m.kept) && <span><svg width="14" height="14" aria-hidden="true"><circle class="point hollow" cx="7" cy="7" r="4" /></svg> {t('data.tune.breaks')}</span>}
      {points.some((m) => !usable(m)) && <span><b class="failed" aria-hidden="true">✗</b> {t('data.tune.failedkey')}</span>}
      {p.curve.usl && <span><svg width="24" height="14" aria-hidden="true"><line class="law" x1="0" x2="24" y1="7" y2="7" /></svg> {t('data.tune.law')}</span>}
    </p>
  )
}

function alt(c: Curve): string {
  const best = c.points?.[c.chosen]
  return t('data.tune.alt', { metric: c.goal.metric, knob: c.knob.name, n: c.points?.length ?? 0 }) + (best ? ' ' + t('data.tune.use', { setting: `${c.knob.name}=${knobText(c.knob, best.value)}` }) : '')
}

function Points(p: { curve: Curve }): JSX.Element {
  const c = p.curve, metric = c.goal.metric
  const rows = (c.points ?? []).map((point, i) => ({ point, i }))
  type Row = (typeof rows)[number]
  const best = c.points?.[c.best]
  const cols: Col<Row>[] = [
    { key: 'value', title: c.knob.name, align: 'right', sortable: true, width: '8.1rem', value: (r) => r.point.value, cell: (r) => knobText(c.knob, r.point.value), text: (r) => String(r.point.value) },
    { key: 'goal', title: metric, align: 'right', sortable: true, width: '7.5rem', value: (r) => r.point.goal.value, cell: (r) => (usable(r.point) ? metricText(metric, r.point.goal.value) : '–'), text: (r) => String(r.point.goal.value ?? '') },
    { key: 'interval', title: '95%', align: 'right', width: '13.9rem', cell: (r) => (usable(r.point) ? `${metricText(metric, r.point.goal.low)} … ${metricText(metric, r.point.goal.high)}` : '') },
    { key: 'best', title: t('data.tune.tobest'), align: 'right', width: '7.5rem', cell: (r) => (usable(r.point) && best && usable(best) ? changeText(r.point.ratio / best.ratio) : '') },
    { key: 'memory', title: t('data.tune.memory'), align: 'right', cell: (r) => (r.point.values?.['peak-rss'] ? metricText('peak-rss', r.point.values['peak-rss']) : '') },
    { key: 'runs', title: t('data.tune.runs'), align: 'right', cell: (r) => count((r.point.visits ?? []).filter((v) => !v.dropped).length) },
    { key: 'note', title: t('data.trial.note'), width: 'minmax(10rem, 2fr)', cell: (r) => noteOf(c, r.point, r.i) },
  ]
  return <Table caption={t('data.tune.points')} cols={cols} rows={rows} height={380} />
}

function noteOf(c: Curve, point: Point, i: number): string {
  if (point.failed) return t('data.tune.failednote', { why: point.failed.split('\n')[0] ?? '' })
  if (i === c.chosen) return t('data.tune.recommended')
  if (!point.kept) return t('data.tune.breaks')
  return i === c.best ? t('data.tune.best') : ''
}

function Law(p: { law: USL }): JSX.Element {
  const of = (i: Interval, text: (v: number) => string) => (i.value === null ? '–' : `${text(i.value)} (${i.low === null ? '–' : text(i.low)} … ${i.high === null ? '–' : text(i.high)})`)
  return (
    <>
      <h4 class="tune-head">{t('data.tune.law')}</h4>
      <p class="mono">X(N) = λN / (1 + σ(N−1) + κN(N−1))</p>
      <dl class="data-facts">
        <dt>λ</dt><dd>{of(p.law.lambda, (v) => `${figures(v)} ${p.law.unit}`)} · {t('data.tune.lambda')}</dd>
        <dt>σ</dt><dd>{of(p.law.sigma, share)} · {t('data.tune.sigma')}</dd>
        <dt>κ</dt><dd>{of(p.law.kappa, (v) => String(Number(v.toPrecision(3))))} · {t('data.tune.kappa')}</dd>
        <dt>N*</dt><dd>{p.law.peak ? of(p.law.peak, figures) : p.law.no_peak} · {t('data.tune.peak')}</dd>
        <dt>R²</dt><dd>{p.law.r2.toFixed(3)}</dd>
      </dl>
    </>
  )
}

function Formulas(p: { list: Formula[]; chosen: number | undefined }): JSX.Element {
  const at = p.list[0]?.at ?? []
  const cols: Col<Formula>[] = [
    { key: 'name', title: t('data.tune.formula'), width: 'minmax(11rem, 1fr)', cell: (f) => f.name },
    { key: 'text', title: t('data.tune.text'), width: 'minmax(12rem, 2fr)', cell: (f) => <span class="mono">{f.text}</span>, text: (f) => f.text },
    ...at.map((n, i): Col<Formula> => ({ key: `at${i}`, title: t('data.tune.saysat', { n: figures(n) }), align: 'right', width: '7.5rem', cell: (f) => (f.says?.[i] === undefined ? '' : figures(f.says[i])) })),
    { key: 'stable', title: t('data.tune.stable'), width: '9rem', cell: (f) => t(f.stable ? 'data.tune.isstable' : 'data.tune.unstable') },
    { key: 'why', title: t('data.tune.why'), width: 'minmax(14rem, 3fr)', cell: (f) => f.why },
  ]
  return (
    <>
      <h4 class="tune-head">{t('data.tune.formulas')}</h4>
      {p.chosen !== undefined && <p class="data-note">{t('data.tune.against', { n: figures(p.chosen) })}</p>}
      <Table caption={t('data.tune.formulas')} cols={cols} rows={p.list} height={300} />
    </>
  )
}
