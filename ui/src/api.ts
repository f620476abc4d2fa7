// Made from internal/show/web/api.go by: go test ./internal/show/web -run TestTypes -update
// Do not change it here.

/**
 * A Session is what is open: GET api/session. With ?since=CHANGE the answer waits
 * for something that the session with this change did not say, a second at most.
 */
export interface Session {
  version: string
  runs: Run[]
  trials: Trial[]
  /** Static is set in a report file: what is not in it cannot be asked for. */
  static: boolean
  /** Live is set when programs are watched while they run: there is a live screen. */
  live: boolean
  /** Loading says what is still being read, "" when everything is. */
  loading: string
  /** Change is another one when runs or trials are. */
  change: number
}

/** A Run is one run of one program: r in all queries is its index. */
export interface Run {
  name: string
  /** its main package; "" when not known */
  program: string
  go: string
  /** RFC 3339; "" when not known */
  start: string
  duration_ns: number
  procs: number
  files: string[]
  verdict: string
  summary: string
  /**
   * Screens are those that have something to show: findings, timeline, flame,
   * goroutines, memory, runtime, tasks, sources.
   */
  screens: string[]
  /**
   * Together are the runs that are recordings of the same thing, itself among them: they
   * can be judged as one. Empty where there is no other.
   */
  together: number[]
  /**
   * Again is a command that records the program once more, or the help of record where
   * nothing tells what it is.
   */
  again: string
  /** why it could not be read */
  error: string
  hint: string
  /**
   * Loading is set while it is being read: requests about it are answered when that is
   * done.
   */
  loading: boolean
}

/** A Trial is a saved result of verify, tune or capacity, for the compare screen. */
export interface Trial {
  name: string
  /** verify, tune, capacity, comparison */
  kind: string
  summary: string
}

/** Findings are a run's diagnosis: GET api/findings?r=. */
export interface Findings {
  diagnosis: Diagnosis | null
  /** Links of each finding, in the order of Diagnosis.Findings. */
  links: FindingLinks[]
  /**
   * Accounts are the links of each of Diagnosis.Accounts: Evidence and Where are those
   * of its rows.
   */
  accounts: FindingLinks[]
}

/** A Diagnosis is the answer: what every report renders, and what is saved. */
export interface Diagnosis {
  schema: number
  verdict: Verdict
  summary: string
  goal?: Goal
  /** causes, most beneficial first */
  findings: Finding[]
  fine: Fine[]
  /** there, and harmless in this version of Go */
  obsolete: Obsolete[]
  unchecked: Unchecked[]
  warnings: string[]
  files: string[]
  /** Death is how the program ended, of a core file that tells. */
  death?: string
  /**
   * Runs are the recordings that were judged together, each with its own answer; empty
   * for one alone. See [Join].
   */
  runs?: RunAnswer[]
  trace?: TraceInfo
  /** Accounts are what each piece of evidence says by itself. */
  accounts?: Account[]
  /** Time says how goroutine and P time was spent, for the report's head. */
  time?: Share[]
  /** CPU says where CPU time went, and Recording what the recording cost. */
  cpu?: CPU
  recording?: Recording
  /** Operation is what one operation costs, of a benchmark. */
  operation?: Operation
}

/** A Verdict is the diagnosis in one word. */
export type Verdict = 'problem' | 'stalled' | 'healthy' | 'unclear' | 'idle' | 'not-loaded' | 'partial' | 'too-thin'

/** A Goal is what the reader wants to improve. It orders findings. */
export type Goal = '' | 'throughput' | 'latency' | 'cpu' | 'memory'

/** A Finding is one problem found here. */
export interface Finding {
  rule: string
  title: string
  /** one sentence with the figures that matter */
  summary: string
  where: Place[]
  /** what it is of, where no place is named */
  scope?: string
  evidence: Fact[]
  cost: Cost
  bound: Bound
  confidence: Confidence
  /** why this confidence */
  confidence_reasons: string[]
  /** innocent explanations that were checked */
  ruled_out: string[]
  /** rules whose findings are symptoms of this one */
  explains: string[]
  remedy: Remedy
  /** the experiment in words, and what refutes the finding */
  prove: string
  /** the experiment as commands to paste, in order */
  try: string[]
  /** Missing says what the evidence does not tell of such commands, when there are none. */
  missing?: string
  /**
   * Experiment is what `gowhy verify --apply` does to confirm or reject the
   * finding; nil where no run of the program can.
   */
  experiment?: Experiment
  /**
   * Remark is set when the finding only says where to look and not that
   * anything is wrong: it ranks behind all others and does not count as a problem.
   */
  remark?: boolean
  /** Found is in how many of several recordings it was found; 0 in a diagnosis of one. */
  found?: number
  /** Symptoms are findings that this one explains, folded under it. */
  symptoms?: Finding[]
}

/** A Place is a piece of the user's code. */
export interface Place {
  function: string
  file: string
  line: number
}

/**
 * A Fact is one number behind a finding. It was either measured, and then its
 * Origin says in which evidence and what was counted there, or computed from
 * other facts, which are its Operands, by the Formula.
 */
export interface Fact {
  name: string
  value: number
  unit: Unit
  /** Text is the value for people. */
  text: string
  origin: Origin
  operands?: Fact[]
}

/** A Unit is the unit of a number, in the words that JSON and text use. */
export type Unit = 'cores' | 'seconds' | 'bytes' | 'bytes per second' | 'ratio' | 'factor' | 'count' | 'per second'

/**
 * An Origin is where a measured number comes from. Which fields are set goes by
 * the kind.
 */
export interface Origin {
  kind: Kind
  /** Text says it for people. No code looks into it. */
  text: string
  /** the evidence that has it */
  source?: Source
  /** N is how many observations are behind the number: samples, waits, calls. */
  n?: number
  /** "cpu", "kernel", "alloc_space", "sync", … as the flame graph has them */
  tree?: string
  /** the frames that were looked for */
  functions?: string[]
  /** the value is the part of all of the tree */
  share?: boolean
  groups?: string[]
  columns?: string[]
  names?: string[]
  name?: string
  fold?: Fold
  /** a formula with its operands' names */
  sentence?: string
}

