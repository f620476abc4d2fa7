package hostagent

import (
	"errors"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func pidsOf(all []*program) (pids []int) {
	for _, p := range all {
		pids = append(pids, p.pid)
	}
	slices.Sort(pids)
	return pids
}

func TestPlan(t *testing.T) {
	p := plan{window: time.Minute, most: 2}
	var all []*program
	for i, cores := range []float64{0, 1, 0.5} {
		all = append(all, &program{hostProgram: hostProgram{pid: i + 1}, cores: cores})
	}
	at := func(seconds int, over bool, want []int, late int) {
		t.Helper()
		begin, n := p.next(noon.Add(time.Duration(seconds)*time.Second), all, over)
		if got := pidsOf(begin); !slices.Equal(got, want) || n != late {
			t.Errorf("after %d s: %v begin and %d are late, want %v and %d", seconds, got, n, want, late)
		}
	}
	at(0, true, nil, 0)          // beyond the budget from the beginning
	at(1, false, []int{2, 3}, 0) // those that use most
	at(2, false, nil, 0)         // two at once
	p.noteEnd(all[1], nil)
	at(3, false, []int{1}, 0) // one that idles has its turn
	p.noteEnd(all[2], errors.New("no"))
	p.noteEnd(all[0], nil)
	if !p.refused(all[2]) || p.refused(all[1]) {
		t.Error("who is refused is not remembered")
	}
	at(30, false, nil, 0) // once in a window
	at(62, true, nil, 0)
	at(122, true, nil, 2) // a window later: two samples were left out
	at(124, true, nil, 0) // each is counted once in a window
	at(184, true, nil, 2) // and again in the next
	at(185, false, []int{2, 3}, 0)
	p.noteEnd(all[1], nil)
	p.noteEnd(all[2], nil)
	at(302, false, []int{2, 3}, 0)
	p.noteEnd(all[1], nil)
	at(303, false, []int{1}, 0) // the idle one after five windows
}

// Those that are left out for the budget are not always the same.
func TestPlanIsFair(t *testing.T) {
	p := plan{window: time.Minute, most: 1}
	all := []*program{{hostProgram: hostProgram{pid: 1}, cores: 1}, {hostProgram: hostProgram{pid: 2}, cores: 0.1}}
	times := map[int]int{}
	for minute := range 100 { // room for one in a minute
		begin, _ := p.next(noon.Add(time.Duration(minute)*time.Minute), all, false)
		for _, one := range begin {
			times[one.pid]++
			p.noteEnd(one, nil)
		}
		for range all {
			p.next(noon.Add(time.Duration(minute)*time.Minute), all, true)
		}
	}
	if times[1] < 80 || times[2] < 5 {
		t.Errorf("sampled %v, want the busy one often and the other too", times)
	}
}

func TestPrograms(t *testing.T) {
	p := newPrograms("h")
	shop := func(version string) claimedIdentity { return claimedIdentity{service: "shop", version: version} }
	one := hostProgram{pid: 10, start: 1, claimedIdentity: shop("v1"), read: noon}
	two := hostProgram{pid: 11, start: 1, claimedIdentity: shop("v1"), read: noon}
	names := func(want ...string) {
		t.Helper()
		var got []string
		for _, x := range p.all() {
			got = append(got, x.version+" "+x.instance)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	p.update(noon, []hostProgram{two, one})
	names("v1 h", "v1 h/11")
	first := p.all()[0]
	first.scraping.cancel = func() {}

	one.cpu, one.read = 5*time.Second, noon.Add(10*time.Second)
	p.update(noon, []hostProgram{one, two})
	if p.all()[0] != first || first.cores != 0.5 {
		t.Errorf("the same program begins anew, or uses %v cores", first.cores)
	}
	// The first restarts, with the next version: its name is that of the one before.
	next := hostProgram{pid: 12, start: 2, claimedIdentity: shop("v2"), read: noon}
	p.update(noon, []hostProgram{one, two, next})
	names("v1 h", "v1 h/11", "v2 h")
	p.update(noon, []hostProgram{two, next})
	names("v1 h/11", "v2 h")
	if !first.scraping.ended {
		t.Error("what went is still scraped")
	}
	// In the place of one that went, and in the same process, another program.
	exec := next
	exec.version = "v3"
	p.update(noon, []hostProgram{{pid: 11, start: 9, claimedIdentity: shop("v1"), read: noon}, exec})
	names("v1 h", "v3 h")
}

func TestLabels(t *testing.T) {
	p := &program{host: "h", instance: "h/3", hostProgram: hostProgram{claimedIdentity: claimedIdentity{service: "sh\x1bop\n", goVersion: "go1.26"}}}
	got := map[string]string{}
	for _, l := range p.labels(cpuKind) {
		got[l.Name] = l.Value
	}
	if got["service_name"] != "shop" || got["instance"] != "h/3" || got["__name__"] != cpuKind || got["__delta__"] != "false" {
		t.Errorf("%v", got)
	}
	if _, there := got["service_version"]; there {
		t.Error("a label without a value")
	}
	if long := printable(string(make([]byte, 5000)) + "é\xff" + string(slices.Repeat([]byte("é"), 5000))); len(long) > longestLabel || long[:2] != "é" {
		t.Errorf("%d bytes", len(long))
	}
}
