// How much load a program bears: the rates that were offered, what was done of
// them, and where it stopped keeping up.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { count, dur, figures, share } from '../format'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { useWidth } from './hooks'
import { Panel, Warnings } from './panel'
import type { Capacity, CapacityTable, Step } from './results'
import { scale, ticks } from './scale'

export function CapacityView(p: { of: Capacity | CapacityTable }): JSX.Element {
  return p.of.kind === 'gowhy capacity table' ? <TableView of={p.of} /> : <SearchView of={p.of} />
}

function rate(v: number): string {
  return figures(Number(v.toPrecision(4))) + '/s'
}

/** The result in a sentence. */
export function capacityText(c: Capacity): string {
  if (c.low === 0) return c.high > 0 ? t('data.cap.below', { high: rate(c.high), why: c.why }) : t('data.cap.none', { why: c.why })
  if (c.high === 0) return t('data.cap.atleast', { low: rate(c.low), why: c.why })
  return t('data.cap.is', { low: rate(c.low), high: rate(c.high), why: c.why })
}

function SearchView(p: { of: Capacity }): JSX.Element {
  const c = p.of
  const steps = c.steps ?? []
  return (
    <>
      <Panel>
        <p class="cmp-summary">{capacityText(c)}</p>
        <p class="data-note">{t('data.cap.how', { steps: steps.length, dropped: c.dropped, tolerance: share(c.tolerance), took: dur(c.took_ns) })}</p>
        {(c.url || c.command?.length) && <p class="mono cmp-command">{c.url ?? (c.command ?? []).join(' ')}</p>}
        <Warnings list={c.warnings} />
      </Panel>
      <Panel title={t('data.cap.chart')}><Picture of={c} /></Panel>
      <Steps steps={steps} />
    </>
  )
}

const LEFT = 74
const TOP = 200
const BELOW = 120

// Picture has two parts with one axis of rates: what was done of what was asked
// for, and the latency at it.
function Picture(p: { of: Capacity }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 720)
  const steps = [...(p.of.steps ?? [])].filter((s) => !s.dropped && s.rate > 0).sort((a, b) => a.rate - b.rate)
  if (steps.length === 0) return <div ref={box}><p class="data-note">{t('data.cap.nosteps')}</p></div>
  const rates = steps.map((s) => s.rate)
  const low = Math.min(...rates), high = Math.max(...rates)
  const x = scale(low * 0.95, high * 1.05, LEFT, width - 12, high / low > 8)
  const y = scale(0, Math.max(high, ...steps.map((s) => s.done)) * 1.05, TOP, 12)
  const times = steps.flatMap((s) => [s.p50_ns, s.p99_ns]).filter((v) => v > 0)
  const late = times.length > 0 ? scale(Math.min(...times) / 1.2, Math.max(...times) * 1.2, TOP + 40 + BELOW, TOP + 40, true) : null
  const height = TOP + (late ? 40 + BELOW : 0) + 28
  return (
    <div ref={box}>
      <svg class="cap-svg" role="img" viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-label={capacityText(p.of)}>
        <text x={LEFT} y={10}>{t('data.cap.done')}</text>
        {ticks(0, y.high, 4).map((v) => <Grid key={v} y={y(v)} width={width} text={rate(v)} />)}
        <line class="ideal" x1={x(x.low)} y1={y(x.low)} x2={x(x.high)} y2={y(x.high)} />
        {p.of.low > 0 && <line class="limit" x1={x(p.of.low)} x2={x(p.of.low)} y1={12} y2={height - 26} />}
        {steps.map((s, i) => <StepMark key={i} step={s} x={x(s.rate)} y={y(s.done)} />)}
        {late && <text x={LEFT} y={TOP + 32}>{t('data.cap.latency')}</text>}
        {late && ticks(late.low, late.high, 4, true).map((v) => <Grid key={v} y={late(v)} width={width} text={dur(v)} />)}
        {late && steps.map((s, i) => (
          <g key={i}>
            <title>{`${rate(s.rate)}: p50 ${dur(s.p50_ns)}, p99 ${dur(s.p99_ns)}`}</title>
            {s.p50_ns > 0 && s.p99_ns > 0 && <line class="spread" x1={x(s.rate)} x2={x(s.rate)} y1={late(s.p50_ns)} y2={late(s.p99_ns)} />}
            {s.p50_ns > 0 && <circle class="p50" cx={x(s.rate)} cy={late(s.p50_ns)} r="3.5" />}
            {s.p99_ns > 0 && <path class="p99" d={`M${x(s.rate) - 4} ${late(s.p99_ns) + 4}h8l-4 -8z`} />}
          </g>
        ))}
        {ticks(x.low, x.high, width / 110, x.log).map((v) => <text key={v} x={x(v)} y={height - 8} text-anchor="middle">{rate(v)}</text>)}
      </svg>
      <p class="tune-key cap-svg">
        <span><svg width="14" height="14" aria-hidden="true"><circle class="kept" cx="7" cy="7" r="4.5" /></svg> {t('data.cap.sustained')}</span>
        <span><svg width="14" height="14" aria-hidden="true"><path class="lost" d="M3 3l8 8M11 3l-8 8" /></svg> {t('data.cap.notsustained')}</span>
        <span><svg width="24" height="14" aria-hidden="true"><line class="ideal" x1="0" x2="24" y1="7" y2="7" /></svg> {t('data.cap.ideal')}</span>
        {late && <span><svg width="14" height="14" aria-hidden="true"><circle class="p50" cx="7" cy="7" r="3.5" /></svg> p50 <svg width="14" height="14" aria-hidden="true"><path class="p99" d="M3 11h8l-4 -8z" /></svg> p99</span>}
      </p>
    </div>
  )
}

