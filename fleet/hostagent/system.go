package hostagent

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/fleet/identity"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/kernel"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// A host is what runs; a test has one of its own.
type host interface {
	// list are the Go programs, and how many processes may not be looked into.
	list() (all []hostProgram, unseen int, err error)
	close()
}

// forgetEvery is how often what files say is read anew: a host that compiles has new
// files without end.
const forgetEvery = time.Hour

// A system is the host that this process is on.
type system struct {
	table  *proc.Table
	finder *proc.Finder
	forget time.Time
	known  map[int]*known
	scans  int
	tasks  []proc.Task
}

// A known is what was seen of a process. It is looked at when it was there in the scan
// before, and again when it runs another program.
type known struct {
	start        time.Duration
	comm         string
	scan         int // the last that saw it
	looked       bool
	goes, closed bool
	exe          string
	claimedIdentity
}

func newSystem() (*system, error) {
	table, err := proc.NewTable(proc.Watch{Keep: -1})
	if err != nil {
		return nil, err
	}
	return &system{table: table, known: map[int]*known{}}, nil
}

func (s *system) close() { s.table.Close() }

func (s *system) list() (all []hostProgram, unseen int, err error) {
	if err := s.table.Update(); err != nil {
		return nil, 0, err
	}
	if now := time.Now(); !now.Before(s.forget) {
		s.finder, s.forget = proc.NewFinder(), now.Add(forgetEvery)
	}
	s.scans++
	s.tasks = s.table.Tree(s.tasks[:0])
	for _, t := range s.tasks {
		if t.Kernel || t.State == 'Z' || t.ID == os.Getpid() {
			continue
		}
		k := s.look(t)
		if k.closed {
			unseen++
		}
		if k.goes {
			all = append(all, hostProgram{pid: t.ID, start: t.Start, claimedIdentity: k.claimedIdentity, cpu: t.User + t.System, read: t.Read})
		}
	}
	for pid, k := range s.known {
		if k.scan != s.scans {
			delete(s.known, pid)
		}
	}
	return all, unseen, nil
}

// look returns the record of a process. A program is looked at again each time, which takes
// five system calls, for it may have become another.
func (s *system) look(t proc.Task) *known {
	k := s.known[t.ID]
	if k == nil || k.start != t.Start {
		k = &known{start: t.Start, comm: t.Name, scan: s.scans}
		s.known[t.ID] = k
		if s.scans > 1 { // most live for a moment
			return k
		}
	}
	k.scan = s.scans
	if k.looked && !k.goes && k.comm == t.Name {
		return k
	}
	k.looked, k.comm = true, t.Name
	p, ok := s.finder.Find(t.ID)
	k.closed, k.goes = ok && p.Err != nil, ok && p.Err == nil
	if !k.goes {
		return k
	}
	if version := identity.Version(p.Build); k.exe != p.Exe || k.version != version || k.service == "" {
		environ, _ := proc.Environ(t.ID) // another's may be hidden: then its file names it
		k.exe, k.claimedIdentity = p.Exe, claimedIdentity{service: printable(identity.Service(environ, p.Exe)), version: version, goVersion: p.Build.GoVersion, agent: importsAgent(p.Build)}
		k.container, k.pod = proc.Container(t.ID)
		if k.service == "" {
			k.service = printable(t.Name)
		}
	}
	return k
}

// importsAgent tells whether a program has gowhy's own handlers, which count mutexes and
// blocking only while somebody reads them.
func importsAgent(b *debug.BuildInfo) bool {
	return slices.ContainsFunc(b.Deps, func(m *debug.Module) bool { return m.Path == "github.com/gowhy/gowhy/agent" })
}

// aliveEvery is how often a session looks whether its program is still there: what is
// beyond its end would count as time in which it used nothing.
const aliveEvery = 500 * time.Millisecond

// sampleKernel takes a profile of a program's CPU time from the kernel's side.
func sampleKernel(ctx context.Context, pid int, d time.Duration, hz int) (*profile.Profile, error) {
	s, err := kernel.Start(kernel.Options{PID: pid, Hz: hz, Sparse: true})
	if err != nil {
		return nil, err
	}
	end, alive := time.NewTimer(d), time.NewTicker(aliveEvery)
	defer end.Stop()
	defer alive.Stop()
	dir := "/proc/" + strconv.Itoa(pid)
wait:
	for {
		select {
		case <-end.C:
			break wait
		case <-ctx.Done():
			break wait
		case <-alive.C:
			if _, err := os.Stat(dir); err != nil {
				break wait
			}
		}
	}
	r, err := s.Stop()
	if err != nil {
		return nil, err
	}
	cpu, _ := artifact.KernelProfiles(r)
	return plainStacks(cpu)
}

// unnamed is a function of which only the address is known, which differs from one
// process to the next.
const unnamed = "[unknown]"

// plainStacks leaves of a profile what a server sums by: each stack once, without the
// labels of threads and system calls.
func plainStacks(p *profile.Profile) (*profile.Profile, error) {
	var unknown *profile.Function
	for _, l := range p.Location {
		l.Address = 0
		if len(l.Line) > 0 {
			continue
		}
		if unknown == nil {
			unknown = &profile.Function{ID: uint64(len(p.Function) + 1), Name: unnamed, SystemName: unnamed}
			p.Function = append(p.Function, unknown)
		}
		l.Line = []profile.Line{{Function: unknown}}
	}
	for _, s := range p.Sample {
		s.Label = nil
	}
	p.Comments = nil
	if len(p.Sample) == 0 {
		return p, nil
	}
	merged, err := profile.Merge([]*profile.Profile{p})
	if err != nil {
		return nil, fmt.Errorf("sum the stacks: %w", err)
	}
	return merged, nil
}
