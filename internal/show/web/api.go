package web

import (
	"encoding/json"

	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// The contract between the server and the page. Every path is below the
// token's, every answer JSON unless said otherwise, times nanoseconds since the
// window's start, and an error {"error": "what", "hint": "what to do"} with its
// status. ui/src/api.ts is made from these types (go test ./internal/show/web -run
// TestTypes -update), so that page and server cannot disagree.

// A Session is what is open: GET api/session. With ?since=CHANGE the answer waits
// for something that the session with this change did not say, a second at most.
type Session struct {
	Version string  `json:"version"`
	Runs    []Run   `json:"runs"`
	Trials  []Trial `json:"trials"`
	// Static is set in a report file: what is not in it cannot be asked for.
	Static bool `json:"static"`
	// Live is set when programs are watched while they run: there is a live screen.
	Live bool `json:"live"`
	// Loading says what is still being read, "" when everything is.
	Loading string `json:"loading"`
	// Change is another one when runs or trials are.
	Change int64 `json:"change"`
}

// A Run is one run of one program: r in all queries is its index.
type Run struct {
	Name       string   `json:"name"`
	Program    string   `json:"program"` // its main package; "" when not known
	Go         string   `json:"go"`
	Start      string   `json:"start"` // RFC 3339; "" when not known
	DurationNS int64    `json:"duration_ns"`
	Procs      int      `json:"procs"`
	Files      []string `json:"files"`
	Verdict    string   `json:"verdict"`
	Summary    string   `json:"summary"`
	// Screens are those that have something to show: findings, timeline, flame,
	// goroutines, memory, runtime, tasks, sources.
	Screens []string `json:"screens"`
	// Together are the runs that are recordings of the same thing, itself among them: they
	// can be judged as one. Empty where there is no other.
	Together []int `json:"together"`
	// Again is a command that records the program once more, or the help of record where
	// nothing tells what it is.
	Again string `json:"again"`
	Error string `json:"error"` // why it could not be read
	Hint  string `json:"hint"`
	// Loading is set while it is being read: requests about it are answered when that is
	// done.
	Loading bool `json:"loading"`
}

// A Trial is a saved result of verify, tune or capacity, for the compare screen.
type Trial struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // verify, tune, capacity, comparison
	Summary string `json:"summary"`
}

// Findings are a run's diagnosis: GET api/findings?r=.
type Findings struct {
	Diagnosis *diagnosis.Diagnosis `json:"diagnosis"`
	// Links of each finding, in the order of Diagnosis.Findings.
	Links []FindingLinks `json:"links"`
	// Accounts are the links of each of Diagnosis.Accounts: Evidence and Where are those
	// of its rows.
	Accounts []FindingLinks `json:"accounts"`
	// Record is a command for each unchecked question that has one is already
	// in Diagnosis.Unchecked.
}

// Together is what several recordings of one program say as one: GET api/together?runs=,
// a list of Run.Together.
type Together struct {
	Runs     []int    `json:"runs"`     // of each of Diagnosis.Runs
	Of       []int    `json:"of"`       // for each finding the run whose figures it shows
	Findings Findings `json:"findings"` // whose links all name their run
}

// FindingLinks lead from a finding to its evidence. A link is a place in the page,
// "screen?query"; that of a number carries its address as fact, and the screen marks
// what was counted.
type FindingLinks struct {
	Evidence []FactLink     `json:"evidence"` // for each of Finding.Evidence
	Where    []string       `json:"where"`    // for each of Finding.Where
	Source   []string       `json:"source"`   // for each of Finding.Where: its line in the source; "" where no stack has the function
	Cost     FactLink       `json:"cost"`
	Bound    FactLink       `json:"bound"`
	More     []Link         `json:"more"` // whole screens: its timeline, its goroutines, its flame graph
	Symptoms []FindingLinks `json:"symptoms"`
}

// A FactLink is where the page shows a number, and those that it was computed from.
type FactLink struct {
	To       string     `json:"to"`
	Operands []FactLink `json:"operands"`
}

// A Derivation is one number of a finding with all that is known of it: GET api/number.
type Derivation struct {
	Fact     fact.Fact  `json:"fact"`
	Finding  string     `json:"finding"`  // the title of the finding that it is of
	Operands []FactLink `json:"operands"` // for each of Fact.Operands
	Rows     []Counted  `json:"rows"`     // what was counted; they add up to Total
	Total    *float64   `json:"total"`    // null for what was computed
	Pictures []Link     `json:"pictures"` // what shows it beside the number
}

// A Counted is one of the things that a number counts.
type Counted struct {
	What  string    `json:"what"`
	Value float64   `json:"value"`
	Unit  fact.Unit `json:"unit"`
	Text  string    `json:"text"`
}

