package model

import (
	"slices"
	"strings"
)

// A Pattern is work that has a cheaper equivalent, by its name in the catalogue.
type Pattern string

// The patterns: how source is seen to have them is internal/read/pattern's, what to write
// instead the rules', and what that brings is measured by bench/patterns.
const (
	RegexpPerCall      Pattern = "regexp-per-call"      // a fixed expression is compiled in a function
	ConstantCall       Pattern = "constant-call"        // a call whose arguments are constants
	InvariantCall      Pattern = "invariant-call"       // a call in a loop whose arguments do not change there
	SprintfSimple      Pattern = "sprintf-simple"       // fmt.Sprintf where + and strconv do
	SprintfKey         Pattern = "sprintf-key"          // text made of values to look it up in a map
	ConcatLoop         Pattern = "concat-loop"          // s += x in a loop
	GrowKnown          Pattern = "grow-known"           // append from nothing, once for each of a known number
	BytesConversion    Pattern = "bytes-conversion"     // bytes become a string, or back, for one call that takes both
	StringKey          Pattern = "string-key"           // a string kept in a variable for one look-up
	SplitFirst         Pattern = "split-first"          // all fields are cut for the first
	SplitCount         Pattern = "split-count"          // all fields are cut to be counted
	SplitRange         Pattern = "split-range"          // a list of fields is made to walk over once
	SortAppend         Pattern = "sort-after-append"    // sorted again after each new element
	SearchInLoop       Pattern = "search-in-loop"       // a list is searched for each of many
	DecodeAny          Pattern = "decode-any"           // decoded into a map of any for a few known keys
	FreshCodec         Pattern = "fresh-codec"          // a compressor or buffer is made for each call
	ClockInLoop        Pattern = "clock-in-loop"        // each round asks the clock whether to go on
	TimerInLoop        Pattern = "timer-in-loop"        // each round makes a timer for the case that nothing comes
	DeferInLoop        Pattern = "defer-in-loop"        // deferred calls pile up until the function returns
	RangeCopy          Pattern = "range-copy"           // large elements are copied to read a field
	DeepEqual          Pattern = "deep-equal"           // compared by reflection
	ScanText           Pattern = "scan-text"            // fmt.Sscanf for a number
	LowerCompare       Pattern = "lower-compare"        // lowered to be compared
	RegexpLiteral      Pattern = "regexp-literal"       // an expression without operators, to look for a text
	SortSlice          Pattern = "sort-slice"           // sort.Slice, which swaps by reflection
	RuneRange          Pattern = "rune-range"           // a list of runes is made to walk over once
	ErrorPerCall       Pattern = "error-per-call"       // the same error is made for each call
	CopyLoop           Pattern = "copy-loop"            // elements are copied one by one
	PowSmall           Pattern = "pow-small"            // math.Pow for a square
	MapGrowKnown       Pattern = "map-grow-known"       // a map filled from nothing, once for each of a known number
	CopyByJSON         Pattern = "copy-by-json"         // a value is encoded and decoded to have another
	CopyToRead         Pattern = "copy-to-read"         // a function gives out a copy of all, and its caller only reads
	RetypeByJSON       Pattern = "retype-by-json"       // what was decoded without a type is encoded to decode it into one
	SwapSort           Pattern = "swap-sort"            // a list is sorted by swapping neighbours
	BoxedHeap          Pattern = "boxed-heap"           // container/heap, whose elements are interfaces
	StackPerCall       Pattern = "stack-per-call"       // a stack as text on the path of ordinary work
	ShiftFront         Pattern = "shift-front"          // a list is moved by one for each element taken or put at its front
	RepeatedCall       Pattern = "repeated-call"        // the same call twice in a function
	MapPerCall         Pattern = "map-per-call"         // a map of constants is made to look something up
	TemplatePerCall    Pattern = "template-per-call"    // a fixed template is parsed in a function
	FormatNow          Pattern = "format-now"           // the time as text of whole seconds, for each of many in a second
	FprintPlain        Pattern = "fprint-plain"         // fmt.Fprintf into a buffer where its own methods do
	NumberKey          Pattern = "number-key"           // a number as text, for a key
	ConcatKey          Pattern = "concat-key"           // texts joined to look something up
	TextCompare        Pattern = "text-compare"         // two values as text, to compare them
	BinaryReflect      Pattern = "binary-reflect"       // binary.Read and Write, which ask the type of each field
	LineAsString       Pattern = "line-as-string"       // a string of each line that is only looked at
	MemoryReader       Pattern = "memory-reader"        // a buffer around what is in memory
	UnbufferedWrite    Pattern = "unbuffered-write"     // a system call for each of many writes
	ReadAllFile        Pattern = "readall-file"         // a file is read into what grows, though its size is known
	TextForLog         Pattern = "text-for-log"         // text made before anybody asks whether it is wanted
	FindAllFirst       Pattern = "find-all-first"       // all matches are found for the first or their number
	EncodeAny          Pattern = "encode-any"           // a map of any with fixed keys is encoded
	RunesInLoop        Pattern = "runes-in-loop"        // the same text becomes a list of runes in each round
	PowTen             Pattern = "pow-ten"              // math.Pow of ten to a whole number
	KeyInCompare       Pattern = "key-in-compare"       // each comparison of a sort makes the keys again
	SortForOne         Pattern = "sort-for-one"         // a list is sorted for its first or last
	MapRows            Pattern = "map-rows"             // each of many rows is a map with the same constant names
	MapTwice           Pattern = "map-twice"            // the same key is looked up twice
	FNVObject          Pattern = "fnv-object"           // a hash of package fnv as an object, for one piece of data
	FinalizerPerObject Pattern = "finalizer-per-object" // a finalizer for each of many objects
	ListQueue          Pattern = "list-queue"           // container/list, an object or two for each element
	RecursionAgain     Pattern = "recursion-again"      // a recursion computes the same arguments again and again
	SearchKept         Pattern = "search-kept"          // a list that is kept is searched for each call
	SortChanged        Pattern = "sort-after-change"    // a kept list is sorted after one element changed
	FreshGob           Pattern = "fresh-gob"            // a gob encoder or decoder is made for each value
	RandomPerItem      Pattern = "random-per-item"      // the system is asked for each random number
	MadeUnasked        Pattern = "made-unasked"         // a value is made that only a failure or a level wants
	KeptCall           Pattern = "kept-call"            // what is kept and never changes is read anew for each call
	SweepPerCall       Pattern = "sweep-per-call"       // all that is kept is gone through for each call, to drop what is over
	ColumnMajor        Pattern = "column-major"         // a table in rows is gone through by its columns
	ContextChain       Pattern = "context-chain"        // a kept context is wrapped again and again
	SkipOffset         Pattern = "skip-offset"          // elements are gone through to be left out
	TryEach            Pattern = "try-each"             // layouts are tried one after the other until one fits
	ReadStored         Pattern = "read-stored"          // a text that a store has is read anew for each call
	DerivedPerCall     Pattern = "derived-per-call"     // something of each kept element is worked out for each call
	IndexPerCall       Pattern = "index-per-call"       // a map of what is kept is made for each call
	SortPerCall        Pattern = "sort-per-call"        // a copy of what is kept is sorted for each call
	TotalPerCall       Pattern = "total-per-call"       // what is kept is added up for each call
	BufferPerCall      Pattern = "buffer-per-call"      // a buffer is made for each call, and nobody has it afterwards
	CloneRead          Pattern = "clone-read"           // a list is copied only to be read
	TreeSearch         Pattern = "tree-search"          // a whole tree is walked for one node
	CheckedAgain       Pattern = "checked-again"        // a value is checked that whoever calls has checked
	KeyTooFine         Pattern = "key-too-fine"         // a cache's key has what its value does not depend on
	MissedCache        Pattern = "missed-cache"         // what a cache should have is made again and again
	MadeBelow          Pattern = "made-below"           // something is made of a value that whoever calls has made of it, too
	MadeToSearch       Pattern = "made-to-search"       // a list is made of what is kept to look for one
	SearchGrown        Pattern = "search-grown"         // all that has come so far is searched each time that more comes
	ShiftRest          Pattern = "shift-rest"           // all behind an element is moved when that is taken out or put in
	NestedMarshal      Pattern = "nested-marshal"       // JSON made within a MarshalJSON is checked again at each level
	ReplacerPerCall    Pattern = "replacer-per-call"    // a strings.Replacer is made for each call
	LeastTaken         Pattern = "least-taken"          // a list is searched for the least each time that one is taken
	CountPrefix        Pattern = "count-prefix"         // what is before a place is counted anew for each place
	TimeSteps          Pattern = "time-steps"           // moments a fixed time apart are each taken apart as a date
	RegexpWords        Pattern = "regexp-words"         // a list of words is one expression of alternatives
	PreparePerCall     Pattern = "prepare-per-call"     // a statement is prepared for one query
	TagsPerValue       Pattern = "tags-per-value"       // a struct's tags are read for each value of it
	ImagePixels        Pattern = "image-pixels"         // an image of a type that is not known is read pixel by pixel
)

