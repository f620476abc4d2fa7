// Package store is what the fleet keeps and the questions about it, whichever engine keeps
// it.
//
// It hides nothing itself: it is the seam. An engine takes batches with a [Writer]
// and answers with a [Reader]; no query language crosses. What two engines are given
// alike they answer alike, to the last digit and in the same order: all values are
// integers, and [github.com/gowhy/gowhy/fleet/store/storetest] holds every engine to it.
package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"time"
)

// A Batch is what one process sent at once. It is kept whole or not at all.
type Batch struct {
	// ID is the same for the same data, so that what a client sends again is kept once.
	ID     [16]byte
	Source Source
	// From and Until are what the samples are of. They count at Until: a batch is in a
	// span of time, or not. Both are kept in milliseconds.
	From, Until time.Time
	Profiles    []Profile
	// Stacks are those of the profiles that the sender has; an engine that knows one
	// already leaves it. Stacks share their frames, which nobody changes: a frame has 40
	// bytes, and a profile of 60,000 stacks two million of them.
	Stacks map[StackID][]*Frame
}

// A Source is who sent a batch.
type Source struct {
	Tenant   string // "" where there is only one
	Service  string
	Version  string // "" when not known
	Instance string // a process of the service: its host, and what else tells it apart
	Labels   []Label
}

// A Label is one of a source's, sorted by name where there are several.
type Label struct{ Name, Value string }

// Limits of the labels of a source, in bytes, and so of what can be asked for: Pyroscope's own,
// so that its clients need no other configuration.
const (
	MostLabels   = 30
	LongestName  = 1024
	LongestValue = 2048
)

// A Profile is the samples of one type.
type Profile struct {
	Type    Type
	Samples []Sample // each stack once
}

// A Type is a kind of profile as Pyroscope writes it, like
// process_cpu:cpu:nanoseconds:cpu:nanoseconds: name, sample type and unit, period type
// and unit.
type Type string

// The types that gowhy itself asks for.
const (
	CPU          Type = "process_cpu:cpu:nanoseconds:cpu:nanoseconds"
	AllocObjects Type = "memory:alloc_objects:count:space:bytes"
	AllocSpace   Type = "memory:alloc_space:bytes:space:bytes"
	InuseObjects Type = "memory:inuse_objects:count:space:bytes"
	InuseSpace   Type = "memory:inuse_space:bytes:space:bytes"
	Goroutines   Type = "goroutines:goroutine:count:goroutine:count"
	MutexCount   Type = "mutex:contentions:count:contentions:count"
	MutexDelay   Type = "mutex:delay:nanoseconds:contentions:count"
	BlockCount   Type = "block:contentions:count:contentions:count"
	BlockDelay   Type = "block:delay:nanoseconds:contentions:count"
	// Operations is what a process finished, counted by itself: a profile of one sample
	// without a stack. Costs are those of one operation where it is there.
	Operations Type = "operations:operations:count:operations:count"
)

// A Sample is the value of one stack.
type Sample struct {
	Stack StackID
	Value int64
}

// Add adds sums of measured values: one that is out of range is the largest there is. Values
// are 0 or more, so that the order in which they come does not matter.
func Add(a, b int64) int64 {
	if sum := a + b; a < 0 || b < 0 || sum >= 0 {
		return sum
	}
	return math.MaxInt64
}

// A StackID is a hash of a stack's frames, of 63 bits, so that any engine's integers
// hold it. It is 0 for a stack without frames.
type StackID int64

// A Frame is a line of a function; the leaf of a stack comes first.
type Frame struct {
	Function string
	File     string
	Line     int32
}

// String returns a frame for messages.
func (f Frame) String() string { return fmt.Sprintf("{%s %s %d}", f.Function, f.File, f.Line) }

// NoStack is the function that stacks without frames are shown as.
const NoStack = "(no stack)"

// IDOf returns the ID of a stack.
func IDOf(frames []*Frame) StackID {
	hashes := make([]uint64, len(frames))
	for i, f := range frames {
		hashes[i] = f.Hash()
	}
	return IDOfHashes(hashes)
}

// IDOfHashes returns the ID of a stack by the hashes of its frames, which a reader of
// profiles computes once for each line and not for each stack.
func IDOfHashes(frames []uint64) StackID {
	if len(frames) == 0 {
		return 0
	}
	var h uint64
	for _, f := range frames {
		h = mix(h ^ f)
	}
	return max(1, StackID(h>>1))
}

// Hash returns the hash that a stack's ID is made from.
func (f Frame) Hash() uint64 {
	h := fnv.New64a()
	var number [4]byte
	text := func(s string) { // with its length: "ab", "c" is not "a", "bc"
		binary.LittleEndian.PutUint32(number[:], uint32(len(s)))
		h.Write(number[:])
		h.Write([]byte(s))
	}
	text(f.Function)
	text(f.File)
	binary.LittleEndian.PutUint32(number[:], uint32(f.Line))
	h.Write(number[:])
	return h.Sum64()
}

