// The table of functions: what is behind the picture, for eyes and for readers
// that have none.
import type { ComponentChildren, JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { nextSort, sortRows } from '../data/sort'
import { share } from '../format'
import { Table, type Col } from '../parts/table'
import { t, tn } from '../strings'
import { amountCell, changeText } from './describe'
import { plain } from './text'
import { compared, functions, KINDS, type FuncRow, type Tree } from './tree'

interface Props {
  tree: Tree
  names: string[]
  unit: string
  all: number
  match: Uint8Array | null
  /** Only the columns that one chooses by. */
  short: boolean
  sort: string
  desc: boolean
  onSort(sort: string): void
  link(fn: string): string
}

type Row = FuncRow

export function functionTable(p: Props): JSX.Element {
  const { tree } = p
  const all = useMemo(() => functions(tree), [tree])
  const cols = columns(p)
  const sorted = useMemo(() => {
    const rows = p.match ? all.filter((r) => p.match![r.func]) : all
    const value = cols.find((c) => c.key === p.sort)?.value ?? ((r: Row) => r.self)
    return sortRows(rows, value, p.desc)
  }, [all, p.match, p.sort, p.desc])
  return (
    <Table
      caption={t('flame.table')}
      cols={cols}
      rows={sorted}
      sort={p.sort}
      desc={p.desc}
      onSort={(key) => {
        const next = nextSort({ key: p.sort, desc: p.desc }, key, cols.find((c) => c.key === key)?.align === 'right')
        p.onSort((next.desc ? '-' : '') + next.key)
      }}
      rowHref={(r) => p.link(tree.funcs.names[r.func]!)}
      empty={t('flame.found.none')}
      height={p.short ? 640 : 720}
    />
  )
}

function columns(p: Props): Col<Row>[] {
  const { tree, all } = p
  const figure = (key: string, title: string, value: (r: Row) => number, cell: (v: number) => ComponentChildren): Col<Row> =>
    ({ key, title, align: 'right', sortable: true, value, cell: (r) => cell(value(r)) })
  const plainAmount = (v: number) => amountCell(v, p.unit)
  const part = (v: number) => share(v / all)
  const name: Col<Row> = {
    key: 'function', title: t('flame.col.function'), sortable: true, width: p.short ? 'minmax(14rem, 1fr)' : 'minmax(20rem, 4fr)',
    value: (r) => tree.funcs.names[r.func]!, text: (r) => p.names[r.func]!,
    cell: (r) => <span class={'flame-name flame-name-' + KINDS[tree.funcs.kinds[r.func]!]}>{p.names[r.func]}</span>,
  }
  const self = figure('self', t('flame.col.self'), (r) => r.self, plainAmount)
  const total = figure('total', t('flame.col.total'), (r) => r.total, plainAmount)
  if (p.short) return [name, self, total]
  const file: Col<Row> = { key: 'file', title: t('flame.col.file'), sortable: true, width: 'minmax(12rem, 2fr)', value: (r) => tree.funcs.files[r.func] ?? '', cell: (r) => <span class="mono">{plain(tree.funcs.files[r.func] ?? '')}</span> }
  if (compared(tree)) {
    return [
      name, self, total,
      figure('basetotal', t('flame.col.basetotal'), (r) => r.baseTotal, plainAmount),
      figure('delta', t('flame.col.delta'), (r) => r.total - r.baseTotal, (v) => (v > 0 ? '+' : '') + plainAmount(v).replace('-', '−')),
      { key: 'change', title: t('flame.col.change'), align: 'right', cell: (r) => changeText(r.total, r.baseTotal) },
      file,
    ]
  }
  return [
    name,
    { key: 'kind', title: t('flame.col.kind'), sortable: true, width: '10.5rem', value: (r) => tree.funcs.kinds[r.func]!, cell: (r) => tn('flame.kind.' + KINDS[tree.funcs.kinds[r.func]!]) },
    self,
    { ...figure('selfshare', t('flame.col.selfshare'), (r) => r.self, part), sortable: false },
    total,
    { ...figure('totalshare', t('flame.col.totalshare'), (r) => r.total, part), sortable: false },
    file,
  ]
}
