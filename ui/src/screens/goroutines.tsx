// Goroutines by the function that started them, then those of one group: how the
// time of each was spent, to the last reason to wait.
import type { JSX } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Column, Origin, Table as Rows } from '../api'
import { isStatic, useData } from '../client'
import { accountParts, BAR, BAR_KEY, chosenColumns, columnsParam, defaultColumns, type AccountRow, type Cell } from '../data/accounts'
import { usePages } from '../data/pages'
import { FilterBox, Panel } from '../data/panel'
import { nextSort } from '../data/sort'
import { partsText, StateBar, StateLegend } from '../data/states'
import { short } from '../flame/text'
import { useMark } from '../fact'
import { at, cell, count, dur } from '../format'
import { Empty, Failed, Loading } from '../parts/states'
import { Name } from '../parts/name'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { href, setParams, usePlace } from '../url'
import '../data/data.css'
import './goroutines.css'

export function Goroutines(p: { r: number }): JSX.Element {
  const { params } = usePlace()
  const group = params.get('group')
  const all = params.get('view') === 'all'
  const single = params.has('group') || all
  // A report file has the answer to the plain question only; its table sorts itself.
  const ask = isStatic ? { r: p.r } : {
    r: p.r,
    q: params.get('q') || undefined,
    sort: params.get('sort') || undefined,
    desc: params.get('desc') || undefined,
  }
  const groups = usePages(single ? null : 'api/groups', ask)
  const goroutines = usePages(single ? 'api/goroutines' : null, { ...ask, group: group ?? undefined })
  const pages = single ? goroutines : groups
  const mark = useMark(p.r)?.lead.origin
  return (
    <div class="data-screen">
      <div class="data-head">
        <h2>{t('data.go.title')}</h2>
        <nav class="go-views" aria-label={t('data.go.views')}>
          <a href={href('goroutines')} aria-current={single ? undefined : 'true'}>{t('data.go.bygroup')}</a>
          <a href={href('goroutines?view=all')} aria-current={all ? 'true' : undefined}>{t('data.go.each')}</a>
        </nav>
        <FilterBox value={params.get('q') ?? ''} onValue={(q) => setParams({ q: q || null })} placeholder={t('data.go.filter')} />
        {pages.table && <Columns table={pages.table} inGroup={group !== null} />}
      </div>
      {group !== null && <GroupHead r={p.r} group={group} />}
      {pages.error
        ? <Failed error={pages.error} />
        : !pages.table ? <Loading /> : <Accounts {...pages} table={pages.table} group={group} single={single} mark={mark?.kind === 'goroutines' ? mark : undefined} />}
    </div>
  )
}

interface AccountsProps {
  table: Rows
  more: (() => void) | undefined
  group: string | null
  single: boolean
  /** What the number that led here counts. */
  mark: Origin | undefined
}

