package cli

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/trial"
)

func TestParseGuards(t *testing.T) {
	got, err := parseGuards([]string{"p99<5%", "peak-rss <= 0.1", "BenchmarkX ns/op<1%"})
	want := []experiment.Guard{trial.LimitOf(diagnosis.P99, 0.05), trial.LimitOf(diagnosis.PeakRSS, 0.1), {Metric: "BenchmarkX ns/op", Limit: 0.01}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := parseGuards([]string{"none"}); err != nil || len(got) != 0 {
		t.Errorf("none: %v, %v", got, err)
	}
	for _, bad := range []string{"p99", "p99<", "p99<x%", "p99<-5%", "p99<NaN", "p97<5%", "<5%", "p99<2000%"} {
		if got, err := parseGuards([]string{bad}); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
	if g := (&verifyFlags{}).Guards(); len(g) != 1 {
		t.Errorf("without a load: %v", g)
	}
	if g := (&trial.Setup{Work: trial.Work{Load: "hey"}}).Guards(); len(g) != 2 || g[0].Metric != diagnosis.P99 {
		t.Errorf("with a load: %v", g)
	}
}

// Without a terminal nobody can say yes to what a file would run.
func TestConsent(t *testing.T) {
	var out bytes.Buffer
	c := &command{Options: Options{Stdin: strings.NewReader("y\n"), Stderr: &out}}
	what := &trial.Foreign{From: "evil\x1b[2J.gowhy", Dir: "/tmp", Command: []string{"sh", "-c", "rm -r x"}, Env: []string{"LD_PRELOAD=x.so"}}
	err := c.consent(t.Context(), what, "gowhy verify --yes")
	if err == nil || !strings.Contains(err.Error(), "no terminal to confirm") {
		t.Errorf("%v, want that no terminal to confirm", err)
	}
	for _, want := range []string{"this command comes from", "sh -c 'rm -r x'", "in /tmp", "with LD_PRELOAD=x.so"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Errorf("an escape reaches the terminal: %q", out.String())
	}
	if err := c.consent(t.Context(), nil, ""); err != nil {
		t.Errorf("nothing foreign: %v", err)
	}
	if got := withFlag([]string{"verify", "r", "--", "./app"}, "--yes"); !slices.Equal(got, []string{"verify", "r", "--yes", "--", "./app"}) {
		t.Errorf("withFlag: %q", got)
	}
}

func TestTrialCode(t *testing.T) {
	effect := func(v experiment.Verdict) []experiment.Effect {
		return []experiment.Effect{{Metric: diagnosis.CPUPerOp, Verdict: v}, {Metric: diagnosis.Elapsed, Verdict: experiment.Regressed}}
	}
	broken := []experiment.Effect{{Metric: diagnosis.CPUPerOp, Verdict: experiment.Improved}, {Metric: diagnosis.P99, Guarded: true, Broken: true}}
	for _, c := range []struct {
		conclusion experiment.Conclusion
		effects    []experiment.Effect
		want       int
	}{
		{experiment.Confirmed, effect(experiment.Improved), exitWell},
		{experiment.Rejected, effect(experiment.Same), exitWell},
		{experiment.Rejected, effect(experiment.Regressed), exitRegression},
		{experiment.Rejected, broken, exitRegression},
		{experiment.Undecided, effect(experiment.Inconclusive), exitInconclusive},
		{experiment.NoDifference, effect(experiment.Inconclusive), exitWell},
	} {
		if got := trialCode(&experiment.Trial{Primary: diagnosis.CPUPerOp, Conclusion: c.conclusion, Effects: c.effects}); got != c.want {
			t.Errorf("%s %v: %d, want %d", c.conclusion, c.effects, got, c.want)
		}
	}
}

// What is left is reckoned from the pairs, not from what came before them, and up to the
// next look, where a trial may end.
func TestPairsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		line := &statusLine{w: &b, tty: true}
		tell := pairsDone(line, 6)
		for range 6 {
			time.Sleep(time.Minute + 100*time.Millisecond)
			tell(0, 40, experiment.Interval{})
		}
		time.Sleep(2 * time.Second)
		tell(0, 40, experiment.Interval{}) // a pair that does not count
		time.Sleep(2 * time.Second)
		tell(1, 40, experiment.Interval{Value: 0.8})
		tell(10, 40, experiment.Interval{Value: 0.8, Low: 0.7, High: 1.05})
		tell(20, 40, experiment.Interval{})
		line.Clear()
		text := b.String()
		for _, want := range []string{"run 1 of 6\r", "run 1 of 6  59s", "run 6 of 6  1m0s", "pair 1 of at most 40\r",
			"gowhy: a pair of runs takes 2.00 s: at most 80.0 s more",
			"pair 2 of at most 40; may end at 10, in 36.0 s; at the latest in 156 s: −20.0%",
			"pair 11 of at most 40; may end at 20, in 4.00 s;", "pair 21 of at most 40; ends at 40, in 4.00 s"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in %q", want, text)
			}
		}
		synctest.Wait() // the clock has ended
	})
}

