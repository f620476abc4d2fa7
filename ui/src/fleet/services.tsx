// All services, by what they cost; one of them, with its versions and what is wrong.
import type { JSX } from 'preact'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { nextSort, sortRows } from '../data/sort'
import { cell, count, share } from '../format'
import { Command } from '../parts/copy'
import { Failed, Loading } from '../parts/states'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { setParams, usePlace } from '../url'
import type { FindingsAnswer, Levels, SeriesSet, Services as Answer } from './api'
import { MOST, MOST_LEVELS, useAnswer, useFindings } from './ask'
import { Filter, Missing, Saturated, Spark } from './parts'
import { saturatedOf, serviceRows, type Row } from './rows'
import { Service } from './service'
import { askAgain, stepFor, stepText, useSpan } from './time'
import { findingsText, moneyText } from './words'
import { WorseList } from './worse'

export function Services(): JSX.Element {
  const { params } = usePlace()
  const service = params.get('service')
  const known = useRows()
  if (known.error) return <Failed error={known.error} retry={askAgain} />
  if (!known.rows) return <Loading />
  if (service !== null) return <Service service={service} row={known.rows.find((r) => r.service === service)} missing={known.missing} saturated={saturatedOf(known.services, service)} currency={known.currency} />
  if (known.rows.length === 0) return <><Missing of={known.missing} /><Nothing /></>
  return <List rows={known.rows} findings={known.findings} missing={known.missing} saturated={saturatedOf(known.services)} omitted={known.omitted} currency={known.currency} />
}

interface Known {
  services: Answer | undefined
  rows: Row[] | undefined
  findings: FindingsAnswer | undefined
  error: ReturnType<typeof useAnswer>['error']
  missing: (string[] | undefined)[]
  omitted: number
  currency: string
}

// useRows asks for all that a row has; what comes later fills its columns.
function useRows(): Known {
  const span = useSpan()
  const services = useAnswer<Answer>('services', { limit: MOST })
  const inUse = useAnswer<Levels>('levels', { type: 'inuse_space', limit: MOST_LEVELS })
  const series = useAnswer<SeriesSet>('series', { by: 'service', step: stepText(stepFor(span, 60)) })
  const findings = useFindings()
  const rows = useMemo(
    () => services.data && serviceRows({ services: services.data, inUse: inUse.data, series: series.data, findings: findings.data, from: span.from, until: span.until }),
    [services.data, inUse.data, series.data, findings.data],
  )
  return {
    services: services.data,
    rows,
    findings: findings.data,
    error: services.error ?? inUse.error ?? series.error ?? findings.error,
    missing: [services.data, inUse.data, series.data, findings.data].map((a) => a?.missing),
    omitted: services.data?.omitted ?? 0,
    currency: services.data?.currency ?? '',
  }
}

/** What brings services here. */
function Nothing(): JSX.Element {
  const { choice } = useSpan()
  return (
    <div class="state fleet-nothing">
      <p class="state-what">{t('fleet.services.none')}</p>
      {choice !== '7d' && <p><button type="button" onClick={() => setParams({ span: '7d', from: null, until: null })}>{t('fleet.longer')}</button></p>}
      <p>{t('fleet.services.scrape')}</p>
      <Command text="gowhy serve --scrape shop@v1.2.3=http://localhost:6060/debug/pprof" />
      <p>{t('fleet.services.sdk')}</p>
      <pre class="fleet-code" tabIndex={0}><code>{`pyroscope.Config{\n    ApplicationName: "shop",\n    ServerAddress:   "${location.origin}",\n    Tags:            map[string]string{"version": "v1.2.3", "host": host},\n}`}</code></pre>
      <p>{t('fleet.services.demo')}</p>
      <Command text="gowhy fleet demo --listen 127.0.0.1:4041" />
    </div>
  )
}

