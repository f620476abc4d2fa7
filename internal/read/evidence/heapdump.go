package evidence

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heap"
	"github.com/gowhy/gowhy/internal/sense/heapdump"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A heap dump has what a core has of goroutines and of the heap, and the runtime's counts, but no path
// of its program: it is read with the file that is given beside it, or without names.

// WriteHint says how a dump is written.
const WriteHint = `f, err := os.Create("app.heapdump"); debug.WriteHeapDump(f.Fd()); f.Close()   // of runtime/debug, then gowhy app.heapdump ./app`

// heapDump reads a heap dump.
func (l *loader) heapDump(s source) error {
	if l.onlyTrace != nil {
		return nil
	}
	if s.at == nil {
		return l.spool(s, l.heapDump)
	}
	f, p, bad := openDump(s, l.programs, heap.Budget)
	if bad != nil {
		return l.pass(bad)
	}
	defer p.Close()
	l.cores++
	d := &dumpReading{l: l, s: s, f: f, p: p, at: time.Now()}
	if info, err := os.Stat(s.path); err == nil && s.path == l.arg {
		d.at = info.ModTime()
	}
	return d.read()
}

// openDump looks through a dump and opens the first of the programs that wrote it. Without any there is
// none.
func openDump(s source, programs []string, budget uint64) (*heapdump.File, *heapdump.Program, *problem.Error) {
	f, err := heapdump.Open(s.at, s.size, budget, nil)
	if err != nil {
		return nil, nil, dumpProblem(s.name, programs, err)
	}
	var bad *problem.Error
	for _, path := range programs {
		p, err := f.OpenProgram(path)
		if err == nil {
			return f, p, nil
		}
		bad = programProblem(s.name, path, err)
	}
	return f, nil, bad
}

func programProblem(name, path string, err error) *problem.Error {
	hint := fmt.Sprintf("gowhy memory %s --holders   # without names of variables and types", shell.Word(name))
	if errors.Is(err, heapdump.ErrProgram) {
		return problem.New(problem.Absence, "give the file that ran; until then: "+hint, "%q did not write %q: %w", path, name, err)
	}
	return problem.New(problem.Absence, hint, "the names of %q cannot be read out of %q, which has to be an ELF file of a Go program: %w", name, path, err)
}

func dumpProblem(name string, programs []string, err error) *problem.Error {
	if errors.Is(err, heapdump.ErrBudget) {
		args := append([]string{name}, programs...)
		return problem.New(problem.Failure, fmt.Sprintf("gowhy memory %s --holders --budget %d", shell.Words(args), 4*heap.Budget>>20), "%q: %w", name, err)
	}
	return problem.New(problem.Absence, WriteHint, "%q cannot be read: %w", name, err)
}

// OpenHeapDump opens a heap dump, beside which its program may be named, for who reads who holds the
// heap. Messages have name in place of the file's where it is not empty. The dump is nil where the files are something else; close is to be called behind it.
func OpenHeapDump(ctx context.Context, paths []string, name string, budget uint64) (f *heapdump.File, p *heapdump.Program, close func(), err error) {
	l := newLoader(ctx, Options{})
	s, file, err := l.openMemory(paths, artifact.HeapDump)
	if file == nil {
		return nil, nil, nil, err
	}
	s.name = cmp.Or(name, s.name)
	f, p, bad := openDump(s, l.programs, budget)
	if bad != nil {
		file.Close()
		return nil, nil, nil, bad
	}
	return f, p, func() { p.Close(); file.Close() }, nil
}

// A dumpReading is the reading of one dump.
type dumpReading struct {
	l  *loader
	s  source
	f  *heapdump.File
	p  *heapdump.Program // nil without its file
	at time.Time         // when it was written, as far as known
}