// Standings are what every goroutine stands at, at one moment: GET api/standing. With q only
// the groups that have it in a function, in their state or in a label.
type Standings struct {
	Source    string          `json:"source"`
	AtNS      int64           `json:"at_ns"`      // since the window's start; -1 when not known
	WatchedNS int64           `json:"watched_ns"` // how long before it is known who made no step
	Dead      bool            `json:"dead"`       // the runtime found that nobody can go on
	Total     int64           `json:"total"`      // goroutines
	States    []StandingState `json:"states"`     // of all of them, the most first
	Groups    []StandingGroup `json:"groups"`     // that stand alike, the most first
	Left      int             `json:"left"`       // groups that are not sent
	Locks     []StandingLock  `json:"locks"`      // that somebody waits for: those of cycles first, then by how many wait
	LeftLocks int             `json:"left_locks"`
}

// A StandingState is how many goroutines are in a state.
type StandingState struct {
	State string `json:"state"`
	Count int64  `json:"count"`
}

// A StandingGroup is goroutines with one stack and one state.
type StandingGroup struct {
	ID        int      `json:"id"`
	Count     int64    `json:"count"`
	State     string   `json:"state"`
	WaitedNS  int64    `json:"waited_ns"` // of the one that waits longest; 0 when not known
	Function  string   `json:"function"`  // the program's own on the stack, else the leaf
	Place     string   `json:"place"`
	Root      string   `json:"root"`      // that they began with
	Stack     []string `json:"stack"`     // the leaf first
	Goroutine int64    `json:"goroutine"` // the number of one of them; 0 when not known
	Wants     int      `json:"wants"`     // the lock they wait for, its id; 0 for none
	Holds     []int    `json:"holds"`     // locks that they hold
	Labels    []string `json:"labels"`    // those of pprof that most of them have, with how many, like "12 route=/orders"
}

// A StandingLock is a lock with who waits for it and who holds it.
type StandingLock struct {
	ID        int              `json:"id"`
	Name      string           `json:"name"`
	Naming    string           `json:"naming"`  // what the name is: source, receiver, caller, once
	Address   string           `json:"address"` // empty when not known
	Waiting   int64            `json:"waiting"` // goroutines
	LongestNS int64            `json:"longest_ns"`
	Kinds     int              `json:"kinds"` // groups that wait, of which Waiters are the largest
	Waiters   []StandingWaiter `json:"waiters"`
	Holders   []StandingHolder `json:"holders"` // some of them; of a read lock there may be many
	Cycle     int              `json:"cycle"`   // the number of the cycle that it is part of; 0 for none
}

// A StandingWaiter is a group that waits for a lock.
type StandingWaiter struct {
	Group    int    `json:"group"`
	Count    int64  `json:"count"`
	Function string `json:"function"`
	State    string `json:"state"`
	WaitedNS int64  `json:"waited_ns"`
}

// A StandingHolder is a group that holds a lock, and what it does meanwhile.
type StandingHolder struct {
	Group    int    `json:"group"`
	Count    int64  `json:"count"`
	State    string `json:"state"`
	Function string `json:"function"`
	Place    string `json:"place"`
	WaitedNS int64  `json:"waited_ns"`
	Taken    string `json:"taken"` // where the lock was taken
	Wants    int    `json:"wants"` // the lock that it waits for itself; 0 for none
	Shared   bool   `json:"shared"`
	Sure     bool   `json:"sure"` // source shows it
}

// Marks are where in a tree is what a fact counts: GET api/flame/marks.
type Marks struct {
	Total int64   `json:"total"`
	Count int64   `json:"count"` // of observations: samples, waits
	Nodes []int32 `json:"nodes"` // of the tree with the same parameters
	Sums  []int64 `json:"sums"`  // at each of these
}

// A Link is a place in the page.
type Link struct {
	Title string `json:"title"` // key of the catalogue of strings: "link.timeline", "link.goroutines", "link.flame", "link.memory", "link.runtime", "link.tasks"
	To    string `json:"to"`
}

// A Timeline is what can be drawn: GET api/timeline?r=.
type Timeline struct {
	DurationNS int64 `json:"duration_ns"`
	MinLevel   int   `json:"min_level"` // finest level with tiles; below it spans are drawn
	MaxLevel   int   `json:"max_level"` // one tile covers all
	// States of a bucket, in order: running, runnable, syscall, sync, net, wait
	// (blocked otherwise; of a P or thread: held, looking for work), gc (mark
	// workers and assists; the cycles and pauses of gc and stw), unknown.
	States []string        `json:"states"`
	Lanes  []timeline.Lane `json:"lanes"`  // those shown first: gc, stw, ps with its Ps, threads, groups, tasks, kernel with its CPUs
	Damage []Gap           `json:"damage"` // where evidence was lost
	// Insights are the findings about groups of goroutines, to be drawn on their lanes.
	Insights []Insight `json:"insights"`
}

// An Insight is where in the timeline a finding is: when a group was in a state at least half
// as much as when it was most in it.
type Insight struct {
	Finding int    `json:"finding"` // its place among the findings, from 1
	Title   string `json:"title"`
	Remark  bool   `json:"remark"`
	Group   string `json:"group"`
	State   string `json:"state"`
	Windows []Gap  `json:"windows"` // at most 200
	// Queue is what they wait for, lock or channel; "" where it is no such thing.
	Queue string `json:"queue"`
}

