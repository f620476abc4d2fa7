// Events of a program that does not run, for tests.
import type { LiveFinding, LiveGroup, LiveNews, LivePoint } from '../api'

export function point(at_ms: number, o: Partial<LivePoint> = {}): LivePoint {
  return {
    at_ms, pid: 7, user: 0, system: 0, waiting: 0, wait_ns: 0, throttled: 0, procs: 2, busy_procs: 0, threads: 1, running: 0, runnable: 0, syscall: 0, blocked: 0,
    heap_live: 0, heap_goal: 0, rss: 0, pss: 0, swap: 0, gcs: 0, gc_share: 0, voluntary: 0, involuntary: 0, groups: [], ...o,
  }
}

export function event(o: Partial<LiveNews> = {}): LiveNews {
  return {
    at_ms: o.points?.at(-1)?.at_ms ?? 0, whole: false, programs: [], program: null, ended: false, points: [], groups: [], groups_from: 0,
    verdict: { line: '', judged: 0, at_ms: 0, findings: [], unchecked: [] }, pieces: [], machine: { cpus: 2, busy: 0, steal: 0, cpu_pressure: 0 },
    cost: { cores: 0, budget: 0.02, every_ms: 1000 }, goroutines: [], unread: '', unread_hint: '', ...o,
  }
}

export function group(name: string): LiveGroup {
  return { function: name, state: 'waiting', reason: 'select' }
}

export function finding(rule: string, o: Partial<LiveFinding> = {}): LiveFinding {
  return { rule, title: rule, summary: '', where: '', gain: '', confidence: 'high', remark: false, since_ms: 1, last_ms: 1, until_ms: 0, ...o }
}

/** Points at each of some seconds. */
export function seconds(from: number, to: number, o: Partial<LivePoint> = {}): LivePoint[] {
  return Array.from({ length: to - from + 1 }, (_, i) => point((from + i) * 1000, o))
}