/**
 * A Kind is a way in which a number comes about. The set is closed: whoever
 * shows a fact has a line for each of them, and asks the Origin and not its words.
 */
export type Kind = 'samples' | 'waits' | 'wakes' | 'goroutines' | 'processors' | 'load' | 'collector' | 'timeline' | 'standings' | 'held' | 'generations' | 'account' | 'metric' | 'syscalls' | 'process' | 'machine' | 'control group' | 'printed profile' | 'counted' | 'setting' | 'window' | 'series' | 'published' | 'computed' | 'untyped'

export type Source = string

/** A Fold is how a series became one number. */
export type Fold = 'first' | 'last' | 'least' | 'most' | 'change' | 'growth' | 'rate' | 'trend'

/** A Cost is what the problem costs now: a fact, and the part of a whole that it is. */
export interface Cost {
  value: number
  unit: Unit
  text: string
  /** what is counted, like "goroutine time waiting for a P" */
  what: string
  origin: Origin
  operands?: Fact[]
  /**
   * Share is the cost relative to the whole that the goal is about (CPU in
   * use, goroutine time, heap), 0 to 1. It ranks findings of unlike units.
   */
  share: number
}

/**
 * A Bound is what a fix can bring, and how that was derived. It is never a sum
 * of waiting times.
 */
export interface Bound {
  kind: BoundKind
  value: number
  unit: Unit
  text: string
  /** of an estimate, in the same unit */
  low?: number
  high?: number
  /** what is saved */
  name: string
  /** made from the formula and its operands */
  method: string
  origin: Origin
  operands?: Fact[]
  /** Goal is what the bound improves. */
  goal: Goal
  /**
   * Along says, of an estimate that reaches beyond the finding's cost, what goes with
   * it, and what more there is to save than by this alone; else empty.
   */
  along?: string
  /** Words are the gain as every report says it. */
  words: string
  /** Share is Value relative to the whole, 0 to 1; it ranks findings. */
  share: number
}

/** A BoundKind is what a bound claims. */
export type BoundKind = 'limit' | 'estimate' | 'direction' | 'open' | 'release'

/** Confidence is how sure a finding is. */
export type Confidence = 'high' | 'medium' | 'low'

/** A Remedy is what to change. */
export interface Remedy {
  text: string
  /** a sketch in Go, when that says it best */
  code?: string
  /** an environment variable or flag that tries it without code, like "GOMAXPROCS=4" */
  knob?: string
}

/**
 * An Experiment is how a finding is confirmed or rejected: what is changed and
 * which quantity must then move. The metric is named before anything is
 * measured, so that nobody picks the one that happened to move.
 */
export interface Experiment {
  primary: Metric
  /**
   * Else is the metric that decides where Primary, a count, cannot be had:
   * it needs the agent or the kernel's leave.
   */
  else?: Metric
  /**
   * Set is what the changed arm has, like "GOMAXPROCS=4": environment
   * variables. Empty when it is the code that has to change.
   */
  set?: string[]
  /**
   * Now is what the other arm has, where it must be said: the same variables,
   * with numbers for values.
   */
  now?: string[]
  /**
   * Tune is set when the value has to be found: a knob and its range, like
   * "workers=1..1000". At is the knob's value in the run, 0 when not known:
   * an argument of the command with just that value is taken for it.
   */
  tune?: string
  at?: number
  /** Rebuild says that the change is in the flags of the build. */
  rebuild?: boolean
  /**
   * Upgrade are the modules, as MODULE@VERSION, and Go the release of Go that the changed arm is
   * built with.
   */
  upgrade?: string[]
  go?: string
  /**
   * Price is what the change is known to cost: that it does is no reason to
   * reject it, and nobody is promised that it does not.
   */
  price?: Metric[]
  /** Note says what else to look at, and what would refute the finding. */
  note?: string
  /**
   * Promised is how far metrics may move at most, as the finding's bound has
   * it. A metric that the bound says nothing of is absent.
   */
  promised?: Promise[]
}

/**
 * A Metric is a quantity that an experiment compares, in the words that flags,
 * tables and JSON use. Those of single benchmarks have the benchmark's name
 * before them: "BenchmarkParse allocs/op".
 */
export type Metric = 'elapsed' | 'cpu/op' | 'ops/s' | 'p50' | 'p99' | 'peak-rss' | 'live-heap' | 'allocs/op' | 'B/op' | 'goroutines/op' | 'gc/op' | 'syscalls/op' | 'futex/op' | 'switches/op' | 'faults/op'

/** A Promise is an upper bound on what a fix does to a metric. */
export interface Promise {
  metric: Metric
  /**
   * Best is the ratio of after to before that the bound allows: the least,
   * and for throughput the greatest. It is never an estimate.
   */
  best: number
  method: string
}

/**
 * A Fine is something that a rule looked at and found well. It is a claim of the rule's,
 * as a finding is.
 */
export interface Fine {
  /** "" in a diagnosis of schema 1 */
  rule: string
  text: string
}

/**
 * An Obsolete is a pattern that is there and harmless since a version of Go: old
 * advice that a reader need not follow any more.
 */
export interface Obsolete {
  rule: string
  pattern: string
  /** like "Go 1.20" */
  since: string
  /** what that version changed */
  why: string
}

/** An Unchecked is a question the evidence could not answer. */
export interface Unchecked {
  what: string
  why: string
  /** a command that would let it be checked */
  how: string
  /** Rules are those that asked it. */
  rules?: string[]
}

/** A RunAnswer is what one of several recordings says by itself. */
export interface RunAnswer {
  file: string
  verdict: Verdict
  summary: string
  /** Shown is set for the recording whose accounts and figures the joint diagnosis has. */
  shown?: boolean
}

/** A TraceInfo is what was read of an execution trace. */
export interface TraceInfo {
  go: string
  duration_ns: number
  events: number
  generations: number
  lost_bytes: number
}

