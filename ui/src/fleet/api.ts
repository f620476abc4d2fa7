// What the server of a fleet answers: the types of fleet/server in Go.

/** By type of profile, like "process_cpu:cpu:nanoseconds:cpu:nanoseconds". */
export type Totals = Record<string, number>

interface Partial {
  /** Parts that could not be asked; absent when an answer is complete. */
  missing?: string[]
}

export interface Services extends Partial {
  tenant?: string
  services: Version[]
  omitted: number
  /** What a core costs in a month; absent where nobody said. */
  core_month?: number
  currency?: string
}

/** One version of a service. */
export interface Version {
  name: string
  version: string
  /** In all of the time. */
  instances: number
  /** That sent something in its last 15 minutes, and no later version. */
  running: number
  /** What these use; absent where no CPU profile came. */
  cores?: number
  first: string
  last: string
  covered_ns: number
  totals: Totals
}

export interface Levels extends Partial {
  levels: { service: string; version: string; instances: number; value: number }[]
  omitted: number
}

export interface SeriesSet extends Partial {
  step_ns: number
  series: { key: string; total: number; points: [ms: number, value: number][] }[]
  omitted: number
}

export interface Values extends Partial {
  values: string[]
  omitted: number
}

export interface Versions {
  changes: Change[]
  omitted: number
  /** What costs more from a moment on at which nothing was deployed. */
  steps?: Finding[]
}

export interface Change extends Partial {
  service: string
  base: string
  head: string
  since: string
  verdict: 'worse' | 'better' | 'no change seen' | 'undecided'
  why?: string
  unit: string
  was?: number
  is?: number
  ratio?: number
  low?: number
  high?: number
  p?: number
  base_processes: number
  head_processes: number
  paired: boolean
  function?: string
  functions?: { name: string; was: number; is: number; delta: number }[]
}

export interface Side {
  version: string
  total: number
  covered_ns: number
  operations: number
}

/** [function, self, total, children], or with a base [function, self, total, self, total, children]. */
export type Node = (number | Node[])[]

export interface FlameAnswer extends Partial {
  unit: string
  head: Side
  base?: Side
  functions: string[]
  files: string[]
  root: Node
}

export interface FindingsAnswer extends Partial {
  findings: Finding[]
  omitted: number
  /** The verdict on each service, by the last span that was judged. */
  verdicts: Record<string, { verdict: string; at: string }>
  currency?: string
  /** Until when the rules looked; absent when they have not. */
  judged?: string
}

export interface Finding {
  service: string
  versions: string[]
  rule: string
  title: string
  summary: string
  function?: string
  file?: string
  line?: number
  first: string
  /** It may be older: the first span that was judged has it. */
  earlier: boolean
  last: string
  state: 'open' | 'gone'
  instances: number
  cost: number
  bound?: number
  unit: string
  /** What the cost counts. */
  what: string
  /** The cost is that of all instances together; else that of a mean one. */
  whole: boolean
  cores?: number
  /** A month. */
  money?: number
  gain?: string
  confidence: string
  trend: { at: string; cost: number }[] | null
  evidence: string[] | null
  confidence_reasons?: string[]
  remedy: string
  code?: string
  prove: string
  command: string
  /** The newest recording in which gowhy found the same. */
  recording?: { id: string; version?: string; start: string; where?: string; command: string }
}

export interface RunsAnswer {
  runs: Recording[]
  omitted: number
}

/** A whole recording, and what gowhy finds in it. */
export interface Recording {
  id: string
  service: string
  version?: string
  instance?: string
  go?: string
  start: string
  duration_ns: number
  /** Why the program made it by itself. */
  event?: string
  /** Why an agent made it. */
  why?: string
  bytes: number
  diagnosis: {
    state: 'waiting' | 'done' | 'failed'
    verdict?: string
    findings?: { rule: string; title: string; where?: string; gain?: string; remark?: boolean }[]
  }
}
