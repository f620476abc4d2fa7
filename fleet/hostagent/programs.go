package hostagent

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gowhy/gowhy/fleet/store"
)

// A hostProgram is a Go program as the host has it now.
type hostProgram struct {
	pid   int
	start time.Duration // since boot: numbers are used again
	claimedIdentity
	cpu  time.Duration // since its start
	read time.Time     // when that was
}

// A claimedIdentity is what a program says it is.
type claimedIdentity struct {
	service, version, goVersion, container, pod string
	agent                                       bool // it imports gowhy's
}

// A program is one process of which profiles are collected, as long as it is the same
// program.
type program struct {
	hostProgram
	host, instance string
	cores          float64 // that it used lately
	turn           turnOf  // the plan's
	scraping       scraping
}

// kinds of profiles, as __name__ has them; of those that are scraped it is the first part
// of their types.
const cpuKind = "process_cpu"

// longestLabel is what servers take: Pyroscope's own limit.
const longestLabel = 2048

// labels returns those of a profile of the program. What Pyroscope would take for counts
// since the program's start, and make differences of, are differences already.
func (p *program) labels(kind string) []store.Label {
	var all []store.Label
	for _, l := range []store.Label{
		{Name: "__delta__", Value: "false"}, {Name: "__name__", Value: kind},
		{Name: "container_id", Value: p.container}, {Name: "go_version", Value: p.goVersion}, {Name: "host", Value: p.host},
		{Name: "instance", Value: p.instance}, {Name: "pod_uid", Value: p.pod},
		{Name: "service_name", Value: p.service}, {Name: "service_version", Value: p.version},
	} {
		if l.Value = printable(l.Value); l.Value != "" {
			all = append(all, l)
		}
	}
	return all
}

// printable returns a text without what no label may have: it may come from a program's
// environment.
func printable(s string) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, s)
	if len(s) > longestLabel {
		s = strings.ToValidUTF8(s[:longestLabel], "")
	}
	return s
}

// programs are those of the host, by process.
type programs struct {
	host  string
	every time.Duration // between two scans
	next  time.Time     // of a scan
	here  map[int]*program
	list  []*program // by process
}

func newPrograms(host string) *programs {
	return &programs{host: host, every: scanEvery, here: map[int]*program{}}
}

func (p *programs) due(now time.Time) bool { return !now.Before(p.next) }

func (p *programs) all() []*program { return p.list }

// update takes what the host has now. A program that is another than before, in the same
// process, begins anew.
func (p *programs) update(now time.Time, list []hostProgram) {
	p.next = now.Add(p.every)
	here := map[int]*program{}
	for _, f := range list {
		if old := p.here[f.pid]; old != nil && old.start == f.start && old.claimedIdentity == f.claimedIdentity {
			if d := f.read.Sub(old.read); d > 0 {
				old.cores = max(0, (f.cpu-old.cpu).Seconds()/d.Seconds())
			}
			old.cpu, old.read = f.cpu, f.read
			here[f.pid] = old
		}
	}
	for pid, old := range p.here {
		if here[pid] != old {
			old.scraping.end()
		}
	}
	p.here = here
	slices.SortFunc(list, func(a, b hostProgram) int { return cmp.Compare(a.pid, b.pid) })
	for _, f := range list {
		if here[f.pid] == nil {
			here[f.pid] = &program{hostProgram: f, host: p.host, instance: p.instance(f)}
		}
	}
	p.list = p.list[:0:0]
	for _, one := range here {
		p.list = append(p.list, one)
	}
	slices.SortFunc(p.list, func(a, b *program) int { return cmp.Compare(a.pid, b.pid) })
}

// instance names a process for as long as it runs: by the host, so that it pairs with the
// one that had its place in the version before, and by its number too where another of
// the same version has that name.
func (p *programs) instance(f hostProgram) string {
	for _, one := range p.here {
		if one.service == f.service && one.version == f.version && one.instance == p.host {
			return fmt.Sprintf("%s/%d", p.host, f.pid)
		}
	}
	return p.host
}

// stop ends what goes on for all programs.
func (p *programs) stop() {
	for _, one := range p.list {
		one.scraping.end()
	}
}

// A scraping is whether a program is asked for profiles.
type scraping struct {
	mu      sync.Mutex
	probing bool
	next    time.Time // of a probe
	probes  int
	asked   map[string]bool // addresses that answered, and not as handlers
	url     string          // its address
	cpu     bool            // its CPU profile is fetched too
	cancel  context.CancelFunc
	ended   bool
}

// end ends it, now and for ever.
func (s *scraping) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.cancel != nil {
		s.cancel()
	}
}