/**
 * An Account is what one piece of evidence says by itself, whoever asks and whether or
 * not anything is wrong: how much there is of what it counts, and what has most of it.
 * Where it is all that was given, it is the answer.
 */
export interface Account {
  source: Source
  /** Text is the total and what stands out, in a sentence or two. */
  text: string
  /** the largest, [accountRows] of them */
  rows: AccountRow[]
}

/** An AccountRow is one of the largest parts of what a piece of evidence counts. */
export interface AccountRow {
  /** Name is what has it: a function, a state, a setting. */
  name: string
  /** nil when it is no code */
  where?: Place
  value: Fact
  /** of the total; 0 when it is no part of one */
  share: number
  /** what else is to be known of it, in a few words */
  note?: string
}

/** A Share is one line of the account at the head of a report. */
export interface Share {
  name: string
  ns: number
  /** of Ps × window */
  share: number
}

/** A CPU is where the process's CPU time went. The parts add up to TotalNS. */
export interface CPU {
  /** over which it was measured; 0 when unknown */
  window_ns: number
  total_ns: number
  /** TotalNS by WindowNS */
  cores: number
  /**
   * UserNS and SystemNS are what the process's own counters (rusage) say.
   * Counted is false when they were not had: TotalNS is then what was sampled.
   */
  user_ns: number
  system_ns: number
  counted: boolean
  parts: CPUPart[]
  /** the samples that the parts are from */
  source?: string
  /** why that source, and why it saw less than all */
  why?: string
  /**
   * Coverage is what each source sampled by what the counters say; empty
   * when not Counted.
   */
  coverage?: Record<string, number>
  /**
   * Scale is what samples were multiplied with because they exceeded the
   * counters; 1 when they did not.
   */
  scale: number
}

/** A CPUPart is one part of the CPU time, with pieces of it by name. */
export interface CPUPart {
  name: string
  ns: number
  /** of the whole CPU time */
  share: number
  by?: CPUPart[]
}

/** A Recording is what the recording itself took. */
export interface Recording {
  /** CPU time of the recorder */
  recorder_cpu_ns: number
  /**
   * TargetCores is the program's CPU use while it was recorded, and
   * BeforeCores just before; null when not measured. Load may have changed
   * between them as well.
   */
  target_cores: number | null
  target_cores_before: number | null
}

/**
 * An Operation is what one operation of the benchmark costs that was recorded: for a
 * benchmark that is the account to read, for nothing else is done.
 */
export interface Operation {
  benchmark: string
  cpu_ns: number
  /** allocated, as the benchmark counts or else the allocs profile */
  objects: number
  bytes: number
  lines: OperationLine[]
}

/** An OperationLine is the part of one line of the program or of its libraries. */
export interface OperationLine {
  where: Place
  /**
   * CPUNS is that of the line and of what it calls of the standard library, CumNS that of
   * all it calls: removing the line saves no more. Objects and Bytes are as CPUNS, of the
   * allocs profile, to which several objects of a few bytes can be one.
   */
  cpu_ns: number
  cum_ns: number
  objects: number
  bytes: number
}

/**
 * FindingLinks lead from a finding to its evidence. A link is a place in the page,
 * "screen?query"; that of a number carries its address as fact, and the screen marks
 * what was counted.
 */
export interface FindingLinks {
  /** for each of Finding.Evidence */
  evidence: FactLink[]
  /** for each of Finding.Where */
  where: string[]
  /** for each of Finding.Where: its line in the source; "" where no stack has the function */
  source: string[]
  cost: FactLink
  bound: FactLink
  /** whole screens: its timeline, its goroutines, its flame graph */
  more: Link[]
  symptoms: FindingLinks[]
}

/** A FactLink is where the page shows a number, and those that it was computed from. */
export interface FactLink {
  to: string
  operands: FactLink[]
}

/** A Link is a place in the page. */
export interface Link {
  /** key of the catalogue of strings: "link.timeline", "link.goroutines", "link.flame", "link.memory", "link.runtime", "link.tasks" */
  title: string
  to: string
}

/**
 * Together is what several recordings of one program say as one: GET api/together?runs=,
 * a list of Run.Together.
 */
export interface Together {
  /** of each of Diagnosis.Runs */
  runs: number[]
  /** for each finding the run whose figures it shows */
  of: number[]
  /** whose links all name their run */
  findings: Findings
}

/** A Timeline is what can be drawn: GET api/timeline?r=. */
export interface Timeline {
  duration_ns: number
  /** finest level with tiles; below it spans are drawn */
  min_level: number
  /** one tile covers all */
  max_level: number
  /**
   * States of a bucket, in order: running, runnable, syscall, sync, net, wait
   * (blocked otherwise; of a P or thread: held, looking for work), gc (mark
   * workers and assists; the cycles and pauses of gc and stw), unknown.
   */
  states: string[]
  /** those shown first: gc, stw, ps with its Ps, threads, groups, tasks, kernel with its CPUs */
  lanes: Lane[]
  /** where evidence was lost */
  damage: Gap[]
  /** Insights are the findings about groups of goroutines, to be drawn on their lanes. */
  insights: Insight[]
}

/** A Lane is a row of the timeline. */
export interface Lane {
  id: string
  /** "" at the top */
  parent: string
  /** gc, stw, ps, p, threads, m, groups, g, go, tasks, task, regions, samples, kernel, cpu */
  kind: string
  label: string
  /** file:line of a group's start function, … */
  detail: string
  /** of goroutines, threads, Ps, collections, tasks, samples in it */
  count: number
  /** lanes that it opens into */
  children: number
  /** time spent running; sorts */
  total_ns: number
  /** when it lives */
  from_ns: number
  to_ns: number
  /**
   * Peak is the most at once, for the height of the strip: 1 for a single
   * lane, goroutines for a group, Ps for ps, threads for threads, open ones for tasks,
   * CPUs for the kernel's samples. Each of these is drawn as the period of CPU time
   * that it stands for, before it: in user code as running, in the kernel as syscall.
   */
  peak: number
}

