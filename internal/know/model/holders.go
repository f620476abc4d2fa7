package model

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A HeapLook is who holds the objects of a heap, at about one moment.
type HeapLook struct {
	Time time.Time `json:"time"`
	// Took is how long the process's memory was read; the walk behind it needs it no more.
	Took time.Duration `json:"took_ns"`
	// Over is how long before the look was that growth is since; 0 without one.
	Over time.Duration `json:"over_ns"`
	// Holders are the roots by what they hold, the most first.
	Holders []Holder   `json:"holders"`
	Types   []HeldType `json:"types"`
	// Tree is all that the holders hold, by the ways that lead there.
	Tree []HeldNode `json:"tree,omitempty"`

	// Free are the sizes of objects between which most is free, the most first: their pages stay while one
	// object is in them.
	Free []FreeSize `json:"free,omitempty"`

	// Untyped are the objects that nothing tells the types of.
	Untyped   ObjectSum `json:"untyped"`
	Reached   ObjectSum `json:"reached"`   // from the roots: what the holders hold
	Unreached ObjectSum `json:"unreached"` // allocated, and reached from nowhere: garbage, mostly
	// Garbage are the places that allocated most of what is reached from nowhere, the most first, by the objects that the
	// memory profile samples.
	Garbage []MadeSum `json:"garbage,omitempty"`
	// Marked is what the last collection found alive, in bytes; negative where it is not known.
	Marked int64 `json:"marked_bytes"`
	// Allocated is how many bytes were allocated since, the garbage of that time included.
	Allocated int64 `json:"allocated_bytes"`
	// Collections is how many there were while the heap was read.
	Collections int64 `json:"collections"`
	// Lost is how many words point into the heap and to no object: their object was freed, or
	// allocated since the list of objects was read.
	Lost uint64 `json:"lost_words"`
	// Dropped are spans that changed so that nothing is known of them; Running are goroutines
	// that ran, whose registers are not seen; Stackless those without a stack that can be read.
	Dropped   int `json:"dropped_spans"`
	Running   int `json:"running_goroutines"`
	Stackless int `json:"unread_goroutines"`
	// Stood is how long the process was kept still while its variables and stacks were read, 0 where
	// it was not; StoodBy is what did that, and Early is that the time was over before they were read.
	Stood   time.Duration `json:"stood_ns,omitempty"`
	StoodBy string        `json:"stood_by,omitempty"`
	Early   bool          `json:"stood_too_short,omitempty"`
	// Resident is the process's resident memory in bytes, of which the heap is a part; 0 where it is
	// not known.
	Resident uint64 `json:"resident_bytes,omitempty"`
	// Core is true of the memory in a core file, which does not change while it is read.
	Core bool `json:"core,omitempty"`
	// Dump is true of a heap dump, which does not either; Missing is what it lacks because it is cut short.
	Dump    bool     `json:"heap_dump,omitempty"`
	Missing []string `json:"missing,omitempty"`
	// Nameless is that the program's file was not there or has no symbols: variables are known by addresses.
	Nameless bool `json:"nameless,omitempty"`
	// Partial is true when the reading was interrupted: then the holders have less than all.
	Partial bool `json:"partial"`
	// PartRead is how much of the heap was read when it was interrupted before all was; 0 where all was.
	PartRead float64 `json:"part_read,omitempty"`
	// Typed is false where the program's file does not describe its variables.
	Typed bool `json:"typed"`
}

// Beside returns how much of the resident memory is no object of the heap; 0 where it is not known.
func (l *HeapLook) Beside() uint64 {
	return l.Resident - min(l.Resident, l.Reached.Bytes+l.Unreached.Bytes)
}

// A FreeSize is what is free between objects of one size of the runtime's.
type FreeSize struct {
	Size    uint64 `json:"size"`       // of an object
	Free    uint64 `json:"free_bytes"` // between them
	Objects uint64 `json:"objects"`    // that are there, garbage included
	Bytes   uint64 `json:"bytes"`      // of all their pages
}

// MaxFreeSizes is how many sizes of objects the runtime has.
const MaxFreeSizes = 68

// ObjectSum is a number of objects and their bytes, as the runtime counts them: with what is lost to
// size classes.
type ObjectSum struct {
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

// A MadeSum is about how many objects one place allocated: "main.load cache.go:12", or what of the library allocates
// there, "bytes.growSlice for main.load cache.go:12".
type MadeSum struct {
	Place   string  `json:"place"`
	Samples int     `json:"samples"` // that it rests on
	Objects float64 `json:"objects"`
	Bytes   float64 `json:"bytes"` // as an [ObjectSum] has them
}

// MaxGarbage bounds the places of a look.
const MaxGarbage = 20

// A Holder is a variable, goroutines that stand at the same place, or a list of the runtime's.
type Holder struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Count int    `json:"count"` // of goroutines
	ObjectSum
	// Shared is how many of the bytes other holders reach, too: they stay when it lets go.
	// OnStacks are those that stacks of others reach: for a while, or by a word that is left over.
	Shared   uint64 `json:"shared_bytes"`
	OnStacks uint64 `json:"stack_bytes"`
	// Grew is by how many bytes it holds more than at the look before, when there was one.
	Grew *int64 `json:"grew_bytes"`
	// Path is the way to the most of it.
	Path []HolderStep `json:"path"`
	// Keepers are lines that put something into the map or slice on the way in which it becomes many, by the
	// program's source.
	Keepers []Frame `json:"-"`
}