// Holds are who had what a finding's goroutines wait for, and who waited, in a window: GET
// api/timeline/holds?r=&finding=&from=&to=, for an Insight with a Queue.
type Holds struct {
	Holds   []timeline.Hold `json:"holds"`   // in order of time; the longest 1,000
	Total   int             `json:"total"`   // of them
	Holders []Party         `json:"holders"` // largest first, at most 8
	Waiters []Party         `json:"waiters"` // the same, of waits that ended
	Partial string          `json:"partial"` // the window is too long: which pieces this is of
	Pending bool            `json:"pending"` // ask again; see Tiles
}

// A Party is goroutines of a group at one place.
type Party struct {
	Group   string        `json:"group"`
	Stack   []Frame       `json:"stack"` // where they gave it back, or waited
	NS      int64         `json:"ns"`
	Count   int64         `json:"count"`
	Longest timeline.Hold `json:"longest"` // of the holds, or of the waits
}

// Lanes are the rows that one opens into: GET api/timeline/lanes?r=&parent=&offset=&limit=&q=.
type Lanes struct {
	Lanes []timeline.Lane `json:"lanes"`
	Total int             `json:"total"` // that match; Lanes is a page of them
	Note  string          `json:"note"`  // which are not listed, "" when all are
}

// A Gap is a piece of time without trusted evidence.
type Gap struct {
	FromNS int64  `json:"from_ns"`
	ToNS   int64  `json:"to_ns"`
	Why    string `json:"why"`
}

// Tiles are pictures of lanes: GET api/timeline/tiles?r=&level=&tile=&lanes=a,b,c
// (at most 256 lanes; tile k of level L covers [k<<(L+8), (k+1)<<(L+8)) ns; level
// from MinLevel to MaxLevel) answers application/octet-stream: a little-endian
// uint32 with the length of a JSON head (this type), the head, then for each
// lane of the head in order that has bytes (those that are not Empty, not Pending
// and without Spans)
// 256 × len(States) uint8 of shares (255 is the lane's Max; what is not 0 is at
// least 1) in bucket-major order, and 256 uint8 of marks (bit 0: something rare
// happened: a stopped world, a cycle's begin, a birth or an end of a single
// goroutine; bit 1: a wait of this lane longer than 10 ms ended; bit 2: evidence
// lost). A lane that is not known is left out of the head.
//
// No answer waits longer than about 100 ms for pieces of the trace that have to
// be read again: lanes that need them come back Pending, to be asked for
// again after a quarter of a second or so (with &wait=1 the answer waits).
type Tiles struct {
	Level int        `json:"level"`
	Tile  int64      `json:"tile"`
	Lanes []TileLane `json:"lanes"`
}

// A TileLane is the head of a lane in Tiles.
type TileLane struct {
	ID    string  `json:"id"`
	Max   float64 `json:"max"`   // what 255 stands for in this tile; see Lane.Peak for the scale of a whole lane
	Empty bool    `json:"empty"` // nothing in the tile: no bytes follow
	// Pending lanes are being read: ask again. Done is how much is there, 0 to 1. No bytes follow.
	Pending bool    `json:"pending"`
	Done    float64 `json:"done"`
	// Spans are the exact stretches, where they are few enough to be drawn one
	// by one (at most 512 in the tile) and the lane is a single one; no bytes follow.
	// They are not cut at the tile's edges. Marks are the moments of rare things in them.
	Spans []Span  `json:"spans"`
	Marks []int64 `json:"marks"`
}

// A Span is a stretch of time of one lane: a goroutine's state, a goroutine on a
// P, a cycle, a pause.
type Span struct {
	FromNS    int64  `json:"from_ns"`
	ToNS      int64  `json:"to_ns"`
	State     int    `json:"state"`  // index in States, -1 for none (a P's idle time has no span)
	Reason    string `json:"reason"` // the runtime's word; kind of a range
	Goroutine int64  `json:"goroutine"`
	Group     string `json:"group"`
	Proc      int    `json:"proc"`
	Thread    int64  `json:"thread"`
}

// A Moment is what one lane did at one time: GET api/timeline/at?r=&lane=&at=.
type Moment struct {
	Span  Span    `json:"span"`
	Stack []Frame `json:"stack"`
	// Cause is who ended it or began it: whoever made the goroutine ready after a
	// wait; nil when nobody did or it is not known.
	Woken *Edge `json:"woken"` // "what unblocked this"
	// Pending: the piece of the trace is being read, ask again; see Tiles.
	Pending bool `json:"pending"`
	// Waker of the goroutine's run that went on at this moment.
	Waker *Edge  `json:"waker"`
	Text  string `json:"text"` // one sentence
}