// mix spreads the bits of a hash over all of it (the finalizer of MurmurHash3), and is
// not the same for a frame at one depth and another.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// A Writer takes what is to be kept.
type Writer interface {
	// Write keeps a batch. When it returns nil the batch survives whatever happens to
	// the process, and is in the answers from then on. A batch whose ID is known
	// already is no error and changes nothing.
	Write(ctx context.Context, b *Batch) error
}

// A FindingWriter takes what rules say.
type FindingWriter interface {
	// WriteFindings keeps findings, all of them or none. One that is known already
	// changes nothing: see [Finding.Compare].
	WriteFindings(ctx context.Context, f []Finding) error
}

// Errors of a Writer.
var (
	// ErrFull is what it returns when it has no room now: try again later.
	ErrFull = errors.New("the store is full for the moment")
	// ErrClosed is what it returns after Close.
	ErrClosed = errors.New("the store is closed")
	// ErrRefused is what a writer before a store returns for a batch that a limit
	// forbids: to send it again does not help.
	ErrRefused = errors.New("over a limit")
)

// A Snapshotter is a store whose data are in files of its own.
type Snapshotter interface {
	// Snapshot calls f with a directory that has all that was acknowledged before, as it
	// was at one moment. It is gone when f returns. A second one at the same time is
	// ErrSnapshot.
	Snapshot(ctx context.Context, f func(dir string) error) error
}

// ErrSnapshot is the error of a snapshot while there is one.
var ErrSnapshot = errors.New("another snapshot of the store is being read")

// A Reader answers. Each answer is complete, or its Missing names what was not asked.
type Reader interface {
	// Services are the services that sent anything in the time of a selection, of
	// which only tenant, service, version, instance, labels and time matter; by name,
	// then version.
	Services(ctx context.Context, s Selection) (Services, error)
	// Instances are the processes, with what each sent; by service, version, name.
	Instances(ctx context.Context, s Selection) (Instances, error)
	// Stacks are the sums by stack, the largest value first, then by ID.
	Stacks(ctx context.Context, s Selection) (Stacks, error)
	// Series are the sums over steps of time from s.From on, those without any left
	// out; one series for each value of by, in its order.
	Series(ctx context.Context, s Selection, step time.Duration, by By) (SeriesSet, error)
	// Values are what sources have as a value of a key, sorted.
	Values(ctx context.Context, s Selection, by By) (Values, error)
	// Findings are those that end in a span of time, of a tenant and, where the selection
	// names them, a service and a version; nothing else of it matters. They are sorted:
	// see [Finding.Compare].
	Findings(ctx context.Context, s Selection) (Findings, error)
}

// A Store keeps and answers.
type Store interface {
	Writer
	FindingWriter
	Reader
	// Close ends it. What was written is kept.
	Close() error
}

// A Selection is which batches count: those that have all that is not empty.
type Selection struct {
	Tenant   string // always one; "" is one, too
	Service  string
	Version  string
	Instance string
	Labels   []Label
	Type     Type // for Stacks and Series, which need one
	// From and Until are the span of time; Until is no part of it.
	From, Until time.Time
}

// A By is what to tell apart: "" nothing, else "service", "version", "instance", "type",
// or "label:" and a label's name.
type By string

// The keys that every source has.
const (
	ByNothing  By = ""
	ByService  By = "service"
	ByVersion  By = "version"
	ByInstance By = "instance"
	ByType     By = "type"
	// ByLabels is for [Reader].Values only: the names of the labels that sources have.
	ByLabels By = "labels"
)

// ByLabel tells apart by the values of a label; a source without it has "".
func ByLabel(name string) By { return By("label:" + name) }

// Missing names the parts of an engine that did not answer; none when an answer is complete.
type Missing []string

// Services is an answer.
type Services struct {
	Services []Service
	Missing  Missing
}

// A Service is one version of a service in a span of time.
type Service struct {
	Name, Version string
	Instances     int
	First, Last   time.Time     // the earliest From and the latest Until of its batches
	Covered       time.Duration // the spans of its CPU profiles, of all instances together
	Totals        []Total       // by type
}

// A Total is the sum of a type.
type Total struct {
	Type  Type
	Value int64
}

// Instances is an answer.
type Instances struct {
	Instances []Instance
	Missing   Missing
}

// An Instance is one process of a version of a service in a span of time.
type Instance struct {
	Service, Version, Name string
	First, Last            time.Time
	Covered                time.Duration // the spans of its CPU profiles
	Totals                 []Total
}

// Stacks is an answer.
type Stacks struct {
	Samples []Sample
	Frames  map[StackID][]*Frame // of all samples
	Total   int64
	Missing Missing
}

// SeriesSet is an answer.
type SeriesSet struct {
	Series  []Series
	Missing Missing
}

// A Series is sums over time.
type Series struct {
	Key    string
	Points []Point
}

// A Point is the sum of the step that begins at a time.
type Point struct {
	At    time.Time
	Value int64
}

// Values is an answer.
type Values struct {
	Values  []string
	Missing Missing
}
