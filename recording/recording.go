// Package recording is the file in which the evidence of one run is kept
// together: the execution trace, profiles, and what is known of the run.
//
// It hides the container: a zip archive whose members are stored, so that
// standard tools open it and a trace inside is read in place; the order of
// members; how several sources are written at once; and how a file that was
// cut short is still read. Its types are [Writer], [Recording] and
// [Manifest].
//
// recording never interprets a member, never takes a member's name for a
// path, and imports nothing of this project.
package recording

import (
	"errors"
	"time"
)

// Schema is the version of [Manifest].
const Schema = 1

// The members that gowhy writes and knows.
const (
	TraceMember  = "trace"
	CPUMember    = "cpu.pb.gz"
	AllocsMember = "allocs.pb.gz"

	manifestMember = "manifest.json"
)

// A Manifest tells which run a recording is of.
type Manifest struct {
	Schema  int       `json:"schema"`
	Start   time.Time `json:"start"`
	End     time.Time `json:"end"`
	Go      string    `json:"go,omitempty"`         // the program's Go version, like "go1.26.1"
	Procs   int       `json:"gomaxprocs,omitempty"` // 0 when not known
	Command []string  `json:"command,omitempty"`    // the program's command line
	URL     string    `json:"url,omitempty"`        // where it was fetched from
	Refused []Refusal `json:"refused,omitempty"`    // what was asked for and not had
}

// A Refusal is a source that was asked for and could not be had.
type Refusal struct {
	Member string `json:"member"`
	Why    string `json:"why"`
}

// ErrFormat says that a file is no recording and no zip archive.
var ErrFormat = errors.New("not a recording")