// An Edge is a wake-up: GET api/timeline/edges?r=&from=&to=&lanes= answers Edges, at most
// 2,000: those that ended the longest waits. With lanes only those from or to one of them.
type Edge struct {
	AtNS       int64   `json:"at_ns"`
	Waker      int64   `json:"waker"` // goroutine; -1 for the runtime
	WakerGroup string  `json:"waker_group"`
	Woken      int64   `json:"woken"`
	WokenGroup string  `json:"woken_group"`
	WaitedNS   int64   `json:"waited_ns"` // how long it had waited
	ReadyNS    int64   `json:"ready_ns"`  // how long it then waited for a P
	Proc       int     `json:"proc"`
	Stack      []Frame `json:"stack"`
}

// Edges are the wake-ups of a window.
type Edges struct {
	Edges   []Edge `json:"edges"`   // in order of time
	Total   int    `json:"total"`   // in the window
	Partial string `json:"partial"` // the window is too long: which piece these are from
	Pending bool   `json:"pending"` // ask again; see Tiles
}

// A Frame is one function of a stack, leaf first.
type Frame struct {
	Func string `json:"func"`
	File string `json:"file"`
	Line int    `json:"line"`
	Kind string `json:"kind"` // own, dep, std, runtime, kernel
}

// A Selection is what happened in a window: GET api/timeline/select?r=&from=&to=&lanes=
// (no lanes: everything).
type Selection struct {
	FromNS int64                 `json:"from_ns"`
	ToNS   int64                 `json:"to_ns"`
	States []StateTotal          `json:"states"`
	Stacks []StackTotal          `json:"stacks"` // where goroutines waited or were sampled, largest first, at most 50
	Wakers []Pair                `json:"wakers"` // who woke whom, most frequent first, at most 50
	Groups []timeline.GroupTotal `json:"groups"` // at most 50
	// Partial is set when the window is too long for exact stacks and wakers:
	// states are exact, the rest is of the pieces named here.
	Partial string `json:"partial"`
	// Pending: pieces of the trace are still being read; the states are right
	// already, the rest comes when asked again.
	Pending bool `json:"pending"`
	// Kernel is what the kernel's samples say, of everything and of their own
	// lanes; null without any.
	Kernel *KernelWindow `json:"kernel"`
}

// A KernelWindow sums the kernel's samples in a window.
type KernelWindow struct {
	Samples  int64        `json:"samples"`
	InKernel int64        `json:"in_kernel"` // of them; the others were in user code
	PeriodNS int64        `json:"period_ns"` // CPU time that each stands for
	Calls    []KernelCall `json:"calls"`     // what the kernel did, most frequent first, at most 50
	Stacks   []StackTotal `json:"stacks"`    // at most 25 whose state is kernel, then as many of user
}

// A KernelCall is what the kernel did for the program: a system call, a page
// fault, an interrupt, or a function of the kernel where it is none of these.
type KernelCall struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
	NS    int64  `json:"ns"`
}

// A StateTotal is goroutine time (or P time, for Ps) in one state.
type StateTotal struct {
	State  string `json:"state"`
	Reason string `json:"reason"`
	NS     int64  `json:"ns"`
	Count  int64  `json:"count"`
}

// A StackTotal is time at one stack.
type StackTotal struct {
	State string  `json:"state"`
	NS    int64   `json:"ns"`
	Count int64   `json:"count"`
	Stack []Frame `json:"stack"`
}

// A Pair is how often goroutines of one group woke those of another.
type Pair struct {
	Waker string  `json:"waker"`
	Woken string  `json:"woken"`
	Count int64   `json:"count"`
	NS    int64   `json:"ns"` // waited in all
	Stack []Frame `json:"stack"`
}

// GET api/timeline/search?r=&q=&limit= answers [timeline.Hits]; with from= and to= of that window
// only.

// A Flame is a tree of stacks: GET api/flame?r=&kind=&group=&label=&from=&to=&min=&base=N
// (from, to: a window of the trace; base: a run to compare with). Nodes are in columns, parents before children, the root first.
type Flame struct {
	Kind  string      `json:"kind"`
	Kinds []FlameKind `json:"kinds"` // that this run has
	Unit  string      `json:"unit"`  // nanoseconds, bytes, count
	Total int64       `json:"total"`
	// Names are the functions; Files and Kinds of them in the same order.
	Names     []string `json:"names"`
	Files     []string `json:"files"`
	FuncKinds []int    `json:"func_kinds"` // index in FrameKinds
	// Node columns.
	Parent []int32 `json:"parent"` // -1 for the root
	Func   []int32 `json:"func"`   // index in Names; -1 for the root
	Line   []int32 `json:"line"`   // where it called; 0 when not known
	Self   []int64 `json:"self"`
	Sum    []int64 `json:"sum"`
	Base   []int64 `json:"base"` // Sum in the base run; absent without one
	// Left is what is not shown: too small, by the request's min or the limit of nodes.
	LeftNodes int   `json:"left_nodes"`
	BaseTotal int64 `json:"base_total"`
	// Ratio is what the base run was multiplied with to be comparable (per
	// operation or per second), and PerWhat the word for it.
	Ratio   float64 `json:"ratio"`
	PerWhat string  `json:"per_what"`
	Note    string  `json:"note"` // how it was measured, and what it misses
	// Groups are start functions that group= takes, largest first; the largest 500.
	Groups []string `json:"groups"`
	// Labels are the pprof labels that label= takes, as "key=value", the same.
	Labels []string `json:"labels"`
}

