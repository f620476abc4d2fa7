package goroutines

import (
	"debug/elf"
	"sync"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// architectures are Go's names of those that can be read.
var architectures = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}

// tables is what is worked out of a program's file, once for all processes that run it.
type tables struct {
	at         map[string]symbols.Variable // of the runtime's
	layout     *layout                     // without reasons where these are in the process's memory
	candidates func() []uint64             // of where the list of goroutines is
	traced     func() map[string][]uint64  // where counters may be, of a program without symbols
	err        error
}

// variables are the runtime's that are read.
var variables = []string{"runtime.allgs", "runtime.waitReasonStrings", "runtime.gomaxprocs", "runtime.sched", "runtime.gcController",
	"runtime.memstats", "runtime.work", "runtime.mbuckets", "runtime.MemProfileRate", "runtime.mheap_",
	"runtime.firstmoduledata", "runtime.allfin", "runtime.gcCleanups", "runtime.printBacklog", "runtime.printBacklogIndex"}

func tablesOf(im *symbols.Image, version string) *tables {
	return im.Memo("goroutines of "+version, func() any { return newTables(im, version) }).(*tables)
}

func newTables(im *symbols.Image, version string) *tables {
	t := &tables{at: im.Variables(variables...), layout: byVersion(version, architectures[im.Machine()])}
	t.candidates = sync.OnceValue(func() []uint64 { return candidates(im) })
	t.traced = sync.OnceValue(func() map[string][]uint64 { return traced(im, t.layout) })
	if t.layout != nil {
		return t
	}
	d, err := im.DWARF()
	if err != nil {
		t.err = unsure("the layout of %s is not known, and %w", version, err)
		return t
	}
	if t.layout, err = fromDWARF(d); err != nil {
		t.err = unsure("%w", err)
	}
	return t
}

// A program is the code of a process.
type program struct {
	image   *symbols.Image
	process *symbols.Process
	base    uint64 // of the process's addresses over the image's
	known   map[uint64][]symbols.Place
}

// maxKnown bounds how many addresses are remembered.
const maxKnown = 1 << 16

func (p program) Entry(pc uint64) (uint64, string, bool) {
	entry, name, ok := p.image.Entry(pc - p.base)
	return entry + p.base, name, ok
}

func (p program) frames(pc uint64) []symbols.Place {
	at, ok := p.known[pc]
	if !ok {
		at = p.process.Frames(pc, false)
		if len(p.known) < maxKnown {
			p.known[pc] = at
		}
	}
	return at
}

// pushed is of use where calls push the address to return to.
func (p program) pushed(pc uint64) (n uint64, ok bool) {
	if p.image.Machine() != elf.EM_X86_64 {
		return 0, false
	}
	return p.process.PushedBytes(pc)
}

// started returns the function that a goroutine was started with.
func (p program) started(entry uint64, name string) symbols.Place {
	if callee, ok := p.image.Started(entry-p.base, name); ok {
		return callee
	}
	return first(p.process.Frames(entry, true), name)
}

// first returns the outermost function at an address, whose name is known.
func first(at []symbols.Place, name string) symbols.Place {
	if len(at) == 0 {
		return symbols.Place{Func: name}
	}
	is := at[len(at)-1]
	is.Func = name
	return is
}
