// What the server of a fleet answers.
// Made from the types of Go by: go test ./fleet/api -run TestTypes -update
// Do not change it here.

/**
 * Services is the answer of /api/v1/services, those first that use most CPU at the end of
 * the time, then those that used most in all of it.
 */
export interface Services {
  /** that was asked for */
  tenant?: string
  services: Version[]
  /** services beyond the limit */
  omitted: number
  /** CoreMonth is what a core costs in a month, where that is known. */
  core_month?: number
  currency?: string
  missing?: string[]
}

/** A Service is one version of a service. Totals by CoveredNS are rates of one instance. */
export interface Version {
  name: string
  version: string
  /** in all of the time */
  instances: number
  /** Running are those that sent something in its last 15 minutes, and no later version. */
  running: number
  /**
   * Cores are what these use: what one uses while it is profiled, times their number.
   * It is not there where no CPU profile came.
   */
  cores?: number
  first: string
  last: string
  /** the spans of its CPU profiles, of all instances */
  covered_ns: number
  totals: Record<string, number>
  /** one of them, as in Top */
  saturated?: boolean
}

/**
 * Levels is the answer of /api/v1/levels: what services had of a type at the end of the
 * time. It is for types that are levels, as bytes in use and goroutines are: a sum of
 * those over time says nothing.
 */
export interface Levels {
  levels: Level[]
  omitted: number
  missing?: string[]
}

/** A Level is the sum of the last that each instance sent. */
export interface Level {
  service: string
  version: string
  instances: number
  value: number
}

/**
 * SeriesSet is the answer of /api/v1/series: sums over steps of time, those of a step
 * without any left out; the largest series first.
 */
export interface SeriesSet {
  step_ns: number
  series: Series[]
  /** series beyond the limit */
  omitted: number
  missing?: string[]
}

/** A Series is of one value of what was told apart. */
export interface Series {
  key: string
  total: number
  /** Saturated says that a sum was beyond the largest integer, as in Top. */
  saturated?: boolean
  /** when the step begins, in milliseconds since 1970, and the sum */
  points: [number, number][]
}

/**
 * Values is the answer of /api/v1/values: what sources have as a value of a label, or the
 * names of the labels.
 */
export interface Values {
  values: string[]
  omitted: number
  missing?: string[]
}

/**
 * Versions is the answer of /api/v1/versions: what got worse first, by how much, then what
 * got better, then the rest.
 */
export interface Versions {
  changes: Change[]
  omitted: number
  /** Steps are what costs more from a moment on at which nothing was deployed, and still does. */
  steps?: Finding[]
}

/** A Change is one version of a service beside the one before it. */
export interface Change {
  service: string
  base: string
  head: string
  /** the first batch of the head */
  since: string
  verdict: Outcome
  /** it is undecided */
  why?: string
  type: string
  /** cores, or CPU/operation in seconds; of other types as it says */
  unit: string
  /** medians of the processes */
  was?: number
  is?: number
  ratio?: number
  /** of its 95% interval */
  low?: number
  high?: number
  /** corrected for all comparisons together */
  p?: number
  /** Processes that were compared, host by host where paired. */
  base_processes: number
  head_processes: number
  paired: boolean
  /** that the change is in */
  function?: string
  functions?: Difference[]
  /**
   * Also is what else changed with it, allocations and waits. Causes are what the rules
   * found in the head and not in the base; of a change for the worse with none of them
   * NoCause says so.
   */
  also?: Also[]
  causes?: Cause[]
  no_cause?: string
  missing?: string[]
}

/** An Outcome is what is claimed of a change. */
export type Outcome = 'worse' | 'better' | 'no change seen' | 'undecided'

/** A Difference is what a function's own lines cost more, in the change's unit. */
export interface Difference {
  name: string
  was: number
  is: number
  delta: number
}

/** Also is another cost that changed with a version. */
export interface Also {
  type: string
  unit: string
  was: number
  is: number
  ratio: number
}

/** A Cause is what a rule found at a place. */
export interface Cause {
  rule: string
  title: string
  function?: string
}

/** A Finding is a cause in a service. */
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
  /** the first span that was judged has it: it may be older */
  earlier: boolean
  last: string
  state: State
  /** of five minutes, or of a growth's four hours, that have it */
  spans: number
  instances: number
  /** of the last span */
  cost: number
  bound?: number
  unit: string
  /** is counted by the cost */
  what: string
  /** by all processes together; else by a mean one */
  whole: boolean
  cores?: number
  /** a month, for these cores */
  money?: number
  gain?: string
  confidence: string
  trend: Cost[]
  /** the facts in words */
  evidence: string[]
  facts: Fact[]
  confidence_reasons?: string[]
  remedy: string
  code?: string
  prove: string
  /** has gowhy say all about the last span */
  command: string
  /** Recording is the newest of a version that has it in which gowhy found the same. */
  recording?: Shown
}