// A SourceText is one function of a tree, line by line: GET
// api/source?r=&kind=&group=&label=&from=&to=&fn=.
type SourceText struct {
	Func    string       `json:"func"`
	File    string       `json:"file"`    // as the stacks name it
	Path    string       `json:"path"`    // of the file that was read; "" for none
	Missing string       `json:"missing"` // why there is no text
	Kind    string       `json:"kind"`
	Unit    string       `json:"unit"`
	Total   int64        `json:"total"` // of the kind, which shares are of
	Lines   []SourceLine `json:"lines"` // those that cost, and where there is text, the others of the function
	Note    string       `json:"note"`
}

// A SourceLine is a line and what it costs.
type SourceLine struct {
	Number  int      `json:"number"`
	Text    string   `json:"text"`
	Self    int64    `json:"self"`
	Sum     int64    `json:"sum"`     // with all that it calls
	Escapes []string `json:"escapes"` // what the compiler moved to the heap
}

// FrameKinds are whose a function is, in the order of Flame.FuncKinds.
var FrameKinds = []string{"own", "dep", "std", "runtime", "kernel"}

// A FlameKind is a tree that a run has.
type FlameKind struct {
	Kind  string `json:"kind"` // cpu, offcpu, net, sync, syscall, sched, other, alloc_space, alloc_objects, inuse_space, inuse_objects, block, mutex, goroutine, kernel, states
	Unit  string `json:"unit"`
	Total int64  `json:"total"`
}

// Columns are of a table: its columns are named by keys of the catalogue of strings.
type Column struct {
	Key  string `json:"key"`  // "total", or "blocked:REASON" and "range:NAME" of what occurred
	Unit string `json:"unit"` // ns, count, text, at (a moment; "" outside of the window), id
}

// A Table is a page of rows: GET api/groups?r=&sort=&desc=&q= and
// GET api/goroutines?r=&group=&sort=&desc=&q=&offset=&limit=. A cell is a number or a string.
type Table struct {
	Columns []Column            `json:"columns"`
	Rows    [][]json.RawMessage `json:"rows"`
	Links   []string            `json:"links"` // of each row, "" where there is none
	Total   int                 `json:"total"` // rows that match
	All     int                 `json:"all"`
	Sums    []json.RawMessage   `json:"sums"` // of the rows that match
	Note    string              `json:"note"` // which were kept when not all were
}

// Runtime are the charts on one clock: GET api/runtime?r=&from=&to=. With from or
// to only that window is in it, in more detail, and each line begins and ends with
// its last point before the window and its first one after it. The charts and their
// lines are the same for every window.
type Runtime struct {
	FromNS int64   `json:"from_ns"` // the window that was asked for; 0 and 0 is all of the run
	ToNS   int64   `json:"to_ns"`
	Charts []Chart `json:"charts"`
	Cycles []Gap   `json:"cycles"` // collections, at most 2,000, the longest; Why is the cycle's number
	Pauses []Gap   `json:"pauses"` // the same of stops; Why is the kind
	MMU    *MMU    `json:"mmu"`    // of all of the run; null for a window
}

// A Chart is a picture with a common unit. Its name is a key of the catalogue.
type Chart struct {
	Name   string `json:"name"`  // heap, gc, goroutines, procs, runqueue, syscalls, cpu, latency, load, memory, threads, switches, machine, pressure
	Unit   string `json:"unit"`  // bytes, ns, count, share, cores, per_second
	Stack  bool   `json:"stack"` // series add up
	Source string `json:"source"`
	// Thinned is set when more was measured than is sent: a smaller window has more.
	Thinned bool     `json:"thinned"`
	Series  []Series `json:"series"`
}

// A Series is a quantity over time.
type Series struct {
	Name  string     `json:"name"`
	At    []int64    `json:"at"`
	Value []*float64 `json:"value"` // null is a gap
}

// An MMU is the minimum mutator utilization for window lengths; what the
// collector takes is chosen by flags: GET api/mmu?r=&flags=&window= tells the
// worst windows of one length.
type MMU struct {
	WindowNS []int64   `json:"window_ns"`
	Util     []float64 `json:"util"`
	Mean     float64   `json:"mean"`
	Worst    []Worst   `json:"worst"`
	Flags    []string  `json:"flags"` // in force: stw, background, assist, sweep, perproc
}

// A Worst is a window in which the program had least of its Ps.
type Worst struct {
	AtNS     int64   `json:"at_ns"`
	WindowNS int64   `json:"window_ns"`
	Util     float64 `json:"util"`
}

