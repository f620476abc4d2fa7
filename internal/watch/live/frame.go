// Package live watches the Go programs of a machine while they run: what each
// uses, what its goroutines do, and what is wrong with it.
//
// It hides where each figure is had cheapest, how often it is affordable, how a
// process that comes, ends, restarts or is renamed is followed, and how findings
// of one piece of time after the other become a verdict that does not flicker.
// Its type is [Watch]: [Watch.Refresh] gives a [Frame].
//
// # What it costs, and who decides
//
// Of every process one file is read at a refresh, of a Go program some ten, and
// the structures of its goroutines. A program is judged by a recording of ten
// seconds that the rest of gowhy would make and read in the same way, one program
// after the other. Watch measures the CPU time of all that against a budget: what
// is dear is done less often, and when that is not enough, refreshes are.
//
// live never stops a program, never writes to one, and asks nobody who might mind:
// of a program that has gowhy's agent it reads metrics and profiles that do not
// stop it, of one with net/http/pprof nothing.
package live

import "time"

// A Frame is what a machine's programs do at one moment, and the form of the JSON.
type Frame struct {
	Time      time.Time `json:"time"`
	Machine   Machine   `json:"machine"`
	Processes []Process `json:"processes"`
	Cost      Cost      `json:"cost"`
}

// A Machine is what all processes together do. Shares are of one: a CPU, or all
// of the time.
type Machine struct {
	CPUs      int     `json:"cpus"`
	Busy      float64 `json:"busy_cores"`
	Steal     float64 `json:"steal_cores"` // taken by the hypervisor
	Load      float64 `json:"load1"`
	Memory    uint64  `json:"memory_bytes"`
	Available uint64  `json:"available_bytes"`
	// Shares of the time in which at least one task waited for the resource;
	// negative where the kernel does not measure it.
	CPUPressure    float64 `json:"cpu_pressure"`
	MemoryPressure float64 `json:"memory_pressure"`
	IOPressure     float64 `json:"io_pressure"`
	Processes      int     `json:"processes"`
	Programs       int     `json:"go_programs"`
	// Closed is how many processes are not this user's to look into: whether
	// they are Go programs is not known.
	Closed int `json:"closed_processes,omitempty"`
}

// A Process is what one process does. What is nil or absent is not known.
type Process struct {
	PID     int           `json:"pid"`
	Parent  int           `json:"parent,omitempty"`
	Name    string        `json:"name"` // the command, as the program set it: any bytes
	User    string        `json:"user,omitempty"`
	State   string        `json:"state,omitempty"` // as proc(5) has it
	Up      time.Duration `json:"up_ns"`
	Threads int           `json:"threads"`
	RSS     uint64        `json:"rss_bytes"`
	CPU     CPU           `json:"cpu"`
	Faults  float64       `json:"major_faults_per_second"`

	// Of Go programs.
	Program  string   `json:"program,omitempty"` // path of the main package
	Module   string   `json:"module,omitempty"`
	Version  string   `json:"version,omitempty"` // of the module
	Go       string   `json:"go,omitempty"`
	Args     []string `json:"args,omitempty"`
	Restarts int      `json:"restarts,omitempty"` // seen: the same program with another number
	// Was is the number of the process that this one took the place of.
	Was int `json:"was,omitempty"`
	// still: what the frame says of it has not changed since the frame before, but for ages
	// and what was a rate.
	still bool

	Counters   *Counters   `json:"counters,omitempty"`
	Memory     *Memory     `json:"memory,omitempty"` // of one that is watched alone, or attended: see [Watch.Attend]
	Runtime    *Runtime    `json:"runtime,omitempty"`
	Goroutines *Goroutines `json:"goroutines,omitempty"`
	Tasks      []Task      `json:"tasks,omitempty"` // see [Watch.ShowThreads]; busiest first
	Verdict    *Verdict    `json:"verdict,omitempty"`
}

// IsGo tells a Go program from other processes.
func (p *Process) IsGo() bool { return p.Go != "" }

// A CPU is CPU time in cores: seconds a second.
type CPU struct {
	User   float64 `json:"user"`
	System float64 `json:"system"`
}

// Cores returns all of it.
func (c CPU) Cores() float64 { return c.User + c.System }

// Counters are what /proc tells of a program beside that; rates are by second.
type Counters struct {
	Waiting float64 `json:"waiting_for_cpu"` // threads that could run and had no CPU, on average; negative where the kernel does not count it
	// Wait is how long a thread waited for a CPU, on average, each time that it got
	// one; negative when none did.
	Wait        time.Duration `json:"mean_wait_for_cpu_ns"`
	Voluntary   float64       `json:"voluntary_switches_per_second"`
	Involuntary float64       `json:"involuntary_switches_per_second"`
	Reads       float64       `json:"reads_per_second"`  // system calls; negative where not permitted
	Writes      float64       `json:"writes_per_second"` // the same
	FDs         int           `json:"fds"`               // the same
	CPUs        int           `json:"cpus"`              // that it may use
	Quota       float64       `json:"quota_cores,omitempty"`
	Throttled   float64       `json:"throttled,omitempty"` // share of the time in which its quota was used up
	MemoryLimit uint64        `json:"memory_limit_bytes,omitempty"`
}

