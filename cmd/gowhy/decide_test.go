//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// The gate in a repository with a planted regression, and without it.
func TestGateOfARepository(t *testing.T) {
	l := newLab(t, "gated")
	l.change("words/words.go", "counts[word]++", "counts[strings.Clone(word)]++")
	r := l.sh("gowhy gate --format markdown")
	r.ends(t, regression)
	r.says(t, "| regressed | `Count allocs/op` words/words\\_test.go:", "limit 0%")
	var from, to int
	row := regexp.MustCompile("`Count allocs/op`.* \\| (\\d+) \\| (\\d+) \\|").FindStringSubmatch(r.stdout)
	if row != nil {
		from, _ = strconv.Atoi(row[1]) // digits
		to, _ = strconv.Atoi(row[2])
	}
	if to-from != 600 { // the words of the benchmark's text
		t.Errorf("from %d to %d allocations in %q", from, to, row)
	}

	l.ok("git checkout -q . && git commit -q --allow-empty -m nothing")
	r = l.ok("gowhy gate --format markdown")
	if strings.Contains(r.stdout, "| regressed |") {
		t.Errorf("nothing was changed:\n%s", r.stdout)
	}
}

// One percent more allocations are found by the runs of one block, A B B A. So
// is that nothing changed. The guard on memory, which takes pairs of runs, is
// left out.
func TestOnePercentInOneBlock(t *testing.T) {
	l := sick(t)
	for _, c := range []struct {
		more       int
		conclusion string
		verdict    string
		code       int
	}{
		{0, "rejected", "same", well},
		{20_000, "rejected", "regressed", regression},
		{-20_000, "confirmed", "improved", well},
	} {
		err := attempt.Repeat(t, func() error {
			r := l.sh(fmt.Sprintf("gowhy verify --json --no-floor --guard none --primary allocs/op --a './sick -n 2000000 objects' --b './sick -workers 5 -n %d objects'", 2_000_000+c.more))
			if err := r.ended(c.code); err != nil {
				return err
			}
			var tr trial
			r.decode(t, &tr)
			e := tr.effect("allocs/op")
			if tr.Conclusion != c.conclusion || e.Verdict != c.verdict || tr.Pairs != 0 || len(tr.Rounds) != 4 || !e.Exact {
				return fmt.Errorf("%d more of 2000000: %s, %s, after %d pairs and %d runs: %s", c.more, tr.Conclusion, e.Verdict, tr.Pairs, len(tr.Rounds), tr.Why)
			}
			if want := 1 + float64(c.more)/2e6; e.Ratio == nil || math.Abs(*e.Ratio-want) > 0.002 {
				return fmt.Errorf("the ratio is %v, want %.3f", e.Ratio, want)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// What a load test says is recorded with the server, diagnosed and compared.
func TestLoadOfAServer(t *testing.T) {
	l := sick(t)
	address := l.freeAddress()
	l.start("./sick -listen " + address + " -n 50000 serve")
	l.waitFor(address)
	for _, file := range []string{"one.json", "two.json"} {
		err := attempt.Repeat(t, func() error { // on a busy machine some come too late
			return l.ok("rm -f "+file+"; gowhy load http://"+address+"/ --rate 100 -d 1s -o "+file).said("100 of 100 operations", "0 failed")
		})
		if err != nil {
			t.Error(err)
		}
	}
	l.ok("gowhy compare one.json two.json").says(t, "p99")
	l.ok("gowhy diagnose one.json")

	var line struct{ Kind string }
	l.ok("cat two.json").decode(t, &line)
	if line.Kind != "gowhy load" {
		t.Errorf("the kind of a result is %q", line.Kind)
	}

	err := attempt.Repeat(t, func() error { // the load may come when the recording has ended
		l.ok("rm -f during.json served.gowhy")
		other := l.freeAddress()
		recorded := make(chan result, 1)
		go func() {
			recorded <- l.sh("gowhy record --no-diagnose -d 3s --load during.json -o served.gowhy -- ./sick -listen " + other + " -n 50000 serve")
		}()
		l.waitFor(other)
		during := l.sh("gowhy load http://" + other + "/ --rate 100 -d 1s -o during.json")
		r := <-recorded
		if err := errors.Join(during.ended(well), r.ended(well)); err != nil {
			return err
		}
		return l.ok("gowhy ledger served.gowhy --by operation").said("PER OPERATION", "CPU")
	})
	if err != nil {
		t.Error(err)
	}
}

// A server that computes twice as much for each request is rejected.
func TestVerifyUnderLoad(t *testing.T) {
	l := sick(t)
	address := l.freeAddress()
	url := "http://" + address + "/"
	err := attempt.Repeat(t, func() error {
		r := l.sh("gowhy verify --json --no-floor --no-count --pairs 10 --load 'gowhy load " + url + " --closed -c 4 -n 1000' --ready " + url +
			" --knob n=100000:300000 -- ./sick -listen " + address + " -n {n} serve")
		if err := r.ended(regression); err != nil {
			return err
		}
		var tr trial
		r.decode(t, &tr)
		e, ratio := tr.effect("cpu/op"), math.NaN()
		if e.Ratio != nil {
			ratio = *e.Ratio
		}
		if tr.Conclusion != "rejected" || tr.Primary != "cpu/op" || e.Verdict != "regressed" || !(ratio >= 1.3) {
			return fmt.Errorf("%s by %s: %s; %s by %v, want rejected by cpu/op, regressed by 1.3 or more",
				tr.Conclusion, tr.Primary, tr.Why, e.Verdict, ratio)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
