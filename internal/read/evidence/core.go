package evidence

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A core is the memory of a program. What is read out of that of one that runs is read out of
// it too, and given the form that a recording has: from there on nothing knows of cores.

// programsAmong keeps the programs among several files, of which a core may be, and returns the
// others.
func (l *loader) programsAmong(paths []string) (rest []string) {
	if len(paths) < 2 {
		return paths
	}
	for _, p := range paths {
		if isProgram(p) {
			l.programs = append(l.programs, p)
			continue
		}
		rest = append(rest, p)
	}
	return rest
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, headLen)
	n, _ := io.ReadFull(f, head)
	return artifact.Sniff(head[:n]) == artifact.Program && !artifact.OtherCore(head[:n])
}

// unusedProgram refuses a program that was given without its core.
func (l *loader) unusedProgram() error {
	if len(l.programs) == 0 || l.cores > 0 {
		return nil
	}
	return notEvidence(artifact.Program, l.programs[0], nil)
}

// core reads a core file.
func (l *loader) core(s source) error {
	if l.onlyTrace != nil {
		return nil
	}
	if s.at == nil {
		return l.spool(s, l.core)
	}
	c, err := core.New(s.at, s.size)
	if err != nil {
		return l.pass(problem.New(problem.Absence, "dlv core PROGRAM "+shell.Word(s.name)+"   # then, in it: transcript delve.txt, and goroutines -t; gowhy delve.txt", "%q is %w", s.name, err))
	}
	l.cores++
	reader, path, err := l.openCore(c, s)
	if err != nil && (c.Lost == 0 || !errors.Is(err, goroutines.ErrUnsure)) {
		return l.pass(coreProblem(c, s, path, err))
	}
	if reader != nil {
		defer reader.Close()
	}
	d := &coreReading{l: l, s: s, c: c, at: time.Now(), path: path}
	if info, err := os.Stat(s.path); err == nil && s.path == l.arg {
		d.at = info.ModTime()
	}
	return d.read(reader)
}

// openCore opens the goroutines of a core with the first of the files that may be its program's
// and is.
func (l *loader) openCore(c *core.File, s source) (r *goroutines.Reader, path string, err error) {
	list, tried := l.programs, ""
	if len(list) == 0 && !l.opts.Elsewhere {
		list = programPaths(c, s.path)
	}
	err = os.ErrNotExist
	for _, path := range list {
		if !isProgram(path) {
			continue
		}
		r, other := goroutines.OpenCore(c, path)
		if other == nil {
			return r, path, nil
		}
		if !errors.Is(err, goroutines.ErrUnsure) {
			err, tried = other, path // which tells most
		}
	}
	return nil, tried, err
}

// programPaths returns where a core's program may be: where it was, and beside the core.
func programPaths(c *core.File, at string) (list []string) {
	program := strings.TrimSuffix(c.Program, " (deleted)")
	if program != "" {
		list = append(list, program)
	}
	for _, name := range []string{filepath.Base(program), c.Name} {
		if name != "" && name != "." {
			list = append(list, filepath.Join(filepath.Dir(at), name), name)
		}
	}
	return list
}

// coreProblem says why a core is not read, of a program whose file was looked for at a path.
func coreProblem(c *core.File, s source, path string, err error) *problem.Error {
	of := programOf(c)
	file := shell.Word(s.name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return problem.New(problem.Absence, fmt.Sprintf("copy it from where it ran to the directory of the core, then gowhy %s", file),
			"%q is a core of %q, whose file is not on this machine", s.name, of)
	case errors.Is(err, goroutines.ErrOther):
		return problem.New(problem.Absence, fmt.Sprintf("copy the one that ran to the directory of the core, then gowhy %s", file),
			"%q is a core of %q, and %q is not the file that ran: %w", s.name, of, path, err)
	}
	what := "%q is a core of %q: %w"
	if errors.Is(err, symbols.ErrNoTable) {
		what = "%q is a core of %q, which is no Go program: %w"
	}
	return problem.New(problem.Absence, "gdb "+shell.Words([]string{of, s.name}), what, s.name, of, err)
}

