package api

import (
	"encoding/json"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Top is the answer of /api/v1/top: the functions with the largest self value first.
type Top struct {
	Functions []Function `json:"functions"`
	Other     int64      `json:"other"` // self of the functions left out, and stacks without frames
	Total     int64      `json:"total"` // all self values and Other together
	// Saturated says that a sum was beyond the largest integer, which it is then: somebody
	// sent values that cannot be.
	Saturated bool          `json:"saturated,omitempty"`
	Missing   store.Missing `json:"missing,omitempty"`
}

// A Function is what a function costs in the unit of the type.
type Function struct {
	Name  string `json:"name"`
	Self  int64  `json:"self"`
	Total int64  `json:"total"` // with its callees; recursion counts once
}

// Services is the answer of /api/v1/services, those first that use most CPU at the end of
// the time, then those that used most in all of it.
type Services struct {
	Tenant   string    `json:"tenant,omitempty"` // that was asked for
	Services []Service `json:"services"`
	Omitted  int       `json:"omitted"` // services beyond the limit
	// CoreMonth is what a core costs in a month, where that is known.
	CoreMonth float64       `json:"core_month,omitempty"`
	Currency  string        `json:"currency,omitempty"`
	Missing   store.Missing `json:"missing,omitempty"`
}

// A Service is one version of a service. Totals by CoveredNS are rates of one instance.
type Service struct {
	Name      string `json:"name"`
	Version   string `json:"version"`
	Instances int    `json:"instances"` // in all of the time
	// Running are those that sent something in its last 15 minutes, and no later version.
	Running int `json:"running"`
	// Cores are what these use: what one uses while it is profiled, times their number.
	// It is not there where no CPU profile came.
	Cores     *float64             `json:"cores,omitempty"`
	First     time.Time            `json:"first"`
	Last      time.Time            `json:"last"`
	CoveredNS int64                `json:"covered_ns"` // the spans of its CPU profiles, of all instances
	Totals    map[store.Type]int64 `json:"totals"`
	Saturated bool                 `json:"saturated,omitempty"` // one of them, as in Top
}

// Levels is the answer of /api/v1/levels: what services had of a type at the end of the
// time. It is for types that are levels, as bytes in use and goroutines are: a sum of
// those over time says nothing.
type Levels struct {
	Levels  []Level       `json:"levels"`
	Omitted int           `json:"omitted"`
	Missing store.Missing `json:"missing,omitempty"`
}

// A Level is the sum of the last that each instance sent.
type Level struct {
	Service   string `json:"service"`
	Version   string `json:"version"`
	Instances int    `json:"instances"`
	Value     int64  `json:"value"`
}

// SeriesSet is the answer of /api/v1/series: sums over steps of time, those of a step
// without any left out; the largest series first.
type SeriesSet struct {
	StepNS  int64         `json:"step_ns"`
	Series  []Series      `json:"series"`
	Omitted int           `json:"omitted"` // series beyond the limit
	Missing store.Missing `json:"missing,omitempty"`
}

// A Series is of one value of what was told apart.
type Series struct {
	Key   string `json:"key"`
	Total int64  `json:"total"`
	// Saturated says that a sum was beyond the largest integer, as in Top.
	Saturated bool       `json:"saturated,omitempty"`
	Points    [][2]int64 `json:"points"` // when the step begins, in milliseconds since 1970, and the sum
}

// Values is the answer of /api/v1/values: what sources have as a value of a label, or the
// names of the labels.
type Values struct {
	Values  []string      `json:"values"`
	Omitted int           `json:"omitted"`
	Missing store.Missing `json:"missing,omitempty"`
}

// Flame is the answer of /api/v1/flame: stacks as a tree, of one selection, or of two
// versions beside each other.
type Flame struct {
	Unit string `json:"unit"` // of all values: nanoseconds, bytes or count
	Head Side   `json:"head"`
	Base *Side  `json:"base,omitempty"` // with base_version=
	// Functions are the names that nodes are of, Files where these are.
	Functions []string `json:"functions"`
	Files     []string `json:"files"`
	// Root is a node: [function, self, total, [children]], the function as its place in
	// Functions, or -1 for the root and -2 for children too small to be there, together.
	// With a base it is [function, self, total, self in the base, total in the base,
	// [children]]. A node without children has no last element.
	Root    json.RawMessage `json:"root"`
	Missing store.Missing   `json:"missing,omitempty"`
}

// A Side is what was summed, and by what its values can be divided: a value for each
// operation, or for each second that was profiled.
type Side struct {
	Version    string `json:"version"` // "" for all
	Total      int64  `json:"total"`
	CoveredNS  int64  `json:"covered_ns"`
	Operations int64  `json:"operations"`          // 0 where none were counted
	Saturated  bool   `json:"saturated,omitempty"` // as in Top
}

// Prices is the answer of /api/v1/prices: what resources cost.
type Prices struct {
	CoreHour float64 `json:"core_hour"`
	GiBHour  float64 `json:"gib_hour"`
	Currency string  `json:"currency"`
}
