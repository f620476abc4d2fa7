package api

import "time"

// Recordings is the answer of /api/v1/runs: the latest recordings first.
type Recordings struct {
	Runs    []Recording `json:"runs"`
	Omitted int         `json:"omitted"` // beyond the limit
}

// A Recording is what the server knows of one that it keeps.
type Recording struct {
	ID       string        `json:"id"` // SHA-256 of its content, in hexadecimal digits
	Tenant   string        `json:"tenant,omitempty"`
	Service  string        `json:"service"`
	Version  string        `json:"version,omitempty"`
	Instance string        `json:"instance,omitempty"`
	Go       string        `json:"go,omitempty"`
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration_ns"`
	Event    string        `json:"event,omitempty"` // why the program made it by itself
	// Killed is set where the kernel killed the program for want of memory.
	Killed *Killed   `json:"killed,omitempty"`
	Why    string    `json:"why,omitempty"` // an agent was asked for it
	Kept   time.Time `json:"kept"`          // since when it is here
	Bytes  int64     `json:"bytes"`
	// Diagnosis is what gowhy finds in it.
	Diagnosis Diagnosis `json:"diagnosis"`
}

// Killed is how a program was killed for want of memory.
type Killed struct {
	At time.Time `json:"at"` // by the clock of its host
	// Of and Limit are the limit under which no memory was left, in bytes; absent where the whole
	// machine had none.
	Of    string `json:"of,omitempty"`
	Limit uint64 `json:"limit_bytes,omitempty"`
	// Age is how old the evidence was then; absent when not known.
	Age *time.Duration `json:"age_ns,omitempty"`
}

// ShortID is how much of an ID tells recordings apart.
const ShortID = 12

// Began returns when a recording began by the clock of the server: that of its host may be
// wrong. One that an agent was asked for came at once; of others the host's is taken as far
// as it can be right.
func (r *Recording) Began() time.Time {
	if r.Why != "" || r.Start.After(r.Kept) {
		return r.Kept.Add(-r.Duration)
	}
	return r.Start
}

// A Diagnosis is a short form of that of a recording.
type Diagnosis struct {
	State    DiagnosisState     `json:"state"`
	Tries    int                `json:"tries,omitempty"` // how often it was begun
	Why      string             `json:"why,omitempty"`   // it failed
	Verdict  string             `json:"verdict,omitempty"`
	Findings []RecordingFinding `json:"findings,omitempty"` // the first ones
	// Held are the holders that have most of the heap and that grew most, where somebody looked: those
	// with most first.
	Held []Held `json:"held,omitempty"`
}

// A Held is what a variable keeps alive, or what goroutines do that stand at one place.
type Held struct {
	Kind  string `json:"kind"` // as of gowhy memory --holders
	Name  string `json:"name"`
	Way   string `json:"way"` // from the name to the most of it, in words
	Bytes uint64 `json:"bytes"`
	Grew  *int64 `json:"grew_bytes,omitempty"` // between the two looks of the recording
}

// A DiagnosisState is how far a diagnosis is.
type DiagnosisState string

// The states.
const (
	Waiting DiagnosisState = "waiting"
	Done    DiagnosisState = "done"
	Failed  DiagnosisState = "failed"
)

// A RecordingFinding is a cause, or a remark on where to look.
type RecordingFinding struct {
	Rule   string `json:"rule"`
	Title  string `json:"title"`
	Where  string `json:"where,omitempty"` // function file:line
	Gain   string `json:"gain,omitempty"`  // what a fix brings
	Remark bool   `json:"remark,omitempty"`
}

// An Offer is what an agent says of its host.
type Offer struct {
	Agent    string    `json:"agent"` // its host
	Programs []Program `json:"programs"`
}

// Pause says that an agent made a recording a short time ago.
const Pause = "pause"

// A Program is one that an agent sees.
type Program struct {
	Service  string `json:"service"`
	Version  string `json:"version,omitempty"`
	Instance string `json:"instance"`
	// Not is why the agent cannot record it now; it says so for the count. [Pause] is not
	// counted.
	Not string `json:"not,omitempty"`
}

// Wanted is the answer of /api/v1/runs/wanted: what an agent is to do.
type Wanted struct {
	Record *Order `json:"record,omitempty"` // nil is nothing
	// Missed are the programs that were wanted and could not be had.
	Missed []Missed `json:"missed,omitempty"`
}

// An Order names a process to record.
type Order struct {
	Service  string        `json:"service"`
	Version  string        `json:"version,omitempty"`
	Instance string        `json:"instance"`
	Length   time.Duration `json:"length_ns"`
	Why      string        `json:"why"`
	// Holders asks for who holds the heap, too.
	Holders bool `json:"holders,omitempty"`
}

// A Missed version is wanted, and its agent said why it cannot.
type Missed struct {
	Service string `json:"service"`
	Version string `json:"version,omitempty"`
	Not     string `json:"not"`
}

// A Wish is how an operator's request stands.
type Wish struct {
	Service string `json:"service"`
	Version string `json:"version,omitempty"`
	// Agents tells whether an agent asked lately that sees such a program; Not is why it
	// could not record it then, if it could not.
	Agents bool   `json:"agents"`
	Not    string `json:"not,omitempty"`
}
