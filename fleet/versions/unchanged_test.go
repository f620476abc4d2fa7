package versions

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A deploy is one of a service on some hosts, that makes it cost a factor more. What its
// processes cost varies from minute to minute.
type deploy struct {
	hosts  int
	same   bool // hosts run both versions
	noise  func(*rand.Rand) float64
	factor float64
}

// The noise of a minute, by which its cost is a factor e^noise from the host's: of samplers and
// loads, with outliers, and with a tail to one side.
func gauss(r *rand.Rand) float64 { return 0.1 * r.NormFloat64() }
func outliers(r *rand.Rand) float64 {
	if r.IntN(20) == 0 {
		return r.NormFloat64()
	}
	return 0.05 * r.NormFloat64()
}
func skewed(r *rand.Rand) float64 { return 0.2 * r.ExpFloat64() }

// rare returns a minute in a hundred that costs twenty times the usual, as a collection of garbage,
// a compaction or a stranger on the host.
func rare(r *rand.Rand) float64 {
	if r.IntN(100) == 0 {
		return 3
	}
	return 0.05 * r.NormFloat64()
}

// minutes is how long each version ran when it is asked about last.
const minutes = 60

// asked are after how many it is asked about: again and again while it runs.
var asked = []int{3, 5, 10, 15, 20, 30, 45, minutes}

// A history answers with the processes of a deploy, by what they cost in each minute: the version
// before ran for an hour, and then came the next.
type history struct {
	store.Reader
	names [2][]string    // of the hosts, by version
	costs [2][][]float64 // of them, by minute
}

func (h *history) Instances(_ context.Context, s store.Selection) (out store.Instances, err error) {
	for v, hosts := range h.costs {
		name := fmt.Sprint("v", v+1)
		for i := range hosts {
			p := store.Instance{Service: "s", Version: name, Name: h.names[v][i]}
			cpu := 0.0
			for m, cost := range hosts[i] {
				end := start.Add(time.Duration(v*minutes+m+1) * time.Minute)
				if end.Before(s.From) || !end.Before(s.Until) || s.Version != "" && s.Version != name {
					continue
				}
				if p.Covered == 0 {
					p.First = end.Add(-time.Minute)
				}
				p.Last, p.Covered, cpu = end, p.Covered+time.Minute, cpu+cost
			}
			if p.Covered > 0 {
				p.Totals = []store.Total{{Type: store.CPU, Value: int64(cpu * 60e9)}}
				out.Instances = append(out.Instances, p)
			}
		}
	}
	return out, nil
}

// history draws what a deploy's processes cost.
func (d deploy) history(random *rand.Rand) *history {
	h := &history{}
	hosts := make([]float64, 2*d.hosts)
	for i := range hosts {
		hosts[i] = 0.3 * random.NormFloat64()
	}
	for v, factor := range []float64{1, d.factor} {
		for i := range d.hosts {
			at := i
			if !d.same {
				at += v * d.hosts
			}
			costs := make([]float64, minutes)
			for m := range costs {
				costs[m] = factor * math.Exp(hosts[at]+d.noise(random))
			}
			h.names[v], h.costs[v] = append(h.names[v], fmt.Sprint("host", at)), append(h.costs[v], costs)
		}
	}
	return h
}

// claimed tells whether a change is claimed of a deploy after any of so many minutes.
func (d deploy) claimed(t *testing.T, random *rand.Rand, after ...int) bool {
	t.Helper()
	h := d.history(random)
	for _, n := range after {
		until := start.Add(time.Duration(minutes+n) * time.Minute)
		changes, err := Changes(t.Context(), h, store.Selection{From: start, Until: until.Add(time.Millisecond)})
		if err != nil {
			t.Fatal(err)
		}
		if changes[0].Worse() || changes[0].Better() {
			return true
		}
	}
	return false
}

