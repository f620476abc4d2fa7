// The JSON of `gowhy compare`, `verify`, `tune` and `capacity`, as far as it is
// shown. The commands' documents are versioned by themselves and read by other
// programs as well, so their types are not in the page's contract.
import { cell, count, figures, num } from '../format'

export type Verdict = 'improved' | 'regressed' | 'changed' | 'same' | 'inconclusive'

export interface Place { function: string; file: string; line: number }
export interface Cost { value: number; unit: string; what: string; share: number }

export interface Side {
  name: string
  go?: string
  seconds?: number
  operations?: number
  operation?: string
  verdict?: string
}

export interface FindingChange {
  rule: string
  title: string
  where: Place
  state: 'gone' | 'new' | 'both'
  a?: Cost
  b?: Cost
  remark?: boolean
}

export interface LedgerRow {
  group: string
  name: string
  metric?: string
  unit: string
  state?: boolean
  more_is_better?: boolean
  a: number | null
  b: number | null
}

export interface TableEntry {
  function: string
  file?: string
  line?: number
  reason?: string
  a: number
  b: number
  cum_a?: number
  cum_b?: number
}

export interface DiffTable {
  name: string
  unit: string
  per: string
  source: string
  total_a: number
  total_b: number
  rows: TableEntry[] | null
  left?: number
  note?: string
}

export interface Benchmark {
  package?: string
  name: string
  unit: string
  runs_a: number
  runs_b: number
  a: number
  b: number
  ratio: number | null
  low?: number | null
  high?: number | null
  p?: number | null
  exact?: boolean
  more_is_better?: boolean
  verdict: Verdict
}

export interface Mean { unit: string; of: number; a: number; b: number; ratio: number }

/** What a trial says of a metric by itself. */
export interface Own { low: number | null; high: number | null; exact?: boolean; verdict?: Verdict }

export interface TrialsEffect {
  metric: string
  pairs_a: number
  pairs_b: number
  a: number
  b: number
  own_a?: Own
  own_b?: Own
  overlap?: boolean
  ratio: number | null
  low?: number | null
  high?: number | null
  p: number | null
  by?: 'rounds' | 'intervals' | 'ranges'
  verdict: Verdict
}

export interface ClaimChange { rule: string; title: string; state: string; a: boolean; b: boolean }

export interface CurvePoint { value: number; goal: number | null; low: number | null; high: number | null; to_best?: number; kept: boolean; failed?: string }
export interface ValueChange { value: number; a: number; b: number; ratio: number | null; low?: number | null; high?: number | null; p: number | null; verdict: Verdict }

export interface TwoCurves {
  knob: string
  goal: string
  bytes?: boolean
  more_is_better?: boolean
  chosen_a: number | null
  chosen_b: number | null
  a: CurvePoint[]
  b: CurvePoint[]
  values: ValueChange[]
}

export interface LoadStep { rate: number; done: number; p50_ns: number; p99_ns: number; limit?: string }
export interface Bracket { low: number; high: number; limit?: string; steps: LoadStep[] | null }
export interface TwoCapacities { a?: Bracket; b?: Bracket; ratio?: number; low?: number; high?: number; overlap: boolean; cells?: LedgerRow[] }

export interface Comparison {
  summary: string
  a: Side
  b: Side
  findings?: FindingChange[]
  per?: string
  ledger?: LedgerRow[]
  tables?: DiffTable[]
  benchmarks?: Benchmark[]
  means?: Mean[]
  only_a?: string[]
  only_b?: string[]
  effects?: TrialsEffect[]
  claims?: ClaimChange[]
  curves?: TwoCurves[]
  capacity?: TwoCapacities
  warnings?: string[]
  next?: { run: string; why: string }[]
}

export interface Conditions { others: number; steal: number; pressure: number; runqueue: number }

export interface Sample {
  values: Record<string, number> | null
  ops?: number
  begin: string
  elapsed_ns: number
  conditions: Conditions
  warnings?: string[]
}

export interface Round extends Sample {
  pair: number
  arm: 'A' | 'B'
  count?: boolean
  dropped?: string
}

export interface Effect {
  metric: string
  verdict: Verdict
  a: number | null
  b: number | null
  min_a: number | null
  min_b: number | null
  ratio: number | null
  low: number | null
  high: number | null
  p: number | null
  pairs: number
  exact?: boolean
  need?: number
  guard?: number
  broken?: boolean
  unclear?: boolean
}

export interface Arm { name: string; command?: string[]; env?: string[]; dir?: string; revision?: string }
export interface Claim { rule: string; title: string; summary?: string; expect?: { value: number; unit: string; method: string }; note?: string; from?: string }

export interface Trial {
  primary: string
  conclusion: 'confirmed' | 'rejected' | 'undecided'
  why: string
  effects: Effect[]
  guards: { metric: string; limit: number }[]
  margin: number
  floor?: number
  gate: { others: number; steal: number }
  most: number
  pairs: number
  dropped: number
  busy?: boolean
  took_ns: number
  seed: number
  rounds: Round[]
  predicted?: { metric: string; best?: number; method?: string; estimate?: number; replay?: string }
  warnings?: string[]
  about?: { a: Arm; b: Arm; load?: string; ready?: string; again?: string[]; finding?: Claim; gone?: Claim[]; came?: Claim[]; diagnosed?: boolean }
}

