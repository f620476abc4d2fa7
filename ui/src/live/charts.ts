// The charts of the live screen: which there are, and which lines they have.
import { useMemo, useRef } from 'preact/hooks'
import type { LivePoint } from '../api'
import type { Range } from '../data/series'
import { short } from '../flame/text'
import type { ChartLine, ChartSpan } from '../parts/chart'
import { stateName } from '../state'
import { t, tn } from '../strings'
import { lineOf, restarts, timesOf, toClock, type Feed, type Times } from './feed'
import { areas, largest, markOf, means, type Places } from './groups'

export interface LiveChart {
  id: string
  unit: string
  stacked: boolean
  lines: ChartLine[]
  wide?: boolean
}

interface Spec {
  id: string
  unit: string
  stacked?: boolean
  lines: Quantity[]
}

/** A rare one is not there while all of it is nothing, nor is a chart of none but those. */
type Quantity = [name: string, of: (p: LivePoint) => number, colour?: string, rare?: boolean]

const BEFORE: Spec[] = [
  { id: 'cpu', unit: 'cores', stacked: true, lines: [['user', (p) => p.user], ['system', (p) => p.system, '--syscall-fill'], ['waiting', (p) => p.waiting, '--runnable-fill']] },
  {
    id: 'goroutines', unit: 'count', stacked: true,
    lines: [['running', (p) => p.running, '--running-fill'], ['runnable', (p) => p.runnable, '--runnable-fill'], ['syscall', (p) => p.syscall, '--syscall-fill'], ['blocked', (p) => p.blocked, '--wait-fill']],
  },
]

const AFTER: Spec[] = [
  { id: 'heap', unit: 'bytes', lines: [['live', (p) => p.heap_live], ['goal', (p) => p.heap_goal, '--gc'], ['rss', (p) => p.rss, '--wait'], ['pss', (p) => p.pss, '--sync'], ['swap', (p) => p.swap, '--bad', true]] },
  { id: 'procs', unit: 'count', lines: [['busy', (p) => p.busy_procs, '--running'], ['procs', (p) => p.procs, '--wait']] },
  { id: 'gcs', unit: 'per second', lines: [['gcs', (p) => p.gcs, '--gc']] },
  { id: 'gcshare', unit: 'share', lines: [['gcshare', (p) => p.gc_share, '--gc']] },
  { id: 'wait', unit: 'ns', lines: [['wait', (p) => p.wait_ns, '--runnable']] },
  { id: 'switches', unit: 'per second', lines: [['voluntary', (p) => p.voluntary], ['involuntary', (p) => p.involuntary, '--sync']] },
  { id: 'throttled', unit: 'share', lines: [['throttled', (p) => p.throttled, '--bad', true]] },
]

/** The charts of a feed; which groups have an area depends on the window. */
export function useCharts(feed: Feed, range: Range): LiveChart[] {
  const places = useRef<{ groups: Feed['groups']; places: Places }>({ groups: feed.groups, places: [] })
  const times = useMemo(() => timesOf(feed), [feed])
  const plain = useMemo(() => [BEFORE, AFTER].map((specs) => specs.map((s) => chartOf(s, times, shown(feed, s.lines))).filter((c) => c.lines.length > 0)), [feed])
  const groups = useMemo(() => {
    // Their numbers are others when all is sent anew.
    const before = places.current.places.map((g) => (g !== undefined && feed.groups[g] && places.current.groups[g] && markOf(feed.groups[g]) === markOf(places.current.groups[g]) ? g : undefined))
    const present = largest(means(times, range), before)
    places.current = { groups: feed.groups, places: present }
    return groupChart(feed, times, present)
  }, [feed, range[0], range[1]])
  const all = [...plain[0]!, ...groups, ...plain[1]!]
  // One that is left over has the row for itself.
  return all.filter((c) => !c.wide).length % 2 === 0 ? all : all.with(-1, { ...all.at(-1)!, wide: true })
}

function shown(feed: Feed, lines: Quantity[]): Quantity[] {
  return lines.filter(([, of, , rare]) => !rare || feed.points.some((p) => of(p) > 0))
}

function chartOf(s: Spec, times: Times, quantities: Quantity[]): LiveChart {
  return {
    id: s.id,
    unit: s.unit,
    stacked: s.stacked ?? false,
    lines: quantities.map(([name, of, colour]) => ({
      name,
      label: tn('live.series.' + name, stateName(name)),
      ...lineOf(times, of),
      colour,
    })),
  }
}

/** A colour for each place, that of no neighbour. */
const COLOURS = ['--accent', '--runnable', '--running', '--sync', '--syscall', '--gc', '--fg', '--net']

function groupChart(feed: Feed, times: Times, places: Places): LiveChart[] {
  const { groups, other } = areas(times, places)
  const lines: ChartLine[] = []
  groups.forEach((line, i) => {
    const g = places[i] === undefined ? undefined : feed.groups[places[i]!]
    if (line && g) lines.push({ name: markOf(g), label: [short(g.function), g.reason || stateName(g.state)].join(' · '), ...line, colour: COLOURS[i] })
  })
  if (lines.length === 0) return []
  if (other.value.some((v) => v !== null && v > 0)) lines.push({ name: 'other', label: t('live.other'), ...other, colour: '--unknown' })
  return [{ id: 'groups', unit: 'count', stacked: true, wide: true, lines }]
}

/** When findings came and went and the program began again, on the charts' clock. */
export function marksOf(feed: Feed): ChartSpan[] {
  const mark = (ms: number, what: string, look: Partial<ChartSpan> = {}): ChartSpan => ({ from: toClock(feed, ms), to: toClock(feed, ms), what, ...look })
  return [
    ...feed.news.verdict.findings.filter((f) => !f.remark).flatMap((f) => [
      mark(f.since_ms, t('live.mark.came', { title: f.title })),
      ...(f.until_ms > 0 ? [mark(f.until_ms, t('live.mark.went', { title: f.title }), { colour: '--good', hollow: true })] : []),
    ]),
    ...restarts(feed).map((ms) => mark(ms, t('live.mark.restart'), { colour: '--accent' })),
  ]
}