/** A Gap is a piece of time without trusted evidence. */
export interface Gap {
  from_ns: number
  to_ns: number
  why: string
}

/**
 * An Insight is where in the timeline a finding is: when a group was in a state at least half
 * as much as when it was most in it.
 */
export interface Insight {
  /** its place among the findings, from 1 */
  finding: number
  title: string
  remark: boolean
  group: string
  state: string
  /** at most 200 */
  windows: Gap[]
  /** Queue is what they wait for, lock or channel; "" where it is no such thing. */
  queue: string
}

/** Lanes are the rows that one opens into: GET api/timeline/lanes?r=&parent=&offset=&limit=&q=. */
export interface Lanes {
  lanes: Lane[]
  /** that match; Lanes is a page of them */
  total: number
  /** which are not listed, "" when all are */
  note: string
}

/**
 * Tiles are pictures of lanes: GET api/timeline/tiles?r=&level=&tile=&lanes=a,b,c
 * (at most 256 lanes; tile k of level L covers [k<<(L+8), (k+1)<<(L+8)) ns; level
 * from MinLevel to MaxLevel) answers application/octet-stream: a little-endian
 * uint32 with the length of a JSON head (this type), the head, then for each
 * lane of the head in order that has bytes (those that are not Empty, not Pending
 * and without Spans)
 * 256 × len(States) uint8 of shares (255 is the lane's Max; what is not 0 is at
 * least 1) in bucket-major order, and 256 uint8 of marks (bit 0: something rare
 * happened: a stopped world, a cycle's begin, a birth or an end of a single
 * goroutine; bit 1: a wait of this lane longer than 10 ms ended; bit 2: evidence
 * lost). A lane that is not known is left out of the head.
 *
 * No answer waits longer than about 100 ms for pieces of the trace that have to
 * be read again: lanes that need them come back Pending, to be asked for
 * again after a quarter of a second or so (with &wait=1 the answer waits).
 */
export interface Tiles {
  level: number
  tile: number
  lanes: TileLane[]
}

/** A TileLane is the head of a lane in Tiles. */
export interface TileLane {
  id: string
  /** what 255 stands for in this tile; see Lane.Peak for the scale of a whole lane */
  max: number
  /** nothing in the tile: no bytes follow */
  empty: boolean
  /** Pending lanes are being read: ask again. Done is how much is there, 0 to 1. No bytes follow. */
  pending: boolean
  done: number
  /**
   * Spans are the exact stretches, where they are few enough to be drawn one
   * by one (at most 512 in the tile) and the lane is a single one; no bytes follow.
   * They are not cut at the tile's edges. Marks are the moments of rare things in them.
   */
  spans: Span[]
  marks: number[]
}

/**
 * A Span is a stretch of time of one lane: a goroutine's state, a goroutine on a
 * P, a cycle, a pause.
 */
export interface Span {
  from_ns: number
  to_ns: number
  /** index in States, -1 for none (a P's idle time has no span) */
  state: number
  /** the runtime's word; kind of a range */
  reason: string
  goroutine: number
  group: string
  proc: number
  thread: number
}

/** A Moment is what one lane did at one time: GET api/timeline/at?r=&lane=&at=. */
export interface Moment {
  span: Span
  stack: Frame[]
  /**
   * Cause is who ended it or began it: whoever made the goroutine ready after a
   * wait; nil when nobody did or it is not known.
   * "what unblocked this"
   */
  woken: Edge | null
  /** Pending: the piece of the trace is being read, ask again; see Tiles. */
  pending: boolean
  /** Waker of the goroutine's run that went on at this moment. */
  waker: Edge | null
  /** one sentence */
  text: string
}

/** A Frame is one function of a stack, leaf first. */
export interface Frame {
  func: string
  file: string
  line: number
  /** own, dep, std, runtime, kernel */
  kind: string
}

/**
 * An Edge is a wake-up: GET api/timeline/edges?r=&from=&to=&lanes= answers Edges, at most
 * 2,000: those that ended the longest waits. With lanes only those from or to one of them.
 */
export interface Edge {
  at_ns: number
  /** goroutine; -1 for the runtime */
  waker: number
  waker_group: string
  woken: number
  woken_group: string
  /** how long it had waited */
  waited_ns: number
  /** how long it then waited for a P */
  ready_ns: number
  proc: number
  stack: Frame[]
}

/** Edges are the wake-ups of a window. */
export interface Edges {
  /** in order of time */
  edges: Edge[]
  /** in the window */
  total: number
  /** the window is too long: which piece these are from */
  partial: string
  /** ask again; see Tiles */
  pending: boolean
}

/**
 * Holds are who had what a finding's goroutines wait for, and who waited, in a window: GET
 * api/timeline/holds?r=&finding=&from=&to=, for an Insight with a Queue.
 */
export interface Holds {
  /** in order of time; the longest 1,000 */
  holds: Hold[]
  /** of them */
  total: number
  /** largest first, at most 8 */
  holders: Party[]
  /** the same, of waits that ended */
  waiters: Party[]
  /** the window is too long: which pieces this is of */
  partial: string
  /** ask again; see Tiles */
  pending: boolean
}

/**
 * A Hold is a stretch in which a goroutine had what others waited for. Where that is not sure
 * it was handed to somebody else when it began, and this one was quicker.
 */
export interface Hold {
  from_ns: number
  to_ns: number
  goroutine: number
  group: string
  /** it began at From; else not before */
  sure: boolean
}

/** A Party is goroutines of a group at one place. */
export interface Party {
  group: string
  /** where they gave it back, or waited */
  stack: Frame[]
  ns: number
  count: number
  /** of the holds, or of the waits */
  longest: Hold
}

/**
 * A Selection is what happened in a window: GET api/timeline/select?r=&from=&to=&lanes=
 * (no lanes: everything).
 */
