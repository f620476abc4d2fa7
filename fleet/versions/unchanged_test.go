package versions

import (
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

// minutes is how long each version ran when it is asked about last.
const minutes = 60

// looks are after how many it is asked about: again and again while it runs.
var looks = []int{3, 5, 10, 15, 20, 30, 45, minutes}

// claimed tells whether a change is claimed of a deploy at any of the times.
func (d deploy) claimed(t *testing.T, random *rand.Rand, looks ...int) (claimed bool) {
	t.Helper()
	hosts := make([]float64, 2*d.hosts)
	for i := range hosts {
		hosts[i] = 0.3 * random.NormFloat64()
	}
	sums := make([][2]float64, d.hosts)
	for i := range sums {
		for range minutes { // the version before had its time
			sums[i][0] += math.Exp(d.noise(random)) / minutes
		}
	}
	at := 0
	for _, look := range looks {
		for ; at < look; at++ {
			for i := range sums {
				sums[i][1] += math.Exp(d.noise(random))
			}
		}
		var all []store.Instance
		for i := range sums {
			head := i
			if !d.same {
				head += d.hosts
			}
			all = append(all, process("s", "v1", fmt.Sprint("host", i), 0, math.Exp(hosts[i])*sums[i][0], 0),
				process("s", "v2", fmt.Sprint("host", head), time.Hour, d.factor*math.Exp(hosts[head])*sums[i][1]/float64(look), 0))
		}
		c := changesOf(t, all)[0]
		claimed = claimed || c.Worse() || c.Better()
	}
	return claimed
}

// fleets are those of which deploys are drawn in turns.
var fleets = []deploy{
	{hosts: 6, same: true, noise: gauss}, {hosts: 6, same: true, noise: outliers}, {hosts: 8, same: true, noise: skewed},
	{hosts: 4, noise: gauss}, {hosts: 12, same: true, noise: gauss}, {hosts: 12, noise: outliers},
	{hosts: 20, same: true, noise: gauss}, {hosts: 20, same: true, noise: skewed}, {hosts: 20, noise: skewed}, {hosts: 40, noise: outliers},
}

// deploys is how many are simulated: for the figures of docs/fleet-decides.md
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
		if d.claimed(t, random, looks...) {
			claims++
			t.Logf("a change is claimed of deploy %d, on %d hosts, which changed nothing", i, d.hosts)
		}
	}
	if claims > n/1000 {
		t.Errorf("a change is claimed of %d deploys of %d that changed nothing", claims, n)
	}
	t.Logf("a change is claimed of %d deploys of %d that changed nothing, each asked about %d times", claims, n, len(looks))
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