// fleets are those of which deploys are drawn in turns.
var fleets = []deploy{
	{hosts: 6, same: true, noise: gauss}, {hosts: 6, same: true, noise: outliers}, {hosts: 8, same: true, noise: skewed},
	{hosts: 4, noise: gauss}, {hosts: 12, same: true, noise: gauss}, {hosts: 12, noise: outliers},
	{hosts: 20, same: true, noise: gauss}, {hosts: 20, same: true, noise: skewed}, {hosts: 20, noise: skewed}, {hosts: 40, noise: outliers},
	{hosts: 40, same: true, noise: rare}, {hosts: 100, same: true, noise: outliers}, {hosts: 100, same: true, noise: skewed}, {hosts: 100, noise: rare},
}

// deploys returns how many are simulated: for the figures of docs/fleet-decides.md
//
//	GOWHY_DEPLOYS=1000 go test ./fleet/versions -run 'Unchanged|Found' -v
func deploys(few int) int {
	if n, err := strconv.Atoi(os.Getenv("GOWHY_DEPLOYS")); err == nil && n > 0 {
		return n
	}
	return few
}

// TestUnchanged holds that of deploys that change nothing none is claimed, however often it is
// asked about: each of them is one of a thousand.
func TestUnchanged(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	n, claims := deploys(40), 0
	for i := range n {
		d := fleets[i%len(fleets)]
		d.factor = 1
		if d.claimed(t, random, asked...) {
			claims++
			t.Logf("a change is claimed of deploy %d, on %d hosts, which changed nothing", i, d.hosts)
		}
	}
	if claims > n/1000 {
		t.Errorf("a change is claimed of %d deploys of %d that changed nothing", claims, n)
	}
	t.Logf("a change is claimed of %d deploys of %d that changed nothing, each asked about %d times", claims, n, len(asked))
}

// TestFound holds that what changed is still found after an hour: of twelve hosts and more 8%
// in 18 deploys of 20, 5% in 12. Of fewer, and where noise is larger, it finds what it can.
func TestFound(t *testing.T) {
	for _, c := range []struct {
		factor float64
		least  int // of 20
	}{{1.08, 18}, {1.05, 12}} {
		for i, d := range []deploy{{hosts: 8, same: true, noise: gauss}, {hosts: 20, same: true, noise: skewed},
			{hosts: 12, same: true, noise: gauss}, {hosts: 20, same: true, noise: gauss}} {
			random, found := rand.New(rand.NewPCG(13, 14)), 0
			d.factor = c.factor
			n := deploys(20) / 20 * 20
			for range n {
				if d.claimed(t, random, minutes) {
					found++
				}
			}
			t.Logf("fleet %d: %.0f%% on %d hosts is found in %d deploys of %d", i, 100*(c.factor-1), d.hosts, found, n)
			if i > 1 && found*20 < c.least*n {
				t.Errorf("%.0f%% on %d hosts is found in %d deploys of %d, want %d of 20", 100*(c.factor-1), d.hosts, found, n, c.least)
			}
		}
	}
}

// TestBetweenUnequal compares an hour with the three minutes after it, in which nothing changed:
// what happens rarely is in the mean of the hour, and that is no change.
func TestBetweenUnequal(t *testing.T) {
	random, claimed := rand.New(rand.NewPCG(17, 18)), 0
	const n = 100
	for i := range n {
		h := deploy{hosts: 40, same: true, noise: rare, factor: 1}.history(random)
		was := store.Selection{Service: "s", Version: "v1", From: start, Until: start.Add(minutes*time.Minute + time.Millisecond)}
		is := store.Selection{Service: "s", Version: "v2", From: was.Until, Until: was.Until.Add(3 * time.Minute)}
		if i%2 == 0 { // the earlier as the head
			was, is = is, was
		}
		changes, err := Compare(t.Context(), h, was, is)
		if err != nil || len(changes) != 1 {
			t.Fatal(changes, err)
		}
		if changes[0].Worse() || changes[0].Better() {
			claimed++
		}
	}
	if t.Logf("%d of %d are claimed", claimed, n); claimed > n/20 {
		t.Errorf("%d of %d comparisons that changed nothing are claimed", claimed, n)
	}
}
