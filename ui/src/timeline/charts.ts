// Lanes that are lines: load, latency and the heap, from the runtime's charts.
import type { Lane, Runtime } from '../api'
import type { Chart } from './draw'
import { Outline } from './outline'

/** What concerns a timeline, in the order of its lanes. */
const WANTED = ['load', 'latency', 'heap']

/** The lines of a lane are as many as can be told apart. */
const MOST = 5

/** lanesOf are the lanes of the charts that a run has. */
export function lanesOf(runtime: Runtime | undefined): { lanes: Lane[]; charts: Map<string, Chart> } {
  const lanes: Lane[] = []
  const charts = new Map<string, Chart>()
  for (const name of WANTED) {
    const chart = runtime?.charts?.find((c) => c.name === name)
    const series = (chart?.series ?? []).filter((s) => s.at.length > 0).slice(0, MOST)
    if (!chart || series.length === 0) continue
    const lines = series.map((s) => ({ name: s.name, outline: new Outline(s.at, s.value) }))
    const id = 'line:' + name
    charts.set(id, { lines, unit: chart.unit.replace('_', ' '), max: Math.max(...lines.map((l) => l.outline.max)) })
    lanes.push({ id, parent: '', kind: 'line', label: name, detail: chart.source, count: 0, children: 0, total_ns: 0, from_ns: 0, to_ns: 0, peak: 0 })
  }
  return { lanes, charts }
}