export interface Selection {
  from_ns: number
  to_ns: number
  states: StateTotal[]
  /** where goroutines waited or were sampled, largest first, at most 50 */
  stacks: StackTotal[]
  /** who woke whom, most frequent first, at most 50 */
  wakers: Pair[]
  /** at most 50 */
  groups: GroupTotal[]
  /**
   * Partial is set when the window is too long for exact stacks and wakers:
   * states are exact, the rest is of the pieces named here.
   */
  partial: string
  /**
   * Pending: pieces of the trace are still being read; the states are right
   * already, the rest comes when asked again.
   */
  pending: boolean
  /**
   * Kernel is what the kernel's samples say, of everything and of their own
   * lanes; null without any.
   */
  kernel: KernelWindow | null
}

/** A StateTotal is goroutine time (or P time, for Ps) in one state. */
export interface StateTotal {
  state: string
  reason: string
  ns: number
  count: number
}

/** A StackTotal is time at one stack. */
export interface StackTotal {
  state: string
  ns: number
  count: number
  stack: Frame[]
}

/** A Pair is how often goroutines of one group woke those of another. */
export interface Pair {
  waker: string
  woken: string
  count: number
  /** waited in all */
  ns: number
  stack: Frame[]
}

/** A GroupTotal is one group's part of a window. */
export interface GroupTotal {
  group: string
  running_ns: number
  ready_ns: number
  waiting_ns: number
  /** goroutines */
  count: number
}

/** A KernelWindow sums the kernel's samples in a window. */
export interface KernelWindow {
  samples: number
  /** of them; the others were in user code */
  in_kernel: number
  /** CPU time that each stands for */
  period_ns: number
  /** what the kernel did, most frequent first, at most 50 */
  calls: KernelCall[]
  /** at most 25 whose state is kernel, then as many of user */
  stacks: StackTotal[]
}

/**
 * A KernelCall is what the kernel did for the program: a system call, a page
 * fault, an interrupt, or a function of the kernel where it is none of these.
 */
export interface KernelCall {
  name: string
  count: number
  ns: number
}

/**
 * Hits are what a search found: goroutines and moments that match a filter, like
 * `func:worker state:waiting reason:"chan receive" stack:ReadFile label:x dur>10ms id:17`.
 */
export interface Hits {
  hits: Hit[]
  /** that match */
  total: number
  /** what was searched, and which of the hits these are */
  note: string
  /** Pending: ask again with the same query; Done is how much was searched, 0 to 1. */
  pending: boolean
  done: number
}

/** A Hit is a place in the timeline: a goroutine, or a stretch of its time. */
export interface Hit {
  lane: string
  label: string
  from_ns: number
  to_ns: number
  text: string
}

/**
 * A Flame is a tree of stacks: GET api/flame?r=&kind=&group=&label=&from=&to=&min=&base=N
 * (from, to: a window of the trace; base: a run to compare with). Nodes are in columns, parents before children, the root first.
 */
export interface Flame {
  kind: string
  /** that this run has */
  kinds: FlameKind[]
  /** nanoseconds, bytes, count */
  unit: string
  total: number
  /** Names are the functions; Files and Kinds of them in the same order. */
  names: string[]
  files: string[]
  /** index in FrameKinds */
  func_kinds: number[]
  /**
   * Node columns.
   * -1 for the root
   */
  parent: number[]
  /** index in Names; -1 for the root */
  func: number[]
  /** where it called; 0 when not known */
  line: number[]
  self: number[]
  sum: number[]
  /** Sum in the base run; absent without one */
  base: number[]
  /** Left is what is not shown: too small, by the request's min or the limit of nodes. */
  left_nodes: number
  base_total: number
  /**
   * Ratio is what the base run was multiplied with to be comparable (per
   * operation or per second), and PerWhat the word for it.
   */
  ratio: number
  per_what: string
  /** how it was measured, and what it misses */
  note: string
  /** Groups are start functions that group= takes, largest first; the largest 500. */
  groups: string[]
  /** Labels are the pprof labels that label= takes, as "key=value", the same. */
  labels: string[]
}

/** A FlameKind is a tree that a run has. */
export interface FlameKind {
  /** cpu, offcpu, net, sync, syscall, sched, other, alloc_space, alloc_objects, inuse_space, inuse_objects, block, mutex, goroutine, kernel, states */
  kind: string
  unit: string
  total: number
}

/**
 * A Table is a page of rows: GET api/groups?r=&sort=&desc=&q= and
 * GET api/goroutines?r=&group=&sort=&desc=&q=&offset=&limit=. A cell is a number or a string.
 */
export interface Table {
  columns: Column[]
  rows: unknown[][]
  /** of each row, "" where there is none */
  links: string[]
  /** rows that match */
  total: number
  all: number
  /** of the rows that match */
  sums: unknown[]
  /** which were kept when not all were */
  note: string
}

/** Columns are of a table: its columns are named by keys of the catalogue of strings. */
export interface Column {
  /** "total", or "blocked:REASON" and "range:NAME" of what occurred */
  key: string
  /** ns, count, text, at (a moment; "" outside of the window), id */
  unit: string
}

/** Memory is what the memory is, and who holds it: GET api/memory?r=. */
export interface Memory {
  /** how the program was killed or died, and how old the evidence was; "" when it did not */
  ended: string
  /** of gowhy memory */
  rows: MemoryRow[]
  /** below them: what grows, and when a limit is reached */
  notes: string[]
  /** the parts over time; null where nothing was read twice */
  chart: Chart | null
  limits: Series[]
  /** null without a look at the heap */
  held: Held | null
  /** Missing are sources (proc, metrics, holders) that would say more. */
  missing: Refusal[]
}

/**
 * A MemoryRow is one of the account: what it is of (resident or taken, all, mapped, beside, limit,
 * heap, alloc), and how much. What is not known is null.
 */
export interface MemoryRow {
  name: string
  of: string
  value: number | null
  unit: string
  /** of all parts, or of a limit that is in use */
  share: number | null
  from: string
  /** bytes per second, with its 95% interval */
  growth: number | null
  growth_low: number | null
  growth_high: number | null
  headroom: number | null
  reached_seconds: number | null
}