function List(p: { rows: Row[]; findings: FindingsAnswer | undefined; missing: Known['missing']; saturated: string[]; omitted: number; currency: string }): JSX.Element {
  const { params } = usePlace()
  const q = params.get('q') ?? ''
  const sort = { key: (params.get('sort') ?? '-cores').replace(/^-/, ''), desc: (params.get('sort') ?? '-cores').startsWith('-') }
  const open = params.get('open')?.split(',') ?? []
  const narrow = useNarrow()
  const all = p.rows.reduce((sum, r) => sum + (r.cores ?? 0), 0)
  const fold = (service: string) => {
    const next = open.includes(service) ? open.filter((s) => s !== service) : [...open, service]
    setParams({ open: next.length > 0 ? next.join(',') : null }, { replace: true })
  }
  const every = columns({ all, fold, open, currency: p.currency })
  const cols = narrow ? every.flatMap((c) => (NARROW_COLUMNS[c.key] ? [{ ...c, ...NARROW_COLUMNS[c.key] }] : [])) : every
  const value = cols.find((c) => c.key === sort.key)?.value ?? ((r: Row) => r.cores)
  const found = p.rows.filter((r) => r.service.toLowerCase().includes(q.toLowerCase()))
  const rows = sortRows(found, value, sort.desc).flatMap((r) => (open.includes(r.service) ? [r, ...r.versions] : [r]))
  return (
    <div class="data-screen">
      <Missing of={p.missing} />
      <Saturated of={p.saturated} />
      <WorseList findings={p.findings} />
      <div class="data-head"><Filter hint={t('fleet.filter.services')} q={q} /></div>
      <Table
        caption={t('fleet.services.caption')} cols={cols} rows={rows}
        sort={sort.key} desc={sort.desc}
        onSort={(key) => {
          const next = nextSort(sort, key, cols.find((c) => c.key === key)?.align === 'right')
          setParams({ sort: (next.desc ? '-' : '') + next.key }, { replace: true })
        }}
        rowHref={(r) => (r.version === null ? `services?service=${encodeURIComponent(r.service)}` : `flame?service=${encodeURIComponent(r.service)}&version=${encodeURIComponent(r.version)}`)}
        empty={t('fleet.services.nomatch', { q })}
        height={900}
      />
      {p.omitted > 0 && <p class="data-note">{t('fleet.omitted', { n: count(p.omitted) })}</p>}
    </div>
  )
}

interface Look {
  all: number
  open: string[]
  fold(service: string): void
  currency: string
}

const dash = '–'
const orDash = (v: number | null, text: (v: number) => string): string => (v === null ? dash : text(v))

function columns(p: Look): Col<Row>[] {
  const figure = (key: 'cores' | 'money' | 'inUse' | 'allocs' | 'instances', title: string, text: (v: number) => string, help?: string): Col<Row> =>
    ({ key, title, help, align: 'right', sortable: true, value: (r) => r[key], cell: (r) => orDash(r[key], text), text: (r) => String(r[key] ?? '') })
  return [
    {
      key: 'service', title: t('fleet.col.service'), sortable: true, width: 'minmax(9rem, 2fr)', value: (r) => r.service, text: (r) => r.service + (r.version === null ? '' : ' ' + r.version),
      cell: (r) => (r.version === null ? r.service : <span class="fleet-version">{r.version || t('fleet.unversioned')}</span>),
    },
    { ...figure('cores', t('fleet.col.cores'), (v) => cell(v, 'count'), t('fleet.col.cores.help')), width: '5.5rem' },
    { key: 'share', title: t('fleet.col.share'), align: 'right', width: '5rem', cell: (r) => (p.all > 0 && r.cores !== null ? share(r.cores / p.all) : dash) },
    ...(p.currency === '' ? [] : [{ ...figure('money', t('fleet.col.money'), (v) => moneyText(v, p.currency), t('fleet.col.money.help')), width: '6.5rem' }]),
    figure('inUse', t('fleet.col.inuse'), (v) => cell(v, 'bytes'), t('fleet.col.inuse.help')),
    figure('allocs', t('fleet.col.allocs'), (v) => t('fleet.persecond', { v: cell(v, 'bytes') }), t('fleet.col.allocs.help')),
    {
      key: 'versions', title: t('fleet.col.versions'), align: 'right', sortable: true, width: '6rem', value: (r) => r.versions.length, text: (r) => String(r.versions.length || ''),
      cell: (r) => r.version === null && (
        <button type="button" class="quiet fleet-fold" aria-expanded={p.open.includes(r.service)} onClick={() => p.fold(r.service)}>
          {r.versions.length}<span class="sr"> {t('fleet.versions.fold', { name: r.service })}</span> <span aria-hidden="true">{p.open.includes(r.service) ? '▾' : '▸'}</span>
        </button>
      ),
    },
    { ...figure('instances', t('fleet.col.instances'), count, t('fleet.col.instances.help')), width: '6rem' },
    {
      key: 'findings', title: t('fleet.col.findings'), help: t('fleet.col.findings.help'), align: 'right', sortable: true, width: 'minmax(7.5rem, .6fr)',
      value: (r) => r.findings && r.findings.open, cell: (r) => findingsText(r.findings),
    },
    { key: 'trend', title: t('fleet.col.trend'), help: t('fleet.col.trend.help'), width: '8.7rem', cell: (r) => r.spark && <Spark values={r.spark.values.map((v) => v && v / 1e9)} unit="cores" />, text: () => '' },
  ]
}

// On a telephone there is room for four columns.
function useNarrow(): boolean {
  const [narrow, set] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const changed = () => set(query.matches)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  return narrow
}

const NARROW = '(max-width: 44rem)'

/** The columns that a telephone shows, and what is other about them there. */
const NARROW_COLUMNS: Record<string, Partial<Col<Row>>> = {
  service: { width: 'minmax(6rem, 1fr)' },
  cores: { width: '5rem' },
  findings: { width: '4.9rem', cell: (r) => (r.findings === null ? dash : count(r.findings.open)) },
  trend: { width: '7rem' },
}
