// What happened in a selected window: the picture's sums, as tables.
import type { JSX } from 'preact'
import type { GroupTotal, Pair, Selection as ApiSelection, StackTotal, StateTotal } from '../api'
import { isStatic } from '../client'
import { at as moment, count, dur } from '../format'
import { Failed, Loading } from '../parts/states'
import { Table, type Col } from '../parts/table'
import { stateName } from '../state'
import { t } from '../strings'
import { href } from '../url'
import { useAsked } from './ask'
import { KernelWindow } from './kernel'
import { brief, isKernel, kindOfId } from './lanes'
import { MOST_NOTE } from './place'
import { placeOf, Stack, tail } from './stack'
import type { Window } from './window'

export interface SelectionProps {
  r: number
  window: Window
  lane: string
  /** Lanes that can be chosen: the selected one, and all. */
  lanes: { id: string; name: string; group?: string | undefined }[]
  choose(lane: string): void
  fit(): void
  clear(): void
  note: string
  write(note: string): void
}

export function Selection(p: SelectionProps): JSX.Element {
  const { data, error, loading } = useAsked<ApiSelection>('api/timeline/select', {
    r: p.r, from: Math.round(p.window.from), to: Math.round(p.window.to), lanes: p.lane || undefined,
  })
  const group = p.lanes.find((l) => l.id === p.lane)?.group
  return (
    <div class="tl-selection">
      <div class="tl-buttons">
        <span>{t('timeline.window', { from: moment(p.window.from), to: moment(p.window.to), wide: dur(p.window.to - p.window.from) })}</span>
        <label>
          {t('timeline.selection.of')}{' '}
          <select value={p.lane} onChange={(e) => p.choose(e.currentTarget.value)}>
            <option value="">{t('timeline.selection.all')}</option>
            {p.lanes.map((l) => <option key={l.id} value={l.id}>{l.name}</option>)}
          </select>
        </label>
        <button type="button" onClick={p.fit}><kbd>F</kbd> {t('timeline.selection.zoom')}</button>
        <button type="button" onClick={p.clear}>{t('timeline.selection.clear')}</button>
        {!isStatic && <a href={href(`flame?from=${Math.round(p.window.from)}&to=${Math.round(p.window.to)}` + (group === undefined ? '' : `&group=${encodeURIComponent(group)}`))}>{t('timeline.selection.flame')}</a>}
      </div>
      <label class="tl-note">
        {t('timeline.selection.note')}{' '}
        <input type="text" value={p.note} maxLength={MOST_NOTE} placeholder={t('timeline.selection.note.hint')} onInput={(e) => p.write(e.currentTarget.value)} />
      </label>
      {error ? <Failed error={error} /> : !data ? <Loading /> : <Tables data={data} faint={loading} kernel={isKernel(kindOfId(p.lane))} />}
    </div>
  )
}

function Tables(p: { data: ApiSelection; faint: boolean; kernel: boolean }): JSX.Element {
  const { data } = p
  const wide = Math.max(1, data.to_ns - data.from_ns)
  return (
    <div class={'tl-tables' + (p.faint ? ' tl-faint' : '')} aria-busy={p.faint}>
      {data.partial !== '' && <p class="tl-partial" role="note">{t('timeline.selection.partial', { why: data.partial })}</p>}
      {!p.kernel && (
        <>
          <Table caption={t('timeline.selection.states')} cols={stateCols(wide)} rows={data.states ?? []} height={HEIGHT} />
          <Table caption={t('timeline.selection.groups')} cols={groupCols()} rows={data.groups ?? []} height={HEIGHT} rowHref={(g) => (g.group ? `goroutines?group=${encodeURIComponent(g.group)}` : undefined)} />
          <Stacks rows={data.stacks ?? []} />
          <Table caption={t('timeline.selection.wakers')} cols={pairCols()} rows={data.wakers ?? []} height={HEIGHT} />
        </>
      )}
      {data.kernel && <KernelWindow window={data.kernel} />}
    </div>
  )
}

const HEIGHT = 320