/** A Chart is a picture with a common unit. Its name is a key of the catalogue. */
export interface Chart {
  /** heap, gc, goroutines, procs, runqueue, syscalls, cpu, latency, load, memory, threads, switches, machine, pressure */
  name: string
  /** bytes, ns, count, share, cores, per_second */
  unit: string
  /** series add up */
  stack: boolean
  source: string
  /** Thinned is set when more was measured than is sent: a smaller window has more. */
  thinned: boolean
  series: Series[]
}

/** A Series is a quantity over time. */
export interface Series {
  name: string
  at: number[]
  /** null is a gap */
  value: (number | null)[]
}

/** Held is who holds the heap, at one moment; growth is since a look before, null without one. */
export interface Held {
  /** since the window's start; -1 when not known */
  at_ns: number
  /** how long before the other look was; 0 without one */
  over_ns: number
  /** bytes, of which Objects are */
  reached: number
  objects: number
  /** bytes of objects whose type nothing tells */
  untyped: number
  /** it was interrupted: there is more */
  partial: boolean
  holders: Holder[]
  /** most first */
  types: HeldType[]
  garbage: MadeSum[]
  /** holders, below each the ways to what it holds */
  tree: Flame | null
  notes: string[]
}

/** A Holder is a variable, goroutines that do the same, or a list of the runtime's. */
export interface Holder {
  /** global, goroutines, timers, finalizers, runtime */
  kind: string
  name: string
  /** of goroutines */
  count: number
  objects: number
  bytes: number
  /** of them, what others reach, too */
  shared: number
  grew: number | null
  /** from itself to the most of what it holds */
  way: HeldStation[]
  /** what the tree calls it */
  in_tree: string
}

/** A HeldStation is a place on the way from a holder to objects. */
export interface HeldStation {
  name: string
  objects: number
  /** bytes, with all that is behind */
  retained: number
  /** the share in use, of strings, slices and maps */
  use: number | null
  /** the share of strings' bytes that is there at another place, too, at least */
  again: number | null
}

/** A HeldType is all objects of a type. */
export interface HeldType {
  name: string
  objects: number
  bytes: number
  grew: number | null
  /** who holds most of them; "" where that is not known */
  holder: string
  /** how much of them */
  holder_bytes: number
}

/** A MadeSum is what a place allocated of what is reached from nowhere, about. */
export interface MadeSum {
  place: string
  bytes: number
  /** of the garbage whose places are known */
  share: number
  /** that it rests on */
  samples: number
}

/** A Refusal is evidence that could not be had. */
export interface Refusal {
  source: string
  why: string
  how: string
}

/**
 * Runtime are the charts on one clock: GET api/runtime?r=&from=&to=. With from or
 * to only that window is in it, in more detail, and each line begins and ends with
 * its last point before the window and its first one after it. The charts and their
 * lines are the same for every window.
 */
export interface Runtime {
  /** the window that was asked for; 0 and 0 is all of the run */
  from_ns: number
  to_ns: number
  charts: Chart[]
  /** collections, at most 2,000, the longest; Why is the cycle's number */
  cycles: Gap[]
  /** the same of stops; Why is the kind */
  pauses: Gap[]
  /** of all of the run; null for a window */
  mmu: MMU | null
}

/**
 * An MMU is the minimum mutator utilization for window lengths; what the
 * collector takes is chosen by flags: GET api/mmu?r=&flags=&window= tells the
 * worst windows of one length.
 */
export interface MMU {
  window_ns: number[]
  util: number[]
  mean: number
  worst: Worst[]
  /** in force: stw, background, assist, sweep, perproc */
  flags: string[]
}

/** A Worst is a window in which the program had least of its Ps. */
export interface Worst {
  at_ns: number
  window_ns: number
  util: number
}

/** Tasks are user tasks and regions: GET api/tasks?r=. */
export interface Tasks {
  tasks: TaskType[]
  regions: RegionType[]
  logs: LogCount[]
}

/** A TaskType is all tasks of one name. */
export interface TaskType {
  name: string
  count: number
  open: number
  latency: Histogram
  /** slowest first */
  slow: Task[]
}

/** A Histogram is a distribution of durations. */
export interface Histogram {
  /** lower bound of each bucket that has something */
  low_ns: number[]
  high_ns: number[]
  counts: number[]
  p50_ns: number
  p90_ns: number
  p99_ns: number
  max_ns: number
  mean_ns: number
  n: number
}

/** A Task is one user task. GET api/task?r=&id= tells its own timeline: Regions and logs. */
export interface Task {
  /** decimal: larger than a float64's integers */
  id: string
  parent: string
  name: string
  from_ns: number
  /** -1 when it did not end */
  to_ns: number
  logs: number
  regions: TaskRegion[]
  lines: LogLine[]
  /** why regions or lines are missing, "" when none are */
  note: string
}

/** A TaskRegion is a region of a task. */
export interface TaskRegion {
  name: string
  goroutine: number
  from_ns: number
  to_ns: number
}

/** A LogLine is a user log. */
export interface LogLine {
  at_ns: number
  goroutine: number
  category: string
  message: string
}

/** A RegionType is all regions of one name, with what its goroutines did inside. */
export interface RegionType {
  name: string
  count: number
  open: number
  latency: Histogram
  states: StateTotal[]
}

/** A LogCount is how often a category was logged. */
export interface LogCount {
  category: string
  count: number
  example: string
}

/** A Derivation is one number of a finding with all that is known of it: GET api/number. */
export interface Derivation {
  fact: Fact
  /** the title of the finding that it is of */
  finding: string
  /** for each of Fact.Operands */
  operands: FactLink[]
  /** what was counted; they add up to Total */
  rows: Counted[]
  /** null for what was computed */
  total: number | null
  /** what shows it beside the number */
  pictures: Link[]
}

/** A Counted is one of the things that a number counts. */
export interface Counted {
  what: string
  value: number
  unit: Unit
  text: string
}

/** Marks are where in a tree is what a fact counts: GET api/flame/marks. */
export interface Marks {
  total: number
  /** of observations: samples, waits */
  count: number
  /** of the tree with the same parameters */
  nodes: number[]
  /** at each of these */
  sums: number[]
}

