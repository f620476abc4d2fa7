// What changed from one run to another.
import type { JSX } from 'preact'
import { short } from '../flame/text'
import { num } from '../format'
import { Command } from '../parts/copy'
import { Name } from '../parts/name'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import { measuredColumns, numbers, ratioColumn } from './columns'
import { changeText, IntervalPlot, type Tone } from './interval'
import { CapacitiesPanel } from './twocapacities'
import { CurvesPanel } from './twocurves'
import { Claims, Effects } from './twotrials'
import { Panel, Warnings } from './panel'
import { quantity, rowRatio, type Benchmark, type Comparison, type DiffTable, type FindingChange, type LedgerRow, type Side, type TableEntry } from './results'
import { changeSpan, type Change } from './scale'

export function ComparisonView(p: { of: Comparison }): JSX.Element {
  const c = p.of
  return (
    <>
      <Panel>
        <p class="cmp-summary">{c.summary}</p>
        <div class="cmp-sides">
          <SideFacts letter="A" side={c.a} />
          <SideFacts letter="B" side={c.b} />
        </div>
        <Warnings list={c.warnings} />
      </Panel>
      {(c.findings?.length ?? 0) > 0 && <Findings list={c.findings ?? []} />}
      {(c.ledger?.length ?? 0) > 0 && <Ledger rows={c.ledger ?? []} per={c.per ?? ''} />}
      {(c.tables?.length ?? 0) > 0 && <Tables tables={c.tables ?? []} />}
      {(c.benchmarks?.length ?? 0) > 0 && <Benchmarks list={c.benchmarks ?? []} />}
      {(c.means?.length ?? 0) > 0 && <Means of={c} />}
      {(c.effects?.length ?? 0) > 0 && <Effects list={c.effects ?? []} />}
      {(c.claims?.length ?? 0) > 0 && <Claims list={c.claims ?? []} />}
      {(c.curves ?? []).map((x) => <CurvesPanel key={x.knob} of={x} />)}
      {c.capacity && <CapacitiesPanel of={c.capacity} />}
      <Only letter="A" list={c.only_a} />
      <Only letter="B" list={c.only_b} />
      {(c.next?.length ?? 0) > 0 && (
        <Panel title={t('data.cmp.next')}>
          {(c.next ?? []).map((n, i) => <div key={i}><Command text={n.run} /><p class="data-note">{n.why}</p></div>)}
        </Panel>
      )}
    </>
  )
}

function SideFacts(p: { letter: string; side: Side }): JSX.Element {
  const s = p.side
  const facts = [s.go, s.seconds ? num(s.seconds, 'seconds') : '', s.operations ? `${num(s.operations, 'count')} ${s.operation ?? ''}` : ''].filter(Boolean)
  return (
    <div class="cmp-side">
      <b class="cmp-letter">{p.letter}</b>
      <span><b>{s.name}</b><br /><span class="muted">{facts.join(' · ')}</span>{s.verdict && <><br />{tn('core.verdict.' + s.verdict, s.verdict)}</>}</span>
    </div>
  )
}

const SIGNS = { gone: ['−', 'good'], new: ['+', 'bad'], both: ['=', 'same'] } as const

function Findings(p: { list: FindingChange[] }): JSX.Element {
  return (
    <Panel title={t('data.cmp.findings')}>
      <ul class="cmp-findings">
        {p.list.map((f, i) => {
          const [sign, tone] = SIGNS[f.state] ?? SIGNS.both
          return (
            <li key={i}>
              <span class={`data-verdict data-${f.remark ? 'same' : tone}`}><span class="mark" aria-hidden="true">{sign}</span>{tn('data.cmp.' + f.state, f.state)}</span>
              <span>
                <b>{f.title}</b> <span class="muted">({f.rule})</span>
                {f.where.function && <><br /><span class="mono">{f.where.function}</span>{f.where.file && <span class="muted mono"> {f.where.file}:{f.where.line}</span>}</>}
                <br />{costText(f)}
              </span>
            </li>
          )
        })}
      </ul>
    </Panel>
  )
}

function costText(f: FindingChange): string {
  if (f.a?.what && f.b) return `${num(f.a.value, f.a.unit)} → ${num(f.b.value, f.b.unit)} ${f.b.what}`
  const one = f.a ?? f.b
  return one?.what ? t(f.a ? 'data.cmp.cost' : 'data.cmp.costs', { cost: num(one.value, one.unit), what: one.what }) : ''
}

// Single runs have no verdicts: a change is shown, and nobody says that it is one.
const PLAIN: Tone = 'same'

function Ledger(p: { rows: LedgerRow[]; per: string }): JSX.Element {
  const change = (r: LedgerRow): Change => ({ ratio: rowRatio(r.a, r.b), low: null, high: null })
  const span = changeSpan(p.rows.map(change))
  const cols: Col<LedgerRow>[] = [
    { key: 'name', title: t('data.cmp.quantity'), sortable: true, width: 'minmax(14rem, 2fr)', value: (r) => r.name, cell: (r) => r.name },
    numbers('a', 'A', (r) => r.a, (v, r) => quantity(v, r.unit)),
    numbers('b', 'B', (r) => r.b, (v, r) => quantity(v, r.unit)),
    ratioColumn((r) => rowRatio(r.a, r.b)),
    { key: 'plot', title: `${changeText(2 ** -span)} … ${changeText(2 ** span)}`, width: '13rem', cell: (r) => (change(r).ratio === null ? '' : <IntervalPlot change={change(r)} span={span} tone={PLAIN} />), text: () => '' },
    { key: 'group', title: t('data.cmp.group'), sortable: true, width: '9rem', value: (r) => r.group, cell: (r) => r.group },
    ...(p.rows.some((r) => r.state) ? [{ key: 'state', title: '', width: '11rem', cell: (r: LedgerRow) => (r.state ? t('data.cmp.state') : '') }] : []),
  ]
  return <Table caption={t('data.cmp.ledger', { per: tn('data.per.' + p.per, p.per) })} cols={cols} rows={p.rows} height={640} />
}

