// What the program itself calls its work: tasks, regions and logs of runtime/trace.
import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import type { LogCount, RegionType, StateTotal, Task, TaskType, Tasks as All } from '../api'
import { useData } from '../client'
import { Panel } from '../data/panel'
import { StateBar, StateKey, partsText, type Part } from '../data/states'
import { Named, TaskPicture } from '../data/task'
import { at as moment, count, dur, share } from '../format'
import { commonSpan, Histogram, Spark } from '../parts/histogram'
import { Empty, Failed, Loading } from '../parts/states'
import { Table, type Col } from '../parts/table'
import { stateName, stateOf, STATES } from '../state'
import { t } from '../strings'
import { param, setParams, usePlace } from '../url'
import '../data/data.css'
import './tasks.css'

export function Tasks(p: { r: number }): JSX.Element {
  const { data, error } = useData<All>('api/tasks', { r: p.r })
  const { params } = usePlace()
  if (error) return <Failed error={error} />
  if (!data) return <Loading />
  const tasks = data.tasks ?? [], regions = data.regions ?? [], logs = data.logs ?? []
  if (tasks.length + regions.length + logs.length === 0) return <Empty text={t('data.tasks.none')}><pre class="tasks-how">{HOW}</pre></Empty>
  const id = params.get('id')
  const type = tasks.find((x) => x.name === params.get('task')) ?? tasks[0]
  const region = regions.find((x) => x.name === params.get('region'))
  return (
    <div class="data-screen">
      <div class="data-head"><h2>{t('data.tasks.title')}</h2></div>
      {id !== null && <OneTask r={p.r} id={id} />}
      {tasks.length > 0 && <TaskTypes tasks={tasks} chosen={type} />}
      {type && <TypeDetails type={type} />}
      {regions.length > 0 && <Regions regions={regions} />}
      {region && <RegionDetails region={region} />}
      {logs.length > 0 && <Logs logs={logs} />}
    </div>
  )
}

const HOW = `ctx, task := trace.NewTask(ctx, "request")
defer task.End()
trace.WithRegion(ctx, "parse", func() { … })`

function place(params: Record<string, string>): string {
  return 'tasks?' + new URLSearchParams(params).toString()
}

type Latencies = { name: string; count: number; open: number; latency: TaskType['latency'] }

// latencyColumns are those that tasks and regions have in common.
function latencyColumns<R extends Latencies>(all: R[]): Col<R>[] {
  const [low, high] = commonSpan(all.map((x) => x.latency))
  const time = (key: string, title: string, of: (l: R['latency']) => number): Col<R> => ({
    key, title, align: 'right', sortable: true, value: (r) => (r.latency.n > 0 ? of(r.latency) : null),
    cell: (r) => (r.latency.n > 0 ? dur(of(r.latency)) : ''),
    text: (r) => String(of(r.latency)),
  })
  return [
    { key: 'spark', title: t('data.tasks.latency'), width: '9.5rem', cell: (r) => <Spark of={r.latency} low={low} high={high} />, text: () => '' },
    { key: 'count', title: t('data.col.count'), align: 'right', sortable: true, value: (r) => r.count, cell: (r) => count(r.count), text: (r) => String(r.count) },
    { key: 'open', title: t('data.tasks.open'), align: 'right', sortable: true, help: t('data.tasks.open.help'), value: (r) => r.open, cell: (r) => (r.open > 0 ? count(r.open) : ''), text: (r) => String(r.open) },
    time('p50', 'p50', (l) => l.p50_ns),
    time('p90', 'p90', (l) => l.p90_ns),
    time('p99', 'p99', (l) => l.p99_ns),
    time('max', 'max', (l) => l.max_ns),
    time('total', t('data.col.total'), (l) => l.mean_ns * l.n),
  ]
}

const NAME = { key: 'name', sortable: true, width: 'minmax(12rem, 2fr)' } as const

function TaskTypes(p: { tasks: TaskType[]; chosen: TaskType | undefined }): JSX.Element {
  const cols: Col<TaskType>[] = [
    { ...NAME, title: t('data.tasks.name'), value: (r) => r.name, cell: (r) => <>{r === p.chosen && p.tasks.length > 1 && '▸ '}<Named name={r.name} /></>, text: (r) => r.name },
    ...latencyColumns(p.tasks),
  ]
  return <Table caption={t('data.tasks.types')} cols={cols} rows={p.tasks} sort="total" desc rowHref={(r) => place({ task: r.name })} height={340} />
}

