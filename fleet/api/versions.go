package api

import (
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Versions is the answer of /api/v1/versions: what got worse first, by how much, then what
// got better, then the rest.
type Versions struct {
	Changes []Change `json:"changes"`
	Omitted int      `json:"omitted"`
	// Steps are what costs more from a moment on at which nothing was deployed, and still does.
	Steps []Finding `json:"steps,omitempty"`
}

// A Change is one version of a service beside the one before it.
type Change struct {
	Service string    `json:"service"`
	Base    string    `json:"base"`
	Head    string    `json:"head"`
	Since   time.Time `json:"since"` // the first batch of the head
	Verdict Outcome   `json:"verdict"`
	Why     string    `json:"why,omitempty"` // it is undecided
	Type    string    `json:"type"`
	Unit    string    `json:"unit"`          // cores, or CPU/operation in seconds; of other types as it says
	Was     *float64  `json:"was,omitempty"` // medians of the processes
	Is      *float64  `json:"is,omitempty"`
	Ratio   *float64  `json:"ratio,omitempty"`
	Low     *float64  `json:"low,omitempty"` // of its 95% interval
	High    *float64  `json:"high,omitempty"`
	P       *float64  `json:"p,omitempty"` // corrected for all comparisons together
	// Processes that were compared, host by host where paired.
	BaseProcesses int          `json:"base_processes"`
	HeadProcesses int          `json:"head_processes"`
	Paired        bool         `json:"paired"`
	Function      string       `json:"function,omitempty"` // that the change is in
	Functions     []Difference `json:"functions,omitempty"`
	// Also is what else changed with it, allocations and waits. Causes are what the rules
	// found in the head and not in the base; of a change for the worse with none of them
	// NoCause says so.
	Also    []Also        `json:"also,omitempty"`
	Causes  []Cause       `json:"causes,omitempty"`
	NoCause string        `json:"no_cause,omitempty"`
	Missing store.Missing `json:"missing,omitempty"`
}

// An Outcome is what is claimed of a change.
type Outcome string

// The outcomes.
const (
	Worse     Outcome = "worse"
	Better    Outcome = "better"
	Unchanged Outcome = "no change seen"
	Undecided Outcome = "undecided"
)

// Also is another cost that changed with a version.
type Also struct {
	Type  string  `json:"type"`
	Unit  string  `json:"unit"`
	Was   float64 `json:"was"`
	Is    float64 `json:"is"`
	Ratio float64 `json:"ratio"`
}

// A Difference is what a function's own lines cost more, in the change's unit.
type Difference struct {
	Name  string  `json:"name"`
	Was   float64 `json:"was"`
	Is    float64 `json:"is"`
	Delta float64 `json:"delta"`
}

// Diff is the answer of /api/v1/diff: what two versions of a service, or two times, cost,
// and which causes came and went.
type Diff struct {
	Changes []Change      `json:"changes"` // CPU first, then allocations and waits
	New     []Cause       `json:"new"`
	Gone    []Cause       `json:"gone"`
	NoCause string        `json:"no_cause,omitempty"` // of a change for the worse with nothing new
	Missing store.Missing `json:"missing,omitempty"`
}

// A Cause is what a rule found at a place.
type Cause struct {
	Rule     string `json:"rule"`
	Title    string `json:"title"`
	Function string `json:"function,omitempty"`
}