const stateCols = (wide: number): Col<StateTotal>[] => [
  { key: 'state', title: t('timeline.col.state'), cell: (s) => stateName(s.state), text: (s) => s.state, value: (s) => s.state, sortable: true, width: 'minmax(8rem, 1fr)' },
  { key: 'reason', title: t('timeline.col.reason'), cell: (s) => s.reason, value: (s) => s.reason, sortable: true, width: 'minmax(7rem, 1fr)' },
  { key: 'ns', title: t('timeline.col.time'), align: 'right', cell: (s) => dur(s.ns), text: (s) => String(s.ns), value: (s) => s.ns, sortable: true, width: '7rem' },
  { key: 'average', title: t('timeline.col.average'), align: 'right', cell: (s) => count(s.ns / wide), value: (s) => s.ns, sortable: true, width: '7rem' },
  { key: 'count', title: t('timeline.col.count'), align: 'right', cell: (s) => count(s.count), value: (s) => s.count, sortable: true, width: '6rem' },
]

const groupCols = (): Col<GroupTotal>[] => [
  { key: 'group', title: t('timeline.col.group'), cell: (g) => <span title={g.group}>{brief(g.group) || '?'}</span>, text: (g) => g.group, value: (g) => g.group, sortable: true, width: 'minmax(10rem, 2fr)' },
  { key: 'running', title: t('timeline.col.running'), align: 'right', cell: (g) => dur(g.running_ns), value: (g) => g.running_ns, sortable: true, width: '7rem' },
  { key: 'ready', title: t('timeline.col.ready'), align: 'right', cell: (g) => dur(g.ready_ns), value: (g) => g.ready_ns, sortable: true, width: '7rem' },
  { key: 'waiting', title: t('timeline.col.waiting'), align: 'right', cell: (g) => dur(g.waiting_ns), value: (g) => g.waiting_ns, sortable: true, width: '7rem' },
  { key: 'count', title: t('timeline.col.count'), align: 'right', cell: (g) => count(g.count), value: (g) => g.count, sortable: true, width: '6rem' },
]

const pairCols = (): Col<Pair>[] => [
  { key: 'waker', title: t('timeline.col.waker'), cell: (w) => <span title={w.waker}>{brief(w.waker) || '?'}</span>, text: (w) => w.waker, value: (w) => w.waker, sortable: true, width: 'minmax(8rem, 1fr)' },
  { key: 'woken', title: t('timeline.col.woken'), cell: (w) => <span title={w.woken}>{brief(w.woken) || '?'}</span>, text: (w) => w.woken, value: (w) => w.woken, sortable: true, width: 'minmax(8rem, 1fr)' },
  { key: 'where', title: t('timeline.col.where'), cell: (w) => where(w.stack), text: (w) => placeOf(w.stack)?.func ?? '', width: 'minmax(9rem, 1fr)' },
  { key: 'count', title: t('timeline.col.count'), align: 'right', cell: (w) => count(w.count), value: (w) => w.count, sortable: true, width: '6rem' },
  { key: 'ns', title: t('timeline.col.waited'), align: 'right', cell: (w) => dur(w.ns), value: (w) => w.ns, sortable: true, width: '7rem' },
]

function where(frames: StackTotal['stack'] | null): JSX.Element | string {
  const f = placeOf(frames)
  return f ? <span title={`${f.func}\n${f.file}:${f.line}`}>{brief(f.func)}</span> : ''
}

// Stacks are folded: one line each with its place, opened to all of its frames.
function Stacks(p: { rows: StackTotal[] }): JSX.Element | null {
  if (p.rows.length === 0) return null
  return (
    <section class="tl-stacks">
      <h2>{t('timeline.selection.stacks')}</h2>
      {p.rows.map((s, i) => {
        const f = placeOf(s.stack)
        return (
          <details key={i}>
            <summary>
              <span class="right tl-stack-time">{dur(s.ns)}</span>
              <span class="tl-stack-state">{stateName(s.state)} ×{count(s.count)}</span>
              <span class="mono clip" title={f?.func}>{f ? brief(f.func) : '?'}</span>
              {f && f.file !== '' && <span class="mono muted clip">{tail(f.file)}:{f.line}</span>}
            </summary>
            <Stack frames={s.stack} />
          </details>
        )
      })}
    </section>
  )
}
