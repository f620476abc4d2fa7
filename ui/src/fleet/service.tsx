// One service: its CPU over time by version, its versions, what its deploys changed and
// what its profiles show.
import type { JSX } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { Clock } from '../data/clock'
import { plain } from '../flame/text'
import { cell, count, num } from '../format'
import { lazy } from '../parts/lazy'
import { Failed, Loading } from '../parts/states'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { href, setParams } from '../url'
import type { RunsAnswer, SeriesSet, Versions } from './api'
import { useAnswer, useFindings } from './ask'
import { ChangeCard } from './change'
import { FindingCard, Silence, Unjudged } from './finding'
import { holderRows, type HolderRow } from './held'
import { killedText, killsOf } from './killed'
import { Cards, Missing, Saturated, Spark } from './parts'
import { ratesOf } from './points'
import { judged, type Row, type VersionRow } from './rows'
import { askAgain, chartTimes, momentText, rfc3339, stepFor, stepText, useSpan } from './time'
import { Undecided } from './undecided'
import { findingsText, moneyText, SHORT } from './words'

// The chart's own code is a third of the page: lists do without.
const Chart = lazy(async () => (await import('../parts/chart')).Chart)

export function Service(p: { service: string; row: Row | undefined; missing: (string[] | undefined)[]; saturated: string[]; currency: string }): JSX.Element {
  const { row } = p
  return (
    <div class="data-screen fleet-service">
      <Missing of={p.missing} />
      <Saturated of={p.saturated} />
      <div class="data-head">
        <h2 class="fleet-name">{p.service}</h2>
        <a href={href(`flame?service=${encodeURIComponent(p.service)}`)}>{t('fleet.service.flame')}</a>
        <a href={href('services')}>{t('fleet.service.back')}</a>
      </div>
      <Kills service={p.service} />
      {row ? <Known service={p.service} row={row} currency={p.currency} /> : <p class="state">{t('fleet.service.gone', { name: p.service })}</p>}
    </div>
  )
}

function Known(p: { service: string; row: Row; currency: string }): JSX.Element {
  const { row } = p
  const text = (v: number | null, unit: string) => (v === null ? '–' : num(v, unit))
  const figures: [string, string][] = [
    [t('fleet.col.cores'), text(row.cores, 'count')],
    ...(row.money === null ? [] : [[t('fleet.col.money'), moneyText(row.money, p.currency)] as [string, string]]),
    [t('fleet.col.inuse'), text(row.inUse, 'bytes')],
    [t('fleet.col.allocs'), row.allocs === null ? '–' : t('fleet.persecond', { v: num(row.allocs, 'bytes') })],
    [t('fleet.col.instances'), text(row.instances, 'count')],
    [t('fleet.col.versions'), count(row.versions.length)],
    [t('fleet.col.findings'), findingsText(row.findings)],
  ]
  return (
    <>
      <dl class="fleet-figures card">{figures.map(([what, value]) => <div key={what}><dt>{what}</dt><dd>{value}</dd></div>)}</dl>
      <Trend service={p.service} />
      <VersionTable service={p.service} versions={row.versions} />
      <Changes service={p.service} />
      <Found service={p.service} />
      <Holders service={p.service} />
    </>
  )
}

function Trend(p: { service: string }): JSX.Element {
  const span = useSpan()
  const { data, error } = useAnswer<SeriesSet>('series', { service: p.service, by: 'version', step: stepText(stepFor(span, 400)) })
  const [clock] = useState(() => new Clock())
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set())
  const [tableOpen, setTable] = useState(false)
  const lines = useMemo(() => {
    if (!data) return []
    const rates = ratesOf(data, span.from, span.until)
    return [...rates.values].map(([key, values]) => ({
      name: key, label: key || t('fleet.unversioned'), at: rates.at.map((ms) => (ms - span.from) * 1e6), value: values.map((v) => v && v / 1e9),
    })).sort((a, b) => (a.name < b.name ? -1 : 1))
  }, [data])
  if (error) return <Failed error={error} retry={askAgain} />
  const full: [number, number] = [0, (span.until - span.from) * 1e6]
  const hide = (name: string) => setHidden(new Set(hidden.has(name) ? [...hidden].filter((n) => n !== name) : [...hidden, name]))
  // A stretch that was dragged over is a time for all screens.
  const zoom = (to: [number, number] | null) => {
    if (to === null || to[1] - to[0] < 60e9) return
    setParams({ span: null, from: rfc3339(span.from + to[0] / 1e6), until: rfc3339(span.from + to[1] / 1e6) })
  }
  return (
    <section>
      <Chart
        id="cpu" title={t('fleet.service.chart')} unit="cores" stacked lines={lines} full={full} range={full} times={chartTimes(span.from)}
        onRange={zoom} clock={clock} hidden={hidden} onHide={hide} tableOpen={tableOpen} onTable={setTable}
      />
      <p class="data-note">{t('fleet.service.chart.note')}</p>
    </section>
  )
}

