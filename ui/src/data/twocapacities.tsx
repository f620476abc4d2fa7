// Two searches for a capacity: what was done of what was offered, the latency at it,
// and the brackets; or two tables, setting by setting.
import type { JSX } from 'preact'
import { dur, figures } from '../format'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { numbers, ratioColumn } from './columns'
import { changeText } from './interval'
import { Panel } from './panel'
import { rowRatio, type Bracket, type LedgerRow, type LoadStep, type TwoCapacities } from './results'
import { TwoLines, type Side } from './twolines'

function rate(v: number): string {
  return figures(Number(v.toPrecision(4))) + '/s'
}

function sideOf(arm: string, b: Bracket, of: (s: LoadStep) => number): Side {
  const steps = [...(b.steps ?? [])].filter((s) => s.rate > 0 && of(s) > 0).sort((x, y) => x.rate - y.rate)
  return {
    marked: b.low > 0 ? b.low : null,
    spots: steps.map((s) => ({
      x: s.rate, y: of(s), hollow: !!s.limit,
      title: `${arm}, ${rate(s.rate)}: ${rate(s.done)}, p50 ${dur(s.p50_ns)}, p99 ${dur(s.p99_ns)}${s.limit ? ' · ' + tn('data.cap.limit.' + s.limit, s.limit) : ''}`,
    })),
  }
}

export function CapacitiesPanel(p: { of: TwoCapacities }): JSX.Element {
  const c = p.of
  return (
    <>
      {c.a && c.b && <Brackets a={c.a} b={c.b} of={c} />}
      {(c.cells?.length ?? 0) > 0 && <Settings rows={c.cells ?? []} />}
    </>
  )
}

interface BracketRow { name: string; a: number | null; b: number | null }

function Brackets(p: { a: Bracket; b: Bracket; of: TwoCapacities }): JSX.Element {
  const { a, b, of: c } = p
  const rates = [...(a.steps ?? []), ...(b.steps ?? [])].map((s) => s.rate).filter((v) => v > 0)
  const x = { text: rate, title: t('data.two.offered'), log: rates.length > 0 && Math.max(...rates) / Math.min(...rates) > 8 }
  const side = (of: (s: LoadStep) => number) => ({ a: sideOf('A', a, of), b: sideOf('B', b, of) })
  const limit = (s: Bracket) => (s.limit ? tn('data.cap.limit.' + s.limit, s.limit) : '–')
  const rows: BracketRow[] = [
    { name: t('data.cap.sustained'), a: a.low || null, b: b.low || null },
    { name: t('data.cap.notsustained'), a: a.high || null, b: b.high || null },
  ]
  const cols: Col<BracketRow>[] = [
    { key: 'name', title: t('data.cap.result'), width: 'minmax(11rem, 2fr)', cell: (r) => r.name },
    numbers('a', 'A', (r) => r.a, rate),
    numbers('b', 'B', (r) => r.b, rate),
    ratioColumn((r) => rowRatio(r.a, r.b)),
  ]
  return (
    <Panel title={t('data.cap.capacity')}>
      <p>
        {t(c.overlap ? 'data.two.bracketsmeet' : 'data.two.bracketsapart')}
        {c.ratio !== undefined && c.low !== undefined && c.high !== undefined ? ' ' + t('data.two.ratio', { ratio: changeText(c.ratio), low: changeText(c.low), high: changeText(c.high) }) : ''}
        {' '}{t('data.two.limits', { a: limit(a), b: limit(b) })}
      </p>
      <TwoLines {...side((s) => s.done)} x={x} y={{ text: rate, title: t('data.cap.done'), zero: true }} alt={t('data.two.bracketsalt', { a: a.low > 0 ? rate(a.low) : '–', b: b.low > 0 ? rate(b.low) : '–' })} />
      <TwoLines {...side((s) => s.p99_ns)} x={x} y={{ text: dur, title: 'p99', log: true }} alt={t('data.two.p99alt')} />
      <Table caption={t('data.cap.capacity')} cols={cols} rows={rows} height={160} />
    </Panel>
  )
}

function Settings(p: { rows: LedgerRow[] }): JSX.Element {
  const cols: Col<LedgerRow>[] = [
    { key: 'setting', title: t('data.two.setting'), sortable: true, width: 'minmax(14rem, 2fr)', value: (r) => r.name, cell: (r) => r.name },
    numbers('a', 'A', (r) => r.a, rate),
    numbers('b', 'B', (r) => r.b, rate),
    ratioColumn((r) => rowRatio(r.a, r.b)),
  ]
  return <Table caption={t('data.cap.table')} cols={cols} rows={p.rows} height={560} />
}