// Memory is what the memory is, and who holds it: GET api/memory?r=.
type Memory struct {
	Ended  string      `json:"ended"` // how the program was killed or died, and how old the evidence was; "" when it did not
	Rows   []MemoryRow `json:"rows"`  // of gowhy memory
	Notes  []string    `json:"notes"` // below them: what grows, and when a limit is reached
	Chart  *Chart      `json:"chart"` // the parts over time; null where nothing was read twice
	Limits []Series    `json:"limits"`
	Held   *Held       `json:"held"` // null without a look at the heap
	// Missing are sources (proc, metrics, holders) that would say more.
	Missing []Refusal `json:"missing"`
}

// A MemoryRow is one of the account: what it is of (resident or taken, all, mapped, beside, limit,
// heap, alloc), and how much. What is not known is null.
type MemoryRow struct {
	Name           string   `json:"name"`
	Of             string   `json:"of"`
	Value          *float64 `json:"value"`
	Unit           string   `json:"unit"`
	Share          *float64 `json:"share"` // of all parts, or of a limit that is in use
	From           string   `json:"from"`
	Growth         *float64 `json:"growth"` // bytes per second, with its 95% interval
	GrowthLow      *float64 `json:"growth_low"`
	GrowthHigh     *float64 `json:"growth_high"`
	Headroom       *float64 `json:"headroom"`
	ReachedSeconds *float64 `json:"reached_seconds"`
}

// Held is who holds the heap, at one moment; growth is since a look before, null without one.
type Held struct {
	AtNS    int64      `json:"at_ns"`   // since the window's start; -1 when not known
	OverNS  int64      `json:"over_ns"` // how long before the other look was; 0 without one
	Reached int64      `json:"reached"` // bytes, of which Objects are
	Objects int64      `json:"objects"`
	Untyped int64      `json:"untyped"` // bytes of objects whose type nothing tells
	Partial bool       `json:"partial"` // it was interrupted: there is more
	Holders []Holder   `json:"holders"`
	Types   []HeldType `json:"types"` // most first
	Garbage []MadeSum  `json:"garbage"`
	Tree    *Flame     `json:"tree"` // holders, below each the ways to what it holds
	Notes   []string   `json:"notes"`
}

// A MadeSum is what a place allocated of what is reached from nowhere, about.
type MadeSum struct {
	Place   string  `json:"place"`
	Bytes   float64 `json:"bytes"`
	Share   float64 `json:"share"`   // of the garbage whose places are known
	Samples int     `json:"samples"` // that it rests on
}

// A Holder is a variable, goroutines that do the same, or a list of the runtime's.
type Holder struct {
	Kind    string        `json:"kind"` // global, goroutines, timers, finalizers, runtime
	Name    string        `json:"name"`
	Count   int           `json:"count"` // of goroutines
	Objects int64         `json:"objects"`
	Bytes   int64         `json:"bytes"`
	Shared  int64         `json:"shared"` // of them, what others reach, too
	Grew    *int64        `json:"grew"`
	Way     []HeldStation `json:"way"`     // from itself to the most of what it holds
	InTree  string        `json:"in_tree"` // what the tree calls it
}

// A HeldStation is a place on the way from a holder to objects.
type HeldStation struct {
	Name     string   `json:"name"`
	Objects  int64    `json:"objects"`
	Retained int64    `json:"retained"` // bytes, with all that is behind
	Use      *float64 `json:"use"`      // the share in use, of strings, slices and maps
	Again    *float64 `json:"again"`    // the share of strings' bytes that is there at another place, too, at least
}

// A HeldType is all objects of a type.
type HeldType struct {
	Name        string `json:"name"`
	Objects     int64  `json:"objects"`
	Bytes       int64  `json:"bytes"`
	Grew        *int64 `json:"grew"`
	Holder      string `json:"holder"`       // who holds most of them; "" where that is not known
	HolderBytes int64  `json:"holder_bytes"` // how much of them
}

// Tasks are user tasks and regions: GET api/tasks?r=.
type Tasks struct {
	Tasks   []TaskType   `json:"tasks"`
	Regions []RegionType `json:"regions"`
	Logs    []LogCount   `json:"logs"`
}

// A TaskType is all tasks of one name.
type TaskType struct {
	Name    string    `json:"name"`
	Count   int64     `json:"count"`
	Open    int64     `json:"open"`
	Latency Histogram `json:"latency"`
	Slow    []Task    `json:"slow"` // slowest first
}

// A Task is one user task. GET api/task?r=&id= tells its own timeline: Regions and logs.
type Task struct {
	ID      string       `json:"id"` // decimal: larger than a float64's integers
	Parent  string       `json:"parent"`
	Name    string       `json:"name"`
	FromNS  int64        `json:"from_ns"`
	ToNS    int64        `json:"to_ns"` // -1 when it did not end
	Logs    int64        `json:"logs"`
	Regions []TaskRegion `json:"regions"`
	Lines   []LogLine    `json:"lines"`
	Note    string       `json:"note"` // why regions or lines are missing, "" when none are
}

// A TaskRegion is a region of a task.
type TaskRegion struct {
	Name      string `json:"name"`
	Goroutine int64  `json:"goroutine"`
	FromNS    int64  `json:"from_ns"`
	ToNS      int64  `json:"to_ns"`
}