function VersionTable(p: { service: string; versions: VersionRow[] }): JSX.Element {
  const figure = (key: string, title: string, value: (r: VersionRow) => number | null, unit: string, help?: string): Col<VersionRow> =>
    ({ key, title, help, align: 'right', sortable: true, value, cell: (r) => (value(r) === null ? '–' : cell(value(r)!, unit)) })
  const cols: Col<VersionRow>[] = [
    { key: 'version', title: t('fleet.col.version'), sortable: true, width: 'minmax(7rem, 1fr)', value: (r) => r.version, cell: (r) => r.version || t('fleet.unversioned') },
    figure('cores', t('fleet.col.cores'), (r) => r.cores, 'count', t('fleet.col.cores.help')),
    figure('each', t('fleet.col.perinstance'), (r) => r.each, 'count', t('fleet.col.perinstance.help')),
    figure('inuse', t('fleet.col.inuse'), (r) => r.inUse, 'bytes', t('fleet.col.inuse.help')),
    { ...figure('allocs', t('fleet.col.allocs'), (r) => r.allocs, 'bytes', t('fleet.col.allocs.help')), cell: (r) => (r.allocs === null ? '–' : t('fleet.persecond', { v: cell(r.allocs, 'bytes') })) },
    figure('instances', t('fleet.col.instances'), (r) => r.instances, 'count', t('fleet.col.instances.help')),
    { key: 'seen', title: t('fleet.col.seen'), sortable: true, width: 'minmax(15.5rem, 1.2fr)', value: (r) => r.first, cell: (r) => t('fleet.findings.span', { first: momentText(r.first), last: momentText(r.last) }) },
  ]
  return (
    <Table
      caption={t('fleet.service.versions', { name: p.service })} cols={cols} rows={p.versions} height={360}
      rowHref={(r) => `flame?service=${encodeURIComponent(p.service)}&version=${encodeURIComponent(r.version)}`}
    />
  )
}

function Changes(p: { service: string }): JSX.Element {
  const { data, error } = useAnswer<Versions>('versions', { service: p.service })
  const decided = data?.changes.filter((c) => c.verdict === 'worse' || c.verdict === 'better') ?? []
  const others = data?.changes.filter((c) => !decided.includes(c)) ?? []
  return (
    <section class="fleet-section">
      <h3>{t('fleet.service.changes')}</h3>
      {error ? <Failed error={error} retry={askAgain} /> : !data ? <Loading /> : (
        <>
          {data.changes.length === 0 && <p class="muted">{t('fleet.versions.none')}</p>}
          {decided.map((c) => <ChangeCard key={c.base + '\n' + c.head} of={c} all={decided} />)}
          <Undecided changes={others} />
        </>
      )}
    </section>
  )
}

function Found(p: { service: string }): JSX.Element {
  const { data, error } = useFindings({ service: p.service })
  return (
    <section class="fleet-section">
      <h3>{t('fleet.service.findings')}</h3>
      {error ? <Failed error={error} retry={askAgain} />
        : !data ? <Loading />
        : !judged(data) ? <Unjudged />
        : data.findings.length === 0 ? <p class="muted">{t('fleet.findings.none')}</p>
        : <Cards>{data.findings.map((f) => <FindingCard key={f.rule + f.function} of={f} currency={data.currency ?? ''} />)}</Cards>}
      {data && <Silence of={data} only={p.service} />}
    </section>
  )
}

// When the kernel killed the service for want of memory, with the recordings of just before; nothing where it did not.
function Kills(p: { service: string }): JSX.Element | null {
  const { data } = useAnswer<RunsAnswer>('runs', { service: p.service, limit: 1000 })
  const { shown, more } = useMemo(() => killsOf(data?.runs ?? []), [data])
  if (shown.length === 0) return null
  return (
    <section class="fleet-section">
      <h3>{t('fleet.killed.title')}</h3>
      <ul class="fleet-worse-list fleet-killed card">
        {shown.map((r) => <li key={r.id}>{killedText(r)} <a href={href(`runs?q=${r.id.slice(0, SHORT)}`)}>{t('fleet.killed.run')}</a></li>)}
        {more > 0 && <li class="muted">{t('fleet.omitted', { n: count(more) })}</li>}
      </ul>
    </section>
  )
}

// Who holds the heap over the recordings that looked; nothing where none did.
function Holders(p: { service: string }): JSX.Element | null {
  const { data } = useAnswer<RunsAnswer>('runs', { service: p.service, limit: 1000 })
  const { looks, rows } = useMemo(() => holderRows(data?.runs ?? []), [data])
  if (rows.length === 0) return null
  const cols: Col<HolderRow>[] = [
    { key: 'way', title: t('fleet.held.holder'), width: 'minmax(14rem, 3fr)', cell: (r) => <code title={plain(r.way)}>{plain(r.way)}</code>, text: (r) => plain(r.way) },
    { key: 'over', title: t('fleet.held.over'), width: '9rem', cell: (r) => <Spark values={r.over} unit="bytes" />, text: (r) => r.over.map((v) => v ?? '').join(' ') },
    { key: 'last', title: t('fleet.held.last'), align: 'right', sortable: true, value: (r) => r.last, cell: (r) => cell(r.last, 'bytes') },
    { key: 'grew', title: t('fleet.held.grew'), align: 'right', sortable: true, value: (r) => r.grew, cell: (r) => (r.grew === null ? '–' : cell(r.grew, 'bytes')), help: t('fleet.held.grew.help') },
  ]
  return (
    <section class="fleet-section">
      <Table caption={t('fleet.held.caption', { name: p.service })} cols={cols} rows={rows} height={360} />
      <p class="data-note">{t('fleet.held.note', { n: count(looks.length), first: momentText(Date.parse(looks[0]!.start)), last: momentText(Date.parse(looks.at(-1)!.start)) })}</p>
    </section>
  )
}