/** A State is whether a finding is there now. */
export type State = 'open' | 'gone'

/** A Cost is what a finding cost in a span that ends at a time. */
export interface Cost {
  at: string
  cost: number
}

/** A Fact is a number that a finding rests on. */
export interface Fact {
  name: string
  value: number
  /** empty where an older gowhy kept only words */
  unit: string
  /** the value for people */
  text: string
  /** says where it was measured, or how it was computed */
  origin?: string
}

/** A Shown is a recording of a finding. */
export interface Shown {
  id: string
  version?: string
  start: string
  /** in the recording */
  where?: string
  /** of a heap that grows: over what it is held */
  held?: string
  /** opens it */
  command: string
}

/**
 * Flame is the answer of /api/v1/flame: stacks as a tree, of one selection, or of two
 * versions beside each other.
 */
export interface FlameAnswer {
  /** of all values: nanoseconds, bytes or count */
  unit: string
  head: Side
  /** with base_version= */
  base?: Side
  /** Functions are the names that nodes are of, Files where these are. */
  functions: string[]
  files: string[]
  /**
   * Root is a node: [function, self, total, [children]], the function as its place in
   * Functions, or -1 for the root and -2 for children too small to be there, together.
   * With a base it is [function, self, total, self in the base, total in the base,
   * [children]]. A node without children has no last element.
   */
  root: Node
  missing?: string[]
}

/**
 * A Side is what was summed, and by what its values can be divided: a value for each
 * operation, or for each second that was profiled.
 */
export interface Side {
  /** "" for all */
  version: string
  total: number
  covered_ns: number
  /** 0 where none were counted */
  operations: number
  /** as in Top */
  saturated?: boolean
}

/** Findings is the answer of /api/v1/findings: what is there now first, by what it costs. */
export interface FindingsAnswer {
  findings: Finding[]
  /** on each service, by the last span that was judged */
  verdicts: Record<string, Verdict>
  omitted: number
  currency?: string
  /** until when; absent where nothing was */
  judged?: string
  missing?: string[]
}

/** A Verdict is on a service: problem, stalled, healthy, unclear, idle, not-loaded, partial, too-thin or failed. */
export interface Verdict {
  verdict: string
  at: string
}

/** Recordings is the answer of /api/v1/runs: the latest recordings first. */
export interface RunsAnswer {
  runs: Recording[]
  /** beyond the limit */
  omitted: number
}

/** A Recording is what the server knows of one that it keeps. */
export interface Recording {
  /** SHA-256 of its content, in hexadecimal digits */
  id: string
  tenant?: string
  service: string
  version?: string
  instance?: string
  go?: string
  start: string
  duration_ns: number
  /** why the program made it by itself */
  event?: string
  /** Killed is set where the kernel killed the program for want of memory. */
  killed?: Killed
  /** an agent was asked for it */
  why?: string
  /** since when it is here */
  kept: string
  bytes: number
  /** Diagnosis is what gowhy finds in it. */
  diagnosis: Diagnosis
}

/** Killed is how a program was killed for want of memory. */
export interface Killed {
  /** by the clock of its host */
  at: string
  /**
   * Of and Limit are the limit under which no memory was left, in bytes; absent where the whole
   * machine had none.
   */
  of?: string
  limit_bytes?: number
  /** Age is how old the evidence was then; absent when not known. */
  age_ns?: number
}

/** A Diagnosis is a short form of that of a recording. */
export interface Diagnosis {
  state: DiagnosisState
  /** how often it was begun */
  tries?: number
  /** it failed */
  why?: string
  verdict?: string
  /** the first ones */
  findings?: RecordingFinding[]
  /**
   * Held are the holders that have most of the heap and that grew most, where somebody looked: those
   * with most first.
   */
  held?: Held[]
}

/** A DiagnosisState is how far a diagnosis is. */
export type DiagnosisState = 'waiting' | 'done' | 'failed'

/** A RecordingFinding is a cause, or a remark on where to look. */
export interface RecordingFinding {
  rule: string
  title: string
  /** function file:line */
  where?: string
  /** what a fix brings */
  gain?: string
  remark?: boolean
}

/** A Held is what a variable keeps alive, or what goroutines do that stand at one place. */
export interface Held {
  /** as of gowhy memory --holders */
  kind: string
  name: string
  /** from the name to the most of it, in words */
  way: string
  bytes: number
  /** between the two looks of the recording */
  grew_bytes?: number
}

/** [function, self, total, children], or with a base [function, self, total, self, total, children]. */
export type Node = (number | Node[])[]
