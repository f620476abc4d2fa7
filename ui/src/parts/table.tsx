// The one table of the page. It draws only the rows in sight, all of the same
// height, so that 100,000 rows scroll as smoothly as ten; columns have widths of
// their own, told from their titles, because widths that follow the rows in sight
// would jump while scrolling.
import type { ComponentChildren, JSX } from 'preact'
import { useCallback, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { nextSort, sortRows, type Sort, type SortValue } from '../data/sort'
import { textOf, toClipboard, tsv } from '../data/tsv'
import { scrollToRow, virtualWindow } from '../data/virtual'
import { count } from '../format'
import { t } from '../strings'
import { go, href } from '../url'
import './table.css'

export interface Col<R> {
  key: string
  title: string
  /** 'right' for numbers: they stand in one column of digits. */
  align?: 'right' | undefined
  cell(r: R): ComponentChildren
  /** The head is a button. Without onSort the table sorts by `value` itself. */
  sortable?: boolean | undefined
  /** A track of CSS grid, like "9rem" or "minmax(12rem, 2fr)". */
  width?: string | undefined
  /** Sorts where the table sorts itself. */
  value?(r: R): SortValue
  /** For copying, where the cell is more than its text. */
  text?(r: R): string
  /** Tooltip of the head. */
  help?: string | undefined
}

export interface TableProps<R> {
  caption: string
  cols: Col<R>[]
  rows: R[]
  /** How many rows there are when `rows` holds only the first of them; see more. */
  total?: number | undefined
  sort?: string | undefined
  desc?: boolean | undefined
  onSort?: ((key: string) => void) | undefined
  /** Asked for the next rows when the end of those that are here comes into sight. */
  more?: (() => void) | undefined
  /** A place of the page, like "timeline?g=1": the row leads there. */
  rowHref?: ((r: R) => string | undefined) | undefined
  /** Whether the cell of a column is marked. */
  marked?: ((r: R, key: string) => boolean) | undefined
  empty?: string | undefined
  /** Pixels of the box of rows, at most. */
  height?: number | undefined
  /** A last row that stays in sight, like totals: a cell for each column. */
  foot?: ComponentChildren[] | undefined
}

/** Pixels of a row; the same as in table.css. */
const ROW = 30

export function Table<R>(p: TableProps<R>): JSX.Element {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const [own, setOwn] = useState<Sort>({ key: p.sort ?? '', desc: p.desc ?? false })
  const sort = p.onSort ? { key: p.sort ?? '', desc: p.desc ?? false } : own
  const rows = useOwnOrder(p, sort)
  const [active, setActive] = useState(-1)
  const fixed = p.foot ? 2 : 1
  const scroll = useScroll(box, rows.length, fixed)
  const win = virtualWindow(scroll.top, scroll.view, rows.length, ROW)

  // Rows that go out of sight become those that come in: their elements are used
  // again, so that scrolling makes none.
  const pool = Math.max(1, poolSize(scroll.view))

  const total = Math.max(p.total ?? 0, rows.length)
  const wanted = rows.length < total && win.end >= rows.length
  useEffect(() => {
    if (wanted) p.more?.()
  }, [wanted, rows.length])
  useTracks(box, p.cols, Math.min(p.height ?? 560, ROW * (rows.length + 1 + (p.foot ? 1 : 0)) + 12), win.height, win.top)

  const show = (i: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, i))
    setActive(next)
    if (box.current) box.current.scrollTop = scrollToRow(next, box.current.scrollTop, scroll.view, rows.length, ROW)
  }
  // What a link marks is brought into sight, once.
  const { cols, marked } = p
  const first = useMemo(() => (marked ? rows.findIndex((r) => cols.some((c) => marked(r, c.key))) : -1), [rows, cols, marked])
  const measured = scroll.view > 0
  useEffect(() => {
    if (first >= 0 && measured && box.current) box.current.scrollTop = scrollToRow(first, box.current.scrollTop, viewOf(box.current, fixed), rows.length, ROW)
  }, [first, measured])
  const follow = (r: R | undefined) => {
    const to = r === undefined ? undefined : p.rowHref?.(r)
    if (to) visit(to)
  }
  const onKey = (e: KeyboardEvent) => {
    if (e.target !== box.current || rows.length === 0) return
    const page = Math.max(1, Math.floor(scroll.view / ROW) - 1)
    const steps: Record<string, () => void> = {
      ArrowDown: () => show(active + 1),
      ArrowUp: () => show(active - 1),
      PageDown: () => show(active + page),
      PageUp: () => show(active - page),
      Home: () => show(0),
      End: () => show(rows.length - 1),
      Enter: () => follow(rows[active]),
    }
    const step = e.altKey || e.ctrlKey || e.metaKey ? undefined : steps[e.key]
    if (!step) return
    e.preventDefault()
    e.stopPropagation()
    step()
  }
  const head = (key: string) => {
    const col = p.cols.find((c) => c.key === key)
    if (p.onSort) p.onSort(key)
    else if (col) setOwn(nextSort(own, key, col.align === 'right'))
  }

  const rowID = (i: number) => `${id}-${i}`
  return (
    <div class="table">
      <div class="table-bar">
        <span class="table-caption" id={`${id}-caption`}>{p.caption}</span>
        {rows.length > 0 && <Rows here={rows.length} total={total} />}
        {rows.length > 0 && <CopyTable cols={p.cols} rows={rows} />}
      </div>
      {rows.length === 0
        ? <div class="table-empty">{p.empty ?? t('data.table.empty')}</div>
        : (
          <div
            class="table-box"
            ref={box}
            tabIndex={0}
            role="grid"
            aria-labelledby={`${id}-caption`}
            aria-rowcount={total + 1 + (p.foot ? 1 : 0)}
            aria-colcount={p.cols.length}
            aria-readonly="true"
            aria-activedescendant={active >= win.first && active < win.end ? rowID(active) : undefined}
            onKeyDown={onKey}
            onScroll={scroll.moved}
          >
            <div class="table-grid" role="presentation">
              <div role="rowgroup" class="table-head">
                <Head cols={p.cols} sort={sort} onSort={head} />
              </div>
              <div role="rowgroup" class="table-body">
                <div role="presentation">
                  {rows.slice(win.first, win.end).map((r, k) => (
                    <Row
                      key={(win.first + k) % pool}
                      id={rowID(win.first + k)}
                      index={win.first + k}
                      cols={p.cols}
                      row={r}
                      active={win.first + k === active}
                      to={p.rowHref?.(r)}
                      marked={p.marked}
                      choose={setActive}
                    />
                  ))}
                </div>
              </div>
              {p.foot && (
                <div role="rowgroup" class="table-foot">
                  <div class="table-row" role="row" aria-rowindex={total + 2}>
                    {p.cols.map((c, i) => (
                      <div key={c.key} role="gridcell" class={c.align === 'right' ? 'table-right' : ''}>{p.foot?.[i]}</div>
                    ))}
                  </div>
                </div>
              )}
            </div>
          </div>
        )}
    </div>
  )
}

