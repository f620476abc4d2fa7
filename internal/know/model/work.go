package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// A Work is a kind of work that a line of the program asks for: what it calls of the
// standard library and the runtime.
type Work string

// The kinds of work. Allocating, copying and locking inside of another kind belong to
// it: who does not format does not allocate what formatting returns.
const (
	Computing    Work = "computing" // the line's own code, and the arithmetic of the compiler
	Formatting   Work = "formatting"
	Numerals     Work = "numbers as text"
	ParsingText  Work = "parsing text"
	Encoding     Work = "encoding"
	Decoding     Work = "decoding"
	Matching     Work = "matching regular expressions"
	Templating   Work = "executing templates"
	SearchText   Work = "searching and converting text"
	Comparing    Work = "comparing"
	Copying      Work = "copying"
	Joining      Work = "joining and converting strings"
	MapAccess    Work = "map access"
	MapWalking   Work = "walking maps"
	Sorting      Work = "sorting"
	Hashing      Work = "hashing"
	Cryptography Work = "cryptography"
	Compressing  Work = "compressing"
	BigNumbers   Work = "big numbers"
	Images       Work = "images"
	Reflecting   Work = "reflection"
	Boxing       Work = "values in interfaces"
	Making       Work = "allocating"
	Growing      Work = "growing slices"
	Passing      Work = "channels"
	Locking      Work = "locks"
	Starting     Work = "starting goroutines"
	Clock        Work = "reading the clock"
	Timing       Work = "timers and contexts"
	TimeText     Work = "times as text"
	Randomness   Work = "random numbers"
	Secrets      Work = "secret random numbers"
	Logging      Work = "logging"
	Errors       Work = "errors and stacks"
	Deferring    Work = "deferred calls and panics"
	Spawning     Work = "starting processes"
	InputOutput  Work = "input and output"
	OtherLibrary Work = "the standard library"
)

// works are kinds by the beginnings of functions' names: the longest that fits counts.
var works = map[Work]string{
	Formatting: "fmt.",
	Numerals:   "strconv.Format strconv.Append strconv.Quote strconv.Itoa strconv.formatBits strconv.itoa",
	ParsingText: "fmt.Sscan fmt.Fscan fmt.Scan strconv.Parse strconv.Atoi strconv.Unquote text/scanner. go/ net/url. " +
		"net/mail. mime. net/netip.Parse net.ParseIP",
	Encoding:   "encoding/ encoding.",
	Matching:   "regexp. regexp/",
	Templating: "text/template. text/template/ html/template.",
	SearchText: "strings. bytes. unicode. unicode/ html. internal/stringslite. internal/bytealg.Index " +
		"internal/bytealg.Count indexbody countbody",
	Comparing: "runtime.memequal runtime.strequal runtime.efaceeq runtime.ifaceeq runtime.cmpstring internal/bytealg. " +
		"memeqbody cmpbody aeshashbody",
	Copying: "runtime.memmove runtime.typedmemmove runtime.typedslicecopy runtime.slicecopy runtime.duffcopy " +
		"runtime.duffzero runtime.memclr runtime.wbMove maps. slices.Clone slices.Concat",
	Joining: "runtime.concatstring runtime.slicebytetostring runtime.stringtoslicebyte runtime.stringtoslicerune " +
		"runtime.slicerunetostring runtime.intstring runtime.concatbyte strings.Join strings.Repeat " +
		"strings.(*Builder)",
	MapAccess:  "runtime.map internal/runtime/maps. runtime.makemap sync.(*Map). internal/sync.(*HashTrieMap)",
	MapWalking: "runtime.mapiter runtime.mapIter internal/runtime/maps.(*Iter)",
	Sorting: "sort. slices.Sort slices.sort slices.pdq slices.insertionSort slices.stable slices.partition " +
		"slices.choosePivot slices.heap container/heap.",
	Hashing: "hash. hash/ crypto/md5. crypto/sha1. crypto/sha256. crypto/sha512. crypto/sha3. " +
		"crypto/internal/fips140/sha crypto/hmac. runtime.strhash runtime.memhash runtime.nilinterhash " +
		"runtime.interhash runtime.typehash",
	Cryptography: "crypto/ crypto.",
	Compressing:  "compress/ archive/",
	BigNumbers:   "math/big. math. math/bits. math/cmplx.",
	Images:       "image. image/",
	Reflecting:   "reflect. internal/reflectlite. reflect/",
	Boxing:       "runtime.convT runtime.typeAssert runtime.assertE2I runtime.interfaceSwitch runtime.getitab",
	Making:       "runtime.newobject runtime.makeslice runtime.mallocgc runtime.makechan runtime.newarray",
	Growing:      "runtime.growslice runtime.nextslicecap slices.Grow slices.Insert slices.Append",
	Passing:      "runtime.chan runtime.selectgo runtime.selectnb runtime.send runtime.recv runtime.closechan runtime.block",
	Locking:      "sync. internal/sync. sync/atomic. internal/runtime/atomic.",
	Starting:     "runtime.newproc runtime.Gosched runtime.gopark",
	Clock:        "time.Now time.Since time.Until time.now time.runtimeNow runtime.nanotime runtime.walltime",
	Timing:       "time.After time.New time.Sleep time.(*Timer) time.(*Ticker) time.Tick context.",
	TimeText: "time.Parse time.Time.Format time.Time.AppendFormat time.Time.String time.Duration.String " +
		"time.LoadLocation time.ParseDuration time.(*Location)",
	Randomness:   "math/rand. math/rand/v2. runtime.rand internal/chacha8rand.",
	Secrets:      "crypto/rand. crypto/internal/sysrand. crypto/internal/fips140/drbg.",
	Logging:      "log. log/",
	Errors:       "errors. runtime.Callers runtime.Caller runtime.Stack runtime/debug.Stack runtime.callers runtime.(*Frames)",
	Deferring:    "runtime.deferproc runtime.deferreturn runtime.deferconvert runtime.gopanic runtime.recovery runtime.gorecover",
	Spawning:     "os/exec. os.StartProcess os.startProcess os.(*Process) syscall.forkExec syscall.forkAndExec syscall.StartProcess syscall.Exec",
	InputOutput:  "os. bufio. io. net. net/ syscall. internal/poll. io/ os/ database/ internal/syscall internal/runtime/syscall.",
	OtherLibrary: "time. container/ iter. slices. maps.Keys unique. weak.",
}