// A LogLine is a user log.
type LogLine struct {
	AtNS      int64  `json:"at_ns"`
	Goroutine int64  `json:"goroutine"`
	Category  string `json:"category"`
	Message   string `json:"message"`
}

// A RegionType is all regions of one name, with what its goroutines did inside.
type RegionType struct {
	Name    string       `json:"name"`
	Count   int64        `json:"count"`
	Open    int64        `json:"open"`
	Latency Histogram    `json:"latency"`
	States  []StateTotal `json:"states"`
}

// A LogCount is how often a category was logged.
type LogCount struct {
	Category string `json:"category"`
	Count    int64  `json:"count"`
	Example  string `json:"example"`
}

// A Histogram is a distribution of durations.
type Histogram struct {
	LowNS  []int64 `json:"low_ns"` // lower bound of each bucket that has something
	HighNS []int64 `json:"high_ns"`
	Counts []int64 `json:"counts"`
	P50NS  int64   `json:"p50_ns"`
	P90NS  int64   `json:"p90_ns"`
	P99NS  int64   `json:"p99_ns"`
	MaxNS  int64   `json:"max_ns"`
	MeanNS int64   `json:"mean_ns"`
	N      int64   `json:"n"`
}

// Compare is what changed: GET api/compare?a=&b= (runs), ?trial= (a saved result), or
// ?trial=&with= (two of one kind).
// Exactly one of the fields is there; their shapes are those that
// `gowhy compare --json`, `verify --json`, `tune --json` and `capacity --json` write.
type Compare struct {
	Comparison json.RawMessage `json:"comparison"`
	Trial      json.RawMessage `json:"trial"`
	Tune       json.RawMessage `json:"tune"`
	Capacity   json.RawMessage `json:"capacity"`
}

// Sources are what was recorded: GET api/sources?r=.
type Sources struct {
	Members []Member   `json:"members"`
	Refused []Refusal  `json:"refused"`
	Notes   []string   `json:"notes"` // of coverage: what was lost
	Command string     `json:"command"`
	Build   []KeyValue `json:"build"`
	Exports []Export   `json:"exports"`
	Tools   []Tool     `json:"tools"`
}

// A Member is one piece of evidence.
type Member struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	What  string `json:"what"` // in words
	Get   string `json:"get"`  // path of a download, "" where there is none
}

// A Refusal is evidence that could not be had.
type Refusal struct {
	Source string `json:"source"`
	Why    string `json:"why"`
	How    string `json:"how"`
}

// A KeyValue is a fact of the build.
type KeyValue struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// An Export is a download: GET api/export?r=&format=&profile=&table=&group=.
type Export struct {
	Format   string   `json:"format"`
	Doc      string   `json:"doc"`
	Profiles []string `json:"profiles"` // for formats that hold one; those that this run has
	Tables   []string `json:"tables"`
	Ext      string   `json:"ext"`
}

// A Tool is another viewer, opened in a tab of its own: its page is a process or
// a folder of its own, and none of ours.
type Tool struct {
	Name string `json:"name"` // pprof
	Path string `json:"path"`
	Why  string `json:"why"` // why it is not there
}

// An Upload is what files became that were dropped on the page: POST api/upload
// with multipart/form-data, one part for each file, each with its filename. All
// of it is one drop: loose files of one run make one run, every recording makes
// its own. The answer comes when they have been read; what cannot be read is an
// error of the usual form. One file can also be the body itself, its name in ?name=.
type Upload struct {
	Runs   []int `json:"runs"`   // indices in Session.Runs
	Trials []int `json:"trials"` // indices in Session.Trials
}

// LiveNews is what is new of one program that runs: the events of GET api/live?pid=
// (text/event-stream; without pid, of the first of Programs). The first event has all
// that is kept, some 15 minutes, each later one what came since. A browser that
// lost the connection names the last event that it had, and gets what came since.
// Moments are milliseconds since 1970, rates are by second, CPU is in cores, and a
// number is negative where it is not known.
type LiveNews struct {
	AtMS     int64         `json:"at_ms"`
	Whole    bool          `json:"whole"`    // Points and Groups are all there are: what the page had is to be forgotten
	Programs []LiveProgram `json:"programs"` // that are watched, busiest first
	Program  *LiveProgram  `json:"program"`  // that this is about; null when there is none
	Ended    bool          `json:"ended"`    // it does not run any more
	Points   []live.Point  `json:"points"`   // in the order of time
	// Groups are names for LivePoint.Groups. The first of them has the number GroupsFrom;
	// those before it were sent already.
	Groups     []live.GroupName `json:"groups"`
	GroupsFrom int              `json:"groups_from"`
	Verdict    LiveVerdict      `json:"verdict"`
	Pieces     []LivePiece      `json:"pieces"` // recordings that are kept, in the order of time
	Machine    LiveMachine      `json:"machine"`
	Cost       LiveCost         `json:"cost"`
	Goroutines []LiveGoroutine  `json:"goroutines"` // as they are now, most first
	Unread     string           `json:"unread"`     // why Goroutines cannot be read, "" when they can
	UnreadHint string           `json:"unread_hint"`
}