function Accounts(p: AccountsProps): JSX.Element {
  const { params } = usePlace()
  const { table } = p
  const columns = table.columns ?? []
  const sums = (table.sums ?? []) as Cell[]
  const rows = useMemo(() => (table.rows ?? []).map((cells, i): AccountRow => ({ cells: cells as Cell[], link: table.links?.[i] ?? '' })), [table])
  const chosen = chosenColumns(params.get('cols'), columns) ?? defaultColumns(columns, sums, p.group !== null)
  const counted = (p.mark?.columns ?? []).filter((k) => columns.some((c) => c.key === k))
  // What was counted stands beside the name, where no table is too wide to show it.
  const shown = [...chosen.slice(0, 1), ...counted, ...chosen.slice(1).filter((k) => !counted.includes(k))]
  const group = columns.findIndex((c) => c.key === 'group')
  const cols = useMemo(() => shown.map((k) => column(k, columns)), [shown.join('\n'), table])
  const sort = { key: params.get('sort') ?? 'total', desc: params.has('sort') ? params.get('desc') === '1' : true }
  const onSort = (key: string) => {
    const unit = columns.find((c) => c.key === key)?.unit
    const next = nextSort(sort, key, unit !== 'text')
    setParams({ sort: next.key, desc: next.desc ? 1 : null })
  }
  const title = p.group !== null ? t('data.go.of', { group: p.group || t('data.go.noname') }) : t(p.single ? 'data.go.title' : 'data.go.groups')
  if ((table.all ?? 0) === 0) return <Empty text={t('data.go.none')} />
  return (
    <>
      <div class="go-legend">
        <StateLegend states={BAR} />
        <span class="muted">{t('data.go.totals', { n: count(table.total), total: dur(sumOf('total', columns, sums)), parts: partsText(accountParts(columns, sums)) })}</span>
      </div>
      {table.note && <p class="data-note">{table.note}</p>}
      <Table
        caption={title}
        cols={cols}
        rows={rows}
        total={table.total}
        sort={sort.key}
        desc={sort.desc}
        onSort={isStatic ? undefined : onSort}
        more={p.more}
        marked={(r, key) => counted.includes(key) && (p.mark?.groups ?? []).includes(String(r.cells[group] ?? ''))}
        rowHref={(r) => r.link || undefined}
        height={Math.max(320, window.innerHeight - 290)}
        empty={t('data.go.nomatch', { all: count(table.all) })}
        foot={shown.map((k, i) => foot(k, i === 0, columns, sums))}
      />
    </>
  )
}

function sumOf(key: string, columns: readonly Column[], sums: readonly Cell[]): number {
  return Number(sums[columns.findIndex((c) => c.key === key)]) || 0
}

function foot(key: string, first: boolean, columns: readonly Column[], sums: readonly Cell[]): JSX.Element | string {
  if (key === BAR_KEY) return <StateBar parts={accountParts(columns, sums)} title={t('data.go.sum')} />
  const i = columns.findIndex((c) => c.key === key)
  return cellText(columns[i], sums[i]) || (first ? t('data.go.sum') : '')
}

// column makes a column of the server's into one of the table.
function column(key: string, columns: readonly Column[]): Col<AccountRow> {
  if (key === BAR_KEY) {
    return {
      key,
      title: t('data.col.bar'),
      width: 'minmax(9rem, 14rem)',
      cell: (r) => <StateBar parts={accountParts(columns, r.cells)} />,
      text: (r) => partsText(accountParts(columns, r.cells)),
    }
  }
  const i = columns.findIndex((c) => c.key === key)
  const c = columns[i] as Column
  const text = c.unit === 'text'
  return {
    key,
    title: columnTitle(key),
    help: columnHelp(key),
    sortable: true,
    ...(text ? { width: key === 'group' ? 'minmax(16rem, 2fr)' : 'minmax(14rem, 1fr)' } : { align: 'right' as const, ...(c.unit === 'at' ? { width: 'minmax(8.2rem, .5fr)' } : {}) }),
    cell: (r) => (key === 'group' ? <FuncName name={String(r.cells[i] ?? '')} /> : text ? <Name text={cellText(c, r.cells[i])} /> : cellText(c, r.cells[i])),
    value: (r) => r.cells[i],
    text: (r) => (text ? cellText(c, r.cells[i]) : String(r.cells[i] ?? '')),
  }
}

function cellText(c: Column | undefined, v: Cell | undefined): string {
  if (!c || v === undefined || v === '') return ''
  if (c.unit === 'text' || c.unit === 'id') return String(v).replaceAll('\n', ' ← ')
  if (c.unit === 'at') return at(Number(v), 1000)
  return cell(Number(v), c.unit)
}

// FuncName shows the end of a function's name first: it is what differs.
function FuncName(p: { name: string }): JSX.Element {
  if (p.name === '') return <span class="muted">{t('data.go.noname')}</span>
  const last = short(p.name)
  return <span class="go-name"><Name text={last} /><bdi class="muted go-path">{p.name.slice(0, p.name.length - last.length).replace(/\/$/, '')}</bdi></span>
}

function columnTitle(key: string): string {
  if (key === BAR_KEY) return t('data.col.bar')
  const cut = key.indexOf(':')
  if (cut > 0) return key.slice(cut + 1) || t('core.state.unknown')
  return tn('data.col.' + key, key)
}