// poolSize is how many rows a window has at most: with their numbers taken modulo
// this, no two rows in sight have the same key.
function poolSize(view: number): number {
  const most = virtualWindow(1e6, view, 1e6, ROW)
  return most.end - most.first + 1
}

function Head<R>(p: { cols: Col<R>[]; sort: Sort; onSort(key: string): void }): JSX.Element {
  return (
    <div class="table-row" role="row" aria-rowindex={1}>
      {p.cols.map((c) => {
        const on = p.sort.key === c.key
        return (
          <div
            key={c.key}
            role="columnheader"
            class={c.align === 'right' ? 'table-right' : ''}
            aria-sort={on ? (p.sort.desc ? 'descending' : 'ascending') : undefined}
            title={c.help ?? c.title}
          >
            {c.sortable
              ? <button type="button" onClick={() => p.onSort(c.key)}>{c.title}{on ? (p.sort.desc ? ' ▾' : ' ▴') : ''}</button>
              : c.title}
          </div>
        )
      })}
    </div>
  )
}

interface RowProps<R> {
  id: string
  index: number
  cols: Col<R>[]
  row: R
  active: boolean
  to: string | undefined
  marked: ((r: R, key: string) => boolean) | undefined
  choose(i: number): void
}

function Row<R>(p: RowProps<R>): JSX.Element {
  const click = (e: MouseEvent) => {
    p.choose(p.index)
    // Text that is being selected, and links in cells, are not a click on the row.
    if (!p.to || e.defaultPrevented || (e.target as Element).closest('a,button') || getSelection()?.toString()) return
    visit(p.to)
  }
  return (
    <div
      class={'table-row' + (p.to ? ' table-link' : '') + (p.active ? ' table-active' : '')}
      role="row"
      id={p.id}
      aria-rowindex={p.index + 2}
      aria-selected={p.active}
      onClick={click}
    >
      {p.cols.map((c, i) => {
        const cell = c.cell(p.row)
        return (
          <div key={c.key} role="gridcell" class={(c.align === 'right' ? 'table-right' : '') + (p.marked?.(p.row, c.key) ? ' table-marked' : '')} title={c.align === 'right' ? undefined : c.text ? c.text(p.row) : textOf(cell)}>
            {i === 0 && p.to ? <a href={p.to.startsWith('#') ? p.to : href(p.to)} tabIndex={-1}>{cell}</a> : cell}
          </div>
        )
      })}
    </div>
  )
}

