// A task's own timeline: its regions as bars, its log lines as pins.
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import type { LogLine, Task, TaskRegion } from '../api'
import { at as moment, count, dur } from '../format'
import { Table, type Col } from '../parts/table'
import { t } from '../strings'
import { href } from '../url'
import { useWidth } from './hooks'
import { placeInRows } from './lanes'
import { scale, ticks } from './scale'
import { tickText } from './series'

const ROW = 22
const HEAD = 22
const FOOT = 22

/** A task's or region's name; programs may give none. */
export function Named(p: { name: string }): JSX.Element {
  return p.name === '' ? <span class="muted">{t('data.tasks.noname')}</span> : <>{p.name}</>
}

export function TaskPicture(p: { task: Task }): JSX.Element {
  const { task } = p
  const regions = task.regions ?? [], lines = task.lines ?? []
  const last = Math.max(task.from_ns, ...regions.map((r) => r.to_ns), ...lines.map((l) => l.at_ns))
  const to = task.to_ns < 0 ? Math.max(last, task.from_ns + 1) : task.to_ns
  const room = Math.max(1, Math.round((to - task.from_ns) / 20))
  const link = `timeline?from=${Math.max(0, task.from_ns - room)}&to=${to + room}&lanes=${encodeURIComponent('task:' + task.id)}`
  return (
    <>
      <p>
        {task.to_ns < 0 ? t('data.tasks.unended', { from: moment(task.from_ns, 1000) }) : t('data.tasks.span', { from: moment(task.from_ns, 1000), took: dur(to - task.from_ns) })}
        {task.parent !== '0' && task.parent !== '' && <> · <a href={href(`tasks?id=${task.parent}`)}>{t('data.tasks.ofparent', { id: task.parent })}</a></>}
        {' · '}<a href={href(link)}>{t('data.tasks.timeline')}</a>
      </p>
      {regions.length + lines.length > 0
        ? <Picture task={task} to={to} regions={regions} lines={lines} />
        : <p class="data-note">{t('data.tasks.nothing', { n: count(task.logs) })}</p>}
      <div class="data-grid">
        {regions.length > 0 && <Table caption={t('data.tasks.regions')} cols={regionColumns(task.from_ns)} rows={regions} height={260} />}
        {lines.length > 0 && <Table caption={t('data.tasks.loglines')} cols={lineColumns(task.from_ns)} rows={lines} height={260} />}
      </div>
    </>
  )
}

function Picture(p: { task: Task; to: number; regions: TaskRegion[]; lines: LogLine[] }): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const width = useWidth(box, 800)
  const from = p.task.from_ns
  const placed = placeInRows(p.regions.map((r) => ({ ...r, from: r.from_ns, to: Math.max(r.to_ns, r.from_ns) })))
  const rows = placed.reduce((n, r) => Math.max(n, r.row + 1), 0)
  const body = HEAD + rows * ROW + (p.lines.length > 0 ? 16 : 4)
  const x = scale(from, Math.max(p.to, from + 1), 6, width - 6)
  const marks = ticks(0, p.to - from, width / 110)
  const step = marks.length > 1 ? (marks[1] as number) - (marks[0] as number) : p.to - from
  return (
    <div ref={box}>
      <svg class="task-svg" role="img" viewBox={`0 0 ${width} ${body + FOOT}`} width={width} height={body + FOOT} aria-label={t('data.tasks.alt', { n: count(p.regions.length), logs: count(p.lines.length) })}>
        {marks.map((m) => (
          <g key={m}>
            <line class="grid" x1={x(from + m)} x2={x(from + m)} y1={HEAD - 6} y2={body + 4} />
            <text x={Math.min(width - 26, Math.max(26, x(from + m)))} y={body + 17} text-anchor="middle">{tickText(m, step, p.to - from)}</text>
          </g>
        ))}
        <rect class="whole" x={x(from)} width={Math.max(1, x(p.to) - x(from))} y={6} height={8} rx="2" />
        {placed.map(({ of, row }, i) => <Region key={i} region={of} x={x(of.from)} width={Math.max(1.5, x(of.to) - x(of.from))} y={HEAD + row * ROW} />)}
        {p.lines.map((l, i) => (
          <g key={i}>
            <title>{[moment(l.at_ns), l.category, l.message].filter(Boolean).join(' · ')}</title>
            <line class="log" x1={x(l.at_ns)} x2={x(l.at_ns)} y1={HEAD - 6} y2={body - 4} />
            <circle class="log-head" cx={x(l.at_ns)} cy={body - 4} r="3.5" />
          </g>
        ))}
      </svg>
    </div>
  )
}

function Region(p: { region: TaskRegion; x: number; width: number; y: number }): JSX.Element {
  const room = Math.floor((p.width - 8) / 6.5)
  const name = [...p.region.name]
  return (
    <g>
      <title>{`${p.region.name} · ${dur(p.region.to_ns - p.region.from_ns)} · ${t('data.tasks.goroutine', { id: p.region.goroutine })}`}</title>
      <rect class="region" x={p.x} y={p.y + 1} width={p.width} height={ROW - 4} rx="3" />
      {room >= 3 && <text class="name" x={p.x + 4} y={p.y + 14}>{name.length > room ? name.slice(0, room - 1).join('') + '…' : p.region.name}</text>}
    </g>
  )
}

function regionColumns(begin: number): Col<TaskRegion>[] {
  return [
    { key: 'name', title: t('data.tasks.region'), sortable: true, value: (r) => r.name, cell: (r) => <Named name={r.name} />, text: (r) => r.name },
    { key: 'goroutine', title: t('data.col.goroutine'), align: 'right', cell: (r) => r.goroutine },
    { key: 'from', title: t('data.tasks.after'), align: 'right', sortable: true, value: (r) => r.from_ns, cell: (r) => dur(r.from_ns - begin) },
    { key: 'took', title: t('data.tasks.took'), align: 'right', sortable: true, value: (r) => r.to_ns - r.from_ns, cell: (r) => dur(r.to_ns - r.from_ns) },
  ]
}

function lineColumns(begin: number): Col<LogLine>[] {
  return [
    { key: 'at', title: t('data.tasks.after'), align: 'right', sortable: true, value: (l) => l.at_ns, cell: (l) => dur(l.at_ns - begin) },
    { key: 'category', title: t('data.tasks.category'), cell: (l) => l.category },
    { key: 'message', title: t('data.tasks.message'), width: 'minmax(14rem, 3fr)', cell: (l) => l.message },
    { key: 'goroutine', title: t('data.col.goroutine'), align: 'right', cell: (l) => l.goroutine },
  ]
}