// Tables are the profiles function by function; the one that is shown is in the URL.
function Tables(p: { tables: DiffTable[] }): JSX.Element {
  const { params } = usePlace()
  const shown = p.tables.find((x) => x.name === params.get('table')) ?? p.tables[0] as DiffTable
  const rows = shown.rows ?? []
  const cols: Col<TableEntry>[] = [
    { key: 'function', title: t('data.cmp.function'), sortable: true, width: 'minmax(16rem, 3fr)', value: (r) => r.function, cell: (r) => <span class="mono"><Name text={short(r.function)} /></span>, text: (r) => r.function },
    ...(rows.some((r) => r.reason) ? [{ key: 'reason', title: t('data.tasks.reason'), width: 'minmax(8rem, 1fr)', cell: (r: TableEntry) => r.reason ?? '' }] : []),
    numbers('a', 'A', (r) => r.a, (v) => quantity(v, shown.unit)),
    numbers('b', 'B', (r) => r.b, (v) => quantity(v, shown.unit)),
    numbers('diff', t('data.cmp.diff'), (r) => r.b - r.a, (v) => (v > 0 ? '+' : v < 0 ? '−' : '') + quantity(Math.abs(v), shown.unit)),
    ratioColumn((r) => rowRatio(r.a, r.b)),
    ...(rows.some((r) => r.cum_a || r.cum_b) ? [
      numbers<TableEntry>('cum_a', t('data.cmp.cum', { side: 'A' }), (r) => r.cum_a ?? 0, (v) => quantity(v, shown.unit)),
      numbers<TableEntry>('cum_b', t('data.cmp.cum', { side: 'B' }), (r) => r.cum_b ?? 0, (v) => quantity(v, shown.unit)),
    ] : []),
    { key: 'file', title: t('data.cmp.file'), width: 'minmax(10rem, 2fr)', cell: (r) => (r.file ? <Name text={`${r.file}:${r.line ?? 0}`} /> : ''), text: (r) => (r.file ? `${r.file}:${r.line ?? 0}` : '') },
  ]
  return (
    <div class="cmp-tables">
      <label class="data-field">
        <span>{t('data.cmp.tables')}</span>
        <select value={shown.name} onChange={(e) => setParams({ table: e.currentTarget.value }, { replace: true })}>
          {p.tables.map((x) => <option key={x.name} value={x.name}>{x.name}</option>)}
        </select>
      </label>
      <p class="data-note">
        {t('data.cmp.totals', { a: quantity(shown.total_a, shown.unit), b: quantity(shown.total_b, shown.unit), per: tn('data.per.' + shown.per, shown.per), source: shown.source })}
        {shown.left ? ' ' + t('data.cmp.left', { n: shown.left }) : ''} {shown.note}
      </p>
      <Table key={shown.name} caption={shown.name} cols={cols} rows={rows} height={560} />
    </div>
  )
}

function benchText(unit: string, v: number): string {
  if (unit === 'ns/op') return quantity(v * 1e-9, 'seconds')
  if (unit === 'B/op') return num(v, 'bytes')
  return num(v, 'count')
}

function Benchmarks(p: { list: Benchmark[] }): JSX.Element {
  const cols: Col<Benchmark>[] = [
    { key: 'name', title: t('data.cmp.benchmark'), sortable: true, width: 'minmax(14rem, 2fr)', value: (r) => r.name, cell: (r) => <>{r.name}{r.package && <span class="muted"> {r.package}</span>}</> },
    { key: 'unit', title: t('data.cmp.unit'), sortable: true, width: '5.2rem', value: (r) => r.unit, cell: (r) => r.unit },
    numbers('a', 'A', (r) => r.a, (v, r) => benchText(r.unit, v)),
    numbers('b', 'B', (r) => r.b, (v, r) => benchText(r.unit, v)),
    ...measuredColumns(p.list),
    { key: 'runs', title: t('data.cmp.runs'), align: 'right', width: '5.2rem', cell: (r) => `${r.runs_a} + ${r.runs_b}` },
  ]
  return <Table caption={t('data.cmp.benchmarks')} cols={cols} rows={p.list} height={640} />
}

function Means(p: { of: Comparison }): JSX.Element {
  const rows = p.of.means ?? []
  const cols: Col<(typeof rows)[number]>[] = [
    { key: 'unit', title: t('data.cmp.unit'), cell: (r) => r.unit },
    { key: 'of', title: t('data.cmp.over'), align: 'right', cell: (r) => r.of },
    numbers('a', 'A', (r) => r.a, (v, r) => benchText(r.unit, v)),
    numbers('b', 'B', (r) => r.b, (v, r) => benchText(r.unit, v)),
    ratioColumn((r) => r.ratio),
  ]
  return <Table caption={t('data.cmp.means')} cols={cols} rows={rows} height={260} />
}

function Only(p: { letter: string; list: string[] | undefined }): JSX.Element | null {
  if (!p.list?.length) return null
  return (
    <Panel title={t('data.cmp.only', { side: p.letter })}>
      <ul class="data-list">{p.list.map((x, i) => <li key={i}>{x}</li>)}</ul>
    </Panel>
  )
}