// programOf returns the program's name in messages.
func programOf(c *core.File) string {
	for _, name := range []string{c.Program, c.Name, c.Args} {
		if name != "" {
			return name
		}
	}
	return "an unknown program"
}

// OpenCore opens the memory in a core, beside which its program may be named, for who reads
// more of it than the model has. It is nil where the files are something else; close is to be
// called behind it.
func OpenCore(ctx context.Context, paths []string) (r *goroutines.Reader, close func(), err error) {
	l := newLoader(ctx, Options{})
	s, f, err := l.openMemory(paths, artifact.Core)
	if f == nil {
		return nil, nil, err
	}
	c, err := core.New(f, s.size)
	if err == nil {
		var path string
		if r, path, err = l.openCore(c, s); err != nil {
			err = coreProblem(c, s, path, err)
		}
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return r, func() { r.Close(); f.Close() }, nil
}

// openMemory opens the file among paths that is not a program, if it is of a kind. What somebody packed,
// as systemd-coredump does, is unpacked to a file without a name. f is nil where it is something else.
func (l *loader) openMemory(paths []string, kind artifact.Kind) (s source, f *os.File, err error) {
	rest := l.programsAmong(paths)
	if len(rest) != 1 {
		return s, nil, nil
	}
	if f, err = os.Open(rest[0]); err != nil {
		return s, nil, OpenError(rest[0], err)
	}
	s = source{name: rest[0], path: rest[0], at: f}
	head, err := s.peek()
	info, other := f.Stat()
	if err != nil || other != nil {
		f.Close()
		return s, nil, nil
	}
	s.size = info.Size()
	open := unpackers[artifact.Sniff(head)]
	if open == nil {
		if artifact.Sniff(head) != kind {
			f.Close()
			f = nil
		}
		return s, f, nil
	}
	defer f.Close()
	inner := source{name: s.name, path: s.path}
	if inner.r, err = open(f); err != nil {
		return s, nil, nil
	}
	if head, err = inner.peek(); err != nil || artifact.Sniff(head) != kind {
		return s, nil, nil
	}
	spooled, n, err := spoolFile(ctxReader{l.ctx, inner.r})
	if spooled == nil {
		return s, nil, err
	}
	os.Remove(spooled.Name())
	if err != nil {
		spooled.Close()
		return s, nil, cutProblem(s.name, err)
	}
	inner.at, inner.size = spooled, n
	return inner, spooled, nil
}

// A coreReading is the reading of one core. Its reader is nil where the core lacks so much
// that no goroutine is known.
type coreReading struct {
	l    *loader
	s    source
	c    *core.File
	at   time.Time // when it was written, as far as known
	path string    // of the program's file
}

// read reads what there is, in the forms of a recording's members.
func (d *coreReading) read(r *goroutines.Reader) error {
	d.l.m.Run.PID = d.c.PID
	var words goroutines.Words
	list := []func() error{func() error { return d.process(r) }, d.build}
	if r != nil {
		snapshot, err := r.Read()
		if err != nil {
			d.l.note("goroutines of %s cannot be read: %v", d.s.name, err)
		}
		words = r.LastWords()
		list = append(list, func() error { return d.goroutines(snapshot, words) }, func() error { return d.heap(r) }, func() error { return d.counters(r) })
	}
	d.l.m.Run.Death = d.death(words)
	for _, read := range list {
		if err := read(); err != nil {
			return err
		}
	}
	switch {
	case r == nil:
		d.l.note("%s is cut short: %s of memory are missing at its end, and the goroutines with it", d.s.name, figures.Bytes(d.c.Lost))
	case d.c.Lost > 0:
		d.l.note("%s is cut short: %s of memory are missing at its end", d.s.name, figures.Bytes(d.c.Lost))
	}
	return nil
}

func (d *coreReading) goroutines(s *goroutines.Snapshot, words goroutines.Words) error {
	if s == nil {
		return nil
	}
	s.Time = d.at
	if s.Torn > 0 {
		d.l.note("%s of %d in %s could not be read", figures.Plural(s.Torn, "goroutine"), s.Torn+s.Count+s.System, d.s.name)
	}
	return d.profile(artifact.GoroutineProfile(s, 0), strings.Contains(words.Text, asleep))
}

// asleep is in what the runtime says where no goroutine can go on.
const asleep = "all goroutines are asleep"

func (d *coreReading) profile(p *profile.Profile, dead bool) error {
	if err := p.CheckValid(); err != nil {
		return problem.New(problem.Failure, "", "%q: %w", d.s.name, err)
	}
	return d.l.foldProfile(&pprofFile{Profile: p, name: d.s.name, dead: dead})
}

// heap reads the memory profile, where the program kept one.
func (d *coreReading) heap(r *goroutines.Reader) error {
	h, err := r.HeapReader()
	if err != nil {
		return nil
	}
	defer h.Close()
	all, err := h.Read()
	if err != nil {
		return nil
	}
	all.Time = d.at
	return d.profile(artifact.MemoryProfile(all, h.Frames), false)
}

func (d *coreReading) counters(r *goroutines.Reader) error {
	g, err := r.Gauge()
	if err != nil {
		return nil
	}
	defer g.Close()
	c := g.Read()
	if c.Procs <= 0 { // they were not found, or that part is missing
		d.l.note("what the runtime counts is not in %s, or was not found in a program without symbols", d.s.name)
		return nil
	}
	line := artifact.CountersLine(&c, g.Usage)
	line.Time = d.at.UnixNano()
	return d.member(recording.MetricsMember, artifact.CountersHeader(), line)
}

// process tells the threads, and what memory is of.
func (d *coreReading) process(r *goroutines.Reader) error {
	s := proc.Sample{Time: d.at, Maps: d.maps(r), Process: proc.Counters{FDs: -1, Threads: len(d.c.Threads)}}
	s.Process.RSS = s.Maps.Total().RSS
	for _, t := range d.c.Threads {
		s.Process.User += t.User
		s.Process.System += t.System
	}
	return d.member(recording.ProcMember, artifact.Header{Kind: artifact.ProcKind, Schema: artifact.ProcSchema}, s)
}

// maps sorts the pieces of memory as the kernel's of a process.
func (d *coreReading) maps(r *goroutines.Reader) *proc.Maps {
	touched, all := d.c.TouchedMemory()
	if !all {
		d.l.note("%s is too large to look through: memory that may be untouched counts as resident", d.s.name)
	}
	var list []proc.Mapping
	for _, t := range touched {
		m := proc.Mapping{Range: proc.Range{Low: t.Start, High: t.End}, Executable: t.Executable(), File: t.File, Path: t.Path}
		m.Shared = t.File // which tells shared memory from files
		m.RSS, m.PSS = t.Bytes, t.Bytes
		list = append(list, m)
	}
	var heap []proc.Range
	if r != nil {
		arenas, _ := r.Arenas() // else it is where most programs have it
		for _, a := range arenas {
			heap = append(heap, proc.Range(a))
		}
	}
	m := proc.SortMaps(list, d.c.Program, heap)
	m.Core = true
	return m
}

// build tells what the program's file says of how it was built.
func (d *coreReading) build() error {
	info, err := buildinfo.ReadFile(d.path)
	if err != nil {
		return nil
	}
	d.l.toolchain = info.GoVersion
	return d.l.readBuild(source{name: d.path, r: strings.NewReader(info.String())})
}

// member reads lines of JSON as those of a recording's member.
func (d *coreReading) member(name string, lines ...any) error {
	var b bytes.Buffer
	for _, line := range lines {
		if err := json.NewEncoder(&b).Encode(line); err != nil {
			return err
		}
	}
	return d.l.source(source{name: d.s.name, member: name, r: &b})
}

// death says how the program ended.
func (d *coreReading) death(w goroutines.Words) *model.Death {
	if d.c.Death.Name() == "" {
		return nil // somebody took the core of a program that lives on
	}
	return &model.Death{Signal: d.c.Death.Name(), Addr: d.c.Death.Addr, Words: w.Text, Func: w.At.Func, File: w.At.File, Line: w.At.Line}
}
