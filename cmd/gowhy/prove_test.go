//go:build linux

package main

import (
	"archive/zip"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A rule's own command, pasted as `gowhy diagnose` prints it, runs and gives a
// verdict. Flags are added only to make it short, as a user may, and to agree to what
// the recording names, where a user is asked.
func TestProveItPasted(t *testing.T) {
	for _, c := range []struct {
		rule, procs, run string // what is recorded
		more             string // added to the command
		primary          string
		sure             bool // the effect is too large to be missed
	}{
		// It has two cores or fewer to lose on, which is much or little.
		{rule: "idlespin", procs: "8", run: "./sick -n 60000 relay", more: "--no-count", primary: "cpu/op"},
		// Memory is the price of it, which the finding says: no guard rejects that.
		{rule: "tinyheap", procs: "2", run: "./sick -n 2500 trees", more: "--no-count", primary: "cpu/op", sure: true},
		// Allocations are counted, and two runs of each decide, when no guard
		// needs more.
		{rule: "allocchurn", procs: "2", run: "./sick -n 2500 trees", more: "--guard none", primary: "allocs/op", sure: true},
	} {
		t.Run(c.rule, func(t *testing.T) {
			l := sick(t)
			f := l.recorded(c.rule, c.procs, c.run)
			l.change("main.go", "// cure: ", "") // what is in the working tree is what a change of code compares
			if len(f.Try) != 1 {
				t.Fatalf("commands to paste: %q", f.Try)
			}
			err := attempt.Repeat(t, func() error {
				r := l.sh(strings.Join([]string{f.Try[0], c.more, "--pairs 10 --no-floor --yes --json"}, " "))
				if err := r.ended(well, regression, inconclusive); err != nil {
					return err
				}
				var tr trial
				r.decode(t, &tr)
				e := tr.effect(c.primary)
				if tr.Kind != "gowhy trial" || tr.Primary != c.primary || tr.Conclusion == "" || e.Verdict == "" {
					return fmt.Errorf("kind %q, primary metric %q, conclusion %q, verdict %q, "+
						"want gowhy trial, %q, some conclusion and verdict",
						tr.Kind, tr.Primary, tr.Conclusion, e.Verdict, c.primary)
				}
				t.Logf("%s: %s", tr.Conclusion, tr.Why)
				if c.sure && (tr.Conclusion != "confirmed" || e.Verdict != "improved") {
					return fmt.Errorf("conclusion %q of the command that was pasted, want confirmed: %s", tr.Conclusion, tr.Why)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// Each demonstration says on one screen what is wrong, where, what the fix brings and
// the command that proves it; the command proves it when it is pasted.
func TestDemoProved(t *testing.T) {
	const timed = " --no-count" // what decides is measured; counters need no pairs
	for _, c := range []struct{ name, place, more string }{
		{"hotmutex", "addComputing", timed}, {"oversubscribed", "poolWorker", timed}, {"allocchurn", "readBack", ""},
		{"leakedtimers", "demo.request", ""}, {"funnelchannel", "demo.producer", timed},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLab(t, "sick")
			err := attempt.Repeat(t, func() error {
				file := c.name + ".gowhy"
				shown := l.ok("gowhy demo " + c.name + " --no-proof -o " + file).stdout
				lines := strings.Split(strings.TrimSpace(shown), "\n")
				for _, line := range lines {
					if utf8.RuneCountInString(line) > 80 && !strings.Contains(line, "$ ") {
						return fmt.Errorf("more than 80 columns: %q", line)
					}
				}
				if len(lines) > 30 {
					return fmt.Errorf("%d lines:\n%s", len(lines), shown)
				}
				first := shown[:strings.Index(shown+"\n2. ", "\n2. ")]
				for _, want := range []string{c.place, "gain   ", "do     ", "prove  $ gowhy "} {
					if !strings.Contains(first, want) {
						return fmt.Errorf("the first finding has no %q:\n%s", want, shown)
					}
				}
				f, ok := l.find(file, c.name)
				if !ok || len(f.Try) != 1 {
					return fmt.Errorf("commands to paste: %q", f.Try)
				}
				prove := f.Try[0] + c.more
				if strings.HasPrefix(prove, "gowhy tune ") { // see TestTunePasted
					prove = "gowhy verify " + file + " --apply " + c.name + " --flag --fixed --primary peak-rss" + c.more
				}
				r := l.sh(prove + " --yes --pairs 6 --no-floor --guard none --json")
				if err := r.ended(well, regression, inconclusive); err != nil {
					return err
				}
				var tr trial
				r.decode(t, &tr)
				if tr.Conclusion != "confirmed" {
					return fmt.Errorf("%s: %s", tr.Conclusion, tr.Why)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	err := attempt.Repeat(t, func() error {
		return newLab(t, "sick").ok("gowhy demo").said("proved: ", "× faster, 95% interval ", "predicted  at most ")
	})
	if err != nil {
		t.Error(err)
	}
	t.Run("count", func(t *testing.T) {
		err := attempt.Repeat(t, func() error {
			shown := newLab(t, "sick").ok("gowhy demo count").stdout
			for _, want := range []string{
				"1. Searching through a kept list", "prove  $ gowhy verify ", "--apply needlesswork --flag --fixed\n",
				"$ gowhy count --vary --work=", "grows faster than --work: visitors.contains as n^2", "392 million in all",
				"proved: "} {
				if !strings.Contains(shown, want) {
					return fmt.Errorf("there is no %q:\n%s", want, shown)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// A finding whose cure is a number that nobody knows yet says how to find it.
func TestTunePasted(t *testing.T) {
	l := sick(t)
	f := l.recorded("oversubscribed", "2", "./sick -n 3000 -workers 500 pool")
	if len(f.Try) != 1 || !strings.Contains(f.Try[0], "{workers}") {
		t.Fatalf("commands to paste: %q", f.Try)
	}
	// To as many as there were at once: on a busy machine some have ended before all began.
	var most float64
	_, all, _ := strings.Cut(f.Try[0], "workers=1..")
	if _, err := fmt.Sscan(all, &most); err != nil || most < 100 || most > 500 {
		t.Fatalf("the command is %q: %v", f.Try[0], err)
	}
	command, args, _ := strings.Cut(f.Try[0], " -- ")
	err := attempt.Repeat(t, func() error {
		var s struct {
			Kind   string
			Chosen map[string]int
			Curves []struct {
				Points []struct{ Value float64 }
			}
		}
		r := l.sh(command + " --json --no-trace -- " + args)
		if err := r.ended(well); err != nil {
			return err
		}
		r.decode(t, &s)
		if s.Kind != "gowhy tune" || len(s.Curves) != 1 || s.Chosen["workers"] < 1 || s.Chosen["workers"] > 500 {
			return fmt.Errorf("kind %q, %d curves, %d workers chosen, want gowhy tune, 1, 1 to 500",
				s.Kind, len(s.Curves), s.Chosen["workers"])
		}
		if points := s.Curves[0].Points; len(points) < 8 || points[0].Value != 1 || points[len(points)-1].Value != most {
			return fmt.Errorf("the curve to %v has the points %v", most, points)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// Nobody knows how a program was started that left a trace and nothing else: no command
// is printed that does not run as it is, and a sentence says what gowhy would need.
func TestProveItWithBlanks(t *testing.T) {
	l := sick(t)
	for _, c := range []struct{ rule, procs, run, lacks string }{
		{"idlespin", "8", "./sick -n 60000 relay", "the program's command line"},
		{"leakedtimers", "2", "./sick -n 40000 deadlines", "the program's main package"},
	} {
		f := l.untilFound(c.rule, func() string {
			l.unpack(l.record(c.rule, c.procs, c.run), "trace")
			return "trace"
		})
		if len(f.Try) > 0 || !strings.Contains(f.Missing, c.lacks) {
			t.Errorf("%s: commands %q, and missing is %q; want none, and %q", c.rule, f.Try, f.Missing, c.lacks)
		}
	}
}

// unpack takes a member out of a recording, into a file of the same name.
func (l *lab) unpack(recording, member string) {
	l.t.Helper()
	z, err := zip.OpenReader(filepath.Join(l.dir, recording))
	l.must(err)
	defer z.Close()
	f, err := z.Open(member)
	l.must(err)
	defer f.Close()
	text, err := io.ReadAll(f)
	l.must(err)
	l.write(member, string(text))
}