// A Reason is why the work that a line asks for is not necessary, as its source tells.
type Reason struct {
	Pattern Pattern
	Func    string // as the stacks have it
	File    string
	Line    int // first and last of the expression or loop
	Last    int
	// Through are the beginnings of functions below the line that do the work; "" is the
	// line itself, with what the runtime compares and copies for it.
	Through []string
	What    string // the expression as the source has it, shortened
	Instead string // what to write in its place, where the source tells; else empty
	// Maker is where what the line uses is made, if that is another function's: it is what to
	// change.
	Maker Frame
	// Alone says that operators of these lines allocate for nothing else.
	Alone bool
}

// A Setter is where a program sets what a variable of the environment sets, too: GOGC, GOMEMLIMIT or GOMAXPROCS.
type Setter struct {
	Variable string
	At       Frame
}

// SettersOf returns where a variable is set.
func (m *Model) SettersOf(variable string) (at []Frame) {
	for _, s := range m.Setters {
		if s.Variable == variable {
			at = append(at, s.At)
		}
	}
	return at
}

// Does reports whether a stack, leaf first, is of the work that the reason is about.
func (r *Reason) Does(frames []Frame) bool {
	for i := range frames {
		if !r.At(&frames[i]) {
			continue
		}
		for _, prefix := range r.Through {
			if prefix == "" && inline(frames[:i]) {
				return true
			}
			for _, below := range frames[:i] {
				if prefix != "" && strings.HasPrefix(below.Func, prefix) {
					return true
				}
			}
		}
		return false // the innermost call of a function that calls itself
	}
	return false
}