// contextTypes are contexts that stay until somebody ends them, those that something else is made of last.
var contextTypes = []string{"context.afterFuncCtx", "context.timerCtx", "context.cancelCtx"}

// fewContexts are as many as any program has.
const fewContexts = 100

// Contexts returns of which type the contexts are that keep what a holder has: the way to it leads through them, or there are as
// many as objects without a type on it. It is "" where none do.
func (l *HeapLook) Contexts(h *Holder) string {
	many := uint64(0)
	for i := range h.Path {
		s := &h.Path[i]
		for _, name := range contextTypes {
			if s.Type == name && s.Objects >= fewContexts {
				return name
			}
		}
		if s.Type == "" && s.Retained >= h.Bytes/2 {
			many = max(many, s.Objects)
		}
	}
	for i := range l.Types {
		if t := &l.Types[i]; slices.Contains(contextTypes, t.Name) && t.Objects >= fewContexts && many > 0 && t.Objects >= many*9/10 && t.Objects <= many*11/10 {
			return t.Name
		}
	}
	return ""
}

// A HolderStep is objects on the way: of a type, reached over a field of those before.
type HolderStep struct {
	Field string `json:"field"`
	Type  string `json:"type"` // "" where it is not known
	Size  uint32 `json:"size"` // of an object, where its type is not known
	// MadeBy is the place that allocates such objects, by those that the memory profile samples, as in a [MadeSum].
	MadeBy string `json:"made_by,omitempty"`
	// Pointers are the offsets in such objects, up to 504, that lead to others.
	Pointers []int `json:"pointers,omitempty"`
	ObjectSum
	// Use is the share that is in use, by samples: of strings and slices by their lengths, of maps
	// the slots with entries.
	Use *float64 `json:"use"`
	// Duplicate is which part of the bytes of strings is there at another place, too: at least, by a sample.
	Duplicate *float64 `json:"duplicate,omitempty"`
	// Examples are beginnings of some strings, where somebody asked for contents. They are kept nowhere.
	Examples []string `json:"-"`
	Retained uint64   `json:"retained_bytes"` // bytes, with what is reached over them
}

// A HeldNode is a holder, or objects of a type that are reached over the same fields and types from one. Those that
// are too few for a node of their own count as the node's that is before them.
type HeldNode struct {
	Parent int    `json:"parent"`          // in the tree, which is before it; -1 of a holder
	Field  string `json:"field,omitempty"` // of what is before it
	Type   string `json:"type,omitempty"`  // "" where it is not known; of a holder its words
	Size   uint32 `json:"size,omitempty"`  // of an object, where its type is not known
	ObjectSum
}

// MaxHeldNodes bounds the tree of a look: it is some 200 KB in a recording, before that is packed.
const MaxHeldNodes = 2000

// HeldNames returns what the nodes of a tree are called, each with the field that leads there:
// "main.cache", "main.cache.sessions map[string]*main.Session", "main.Session.raw []byte".
func HeldNames(tree []HeldNode) []string {
	names := make([]string, len(tree))
	for i := range tree {
		n := &tree[i]
		is := n.Type
		switch {
		case is != "":
		case n.Size > 0:
			is = fmt.Sprintf("%d-byte objects", n.Size)
		default: // a frame
			names[i] = "in " + n.Field
			continue
		}
		if names[i] = is; n.Field != "" && n.Parent >= 0 {
			names[i] = cmp.Or(tree[n.Parent].Type, names[n.Parent]) + n.Field + " " + is
		}
	}
	return names
}

// A HeldType is all objects of one.
type HeldType struct {
	Name string `json:"name"`
	ObjectSum
	// Holder is who holds most of them, in words, and HolderBytes how much of them.
	Holder      string `json:"holder,omitempty"`
	HolderBytes uint64 `json:"holder_bytes,omitempty"`
	Grew        *int64 `json:"grew_bytes"`
}

// The kinds of holders.
const (
	HeldByVariable   = "global"
	HeldByGoroutines = "goroutines"
	HeldByTimers     = "timers"
	HeldByFinalizers = "finalizers"
	HeldByRuntime    = "runtime"
)

// lowUse is the share in use below which a way says it: slices that grow by doubling have three
// quarters on average, maps between 44 and 88 %.
const lowUse = 0.4

// A HeldStation is a place on the way from a holder to the most of what it holds.
type HeldStation struct {
	Name string // a variable or a type, with the field that leads on
	ObjectSum
	Use      *float64 // as of a [HolderStep]
	Retained uint64
	Again    *float64 // Duplicate of a [HolderStep]
}