// A step is a line of a log, and a clock on a terminal.
func TestStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log, tty bytes.Buffer
		for w, onTerminal := range map[*bytes.Buffer]bool{&log: false, &tty: true} {
			line := &statusLine{w: w, tty: onTerminal}
			line.Step("building %s…", "HEAD")
			time.Sleep(2500 * time.Millisecond)
			line.Clear()
			time.Sleep(5 * time.Second)
		}
		if log.String() != "gowhy: building HEAD…\n" {
			t.Errorf("log %q", log.String())
		}
		if want := "\r\x1b[Kbuilding HEAD…\r\x1b[Kbuilding HEAD…  1s\r\x1b[Kbuilding HEAD…  2s\r\x1b[K"; tty.String() != want {
			t.Errorf("terminal %q, want %q", tty.String(), want)
		}
	})
}

// A line that wraps could not be erased, and what takes a moment needs no notice.
func TestPairsDoneShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		line := &statusLine{w: &b, tty: true}
		tell := pairsDone(line, 2)
		tell(0, 40, experiment.Interval{})
		tell(0, 40, experiment.Interval{})
		time.Sleep(time.Millisecond)
		tell(1, 40, experiment.Interval{Value: 1.5})
		line.Clear()
		if strings.Contains(b.String(), "a pair of runs takes") {
			t.Errorf("%q", b.String())
		}
		b.Reset()
		line.Set("%s", strings.Repeat("ä", 200))
		if got := strings.TrimPrefix(b.String(), "\r\x1b[K"); utf8.RuneCountInString(got) != 79 || !strings.HasSuffix(got, "ä…") {
			t.Errorf("%q", got)
		}
	})
}

func TestPrimaryHint(t *testing.T) {
	tr := &experiment.Trial{Rounds: []experiment.Round{{Sample: experiment.Sample{Values: map[diagnosis.Metric]float64{diagnosis.Elapsed: 1}}}}}
	for _, c := range []struct {
		f    verifyFlags
		tr   *experiment.Trial
		want string
	}{
		{verifyFlags{primary: "p99"}, tr, "--load 'hey"},
		{verifyFlags{primary: "p99", Setup: trial.Setup{Work: trial.Work{Load: "x"}}}, tr, "--primary elapsed"},
		{verifyFlags{primary: "ops/s"}, tr, "--ops N"},
		{verifyFlags{primary: "ops/s", Setup: trial.Setup{Work: trial.Work{Ops: 3}}}, tr, "--primary elapsed"},
		{verifyFlags{primary: "live-heap"}, &experiment.Trial{}, "gowhy verify --help"},
	} {
		if got := c.f.primaryHint(c.tr); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, want %q", c.f.primary, got, c.want)
		}
	}
}

// An interrupt during the first runs leaves nothing that could be concluded.
func TestHasPrimary(t *testing.T) {
	nothing := &experiment.Trial{Primary: diagnosis.CPUPerOp}
	nothing.Effects = []experiment.Effect{{Metric: diagnosis.CPUPerOp}, {Metric: diagnosis.Faults, Pairs: 3}}
	if hasPrimary(nothing) || hasPrimary(&experiment.Trial{}) {
		t.Error("nothing was compared")
	}
	for _, e := range []experiment.Effect{{Metric: diagnosis.CPUPerOp, Pairs: 1}, {Metric: diagnosis.CPUPerOp, Exact: true}} {
		if !hasPrimary(&experiment.Trial{Primary: diagnosis.CPUPerOp, Effects: []experiment.Effect{e}}) {
			t.Errorf("hasPrimary() of %d pairs, exact %v = false, want true", e.Pairs, e.Exact)
		}
	}
}

func TestParseShare(t *testing.T) {
	for s, want := range map[string]float64{"2%": 0.02, " 5%": 0.05, "0.05": 0.05, "150%": 1.5, "5": 0, "1": 0, "0": 0, "-1%": 0, "NaN": 0, "Inf%": 0, "1000%": 0, "x": 0} {
		got, err := parseShare("margin", s)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}