/**
 * Standings are what every goroutine stands at, at one moment: GET api/standing. With q only
 * the groups that have it in a function, in their state or in a label.
 */
export interface Standings {
  source: string
  /** since the window's start; -1 when not known */
  at_ns: number
  /** how long before it is known who made no step */
  watched_ns: number
  /** the runtime found that nobody can go on */
  dead: boolean
  /** goroutines */
  total: number
  /** of all of them, the most first */
  states: StandingState[]
  /** that stand alike, the most first */
  groups: StandingGroup[]
  /** groups that are not sent */
  left: number
  /** that somebody waits for: those of cycles first, then by how many wait */
  locks: StandingLock[]
  left_locks: number
}

/** A StandingState is how many goroutines are in a state. */
export interface StandingState {
  state: string
  count: number
}

/** A StandingGroup is goroutines with one stack and one state. */
export interface StandingGroup {
  id: number
  count: number
  state: string
  /** of the one that waits longest; 0 when not known */
  waited_ns: number
  /** the program's own on the stack, else the leaf */
  function: string
  place: string
  /** that they began with */
  root: string
  /** the leaf first */
  stack: string[]
  /** the number of one of them; 0 when not known */
  goroutine: number
  /** the lock they wait for, its id; 0 for none */
  wants: number
  /** locks that they hold */
  holds: number[]
  /** those of pprof that most of them have, with how many, like "12 route=/orders" */
  labels: string[]
}

/** A StandingLock is a lock with who waits for it and who holds it. */
export interface StandingLock {
  id: number
  name: string
  /** what the name is: source, receiver, caller, once */
  naming: string
  /** empty when not known */
  address: string
  /** goroutines */
  waiting: number
  longest_ns: number
  /** groups that wait, of which Waiters are the largest */
  kinds: number
  waiters: StandingWaiter[]
  /** some of them; of a read lock there may be many */
  holders: StandingHolder[]
  /** the number of the cycle that it is part of; 0 for none */
  cycle: number
}

/** A StandingWaiter is a group that waits for a lock. */
export interface StandingWaiter {
  group: number
  count: number
  function: string
  state: string
  waited_ns: number
}

/** A StandingHolder is a group that holds a lock, and what it does meanwhile. */
export interface StandingHolder {
  group: number
  count: number
  state: string
  function: string
  place: string
  waited_ns: number
  /** where the lock was taken */
  taken: string
  /** the lock that it waits for itself; 0 for none */
  wants: number
  shared: boolean
  /** source shows it */
  sure: boolean
}

/**
 * A SourceText is one function of a tree, line by line: GET
 * api/source?r=&kind=&group=&label=&from=&to=&fn=.
 */
export interface SourceText {
  func: string
  /** as the stacks name it */
  file: string
  /** of the file that was read; "" for none */
  path: string
  /** why there is no text */
  missing: string
  kind: string
  unit: string
  /** of the kind, which shares are of */
  total: number
  /** those that cost, and where there is text, the others of the function */
  lines: SourceLine[]
  note: string
}

/** A SourceLine is a line and what it costs. */
export interface SourceLine {
  number: number
  text: string
  self: number
  /** with all that it calls */
  sum: number
  /** what the compiler moved to the heap */
  escapes: string[]
}

/**
 * Compare is what changed: GET api/compare?a=&b= (runs), ?trial= (a saved result), or
 * ?trial=&with= (two of one kind).
 * Exactly one of the fields is there; their shapes are those that
 * `gowhy compare --json`, `verify --json`, `tune --json` and `capacity --json` write.
 */
export interface Compare {
  comparison: unknown
  trial: unknown
  tune: unknown
  capacity: unknown
}

/** Sources are what was recorded: GET api/sources?r=. */
export interface Sources {
  members: Member[]
  refused: Refusal[]
  /** of coverage: what was lost */
  notes: string[]
  command: string
  build: KeyValue[]
  exports: Export[]
  tools: Tool[]
}

/** A Member is one piece of evidence. */
export interface Member {
  name: string
  bytes: number
  /** in words */
  what: string
  /** path of a download, "" where there is none */
  get: string
}

/** A KeyValue is a fact of the build. */
export interface KeyValue {
  key: string
  value: string
}

/** An Export is a download: GET api/export?r=&format=&profile=&table=&group=. */
export interface Export {
  format: string
  doc: string
  /** for formats that hold one; those that this run has */
  profiles: string[]
  tables: string[]
  ext: string
}

/**
 * A Tool is another viewer, opened in a tab of its own: its page is a process or
 * a folder of its own, and none of ours.
 */
export interface Tool {
  /** pprof */
  name: string
  path: string
  /** why it is not there */
  why: string
}

/**
 * An Upload is what files became that were dropped on the page: POST api/upload
 * with multipart/form-data, one part for each file, each with its filename. All
 * of it is one drop: loose files of one run make one run, every recording makes
 * its own. The answer comes when they have been read; what cannot be read is an
 * error of the usual form. One file can also be the body itself, its name in ?name=.
 */
export interface Upload {
  /** indices in Session.Runs */
  runs: number[]
  /** indices in Session.Trials */
  trials: number[]
}

/** A Failure is the body of every answer that is none. */
export interface Failure {
  error: string
  hint: string
}

/**
 * LiveNews is what is new of one program that runs: the events of GET api/live?pid=
 * (text/event-stream; without pid, of the first of Programs). The first event has all
 * that is kept, some 15 minutes, each later one what came since. A browser that
 * lost the connection names the last event that it had, and gets what came since.
 * Moments are milliseconds since 1970, rates are by second, CPU is in cores, and a
 * number is negative where it is not known.
 */
