// The lanes' names: real text beside the picture, as many as are in sight.
import type { JSX } from 'preact'
import { isStatic } from '../client'
import { t, tn } from '../strings'
import { count } from '../format'
import { brief, isKernel, PINNED, type LaneTree, type Row } from './lanes'
import type { Insight } from '../api'
import { href } from '../url'
import { insightsOf, type Chart } from './draw'

export interface LabelsProps {
  rows: Row[]
  tree: LaneTree
  charts: ReadonlyMap<string, Chart>
  insights: readonly Insight[]
  /** The lane that the keyboard is on, and the row of it when it is in two. */
  focus: string
  marked: ReadonlySet<string>
  toggle(id: string): void
  focused(id: string): void
  pin(id: string): void
  /** Shows who has what a finding's goroutines wait for. */
  holders(finding: number): void
}

/** nameOf is a lane's name: ours where it stands for a kind, the program's otherwise. */
export function nameOf(row: Pick<Row, 'id' | 'lane'>): string {
  const { lane } = row
  if (!lane) return row.id.includes('#') ? t('timeline.more') : row.id
  if (lane.id === 'system') return t('timeline.kind.system')
  if (['gc', 'stw', 'ps', 'threads', 'groups', 'samples', 'kernel'].includes(lane.kind)) return tn('timeline.kind.' + lane.kind, lane.label)
  if (lane.kind === 'tasks' && lane.parent === '') return t('timeline.kind.tasks')
  if (lane.id === 'regions') return t('timeline.kind.regions')
  if (lane.kind === 'line') return tn('timeline.chart.' + lane.label, lane.label)
  if (lane.kind === 'g') return brief(lane.label) || t('timeline.nogroup')
  return lane.kind === 'go' ? brief(lane.label) : lane.label || lane.id
}

export function Labels(p: LabelsProps): JSX.Element {
  // A lane that is pinned and open in its place is in two rows: the first has the focus.
  const seen = new Set<string>()
  const some = p.rows.some((r) => r.id === p.focus)
  return (
    <ul class="tl-labels" aria-label={t('timeline.lanes')}>
      {p.rows.map((row, i) => {
        const twice = seen.has(row.id)
        seen.add(row.id)
        const stop = some ? row.id === p.focus && !twice : i === 0
        return <Label key={row.parent + row.id + (twice ? '+' : '')} row={row} stop={stop} {...p} />
      })}
    </ul>
  )
}

function Label(p: LabelsProps & { row: Row; stop: boolean }): JSX.Element {
  const { row } = p
  const { lane } = row
  const opens = p.tree.opens(row.id) && row.parent !== PINNED
  const open = opens && p.tree.isOpen(row.id)
  const name = nameOf(row)
  const pinned = p.tree.pinned.includes(row.id)
  const classes = ['tl-label', 'tl-kind-' + (lane?.kind ?? 'none')]
  if (row.id === p.focus) classes.push('tl-focus')
  if (p.marked.has(row.id)) classes.push('tl-marked')
  if (row.parent === PINNED) classes.push('tl-pinned')
  return (
    <li class={classes.join(' ')} style={{ transform: `translateY(${row.y}px)`, height: row.h + 'px', paddingLeft: 4 + row.depth * 14 + 'px' }}>
      {opens ? (
        <button type="button" class="tl-open" tabIndex={-1} aria-expanded={open} aria-label={t(open ? 'timeline.close' : 'timeline.open', { name })} onClick={() => p.toggle(row.id)}>
          <svg viewBox="0 0 10 10" aria-hidden="true"><path d={open ? 'M1 3l4 4 4-4' : 'M3 1l4 4-4 4'} /></svg>
        </button>
      ) : (
        <span class="tl-open" />
      )}
      <button
        type="button" class="tl-name clip" data-lane={row.id} tabIndex={p.stop ? 0 : -1} title={[lane?.label || name, lane?.detail].filter(Boolean).join('\n')}
        aria-expanded={opens ? open : undefined} aria-current={row.id === p.focus ? 'true' : undefined}
        onClick={() => p.focused(row.id)} onDblClick={() => opens && p.toggle(row.id)} onFocus={() => p.focus !== row.id && p.focused(row.id)}
      >
        {name}
        {pinned && row.parent === PINNED && <span class="sr"> ({t('timeline.pinned')})</span>}
      </button>
      {insightsOf(p.insights, lane ?? undefined).map((f) => (
        <a
          key={f.finding} class={'tl-insight' + (f.remark ? ' tl-insight-remark' : '')} href={href(`findings?f=${f.finding}`)} title={f.title} aria-label={`${f.finding}. ${f.title}`} tabIndex={-1}
          onClick={(e) => {
            if (f.queue === '' || isStatic) return
            e.preventDefault()
            p.holders(f.finding)
          }}
        >{f.finding}</a>
      ))}
      <Detail row={row} chart={p.charts.get(row.id)} />
      {(pinned || row.id === p.focus) && lane?.kind !== 'line' && lane && (
        <button type="button" class="tl-pin" tabIndex={-1} aria-pressed={pinned} title={t(pinned ? 'timeline.unpin' : 'timeline.pin')} aria-label={t(pinned ? 'timeline.unpin' : 'timeline.pin') + ': ' + name} onClick={() => p.pin(row.id)}>
          <svg viewBox="0 0 10 10" aria-hidden="true"><path d="M3 1h4v3l1.5 1.5h-7L3 4zM5 5.5V9" /></svg>
        </button>
      )}
    </li>
  )
}

function Detail(p: { row: Row; chart: Chart | undefined }): JSX.Element | null {
  const { lane } = p.row
  if (!lane) return null
  if (p.chart) {
    return (
      <span class="tl-detail clip">
        {p.chart.lines.map((l, i) => <span key={i} class={`tl-line tl-line-${i % 5}`}>{l.name}</span>)}
      </span>
    )
  }
  if (lane.kind === 'g' || lane.kind === 'groups') {
    return <span class="tl-detail" title={t('timeline.goroutines', { n: count(lane.count) })}>{count(lane.count)}</span>
  }
  if (isKernel(lane.kind)) return <span class="tl-detail" title={t('timeline.samples', { n: count(lane.count) })}>{count(lane.count)}</span>
  if (lane.count > 1) return <span class="tl-detail" title={t('timeline.count', { n: count(lane.count) })}>{count(lane.count)}</span>
  return null
}
