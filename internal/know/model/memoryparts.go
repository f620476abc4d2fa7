package model

import (
	"fmt"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A MemoryPart is a part of a process's memory; parts of one account do not overlap.
type MemoryPart struct {
	Name  string
	Bytes uint64
	// Told is false of what there may be and nothing in the evidence tells, or tells only
	// together with another part. Bytes is 0 then.
	Told bool
	From string // what says so
}

// Maps is what a process's memory is mapped from, at one moment. Their resident sizes add up
// to the process's.
type Maps struct {
	At time.Duration
	// Arenas says that the runtime told where its heap is. Without that it is taken to be
	// where most programs have it, or is not told from other anonymous memory.
	Arenas bool
	// Core says that a core file tells them: what was touched, without pages of files.
	Core bool
	// Heap is what is in the runtime's arenas, Anonymous other private memory: the runtime's
	// own, and what C code or the program mapped itself. Program is text and data of the executable.
	Heap, Anonymous, Stack, Program, Libraries, Files, Shared, Kernel Resident
	// Largest is what has the most of that outside of heap and program.
	Largest []Mapped
}

// Mapped is the resident memory of mappings of one name: a file's path, the kernel's name of
// memory without one, or "".
type Mapped struct {
	Name  string
	Count int
	RSS   uint64
	Most  uint64 // of one of them
}

// Words says what it is.
func (m *Mapped) Words() string {
	named, is := strings.CutPrefix(m.Name, "[anon:")
	named = strings.TrimSuffix(named, "]")
	switch {
	case m.Name == "" && m.Count == 1:
		return "private memory without a name, in one piece"
	case m.Name == "":
		return fmt.Sprintf("private memory without a name, in %d pieces, the largest of %s", m.Count, figures.Bytes(m.Most))
	case m.Name == "[heap]":
		return "C's heap: malloc's small pieces"
	case is:
		return "private memory that the program calls " + named
	}
	return "file " + m.Name
}

// Resident is memory in bytes.
type Resident struct {
	RSS, PSS, Swap uint64 // resident; resident, of which pages that n processes share count an n-th; swapped out
	Huge           uint64 // of RSS, in transparent huge pages
}

// Total returns the sum of all kinds.
func (m *Maps) Total() (sum Resident) {
	for _, r := range []Resident{m.Heap, m.Anonymous, m.Stack, m.Program, m.Libraries, m.Files, m.Shared, m.Kernel} {
		sum.RSS, sum.PSS, sum.Swap, sum.Huge = sum.RSS+r.RSS, sum.PSS+r.PSS, sum.Swap+r.Swap, sum.Huge+r.Huge
	}
	return sum
}

// heapFound reports whether the heap was told from other anonymous memory.
func (m *Maps) heapFound() bool { return m.Arenas || m.Heap.RSS > 0 }

// The names of parts that others than the account speak of.
const (
	AlivePart  = "heap: alive at the last collection"
	UnusedPart = "heap: fragmentation in spans in use"
	StacksPart = "stacks of goroutines"
	NativePart = "native: cgo, mmap, threads' stacks"
)

// The names of the others.
const (
	partSince     = "heap: allocated since, with garbage"
	partObjects   = "heap: objects, garbage included"
	partFree      = "heap: free and not given back"
	partHeap      = "Go heap and stacks"
	partAgain     = "heap: resident, and no count has it"
	partOwn       = "runtime's own: spans, tables, GC"
	partProgram   = "text and data of the program"
	partData      = "data of the program"
	partText      = "text of the program"
	partLibraries = "shared libraries"
	partFiles     = "mapped files"
	partShared    = "shared memory"
	partStack     = "main thread's stack, kernel's pages"
	partRest      = "program, files, native memory"
	partRuntime   = "the runtime's: heap, stacks, its own"
	partTogether  = "runtime's own and native, together"
	partAll       = "heap, runtime and native, together"
	partWhole     = "all of it, nothing tells more"
)

const (
	fromMaps     = "smaps"
	fromBoth     = "smaps+runtime"
	fromCore     = "core"
	fromRuntime  = "runtime"
	fromLeft     = "what is left"
	fromResident = "/proc"
)

// A heapUse is what the runtime counts of its memory, without what it gave back.
type heapUse struct {
	alive, since           uint64
	unused, free, stacks   uint64
	other                  uint64 // of the heap's tables and of collections: the latter is in the arenas
	own                    uint64 // all else of its own
	total                  uint64 // as the runtime adds up, or these
	aliveKnown, partsKnown bool
	class                  map[string]uint64
}

// heapUse takes the runtime's counts out of an account's classes.
func (a *MemoryAccount) heapUse() (u heapUse, ok bool) {
	if a.Mapped == 0 {
		return u, false
	}
	u.total = a.Mapped - min(a.Mapped, a.Released)
	class := map[string]uint64{}
	for _, c := range a.Classes {
		class[c.Name] = c.Bytes
	}
	u.class = class
	objects, ok := class["heap/objects"]
	if !ok {
		return u, true
	}
	u.partsKnown = true
	u.alive, u.aliveKnown = min(a.Live, objects), a.Live > 0
	u.since = objects - u.alive
	u.unused, u.free, u.stacks, u.other = class["heap/unused"], class["heap/free"], class["heap/stacks"], class["metadata/other"]
	u.own = u.total - min(u.total, objects+u.unused+u.free+u.stacks+u.other)
	return u, true
}

// arenas returns the parts in the runtime's arenas, before anybody looked what of them is touched.
func (u *heapUse) arenas(from string) []MemoryPart {
	parts := []MemoryPart{{AlivePart, u.alive, true, from}, {partSince, u.since, true, from}}
	if !u.aliveKnown {
		parts = []MemoryPart{{partObjects, u.alive + u.since, true, from}}
	}
	for _, p := range []struct{ name, class string }{{UnusedPart, "heap/unused"}, {partFree, "heap/free"}, {StacksPart, "heap/stacks"}} {
		bytes, ok := u.class[p.class]
		parts = append(parts, MemoryPart{p.name, bytes, ok, from})
	}
	return parts
}

// fit takes what is not resident off the parts, for memory is counted when a span is handed
// out, and resident when it is touched: off what has no object in it first, which in a new
// span nobody touched; then off objects, in their proportion, as of large ones that were made
// and not filled; then off what follows. It returns what is resident beyond the parts, and
// what was taken off.
func fit(parts []MemoryPart, resident uint64) (beyond, untouched uint64) {
	var sum uint64
	for _, p := range parts {
		sum += p.Bytes
	}
	if sum <= resident {
		return resident - sum, 0
	}
	left := sum - resident
	take := func(i int, most uint64) {
		off := min(left, most, parts[i].Bytes)
		parts[i].Bytes -= off
		left -= off
	}
	for i := range parts {
		if parts[i].Name == UnusedPart {
			take(i, left)
		}
	}
	if parts[0].Name == AlivePart {
		if objects := parts[0].Bytes + parts[1].Bytes; left < objects {
			take(0, uint64(float64(left)*(float64(parts[0].Bytes)/float64(objects))))
			take(1, left)
		}
	}
	for i := range parts {
		take(i, left)
	}
	return 0, sum - resident
}

// memoryParts divides the memory by what there is evidence of. They add up to a.Counted.
func (m *Model) memoryParts(a *MemoryAccount) {
	u, counted := a.heapUse()
	switch {
	case m.Process != nil && m.Process.Maps != nil:
		a.mappedParts(m.Process.Maps, u, counted)
	case counted && a.RSS > 0:
		a.divide(u, counted, m.residentBeside())
	default:
		a.divide(u, counted, a.RSS)
	}
}

// divide divides what is resident, 0 where nothing tells it, by the runtime's counts alone.
func (a *MemoryAccount) divide(u heapUse, counted bool, rss uint64) {
	switch {
	case counted && a.RSS > 0:
		a.residentParts(rss, u)
	case counted:
		a.takenParts(u)
	case a.RSS > 0:
		a.Counted, a.Resident = a.RSS, true
		a.Parts = []MemoryPart{{Name: partRuntime}, {Name: partRest}, {partWhole, a.RSS, true, fromResident}}
	}
}

// mappedParts divides by what the kernel says of each mapping.
func (a *MemoryAccount) mappedParts(k *Maps, u heapUse, counted bool) {
	sum := k.Total()
	a.Largest = k.Largest
	a.Counted, a.Resident, a.PSS, a.Swap, a.Huge = sum.RSS, true, sum.PSS, sum.Swap, sum.Huge
	switch {
	case !k.heapFound() && counted:
		a.within(k.Anonymous.RSS, u, MemoryPart{Name: NativePart, From: fromLeft})
	case !k.heapFound():
		a.Parts = append(a.Parts, MemoryPart{Name: partHeap}, MemoryPart{Name: partOwn}, MemoryPart{Name: NativePart},
			MemoryPart{partAll, k.Anonymous.RSS, true, fromMaps})
	case !counted || !u.partsKnown:
		a.Parts = append(a.Parts, MemoryPart{partHeap, k.Heap.RSS, true, fromMaps}, MemoryPart{Name: partOwn}, MemoryPart{Name: NativePart},
			MemoryPart{partTogether, k.Anonymous.RSS, true, fromMaps})
	default:
		a.splitArenas(k, u)
	}
	for _, p := range []struct {
		name  string
		bytes uint64
	}{
		{partProgram, k.Program.RSS}, {partLibraries, k.Libraries.RSS}, {partFiles, k.Files.RSS},
		{partShared, k.Shared.RSS}, {partStack, k.Stack.RSS + k.Kernel.RSS},
	} {
		a.Parts = append(a.Parts, MemoryPart{p.name, p.bytes, true, fromMaps})
	}
	if k.Core {
		a.asOfCore()
	}
}

// asOfCore says that a core tells the parts, which has what was touched but for pages of files
// that nobody wrote to: of the program's its data, and of others what is not told.
func (a *MemoryAccount) asOfCore() {
	a.Core, a.PSS = true, 0
	for i := range a.Parts {
		p := &a.Parts[i]
		p.From = strings.ReplaceAll(p.From, fromMaps, fromCore)
		switch p.Name {
		case partProgram:
			p.Name = partData
		case partLibraries, partFiles:
			p.Told = p.Bytes > 0
		}
	}
	a.Parts = append(a.Parts, MemoryPart{Name: partText})
}

// splitArenas divides the arenas by the runtime's counts, and the anonymous memory beside
// them into its own and that of others.
func (a *MemoryAccount) splitArenas(k *Maps, u heapUse) {
	parts := u.arenas(fromBoth)
	beyond, untouched := fit(parts, k.Heap.RSS)
	// What collections note in the arenas is counted together with tables outside of them.
	work := min(beyond, u.other)
	beyond -= work
	// The tables are mapped in large pieces and touched here and there: what is resident
	// beside the arenas is the runtime's as far as its counts go.
	own := min(k.Anonymous.RSS, u.own+u.other-work)
	a.Untouched = untouched - min(untouched, k.Heap.Swap)
	if beyond > 0 {
		parts = append(parts, MemoryPart{partAgain, beyond, true, fromLeft})
	}
	a.Parts = append(parts, MemoryPart{partOwn, own + work, true, fromBoth}, MemoryPart{NativePart, k.Anonymous.RSS - own, true, fromLeft})
}

// within divides resident memory by the runtime's counts alone, and names the rest.
func (a *MemoryAccount) within(resident uint64, u heapUse, rest MemoryPart) {
	parts := []MemoryPart{{partRuntime, u.total, true, fromRuntime}}
	if u.partsKnown {
		parts = append(u.arenas(fromRuntime), MemoryPart{partOwn, u.own + u.other, true, fromRuntime})
	}
	rest.Bytes, a.Untouched = fit(parts, resident)
	rest.Told = rest.Bytes > 0
	a.Parts = append(parts, rest)
}

// residentParts divides where nothing tells the mappings.
func (a *MemoryAccount) residentParts(rss uint64, u heapUse) {
	a.Counted, a.Resident = rss, true
	a.within(rss, u, MemoryPart{Name: partRest, From: fromLeft})
}

// takenParts are of a program of which nothing tells what is resident.
func (a *MemoryAccount) takenParts(u heapUse) {
	a.Counted = u.total
	a.within(u.total, u, MemoryPart{})
	a.Parts = append(a.Parts[:len(a.Parts)-1], MemoryPart{Name: partRest})
}

// A MemoryBound is a limit of memory and how near it is.
type MemoryBound struct {
	Name        string
	Limit, Used uint64
	UsedBy      string // whose use Used is
	// Reached is after how long the limit is reached if it goes on so; 0 when nothing grows
	// for sure, or not for long enough to say.
	Reached time.Duration
}

// Headroom returns what may be used yet.
func (b *MemoryBound) Headroom() uint64 { return b.Limit - min(b.Limit, b.Used) }

// leastSlope is how long a growth must have been seen to be one and not a start, and to say when
// it reaches a limit: in a second a heap that is collected twice in it grows and shrinks.
const leastSlope = 10 * time.Second

// Lasts reports whether it was seen for long enough to go on.
func (g *Growth) Lasts() bool { return g.Over >= leastSlope }

// farthest is how far ahead a growth is believed to go on.
const farthest = 30 * 24 * time.Hour

// memoryBounds compares with what limits the memory.
func (m *Model) memoryBounds(a *MemoryAccount) {
	u, counted := a.heapUse()
	if a.Goal > 0 && u.partsKnown {
		a.Bounds = append(a.Bounds, MemoryBound{Name: "GOGC: the next collection ends at", Limit: a.Goal, Used: u.alive + u.since, UsedBy: "objects"})
	}
	if v, ok := m.Metrics.Last("/gc/gomemlimit:bytes"); ok && v > 0 && v < noMemoryLimit && counted {
		a.Bounds = append(a.Bounds, MemoryBound{Name: "GOMEMLIMIT", Limit: uint64(v), Used: u.total, UsedBy: "the runtime", Reached: reached(m.keptSeries(), v-float64(u.total))})
	}
	if m.Limits == nil {
		return
	}
	used, by := a.RSS, "the process"
	if n := len(m.Limits.Samples); n > 0 && m.Limits.Samples[n-1].Memory > 0 {
		last := m.Limits.Samples[n-1]
		a.Cache, a.Droppable = last.Cache, last.Droppable
		used, by = last.Memory-min(last.Memory, last.Droppable), "the group"
	}
	resident := m.Process.Resident()
	for _, b := range []struct {
		name  string
		limit uint64
	}{{"control group: slowed down over", m.Limits.MemoryHigh}, {"control group: killed over", m.Limits.Memory}} {
		if b.limit > 0 {
			a.Bounds = append(a.Bounds, MemoryBound{Name: b.name, Limit: b.limit, Used: used, UsedBy: by, Reached: reached(resident, float64(b.limit)-float64(used))})
		}
	}
}

// noMemoryLimit is over what the runtime says when there is none, 2^63-1 rounded.
const noMemoryLimit = 1 << 62

// reached returns when a quantity that grows has grown by so much.
func reached(s Series, by float64) time.Duration {
	per, low, _, ok := s.Slope()
	if !ok || low <= 0 || by <= 0 || s[len(s)-1].At-s[0].At < leastSlope {
		return 0
	}
	if after := by / per; after < farthest.Seconds() {
		return time.Duration(after * float64(time.Second))
	}
	return 0
}

// keptSeries returns what the runtime has taken and not given back, over time.
func (m *Model) keptSeries() (s Series) {
	if m.Metrics == nil {
		return nil
	}
	total, released := m.Metrics.Series[memoryClasses+classTotal+":bytes"], m.Metrics.Series[memoryClasses+classReleased+":bytes"]
	if len(total) != len(released) {
		return nil
	}
	for i, p := range total {
		s = append(s, Point{p.At, p.Value - released[i].Value})
	}
	return s
}