function Rows(p: { here: number; total: number }): JSX.Element {
  return (
    <span class="table-count">
      {p.here < p.total
        ? t('data.table.some', { here: count(p.here), total: count(p.total) })
        : p.total === 1 ? t('data.table.row') : t('data.table.rows', { n: count(p.total) })}
    </span>
  )
}

function CopyTable<R>(p: { cols: Col<R>[]; rows: R[] }): JSX.Element {
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (!said) return
    const timer = setTimeout(() => setSaid(''), 2000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    toClipboard(tsv(tableText(p.cols, p.rows))).then(() => setSaid(t('data.table.copied')), () => setSaid(t('data.table.notcopied')))
  }
  return (
    <button type="button" class="quiet" onClick={copy} title={t('data.table.copyhelp')}>
      <span aria-live="polite">{said || t('data.table.copy')}</span>
    </button>
  )
}

/** The table as text: its titles, then its rows. */
export function tableText<R>(cols: Col<R>[], rows: R[]): string[][] {
  return [cols.map((c) => c.title), ...rows.map((r) => cols.map((c) => (c.text ? c.text(r) : textOf(c.cell(r)))))]
}

function visit(to: string): void {
  if (to.startsWith('#')) location.hash = to
  else go(to)
}

// useOwnOrder sorts where nobody else does.
function useOwnOrder<R>(p: TableProps<R>, sort: Sort): R[] {
  return useMemo(() => {
    if (p.onSort || !sort.key) return p.rows
    const value = p.cols.find((c) => c.key === sort.key)?.value
    return value ? sortRows(p.rows, value, sort.desc) : p.rows
  }, [p.rows, p.onSort === undefined, sort.key, sort.desc])
}

// viewOf is the height in which rows are in sight: some of the box, the head and a sum, stay in their place.
const viewOf = (box: HTMLElement, fixed: number): number => Math.max(ROW, box.clientHeight - fixed * ROW)

// useScroll follows the box: it asks for a new picture at most once a frame.
function useScroll(box: { current: HTMLDivElement | null }, rows: number, fixed: number): { top: number; view: number; moved(): void } {
  const [place, setPlace] = useState({ top: 0, view: 560 })
  const frame = useRef(0)
  const read = useCallback(() => {
    frame.current = 0
    const el = box.current
    if (!el) return
    const next = { top: el.scrollTop, view: viewOf(el, fixed) }
    setPlace((old) => (old.top === next.top && old.view === next.view ? old : next))
  }, [fixed])
  const moved = useCallback(() => {
    if (!frame.current) frame.current = requestAnimationFrame(read)
  }, [read])
  useLayoutEffect(() => {
    read()
    if (!box.current) return
    const seen = new ResizeObserver(moved)
    seen.observe(box.current)
    return () => {
      seen.disconnect()
      cancelAnimationFrame(frame.current)
      frame.current = 0
    }
  }, [rows === 0, moved])
  return { ...place, moved }
}

// useTracks sets by script what a strict content security policy forbids as
// attributes: the columns' tracks, the box's height and the place of the rows.
function useTracks<R>(box: { current: HTMLDivElement | null }, cols: Col<R>[], height: number, body: number, top: number): void {
  const tracks = cols.map(track).join(' ')
  useLayoutEffect(() => {
    const el = box.current
    if (!el) return
    el.style.setProperty('--cols', tracks)
    el.style.height = `${height}px`
    const inner = el.querySelector<HTMLElement>('.table-body')
    if (!inner) return
    inner.style.height = `${body}px`
    const moved = inner.firstElementChild as HTMLElement | null
    if (moved) moved.style.transform = `translateY(${top}px)`
  })
}

/** A column's width when it names none: numbers as wide as their title, text what is left. */
export function track<R>(c: Col<R>): string {
  if (c.width) return c.width
  const title = [...c.title].reduce((n, ch) => n + (ch.charCodeAt(0) > 0x2e80 ? 1.9 : 1), 0)
  if (c.align === 'right') return `minmax(${Math.min(11, Math.max(5.8, title * 0.5 + 2.4)).toFixed(1)}rem, .5fr)`
  return `minmax(${Math.min(14, Math.max(8, title * 0.5 + 2.4)).toFixed(1)}rem, 1fr)`
}