// A LiveProgram is a program that is watched.
type LiveProgram struct {
	PID     int     `json:"pid"`
	Name    string  `json:"name"`    // path of its main package, or its command
	Version string  `json:"version"` // of its module
	Go      string  `json:"go"`
	Command string  `json:"command"` // with its arguments
	User    string  `json:"user"`
	UpMS    int64   `json:"up_ms"`
	Cores   float64 `json:"cores"`
	Verdict string  `json:"verdict"` // in one line; "" until it is known
	// Restarts is how often the same program was seen to begin again with another number.
	Restarts int `json:"restarts"`
}

// A LiveGoroutine is a group of goroutines as it is now.
type LiveGoroutine struct {
	Function string   `json:"function"`
	State    string   `json:"state"`
	Reason   string   `json:"reason"`
	Count    int      `json:"count"`
	Growth   float64  `json:"growth"`    // by minute
	OldestMS int64    `json:"oldest_ms"` // how long at least one has been so
	Creator  string   `json:"creator"`   // function:line
	Where    string   `json:"where"`     // of the oldest, function:line
	Labels   []string `json:"labels"`    // those of pprof that most of them have, with how many, like "12 route=/orders"
}

// A LiveVerdict is what was found wrong with it.
type LiveVerdict struct {
	Line      string        `json:"line"`     // "" until it was judged
	Judged    int           `json:"judged"`   // how often
	AtMS      int64         `json:"at_ms"`    // the last time; 0 for never
	Findings  []LiveFinding `json:"findings"` // those that are there, first; then those that went
	Unchecked []string      `json:"unchecked"`
}

// A LiveFinding is one that pieces of time have or had.
type LiveFinding struct {
	Rule       string `json:"rule"`
	Title      string `json:"title"`
	Summary    string `json:"summary"`
	Where      string `json:"where"`
	Gain       string `json:"gain"`
	Confidence string `json:"confidence"`
	Remark     bool   `json:"remark"`
	SinceMS    int64  `json:"since_ms"`
	LastMS     int64  `json:"last_ms"`  // the last piece that had it
	UntilMS    int64  `json:"until_ms"` // when it went; 0 while it is there
}

// A LivePiece is a recording of some seconds.
type LivePiece struct {
	FromMS int64 `json:"from_ms"`
	ToMS   int64 `json:"to_ms"`
	Traced bool  `json:"traced"`
}

// A LiveMachine is what all processes do.
type LiveMachine struct {
	CPUs        int     `json:"cpus"`
	Busy        float64 `json:"busy"`
	Steal       float64 `json:"steal"`
	CPUPressure float64 `json:"cpu_pressure"` // share of the time in which somebody waited
}

// A LiveCost is what watching takes of a CPU.
type LiveCost struct {
	Cores   float64 `json:"cores"`
	Budget  float64 `json:"budget"`
	EveryMS int64   `json:"every_ms"`
}

// A LiveFlame is a tree of the pieces that meet a window: GET
// api/live/flame?pid=&kind=&from=&to= (milliseconds since 1970; without kind the
// first one that there is, without a window the last 30 s). Tree.Kinds are kernel and
// offcpu; of no piece there is no tree.
type LiveFlame struct {
	FromMS int64  `json:"from_ms"` // of the pieces that are in it
	ToMS   int64  `json:"to_ms"`
	Pieces int    `json:"pieces"`
	Tree   *Flame `json:"tree"`
	// Why says why the pieces have no samples, and Hint what to do; "" when they have.
	Why  string `json:"why"`
	Hint string `json:"hint"`
}

// A LiveMemory is what the memory of a program is at the end of the last piece that meets a window:
// GET api/live/memory?pid=&from=&to=. Without a piece it has no rows.
type LiveMemory struct {
	AtMS  int64       `json:"at_ms"`
	Rows  []MemoryRow `json:"rows"`
	Notes []string    `json:"notes"`
}

// A LiveKept is a recording that was made of a window: POST
// api/live/keep?pid=&from=&to=. It is a run of the page from then on.
type LiveKept struct {
	Run    int    `json:"run"`  // index in Session.Runs
	Path   string `json:"path"` // where it was written
	FromMS int64  `json:"from_ms"`
	ToMS   int64  `json:"to_ms"`
}

// A LiveAsked answers POST api/live/trace?pid=: the next piece has an execution
// trace, if the program has an endpoint.
type LiveAsked struct {
	Note string `json:"note"`
}

// A Failure is the body of every answer that is none.
type Failure struct {
	Error string `json:"error"`
	Hint  string `json:"hint"`
}

// In a report file the answers stand in one object, in a script of type
// application/json whose id is data: by path and query, its parameters in the
// order of their names, as in "api/flame?kind=cpu&r=0". What is bytes stands
// there as a string in base64. Parameters that only choose a page of an answer
// (limit, offset, min) are left out: there is one page; of lanes it is the first,
// asked for as the page does. Tiles are those of the overview and of the windows
// that findings link to, each with all lanes that the file has of it.