function TypeDetails(p: { type: TaskType }): JSX.Element {
  const slow = p.type.slow ?? []
  const cols: Col<Task>[] = [
    { key: 'id', title: t('data.tasks.id'), width: '7rem', cell: (x) => x.id },
    { key: 'from', title: t('data.tasks.from'), align: 'right', width: '8.7rem', sortable: true, value: (x) => x.from_ns, cell: (x) => moment(x.from_ns, 1000) },
    { key: 'took', title: t('data.tasks.took'), align: 'right', width: '7.5rem', sortable: true, value: took, cell: (x) => (x.to_ns < 0 ? t('data.tasks.open') : dur(took(x) ?? 0)) },
    { key: 'logs', title: t('data.tasks.logs'), align: 'right', sortable: true, value: (x) => x.logs, cell: (x) => count(x.logs) },
    { key: 'parent', title: t('data.tasks.parent'), cell: (x) => (x.parent === '0' ? '' : x.parent) },
  ]
  return (
    <div class="data-grid">
      <Panel><Histogram title={t('data.tasks.dist', { name: p.type.name })} of={p.type.latency} height={232} /></Panel>
      <Table caption={t('data.tasks.slow')} cols={cols} rows={slow} sort="took" desc rowHref={(x) => place({ task: p.type.name, id: x.id })} height={300} empty={t('data.tasks.noslow')} />
    </div>
  )
}

function took(x: Task): number | null {
  return x.to_ns < 0 ? null : x.to_ns - x.from_ns
}

function OneTask(p: { r: number; id: string }): JSX.Element {
  const { data, error } = useData<Task>('api/task', { r: p.r, id: p.id })
  return (
    <Panel id="task">
      <div class="data-head">
        <h3>{data ? t('data.tasks.one', { name: data.name || t('data.tasks.noname'), id: p.id }) : t('data.tasks.task', { id: p.id })}</h3>
        <button type="button" class="quiet" onClick={() => setParams({ id: null })}>{t('data.close')}</button>
      </div>
      {error ? <Failed error={error} /> : !data ? <Loading /> : <TaskPicture task={data} />}
    </Panel>
  )
}

/** The states of a region's goroutines as parts of a bar. */
export function regionParts(states: StateTotal[] | null): Part[] {
  const sums = new Map<string, number>()
  for (const s of states ?? []) {
    const state = stateOf(s.state, s.reason)
    sums.set(state, (sums.get(state) ?? 0) + s.ns)
  }
  const order = Object.keys(STATES)
  return [...sums].map(([state, value]) => ({ state, value })).sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state))
}

function Regions(p: { regions: RegionType[] }): JSX.Element {
  const cols = useMemo((): Col<RegionType>[] => [
    { ...NAME, title: t('data.tasks.region'), value: (r) => r.name, cell: (r) => <Named name={r.name} />, text: (r) => r.name },
    { key: 'states', title: t('data.col.bar'), width: 'minmax(8rem, 13rem)', cell: (r) => <StateBar parts={regionParts(r.states)} />, text: (r) => partsText(regionParts(r.states)) },
    ...latencyColumns(p.regions),
  ], [p.regions])
  const keep = (r: RegionType) => {
    const task = param('task')
    return place({ ...(task ? { task } : {}), region: r.name })
  }
  return <Table caption={t('data.tasks.regions')} cols={cols} rows={p.regions} sort="total" desc rowHref={keep} height={340} />
}

function RegionDetails(p: { region: RegionType }): JSX.Element {
  const states = p.region.states ?? []
  const total = states.reduce((sum, s) => sum + s.ns, 0)
  const cols: Col<StateTotal>[] = [
    { key: 'state', title: t('data.tasks.state'), width: 'minmax(10rem, 1fr)', cell: (s) => <><StateKey state={stateOf(s.state, s.reason)} /> {stateName(stateOf(s.state, s.reason))}</> },
    { key: 'reason', title: t('data.tasks.reason'), width: 'minmax(10rem, 1fr)', cell: (s) => s.reason },
    { key: 'ns', title: t('data.tasks.time'), align: 'right', sortable: true, value: (s) => s.ns, cell: (s) => dur(s.ns), text: (s) => String(s.ns) },
    { key: 'share', title: t('data.hist.share'), align: 'right', cell: (s) => share(s.ns / Math.max(1, total)) },
  ]
  return (
    <div class="data-grid">
      <Panel><Histogram title={t('data.tasks.rdist', { name: p.region.name })} of={p.region.latency} height={232} /></Panel>
      <Table caption={t('data.tasks.inside', { name: p.region.name })} cols={cols} rows={states} sort="ns" desc height={300} />
    </div>
  )
}

function Logs(p: { logs: LogCount[] }): JSX.Element {
  const cols: Col<LogCount>[] = [
    { key: 'category', title: t('data.tasks.category'), width: 'minmax(9rem, 1fr)', sortable: true, value: (l) => l.category, cell: (l) => l.category || t('data.tasks.nocategory') },
    { key: 'count', title: t('data.col.count'), align: 'right', sortable: true, value: (l) => l.count, cell: (l) => count(l.count) },
    { key: 'example', title: t('data.tasks.example'), width: 'minmax(16rem, 3fr)', cell: (l) => l.example },
  ]
  return <Table caption={t('data.tasks.loglines')} cols={cols} rows={p.logs} sort="count" desc height={300} />
}