export interface LiveNews {
  at_ms: number
  /** Points and Groups are all there are: what the page had is to be forgotten */
  whole: boolean
  /** that are watched, busiest first */
  programs: LiveProgram[]
  /** that this is about; null when there is none */
  program: LiveProgram | null
  /** it does not run any more */
  ended: boolean
  /** in the order of time */
  points: LivePoint[]
  /**
   * Groups are names for LivePoint.Groups. The first of them has the number GroupsFrom;
   * those before it were sent already.
   */
  groups: LiveGroup[]
  groups_from: number
  verdict: LiveVerdict
  /** recordings that are kept, in the order of time */
  pieces: LivePiece[]
  machine: LiveMachine
  cost: LiveCost
  /** as they are now, most first */
  goroutines: LiveGoroutine[]
  /** why Goroutines cannot be read, "" when they can */
  unread: string
  unread_hint: string
}

/** A LiveProgram is a program that is watched. */
export interface LiveProgram {
  pid: number
  /** path of its main package, or its command */
  name: string
  /** of its module */
  version: string
  go: string
  /** with its arguments */
  command: string
  user: string
  up_ms: number
  cores: number
  /** in one line; "" until it is known */
  verdict: string
  /** Restarts is how often the same program was seen to begin again with another number. */
  restarts: number
}

/** A Point is what a program did at one moment. What is not known is negative. */
export interface LivePoint {
  at_ms: number
  /** another one after a restart */
  pid: number
  user: number
  system: number
  /** threads that could run and had no CPU */
  waiting: number
  /** how long a thread had none, each time */
  wait_ns: number
  /** share of the time in which its quota was used up */
  throttled: number
  /** GOMAXPROCS */
  procs: number
  busy_procs: number
  threads: number
  /** goroutines */
  running: number
  runnable: number
  syscall: number
  blocked: number
  heap_live: number
  heap_goal: number
  rss: number
  /** pages that several processes use are divided among these; of a program that is attended */
  pss: number
  /** swapped out, divided in the same way */
  swap: number
  gcs: number
  /** of the CPU time there was */
  gc_share: number
  voluntary: number
  involuntary: number
  /**
   * Groups are the largest groups of goroutines: a number, then how many, and so
   * on. Those that are not among them are the rest of all goroutines.
   */
  groups: number[]
}

/**
 * A GroupName is what tells one group of goroutines from others in a picture: that they
 * began at one function and are in one state.
 */
export interface LiveGroup {
  function: string
  /** running, runnable, syscall, waiting, … */
  state: string
  reason: string
}

/** A LiveVerdict is what was found wrong with it. */
export interface LiveVerdict {
  /** "" until it was judged */
  line: string
  /** how often */
  judged: number
  /** the last time; 0 for never */
  at_ms: number
  /** those that are there, first; then those that went */
  findings: LiveFinding[]
  unchecked: string[]
}

/** A LiveFinding is one that pieces of time have or had. */
export interface LiveFinding {
  rule: string
  title: string
  summary: string
  where: string
  gain: string
  confidence: string
  remark: boolean
  since_ms: number
  /** the last piece that had it */
  last_ms: number
  /** when it went; 0 while it is there */
  until_ms: number
}

/** A LivePiece is a recording of some seconds. */
export interface LivePiece {
  from_ms: number
  to_ms: number
  traced: boolean
}

/** A LiveMachine is what all processes do. */
export interface LiveMachine {
  cpus: number
  busy: number
  steal: number
  /** share of the time in which somebody waited */
  cpu_pressure: number
}

/** A LiveCost is what watching takes of a CPU. */
export interface LiveCost {
  cores: number
  budget: number
  every_ms: number
}

/** A LiveGoroutine is a group of goroutines as it is now. */
export interface LiveGoroutine {
  function: string
  state: string
  reason: string
  count: number
  /** by minute */
  growth: number
  /** how long at least one has been so */
  oldest_ms: number
  /** function:line */
  creator: string
  /** of the oldest, function:line */
  where: string
  /** those of pprof that most of them have, with how many, like "12 route=/orders" */
  labels: string[]
}

/**
 * A LiveFlame is a tree of the pieces that meet a window: GET
 * api/live/flame?pid=&kind=&from=&to= (milliseconds since 1970; without kind the
 * first one that there is, without a window the last 30 s). Tree.Kinds are kernel and
 * offcpu; of no piece there is no tree.
 */
export interface LiveFlame {
  /** of the pieces that are in it */
  from_ms: number
  to_ms: number
  pieces: number
  tree: Flame | null
  /** Why says why the pieces have no samples, and Hint what to do; "" when they have. */
  why: string
  hint: string
}

/**
 * A LiveMemory is what the memory of a program is at the end of the last piece that meets a window:
 * GET api/live/memory?pid=&from=&to=. Without a piece it has no rows.
 */
export interface LiveMemory {
  at_ms: number
  rows: MemoryRow[]
  notes: string[]
}

/**
 * A LiveKept is a recording that was made of a window: POST
 * api/live/keep?pid=&from=&to=. It is a run of the page from then on.
 */
export interface LiveKept {
  /** index in Session.Runs */
  run: number
  /** where it was written */
  path: string
  from_ms: number
  to_ms: number
}

/**
 * A LiveAsked answers POST api/live/trace?pid=: the next piece has an execution
 * trace, if the program has an endpoint.
 */
export interface LiveAsked {
  note: string
}

/** Whose a function is, in the order of Flame.func_kinds. */
export const FrameKinds = ['own', 'dep', 'std', 'runtime', 'kernel'] as const

/** The states of goroutines, Ps and threads: internal/know/model has them. */
export const States = [
  { word: 'running', name: 'running', letter: 'R', reasons: [] },
  { word: 'runnable', name: 'runnable', letter: 'Q', reasons: [] },
  { word: 'syscall', name: 'syscall', letter: 'S', reasons: [] },
  { word: 'sync', name: 'lock/channel', letter: 'L', reasons: ['chan', 'select', 'sync', 'semacquire'] },
  { word: 'net', name: 'network', letter: 'N', reasons: ['network', 'IO wait'] },
  { word: 'wait', name: 'other wait', letter: 'W', reasons: [] },
  { word: 'gc', name: 'collector', letter: 'G', reasons: [] },
  { word: 'unknown', name: 'unknown', letter: '?', reasons: [] },
] as const