// Memory is a program's share of it: pages that several processes use are divided
// among these.
type Memory struct {
	PSS  uint64 `json:"pss_bytes,omitempty"`
	Swap uint64 `json:"swap_pss_bytes,omitempty"` // swapped out
	// Age is how old this is: to read it holds the program up.
	Age time.Duration `json:"age_ns,omitempty"`
	// Why says why there is nothing, and How a command that changes it.
	Why string `json:"why,omitempty"`
	How string `json:"how,omitempty"`
}

// A Task is a thread of a program.
type Task struct {
	ID       int     `json:"id"`
	Name     string  `json:"name"`
	CPU      CPU     `json:"cpu"`
	Waiting  float64 `json:"waiting_for_cpu"`
	Switches float64 `json:"switches_per_second"`
}

// A Runtime is what a program's runtime counts, read out of its memory.
type Runtime struct {
	Procs     int     `json:"gomaxprocs"`
	BusyProcs int     `json:"busy_procs"`
	HeapLive  int64   `json:"heap_live_bytes"`
	HeapGoal  int64   `json:"heap_goal_bytes,omitempty"` // 0 with GOGC=off
	GCs       float64 `json:"gcs_per_second"`
	GCShare   float64 `json:"gc_share"` // of the CPU time that there was, between the last two collections; negative when not known
	// gcs is how many collections there were, and marked the bytes that the last one found alive;
	// negative when not known.
	gcs, marked int64
}

// Goroutines are those of a program, its runtime's own left out.
type Goroutines struct {
	Total    int     `json:"total"`
	Running  int     `json:"running"`
	Runnable int     `json:"runnable"`
	Syscall  int     `json:"syscall"`
	Waiting  int     `json:"waiting"`
	Growth   float64 `json:"growth_per_minute"`
	Groups   []Group `json:"groups,omitempty"`
	// Age is how old this is: many goroutines are read less often.
	Age time.Duration `json:"age_ns,omitempty"`
	// Why says why there is nothing, and How a command that changes it.
	Why string `json:"why,omitempty"`
	How string `json:"how,omitempty"`
}

// A Group is goroutines that began at one function and do the same.
type Group struct {
	Function string `json:"function"`
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"`
	Count    int    `json:"count"`
	// Oldest is how long at least one of them has been so.
	Oldest  time.Duration `json:"oldest_ns"`
	Growth  float64       `json:"growth_per_minute"`
	Creator string        `json:"creator,omitempty"` // function:line of the go statement
	At      string        `json:"at,omitempty"`      // where the oldest one is: the first function that is not the runtime's
	// Labels are those of pprof that most of them have, and LabelSets how many different
	// ones there are.
	Labels    []LabelGroup `json:"labels,omitempty"`
	LabelSets int          `json:"label_sets,omitempty"`
}

// A LabelGroup is goroutines with the same labels.
type LabelGroup struct {
	Text  string `json:"text"` // like "route=/orders zone=b"
	Count int    `json:"count"`
}

// Idle is the line of a program that hardly runs and has nothing wrong with it.
const Idle = "idle"

// A Verdict is what was found wrong with a program, over the last pieces of time.
type Verdict struct {
	// Line is the verdict in one line.
	Line     string    `json:"line"`
	Findings []Finding `json:"findings,omitempty"`
	// Gone are those that were there in the last 15 minutes.
	Gone []Finding `json:"gone,omitempty"`
	// Judged is how often, and At when it was last.
	Judged int       `json:"judged"`
	At     time.Time `json:"at"`
	// Unchecked are rules that lack a source, like the execution trace.
	Unchecked []string `json:"unchecked,omitempty"`
	// NoEndpoint is set when it was looked for a way to take a trace and there is none.
	NoEndpoint bool     `json:"no_endpoint,omitempty"`
	Recording  string   `json:"recording,omitempty"` // the file of the last piece
	Activity   Activity `json:"activity,omitzero"`   // in it
}

// A Finding is one that several pieces of time have.
type Finding struct {
	Rule       string       `json:"rule"`
	Title      string       `json:"title"`
	Summary    string       `json:"summary"`
	Where      string       `json:"where,omitempty"`
	Gain       string       `json:"gain,omitempty"`
	Held       *HeapHolders `json:"held,omitempty"` // of a heap that grows, once that was looked at
	Confidence string       `json:"confidence"`
	Remark     bool         `json:"remark,omitempty"`
	Stalled    bool         `json:"stalled,omitempty"` // goroutines with work make no step
	Since      time.Time    `json:"since"`             // the first piece that had it
	Last       time.Time    `json:"last"`              // the last piece that had it
	Until      time.Time    `json:"until,omitzero"`    // when it was gone
	Recording  string       `json:"recording,omitempty"`
}

// A Cost is what watching takes of a CPU.
type Cost struct {
	Share  float64       `json:"cpu"` // in cores, over the last ten seconds
	Budget float64       `json:"budget"`
	Every  time.Duration `json:"every_ns"` // between refreshes: more than asked for when the budget wants that
	Calls  int64         `json:"system_calls"`
}