export interface Interval { value: number | null; low: number | null; high: number | null }

export interface Knob { name: string; low: number; high: number; integer?: boolean; bytes?: boolean; start: number; counts?: string }

export interface Point {
  value: number
  goal: Interval
  ratio: number
  error: number
  values: Record<string, number> | null
  kept: boolean
  failed?: string
  visits: (Sample & { round: number; dropped?: string })[] | null
}

export interface USL { lambda: Interval; unit: string; sigma: Interval; kappa: Interval; peak: Interval | null; no_peak?: string; r2: number; tested: [number, number] }
export interface Formula { name: string; text: string; at: number[] | null; says: number[] | null; stable: boolean; why: string }

export interface Curve {
  knob: Knob
  goal: { metric: string; max?: boolean }
  others?: Record<string, number>
  points: Point[] | null
  best: number
  chosen: number
  noise: number
  usl?: USL
  no_usl?: string
  formulas?: Formula[]
  no_formulas?: string
}

export interface Tuned {
  goal: { metric: string; max?: boolean }
  keep?: { metric: string; limit: number; at_most: boolean }[]
  command?: string[]
  curves: Curve[] | null
  start: Record<string, number> | null
  chosen: Record<string, number> | null
  together?: Trial
  runs: number
  dropped: number
  took_ns: number
  warnings?: string[]
}

export interface Step {
  rate: number
  sent: number
  done: number
  failed: number
  error?: string
  p50_ns: number
  p99_ns: number
  generator?: string
  conditions: Conditions
  limit?: string
  growth?: Interval
  dropped?: string
}

export interface Capacity {
  kind: 'gowhy capacity'
  url?: string
  command?: string[]
  low: number
  high: number
  limit?: string
  why: string
  tolerance: number
  steps: Step[] | null
  dropped: number
  took_ns: number
  warnings?: string[]
}

export interface CapacityTable {
  kind: 'gowhy capacity table'
  axes: string[] | null
  cells: { setting: Record<string, number> | null; rate: number; limit?: string; failed?: string }[] | null
  conclusion: { shapes: { axis: string; shape: string; growth: number; times: number; linear_up_to?: number }[] | null; where: string; why: string; next?: string }
}

interface MetricInfo { unit: string; factor: number; more: boolean }

const METRICS: Record<string, MetricInfo> = {
  'elapsed': { unit: 'seconds', factor: 1, more: false },
  'cpu/op': { unit: 'seconds', factor: 1, more: false },
  'ns/op': { unit: 'seconds', factor: 1e-9, more: false },
  'ops/s': { unit: 'per second', factor: 1, more: true },
  'MB/s': { unit: 'MB/s', factor: 1, more: true },
  'p50': { unit: 'seconds', factor: 1, more: false },
  'p99': { unit: 'seconds', factor: 1, more: false },
  'peak-rss': { unit: 'bytes', factor: 1, more: false },
  'live-heap': { unit: 'bytes', factor: 1, more: false },
  'B/op': { unit: 'bytes', factor: 1, more: false },
}

/** What a metric counts. Benchmarks have theirs behind their name: "BenchmarkParse ns/op". */
export function metricInfo(metric: string): MetricInfo {
  const base = metric.slice(metric.lastIndexOf(' ') + 1)
  return (Object.hasOwn(METRICS, base) ? METRICS[base] : undefined) ?? { unit: 'count', factor: 1, more: base.endsWith('/s') }
}

/** A value of a metric with its unit. */
export function metricText(metric: string, v: number | null | undefined): string {
  if (v === null || v === undefined || !Number.isFinite(v)) return '–'
  const info = metricInfo(metric)
  return quantity(v * info.factor, info.unit)
}

/** A quantity; times below ten nanoseconds, as operations of benchmarks take, keep their digits. */
export function quantity(v: number, unit: string): string {
  if (unit === 'seconds' && v !== 0 && Math.abs(v) < 10e-9) return nanoseconds(v * 1e9) + ' ns'
  if (unit === 'MB/s') return figures(v) + ' MB/s'
  return cell(v, unit)
}

// nanoseconds keeps the zeros at the end, as longer times do.
function nanoseconds(v: number): string {
  return Number.isInteger(v) ? v.toFixed(2) : figures(v)
}

/** A value of a knob as one types it. */
export function knobText(k: { bytes?: boolean }, v: number): string {
  if (k.bytes) return num(v, 'bytes')
  return Number.isInteger(v) ? count(v) : String(Number(v.toPrecision(4)))
}

/** B to A of a row; null where a side is missing or A is 0. */
export function rowRatio(a: number | null, b: number | null): number | null {
  if (a === null || b === null || a === 0) return null
  const r = b / a
  return Number.isFinite(r) ? r : null
}