function columnHelp(key: string): string {
  if (key.startsWith('blocked:')) return t('data.col.blocked_of', { reason: columnTitle(key) })
  if (key.startsWith('range:')) return t('data.col.range_of', { range: key.slice(6) })
  return tn('data.col.' + key + '.help', columnTitle(key))
}

// Columns chooses what is shown; the choice is in the URL.
function Columns(p: { table: Rows; inGroup: boolean }): JSX.Element {
  const { params } = usePlace()
  const columns = p.table.columns ?? []
  const usual = defaultColumns(columns, (p.table.sums ?? []) as Cell[], p.inGroup)
  const shown = chosenColumns(params.get('cols'), columns) ?? usual
  const every = [...columns.map((c) => c.key)]
  every.splice(1, 0, BAR_KEY)
  const set = (keys: readonly string[]) => setParams({ cols: keys.length === 0 ? null : columnsParam(every.filter((k) => keys.includes(k))) })
  const box = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    const close = (e: Event) => {
      const el = box.current
      if (!el?.open || (e instanceof KeyboardEvent ? e.key !== 'Escape' : el.contains(e.target as Node))) return
      el.open = false
      if (e instanceof KeyboardEvent) el.querySelector('summary')?.focus()
    }
    document.addEventListener('pointerdown', close)
    document.addEventListener('keydown', close)
    return () => {
      document.removeEventListener('pointerdown', close)
      document.removeEventListener('keydown', close)
    }
  }, [])
  const flip = (k: string) => set(shown.includes(k) ? shown.filter((s) => s !== k) : [...shown, k])
  return (
    <details class="go-columns" ref={box}>
      <summary>{t('data.go.columns', { n: shown.length, all: every.length })}</summary>
      <div class="card">
        <div class="go-columns-all">
          <button type="button" onClick={() => setParams({ cols: null })}>{t('data.go.usual')}</button>
          <button type="button" onClick={() => set(every)}>{t('data.go.every')}</button>
        </div>
        {every.map((k) => (
          <label key={k} title={columnHelp(k)}>
            <input type="checkbox" checked={shown.includes(k)} disabled={shown.length === 1 && shown.includes(k)} onChange={() => flip(k)} />
            <span class="clip">{k.startsWith('range:') ? t('data.col.range', { range: columnTitle(k) }) : k.startsWith('blocked:') ? t('data.col.wait', { reason: columnTitle(k) }) : columnTitle(k)}</span>
          </label>
        ))}
      </div>
    </details>
  )
}

// GroupHead says what the group is whose goroutines are shown.
function GroupHead(p: { r: number; group: string }): JSX.Element {
  const { data } = useData<Rows>('api/groups', isStatic ? { r: p.r } : { r: p.r, limit: 1000 })
  const columns = data?.columns ?? []
  const row = (data?.rows ?? []).find((cells) => cells[columns.findIndex((c) => c.key === 'group')] === p.group) as Cell[] | undefined
  const of = (key: string) => {
    const i = columns.findIndex((c) => c.key === key)
    return cellText(columns[i], row?.[i])
  }
  const creator = String(row?.[columns.findIndex((c) => c.key === 'creator')] ?? '')
  return (
    <Panel>
      <p class="go-group mono">{p.group || t('data.go.noname')}</p>
      {row && (
        <>
          <StateBar parts={accountParts(columns, row)} title={p.group || t('data.go.noname')} />
          <dl class="go-facts">
            {['start', 'count', 'alive', 'peak', 'total', 'runs', 'delay_p50', 'delay_p99', 'delay_max'].map((k) => of(k) && (
              <div key={k}><dt>{columnTitle(k)}</dt><dd class={k === 'start' ? 'mono' : ''}>{of(k)}</dd></div>
            ))}
          </dl>
          {creator && (
            <details class="disclosure">
              <summary>{t('data.go.creator')}</summary>
              <pre class="go-stack" tabIndex={0}>{creator}</pre>
            </details>
          )}
        </>
      )}
    </Panel>
  )
}