func (d *dumpReading) read() error {
	if d.f.Goroutines == 0 && d.f.Stats == nil {
		return d.l.pass(problem.New(problem.Absence, WriteHint, "%q is cut short or damaged %w, and lacks %s", d.s.name, d.f.Damage, strings.Join(d.f.Missing, ", ")))
	}
	if !d.f.Whole {
		d.l.note("%s is cut short or damaged %v, and lacks %s", d.s.name, d.f.Damage, strings.Join(d.f.Missing, ", "))
	}
	d.l.toolchain = d.f.Version
	for _, read := range []func() error{d.build, d.goroutines, d.memory, d.holders} {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// build tells what the program's file says of how it was built.
func (d *dumpReading) build() error {
	if d.p == nil || d.l.cores > 1 { // of two dumps it is the same
		return nil
	}
	info, err := buildinfo.ReadFile(d.l.programs[0])
	if err != nil {
		return nil
	}
	return d.l.readBuild(source{name: d.l.programs[0], r: strings.NewReader(info.String())})
}

// maxStandings bounds how many groups of equal goroutines are told apart.
const maxStandings = 1 << 16

func (d *dumpReading) goroutines() error {
	if d.f.Goroutines == 0 {
		return nil
	}
	s := &goroutines.Snapshot{Time: d.at}
	groups, since, latest := map[string]int{}, map[int]int64{}, int64(0)
	var key strings.Builder
	err := d.f.EachGoroutine(func(g *heapdump.Goroutine) error {
		key.Reset()
		fmt.Fprintf(&key, "%x %d %s %v", g.Creator, g.Status, g.Reason, g.System)
		for i := range g.Frames {
			fmt.Fprintf(&key, " %x", g.Frames[i].PC)
		}
		latest = max(latest, g.Since)
		n, ok := groups[key.String()]
		if !ok {
			if len(groups) == maxStandings {
				s.Torn++
				return nil
			}
			n = len(s.Groups)
			groups[key.String()] = n
			s.Groups = append(s.Groups, d.group(g))
		}
		s.Groups[n].Count++
		if was := since[n]; g.Since > 0 && (was == 0 || g.Since < was) {
			since[n] = g.Since
		}
		return d.l.ctx.Err()
	})
	if err != nil {
		return err
	}
	for n, from := range since { // the clock is not in a dump: the last that anybody began to wait is
		s.Groups[n].Oldest = time.Duration(latest - from)
	}
	return d.profile(artifact.GoroutineProfile(s, 0), nil)
}

func (d *dumpReading) group(g *heapdump.Goroutine) goroutines.Group {
	of := goroutines.Group{State: goroutines.State(g.Status & 0xf), Reason: g.Reason, System: g.System}
	for i := range g.Frames {
		f := &g.Frames[i]
		places := d.p.Frames(f.PC)
		if len(places) == 0 {
			places = []symbols.Place{{Func: f.Name}}
		}
		of.Stack = append(of.Stack, places...)
		if f.Name != "runtime.goexit" {
			of.Start = symbols.Place{Func: f.Name}
		}
	}
	if at := d.p.Frames(g.Creator); len(at) > 0 {
		of.Creator = at[0]
	}
	return of
}

func (d *dumpReading) profile(p *profile.Profile, stats *model.MemStats) error {
	if err := p.CheckValid(); err != nil {
		return problem.New(problem.Failure, "", "%q: %w", d.s.name, err)
	}
	return d.l.foldProfile(&pprofFile{Profile: p, name: d.s.name, stats: stats})
}

const (
	// sampleRate is what runtime.MemProfileRate is unless a program sets it: a dump does not have it.
	sampleRate = 512 << 10
	maxSites   = 1 << 17
)

// memory reads the memory profile and the runtime's counts.
func (d *dumpReading) memory() error {
	all, stacks := &goroutines.Heap{Time: d.at, Rate: sampleRate}, [][]symbols.Place{}
	own := false
	d.f.EachSite(func(s *heapdump.Site) {
		if len(stacks) == maxSites || s.Allocs == 0 {
			return
		}
		stack := make([]symbols.Place, len(s.Stack))
		for i, at := range s.Stack {
			stack[i] = symbols.Place(at)
			own = own || !strings.HasPrefix(at.Func, "runtime.")
		}
		all.Sites = append(all.Sites, goroutines.Site{ID: uint64(len(stacks)), Size: s.Size, Allocs: s.Allocs, Frees: s.Frees})
		stacks = append(stacks, stack)
	}, func(uint64, uint64) {})
	var stats *model.MemStats
	if d.f.Stats != nil {
		stats = &model.MemStats{}
		fields := map[string]float64{}
		for name, n := range d.f.Stats {
			setStat(stats, name, n)
			fields[name] = float64(n)
		}
		stats.Classes = classesOf(fields)
	}
	if !own { // the program keeps no profile: what the runtime itself took first is in it before it knows
		d.l.m.MemStats = stats
		return nil
	}
	return d.profile(artifact.MemoryProfile(all, func(s *goroutines.Site) []symbols.Place { return stacks[s.ID] }), stats)
}

// holders reads who holds the heap. What cannot be read is noted: the rest of the dump is of use.
func (d *dumpReading) holders() error {
	look, err := heap.ReadDump(d.l.ctx, d.f, d.p, heap.Options{})
	if d.l.ctx.Err() != nil {
		return d.l.ctx.Err()
	}
	if err != nil {
		d.l.note("who holds the heap is not known of %s: %v", d.s.name, strings.TrimPrefix(err.Error(), goroutines.ErrUnsure.Error()+": "))
		return nil
	}
	if look.Nameless {
		d.l.note("variables and types of %s have no names: give the program's file beside it, gowhy %s ./PROGRAM", d.s.name, shell.Word(d.s.name))
	}
	look.Time = d.at
	list := d.l.m.Run.Holders
	if len(list) != 1 || !list[0].Dump { // two dumps say what grew
		if err := d.l.take(model.Holders, "look at who holds the heap", d.s.name); err != nil {
			return err
		}
	}
	list = append(list, look)
	slices.SortFunc(list, func(a, b *model.HeapLook) int { return a.Time.Compare(b.Time) })
	if first, last := list[0], list[len(list)-1]; last.Time.After(first.Time) {
		last.Since(first)
		d.l.covers(spanOfSnapshots, first.Time, last.Time)
	}
	d.l.m.Run.Holders = list
	return nil
}
