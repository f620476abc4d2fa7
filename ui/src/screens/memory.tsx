// What the memory is: the account of gowhy memory, over time and as a table, with its limits,
// and who holds the heap.
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { Held, Memory as Answer, Refusal } from '../api'
import { useData } from '../client'
import { Account } from '../data/account'
import { flip, hiddenOf, listOf, setOf } from '../data/choices'
import { Clock } from '../data/clock'
import { overTime } from '../data/memory'
import { Panel } from '../data/panel'
import { clampRange, type Range } from '../data/series'
import { bytes } from '../format'
import { Chart } from '../parts/chart'
import { Command } from '../parts/copy'
import { Said } from '../parts/said'
import { Failed, Loading } from '../parts/states'
import { t, tn } from '../strings'
import { setParams, usePlace } from '../url'
import '../data/data.css'
import './memory.css'

type HeldBy = (p: { held: Held }) => JSX.Element

/** The screen with who holds the heap, whose code comes later. */
export function memoryWith(heldBy: HeldBy): (p: { r: number }) => JSX.Element {
  return (p) => <Memory r={p.r} heldBy={heldBy} />
}

function Memory(p: { r: number; heldBy: HeldBy }): JSX.Element {
  const { data, error } = useData<Answer>('api/memory', { r: p.r })
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  return (
    <div class="data-screen memory">
      <div class="data-head"><h2>{t('data.mem.title')}</h2></div>
      <Ending text={data.ended} />
      <Notes list={data.notes} />
      <OverTime data={data} />
      {data.held && <p.heldBy held={data.held} />}
      {data.rows.length > 0 && <Account title={t('data.mem.account')} rows={data.rows} />}
      <Missing list={data.missing} />
    </div>
  )
}

function Ending(p: { text: string }): JSX.Element | null {
  if (p.text === '') return null
  return (
    <p class="card memory-ended">
      <span class="mark mark-bad" aria-hidden="true">!</span> <span>{t('data.mem.ended')} <Said text={p.text + '.'} /></span>
    </p>
  )
}

/** Sentences of the server's below each other. */
function Notes(p: { list: string[] }): JSX.Element | null {
  if (p.list.length === 0) return null
  return <ul class="data-list memory-notes">{p.list.map((n) => <li key={n}><Said text={n} /></li>)}</ul>
}

function OverTime(p: { data: Answer }): JSX.Element | null {
  const over = useMemo(() => overTime(p.data), [p.data])
  const clock = useMemo(() => new Clock(), [])
  const { params } = usePlace()
  if (!over) return null
  const hidden = setOf(params.get('hide')), tables = setOf(params.get('tables'))
  return (
    <div>
      <Chart
        id="account" title={t('data.mem.over')} unit="bytes" stacked lines={over.lines} full={over.full} range={rangeOf(params, over.full)} clock={clock} height={260} latest
        source={p.data.chart?.source && t('data.chart.source', { source: p.data.chart.source })}
        onRange={(r) => setParams(r ? { from: Math.round(r[0]), to: Math.round(r[1]) } : { from: null, to: null })}
        hidden={hiddenOf(hidden, 'account')} onHide={(name) => setParams({ hide: listOf(flip(hidden, 'account.' + name)) }, { replace: true })}
        tableOpen={tables.has('account')} onTable={() => setParams({ tables: listOf(flip(tables, 'account')) }, { replace: true })}
      />
      {over.far.map((s) => <p key={s.name} class="data-note">{t('data.mem.far', { limit: s.name, v: bytes(s.value[0] ?? 0) })}</p>)}
    </div>
  )
}

function rangeOf(params: URLSearchParams, full: Range): Range {
  const [from, to] = ['from', 'to'].map((name) => Number(params.get(name) ?? NaN)) as Range
  return from < to ? clampRange([from, to], full) : full
}

// Missing says what would tell more, and how to get it.
function Missing(p: { list: Refusal[] }): JSX.Element | null {
  if (p.list.length === 0) return null
  return (
    <Panel title={t('data.mem.missing')}>
      <ul class="data-list memory-missing">
        {p.list.map((m) => (
          <li key={m.source}>
            {tn('data.mem.needs.' + m.source, m.source)} {m.why !== '' && <span class="muted"><Said text={m.why} /></span>}
            {m.how !== '' && <Command text={m.how} />}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