// Allocates reports whether a stack of a heap profile, leaf first, is of an allocation that
// the reason is about. Such a profile leaves out the runtime's functions at the leaf, so that
// what the compiler makes of an operator is the line itself there.
func (r *Reason) Allocates(frames []Frame) bool {
	if len(frames) > 0 && r.At(&frames[0]) {
		return r.Alone && slices.ContainsFunc(r.Through, func(f string) bool { return strings.HasPrefix(f, "runtime.") })
	}
	return r.Does(frames)
}

// inline reports whether a line's callees are only what the compiler made of its own
// operators: comparing, copying, looking up.
func inline(below []Frame) bool {
	for _, f := range below {
		if !OfLine(f.Func) {
			return false
		}
	}
	return true
}

// OfLine reports whether a function is what the compiler makes of an operator, as a
// comparison or the copy of a value: the work is the line's own.
func OfLine(function string) bool {
	for _, prefix := range ofOperators {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

var ofOperators = []string{
	"runtime.memequal", "runtime.strequal", "runtime.efaceeq", "runtime.ifaceeq", "runtime.cmpstring", "runtime.memmove", "runtime.duff",
	"runtime.typedmemmove", "runtime.typedslicecopy", "runtime.wbMove", "memeqbody", "cmpbody", "internal/bytealg.",
}

// OfDebugging reports whether a function's name is one of those that log what is mostly not wanted.
func OfDebugging(name string) bool {
	switch name[strings.LastIndexByte(name, '.')+1:] {
	case "Debug", "Debugf", "Debugln", "Debugw", "DebugContext", "Trace", "Tracef":
		return true
	}
	return false
}

// Same reports whether two reasons are of the same work.
func (r *Reason) Same(o *Reason) bool {
	return r.Pattern == o.Pattern && r.Func == o.Func && r.File == o.File && r.Line == o.Line && r.Last == o.Last
}

// At reports whether a frame is at a line that the reason is about.
func (r *Reason) At(f *Frame) bool {
	return f.Func == r.Func && f.File == r.File && r.Line <= f.Line && f.Line <= r.Last
}