// prefixes are works by beginning.
var prefixes = func() map[string]Work {
	m := map[string]Work{}
	for w, text := range works {
		for _, p := range strings.Fields(text) {
			m[p] = w
		}
	}
	return m
}()

// longestPrefix bounds what is looked up.
var longestPrefix = func() (n int) {
	for p := range prefixes {
		n = max(n, len(p))
	}
	return n
}()

// workOf returns the kind that a function of the standard library or the runtime is of, ""
// for one that only carries others out.
func workOf(function string) Work {
	for n := min(len(function), longestPrefix); n > 0; n-- {
		w, ok := prefixes[function[:n]]
		switch {
		case !ok:
		case w == Encoding && decodes(function):
			return Decoding
		default:
			return w
		}
	}
	return ""
}

// decodes reports whether a function of package encoding reads.
func decodes(function string) bool {
	for _, word := range []string{"Unmarshal", "unmarshal", "ecode", "Read", "scan", "Scan", "Valid", "Uint", "Varint"} {
		if strings.Contains(function, word) {
			return true
		}
	}
	return false
}

// WorkOf says what kind of work a stack, leaf first, does, and for which line of the
// program or of its libraries: the user's frame nearest to the leaf. A function that
// the standard library calls back (a comparison of sorting) works for who called that.
// False for a stack that no line asked for, as the collector's.
func WorkOf(frames []Frame) (w Work, line Frame, ok bool) {
	at := userFrameIndex(frames)
	if at < 0 {
		return "", Frame{}, false
	}
	// What it calls, the outermost first.
	for i := at - 1; i >= 0 && w == ""; i-- {
		w = workOf(frames[i].Func)
	}
	switch {
	case w == "":
		w = Computing
	case !callsSystem[w] && slices.ContainsFunc(frames[:at], func(f Frame) bool { return entersSystem(f.Func) }):
		w = InputOutput
	}
	// Called back: by what sorts, and through that for its caller.
	for i := at + 1; i < len(frames) && IsStd(frames[i].Func); i++ {
		if workOf(frames[i].Func) != Sorting {
			continue
		}
		if rest := userFrameIndex(frames[i:]); rest > 0 {
			return Sorting, frames[i+rest], true
		}
	}
	return w, frames[at], true
}

// callsSystem are the kinds of which system calls are a part. One inside of another, as of
// formatting that writes to a connection, is input and output: who formats less calls as often.
var callsSystem = map[Work]bool{InputOutput: true, Spawning: true, Secrets: true, Logging: true, Clock: true, Timing: true}

// entersSystem reports whether a function is the entrance to a system call.
func entersSystem(function string) bool {
	for _, p := range []string{"internal/runtime/syscall", "syscall.Syscall", "syscall.RawSyscall", "syscall.syscall", "syscall.rawSyscall"} {
		if strings.HasPrefix(function, p) {
			return true
		}
	}
	return false
}

// A WorkEntry is the CPU time of one kind of work that a function of the program or of
// its libraries asks for.
type WorkEntry struct {
	Work Work
	Line Frame // of the function, the line that asks for most of it
	Time time.Duration
}

// Works returns the sampled CPU time by function and kind of work, largest first, and the
// CPU time of all samples, those included that no line asked for. Nothing without
// samples of CPU time.
func (m *Model) Works() (list []WorkEntry, all time.Duration) {
	p := m.BelievedCPU()
	if p == nil {
		return nil, 0
	}
	_, nanos := p.Columns()
	type key struct {
		work     Work
		function string
	}
	lines := map[key]map[Frame]time.Duration{}
	for i := range p.Samples {
		s := &p.Samples[i]
		if nanos < 0 || nanos >= len(s.Values) {
			continue
		}
		d := time.Duration(s.Values[nanos])
		all += d
		w, line, ok := WorkOf(m.Stacks.Frames(s.Stack))
		if !ok {
			continue
		}
		line = Frame{Func: line.Func, File: line.File, Line: line.Line}
		k := key{w, line.Func}
		if lines[k] == nil {
			lines[k] = map[Frame]time.Duration{}
		}
		lines[k][line] += d
	}
	for k, by := range lines {
		e := WorkEntry{Work: k.work}
		var most time.Duration
		for line, d := range by {
			e.Time += d
			if d > most || d == most && (line.File < e.Line.File || line.File == e.Line.File && line.Line < e.Line.Line) {
				e.Line, most = line, d
			}
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b WorkEntry) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Line.Func, b.Line.Func), cmp.Compare(a.Work, b.Work))
	})
	return list, all
}

// BelievedCPU returns the profile that the account of CPU time was made of, nil without one.
func (m *Model) BelievedCPU() *Profile {
	switch a := m.CPUAccount(); {
	case a == nil:
		return nil
	case a.Believed == KernelCPU:
		return m.Kernel.CPU
	}
	return m.CPU
}