// manyDuplicates is the part of strings that are there again from which a way says it. Of programs of the lab that are
// well and hold strings none has any in 512 of them; a column of ten values, each made anew, has 98 %.
const manyDuplicates = 0.5

// Stations returns the holder itself and what is behind it, each with the field over which the next
// is reached: "main.cache.sessions", "map[string]*main.Session", "main.Session.raw", "[]byte".
func (h *Holder) Stations() []HeldStation {
	list := []HeldStation{{Name: h.Words(), ObjectSum: h.ObjectSum, Retained: h.Bytes}}
	for _, s := range h.Path {
		last := &list[len(list)-1]
		next := HeldStation{s.Type, s.ObjectSum, s.Use, s.Retained, s.Duplicate}
		switch {
		case s.Type != "":
		case s.Size > 0:
			next.Name = s.bare()
		default: // a frame
			last.Name += " in " + s.Field
			continue
		}
		last.Name += s.Field
		list = append(list, next)
	}
	return list
}

// fewPointers are as many as are read at a glance.
const fewPointers = 4

// bare says what objects are whose type is not known: "48-byte objects with pointers at 0 and 16, made by main.load cache.go:12".
func (s *HolderStep) bare() string {
	text := fmt.Sprintf("%d-byte objects", s.Size)
	switch n := len(s.Pointers); {
	case n == 1:
		text += fmt.Sprintf(" with a pointer at %d", s.Pointers[0])
	case n > fewPointers:
		text += fmt.Sprintf(" with %d pointers", n)
	case n > 0:
		at := make([]string, n)
		for i, offset := range s.Pointers {
			at[i] = strconv.Itoa(offset)
		}
		text += " with pointers at " + strings.Join(at[:n-1], ", ") + " and " + at[n-1]
	}
	switch {
	case s.MadeBy == "":
	case len(s.Pointers) > 0:
		text += ", made by " + s.MadeBy
	default:
		text += " made by " + s.MadeBy
	}
	return text
}

// Way returns the path in words: "main.cache.sessions → map[string]*main.Session → …".
func (h *Holder) Way() string { return h.Name + h.Steps() }

// Steps returns the path behind the name.
func (h *Holder) Steps() string {
	stations := h.Stations()
	words := make([]string, len(stations))
	for i, s := range stations {
		words[i] = s.Name
		if s.Use != nil && *s.Use < lowUse {
			words[i] += " (" + figures.Percent(*s.Use) + " in use)"
		}
		if s.Again != nil && *s.Again >= manyDuplicates {
			words[i] += " (" + figures.Percent(*s.Again) + " duplicates)"
		}
	}
	return strings.TrimPrefix(strings.Join(words, " → "), h.Words())
}

// MaxHeldTypes and MaxHolders bound the lists of a look that is kept.
const (
	MaxHeldTypes = 50
	MaxHolders   = 500
)

// Step returns the first step of the way over a field to a type; nil without.
func (h *Holder) Step(field, of string) *HolderStep {
	for i := range h.Path {
		if s := &h.Path[i]; s.Field == field && s.Type == of {
			return s
		}
	}
	return nil
}

// Words name a holder in a sentence, with how many of its kind there are.
func (h *Holder) Words() string {
	switch {
	case h.Kind == HeldByGoroutines && h.Count > 1:
		return figures.Int(h.Count) + " goroutines in " + h.Name
	case h.Kind == HeldByGoroutines:
		return "goroutine in " + h.Name
	case h.Kind == HeldByTimers:
		return "timers, over " + h.Name
	}
	return h.Name
}

// Growth returns by how much a holder grew; 0 where that is not known.
func (h *Holder) Growth() int64 {
	if h.Grew == nil {
		return 0
	}
	return *h.Grew
}

// Since fills in by how much holders and types grew since a look before, and puts the holders
// first that grew most.
func (l *HeapLook) Since(before *HeapLook) {
	l.Over = l.Time.Sub(before.Time)
	type key struct{ kind, name string }
	held := map[key]int64{}
	for _, h := range before.Holders {
		held[key{h.Kind, h.Name}] += int64(h.Bytes)
	}
	for i := range l.Holders {
		h := &l.Holders[i]
		h.Grew = nil
		if was, ok := held[key{h.Kind, h.Name}]; ok || len(before.Holders) < MaxHolders {
			grew := int64(h.Bytes) - was
			h.Grew = &grew
		}
	}
	slices.SortStableFunc(l.Holders, func(a, b Holder) int { return cmp.Compare(b.Growth(), a.Growth()) })
	types := map[string]int64{}
	for _, t := range before.Types {
		types[t.Name] = int64(t.Bytes)
	}
	for i := range l.Types {
		t := &l.Types[i]
		if was, ok := types[t.Name]; ok || len(before.Types) < MaxHeldTypes {
			grew := int64(t.Bytes) - was
			t.Grew = &grew
		}
	}
}