function Grid(p: { y: number; width: number; text: string }): JSX.Element {
  return (
    <g>
      <line class="grid" x1={LEFT} x2={p.width - 12} y1={p.y} y2={p.y} />
      <text x={LEFT - 6} y={p.y + 4} text-anchor="end">{p.text}</text>
    </g>
  )
}

function StepMark(p: { step: Step; x: number; y: number }): JSX.Element {
  const title = <title>{`${rate(p.step.rate)} → ${rate(p.step.done)}${p.step.limit ? ` (${p.step.limit})` : ''}`}</title>
  if (!p.step.limit) return <g>{title}<circle class="kept" cx={p.x} cy={p.y} r="4.5" /></g>
  return <g>{title}<path class="lost" d={`M${p.x - 4} ${p.y - 4}l8 8M${p.x + 4} ${p.y - 4}l-8 8`} /></g>
}

function Steps(p: { steps: Step[] }): JSX.Element {
  const cols: Col<Step>[] = [
    { key: 'rate', title: t('data.cap.offered'), align: 'right', sortable: true, value: (s) => s.rate, cell: (s) => rate(s.rate), text: (s) => String(s.rate) },
    { key: 'done', title: t('data.cap.done'), align: 'right', sortable: true, value: (s) => s.done, cell: (s) => rate(s.done), text: (s) => String(s.done) },
    { key: 'failed', title: t('data.cap.failed'), align: 'right', sortable: true, value: (s) => s.failed, cell: (s) => share(s.failed), text: (s) => String(s.failed) },
    { key: 'p50', title: 'p50', align: 'right', sortable: true, value: (s) => s.p50_ns, cell: (s) => (s.p50_ns > 0 ? dur(s.p50_ns) : '–'), text: (s) => String(s.p50_ns) },
    { key: 'p99', title: 'p99', align: 'right', sortable: true, value: (s) => s.p99_ns, cell: (s) => (s.p99_ns > 0 ? dur(s.p99_ns) : '–'), text: (s) => String(s.p99_ns) },
    { key: 'growth', title: t('data.cap.backlog'), align: 'right', width: '8.1rem', help: t('data.cap.backlog.help'), cell: growthText },
    { key: 'others', title: t('data.trial.others'), align: 'right', cell: (s) => ((s.conditions?.others ?? -1) < 0 ? '–' : share(s.conditions.others)) },
    { key: 'result', title: t('data.cap.result'), width: 'minmax(14rem, 2fr)', cell: resultText },
  ]
  return <Table caption={t('data.cap.steps')} cols={cols} rows={p.steps} height={460} />
}

function growthText(s: Step): string {
  const g = s.growth?.value
  if (g === null || g === undefined) return '–'
  if (Math.abs(g) < 0.005 * s.rate) return t('data.cap.steady')
  return `${g > 0 ? '+' : '−'}${figures(Math.abs(g))}/s`
}

function resultText(s: Step): JSX.Element | string {
  if (s.dropped) return t('data.cap.dropped', { why: s.dropped })
  const more = [s.error, s.generator].filter(Boolean).join(' · ')
  if (!s.limit) return <span class="data-verdict data-good"><span class="mark" aria-hidden="true">✓</span>{t('data.cap.sustained')}</span>
  return <><span class="data-verdict data-bad"><span class="mark" aria-hidden="true">✗</span>{tn('data.cap.limit.' + s.limit, s.limit)}</span>{more && ' ' + more}</>
}

function TableView(p: { of: CapacityTable }): JSX.Element {
  const axes = p.of.axes ?? [], cells = p.of.cells ?? [], stage = p.of.conclusion
  type Cell = (typeof cells)[number]
  const most = Math.max(1, ...cells.map((c) => c.rate))
  const cols: Col<Cell>[] = [
    ...axes.map((a): Col<Cell> => ({ key: 'axis ' + a, title: a, align: 'right', sortable: true, width: '7.5rem', value: (c) => c.setting?.[a], cell: (c) => (c.setting?.[a] === undefined ? '' : count(c.setting[a])) })),
    { key: 'rate', title: t('data.cap.capacity'), align: 'right', sortable: true, value: (c) => c.rate, cell: (c) => (c.failed ? '–' : rate(c.rate)), text: (c) => String(c.rate) },
    { key: 'bar', title: t('data.cap.relative'), width: 'minmax(8rem, 2fr)', cell: (c) => <svg class="cap-bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width={(100 * c.rate) / most} height="10" /></svg>, text: () => '' },
    { key: 'limit', title: t('data.cap.result'), width: 'minmax(11rem, 2fr)', cell: (c) => c.failed ?? (c.limit ? tn('data.cap.limit.' + c.limit, c.limit) : '') },
  ]
  return (
    <>
      <Panel>
        <p class="cmp-summary">{stage.where}</p>
        <p>{stage.why}</p>
        {stage.next && <p>{t('data.cap.next', { next: stage.next })}</p>}
        <ul class="data-list">
          {(stage.shapes ?? []).map((s) => <li key={s.axis}>{t('data.cap.shape', { axis: s.axis, shape: tn('data.cap.shape.' + s.shape, s.shape), growth: figures(s.growth), times: figures(s.times) })}</li>)}
        </ul>
      </Panel>
      <Table caption={t('data.cap.table')} cols={cols} rows={cells} height={560} />
    </>
  )
}
