package trialreport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/experiment"
)

// effect returns a metric whose arms differ by a ratio that is known to a tenth of it.
func effect(m diagnosis.Metric, v experiment.Verdict, a, ratio, half float64) experiment.Effect {
	return experiment.Effect{Metric: m, Verdict: v, A: a, B: a * ratio, MinA: a * 0.9, MinB: a * ratio * 0.9,
		Ratio: ratio, Low: ratio - half, High: ratio + half, P: 0.0031}
}

func counter(m diagnosis.Metric, v experiment.Verdict, a, b float64) experiment.Effect {
	return experiment.Effect{Metric: m, Verdict: v, A: a, B: b, MinA: a, MinB: b, Ratio: b / a, Low: b / a, High: b / a, P: math.NaN(), Exact: true}
}

func guarded(e experiment.Effect, limit float64, broken, unclear bool) experiment.Effect {
	e.Guarded, e.Guard, e.Broken, e.Unclear = true, limit, broken, unclear
	return e
}

// quiet are rounds of a machine that does nothing else.
func quiet(pairs int) (rounds []experiment.Round) {
	for i := range pairs {
		for _, arm := range []string{"A", "B"} {
			r := experiment.Round{Pair: i + 1, Arm: arm}
			r.Conditions = experiment.Conditions{Others: 0.01 + float64(i)*0.001, Steal: 0.002, Pressure: 0.1, RunQueue: 0.004}
			rounds = append(rounds, r)
		}
	}
	return rounds
}

// trials returns one of each outcome, in the shape that experiment gives them.
func trials() map[string]*experiment.Trial {
	fewer := experiment.About{
		A:         experiment.Arm{Name: "as it is", Command: []string{"./app", "-n", "1000"}},
		B:         experiment.Arm{Name: "GOMAXPROCS=2", Command: []string{"./app", "-n", "1000"}, Env: []string{"GOMAXPROCS=2"}},
		Again:     []string{"verify", "run.gowhy", "--apply", "idlespin"},
		Diagnosed: true,
		Gone:      []experiment.Claim{{Rule: "idlespin", Title: "More Ps than work", Summary: "8 Ps for 1.2 cores of work."}},
		Finding: &experiment.Claim{Rule: "idlespin", Title: "More Ps than work", From: "run.gowhy", Tune: "GOMAXPROCS=1..8",
			Note: "if CPU per operation does not fall, this finding is refuted"},
	}
	commits := experiment.About{
		A: experiment.Arm{Name: "HEAD", Revision: "HEAD", Command: []string{"{binary}", "-n", "it's 5"}},
		B: experiment.Arm{Name: "the working tree", Command: []string{"{binary}", "-n", "it's 5"}},
	}
	ts := map[string]*experiment.Trial{
		"confirmed": {Why: "cpu/op fell by 24.1%, 95% interval −28.1% to −20.1%, 20 pairs; p99, peak-rss held",
			Primary: diagnosis.CPUPerOp, Conclusion: experiment.Confirmed, Pairs: 20, Took: 192 * time.Second, Margin: 0.02, Floor: 0.031,
			About: fewer, Rounds: quiet(20),
			Predicted: &experiment.Prediction{Metric: diagnosis.CPUPerOp, Best: 0.54, Method: "all of the time that Ps were held without a goroutine"},
			Effects: []experiment.Effect{
				effect(diagnosis.CPUPerOp, experiment.Improved, 0.00123, 0.759, 0.04),
				guarded(effect(diagnosis.P99, experiment.Same, 0.0121, 0.985, 0.02), 0.05, false, false),
				guarded(effect(diagnosis.PeakRSS, experiment.Same, 150<<20, 0.99, 0.01), 0.10, false, false),
				counter(diagnosis.Futexes, experiment.Improved, 5.2, 0.0312),
				counter(diagnosis.AllocsOp, experiment.Same, 12, 12),
				counter(diagnosis.BytesOp, experiment.Same, 1536, 1536),
				effect(diagnosis.Elapsed, experiment.Inconclusive, 1.5, 0.98, 0.06),
			}},
		"rejected": {Why: "cpu/op is the same within 2.0%: it fell by 0.3%, 95% interval −1.1% to +0.5%, 40 pairs",
			Primary: diagnosis.CPUPerOp, Conclusion: experiment.Rejected, Pairs: 40, Took: 400 * time.Second, Margin: 0.02,
			About: fewer, Rounds: quiet(40),
			Predicted: &experiment.Prediction{Metric: diagnosis.CPUPerOp, Best: 0.9, Method: "a bound", Estimate: 0.95, Replay: "replay of the trace: fewer Ps"},
			Effects:   []experiment.Effect{effect(diagnosis.CPUPerOp, experiment.Same, 0.00123, 0.997, 0.008)}},
		"undecided": {Why: "elapsed fell by 3.0%, 95% interval −9.0% to +3.0%, 40 pairs: not sure; about 90 pairs would decide",
			Primary: diagnosis.Elapsed, Conclusion: experiment.Undecided, Pairs: 40, Took: 40 * time.Minute, Margin: 0.02,
			About: fewer, Rounds: quiet(3),
			Effects: []experiment.Effect{func() experiment.Effect {
				e := effect(diagnosis.Elapsed, experiment.Inconclusive, 1.5, 0.97, 0.06)
				e.Need = 90
				return e
			}()}},
		"guardbroken": {Why: "p99 became worse by 12.0% (at least 8.0%), the limit is 5.0%; ops/s rose to 2.4 times, 95% interval ×2.3 to ×2.5, 10 pairs",
			Primary: diagnosis.OpsPerSec, Conclusion: experiment.Rejected, Pairs: 10, Took: 50 * time.Second, Margin: 0.02,
			About: commits, Rounds: quiet(10),
			Effects: []experiment.Effect{
				effect(diagnosis.OpsPerSec, experiment.Improved, 7219, 2.4, 0.1),
				guarded(effect(diagnosis.P99, experiment.Regressed, 0.0121, 1.12, 0.04), 0.05, true, false),
				guarded(effect(diagnosis.PeakRSS, experiment.Inconclusive, 150<<20, 1.08, 0.05), 0.10, false, true),
			}},
		"exact": {Why: "allocs/op fell by 1.1%, counted exactly: from 1200 to 1187",
			Primary: diagnosis.AllocsOp, Conclusion: experiment.Confirmed, Took: 3 * time.Second, Margin: 0.02, About: commits,
			Rounds: []experiment.Round{{Arm: "A", Count: true}, {Arm: "B", Count: true}, {Arm: "B", Count: true}, {Arm: "A", Count: true}},
			Effects: []experiment.Effect{
				counter(diagnosis.AllocsOp, experiment.Improved, 1200, 1187),
				counter("BenchmarkParse/very-long-name-of-a-case/size=100000/with=everything allocs/op", experiment.Regressed, 3, 9),
				{Metric: diagnosis.Syscalls, Verdict: experiment.Improved, A: 0.5, B: 0, Ratio: 0, Low: math.NaN(), High: math.NaN(), P: math.NaN(), Exact: true},
				effect("BenchmarkParse ns/op", experiment.Improved, 12.34, 0.5, 0.01),
			}},
		"busy": {Why: "cpu/op rose by 30.0%, 95% interval −50.0% to ×2.1, 10 pairs: not sure; about 300 pairs would decide",
			Primary: diagnosis.CPUPerOp, Conclusion: experiment.Undecided, Pairs: 10, Dropped: 10, Margin: 0.02, About: commits,
			Effects:  []experiment.Effect{effect(diagnosis.CPUPerOp, experiment.Inconclusive, 0.2, 1.3, 0.8)},
			Rounds:   busy(10),
			Warnings: []string{"the machine was busy most of the time", "the load generator was at its limit"}},
		"nothing": {Conclusion: experiment.Undecided, Why: "it was interrupted before the first pair"},
	}
	ts["hostile"] = hostileTrial()
	for _, t := range ts {
		t.Schema = 1
	}
	return ts
}

// busy are rounds of a machine that others use.
func busy(pairs int) []experiment.Round {
	rounds := quiet(pairs)
	for i := range rounds {
		rounds[i].Conditions = experiment.Conditions{Others: 0.4, Steal: -1, Pressure: -1, RunQueue: 0.5}
		if i%2 == 0 {
			rounds[i].Dropped = fmt.Sprintf("other processes used %d%% of the machine", 40+i/4)
		}
		if i%5 == 0 {
			rounds[i].Dropped = "the hypervisor took CPU time"
		}
	}
	return rounds
}

// hostileTrial has everything that a program's name or a saved file can smuggle in.
func hostileTrial() *experiment.Trial {
	const evil = "evil\x1b]0;owned\x07 |pipe| <script> @all `x`"
	t := &experiment.Trial{Primary: evil, Conclusion: "confirmed\x1b[2J", Why: evil, Pairs: -3, Took: -1, Margin: math.Inf(1), Floor: math.NaN(),
		Predicted: &experiment.Prediction{Metric: evil, Best: math.Inf(1), Estimate: math.NaN(), Method: evil},
		Warnings:  []string{evil}}
	t.Effects = []experiment.Effect{
		{Metric: evil, Verdict: evil, A: math.NaN(), B: math.Inf(1), Ratio: math.Inf(1), Low: math.NaN(), High: -1, P: math.NaN(), Guarded: true, Guard: math.Inf(1), Broken: true},
		{Metric: diagnosis.Elapsed, Verdict: experiment.Improved, A: -1e300, B: 1e300, Ratio: 1e-300, Low: 1e300, High: 1e308, P: -1},
		{},
	}
	t.About = experiment.About{A: experiment.Arm{Name: evil, Command: []string{evil, ""}, Env: []string{evil}}, Load: evil, Ready: evil,
		Again: []string{evil}, Gone: []experiment.Claim{{Rule: evil, Title: evil, Summary: evil}}, Came: []experiment.Claim{{}},
		Finding: &experiment.Claim{Rule: evil, Title: evil, Tune: evil, Note: evil, From: evil, Expect: diagnosis.Bound{Value: math.NaN(), Unit: evil, Text: evil, Method: evil}}}
	t.Rounds = []experiment.Round{{Pair: 1, Arm: evil, Dropped: evil}, {}}
	t.Rounds[1].Conditions = experiment.Conditions{Others: math.NaN(), Steal: math.Inf(1), RunQueue: 1e300}
	return t
}

func TestTrialGolden(t *testing.T) {
	for name, tr := range trials() {
		for ext, write := range map[string]func(*bytes.Buffer) error{
			"txt": func(b *bytes.Buffer) error { return Trial(b, tr, layout.Options{}) },
			"md":  func(b *bytes.Buffer) error { return TrialMarkdown(b, tr, layout.Options{}) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, "trial-"+name+"."+ext, b.Bytes())
		}
	}
}

// Nothing of a trial reaches a terminal raw, whatever its width, and lines of
// trials that are not hostile fit.
func TestTrialLayout(t *testing.T) {
	for name, tr := range trials() {
		for _, width := range []int{0, 20, 60, 80, 110, 300} {
			var b bytes.Buffer
			if err := Trial(&b, tr, layout.Options{Width: width, Verbose: width == 110}); err != nil {
				t.Fatal(err)
			}
			text := b.String()
			if strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), layout.UnsafeRune) >= 0 {
				t.Errorf("%s at %d columns has control characters", name, width)
			}
			most := min(max(width, layout.MinWidth), layout.MaxWidth)
			if width == 0 {
				most = 80
			}
			for _, l := range strings.Split(text, "\n") {
				if n := utf8.RuneCountInString(l); n > most && most >= 60 && name != "hostile" && !strings.Contains(l, "gowhy ") {
					t.Errorf("%s: %d columns, want at most %d: %s", name, n, most, l)
				}
			}
		}
	}
}

func TestTrialColor(t *testing.T) {
	for name, style := range map[string]layout.Style{"confirmed": layout.Green, "rejected": layout.Red, "undecided": layout.Yellow} {
		var b bytes.Buffer
		if err := Trial(&b, trials()[name], layout.Options{Color: true}); err != nil {
			t.Fatal(err)
		}
		if want := "\x1b[" + string(style) + "m" + name + ":\x1b[0m"; !strings.HasPrefix(b.String(), want) {
			t.Errorf("%s begins with %q, want %q", name, b.String()[:20], want)
		}
	}
}

func TestMetricText(t *testing.T) {
	for _, c := range []struct {
		m    diagnosis.Metric
		v    float64
		want string
	}{
		{diagnosis.Elapsed, 1.5, "1.50 s"}, {diagnosis.CPUPerOp, 12.3e-9, "12.3 ns"}, {diagnosis.P99, 0.0121, "12.1 ms"},
		{diagnosis.Elapsed, 3600, "1h0m0s"}, {diagnosis.PeakRSS, 3 << 20, "3 MiB"}, {diagnosis.OpsPerSec, 7219, "7,219/s"},
		{diagnosis.AllocsOp, 12, "12"}, {"BenchmarkParse ns/op", 12.34, "12.3 ns"}, {"BenchmarkX B/op", 2048, "2 KiB"},
		{diagnosis.AllocsOp, math.NaN(), "-"}, {diagnosis.CPUPerOp, 0, "0 s"},
	} {
		if got := metricText(c.m, c.v); got != c.want {
			t.Errorf("metricText(%s, %g) = %q, want %q", c.m, c.v, got, c.want)
		}
	}
}

func TestKeptText(t *testing.T) {
	for _, c := range []struct {
		best, ratio, half float64
		want              string
	}{
		{0.5, 0.5, 0.01, "all of what was promised"},
		{0.5, math.Sqrt(0.5), 0.01, "50.0% of what was promised"},
		{0.5, 0.3, 0.01, "40.0% beyond the bound, and so is the whole interval"},
		{0.5, 1.2, 0.01, "nothing of what was promised"},
		{4, 2, 0.01, "50.0% of what was promised"},
		{4, 5, 0.01, "25.0% beyond the bound, and so is the whole interval"},
		{4, 4.1, 0.5, "2.5% beyond the bound, within the noise: the interval reaches back to ×3.60"},
		{4, 4.1, math.NaN(), "too few pairs to say whether that is noise"},
		{4, 4.01, 0.5, "all of what was promised"},
	} {
		e := effect(diagnosis.CPUPerOp, experiment.Improved, 1, c.ratio, c.half)
		if got := keptText(&experiment.Prediction{Metric: diagnosis.CPUPerOp, Best: c.best}, &e); !strings.Contains(got, c.want) {
			t.Errorf("bound %g, measured %g: %q, want %q", c.best, c.ratio, got, c.want)
		}
	}
}

// A trial that was really judged, and read back from its file, looks the same.
func TestTrialOfVerify(t *testing.T) {
	arm := func(value float64) experiment.Runner {
		n := 0.0
		return func(context.Context) (experiment.Sample, error) {
			n++
			return experiment.Sample{Values: map[diagnosis.Metric]float64{diagnosis.CPUPerOp: value * (1 + 0.001*math.Mod(n*7, 5))}}, nil
		}
	}
	tr, err := experiment.Verify(t.Context(), experiment.Plan{A: arm(0.3), B: arm(0.1), Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var fresh, again, saved bytes.Buffer
	if err := errors.Join(Trial(&fresh, tr, layout.Options{}), tr.Encode(&saved)); err != nil {
		t.Fatal(err)
	}
	back, err := experiment.DecodeTrial(&saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := Trial(&again, back, layout.Options{}); err != nil {
		t.Fatal(err)
	}
	if fresh.String() != again.String() {
		t.Errorf("fresh:\n%s\nwant as saved:\n%s", &fresh, &again)
	}
	if text := fresh.String(); !strings.HasPrefix(text, "confirmed: cpu/op fell by 66.") || !strings.Contains(text, "   cpu/op  301 ms  100 ms  −66.7%") {
		t.Errorf("%s\nwant it confirmed, and cpu/op from 301 ms to 100 ms", text)
	}
}

// A guard that held is no warning, though its metric was not decided.
func TestEffectStyle(t *testing.T) {
	for want, e := range map[layout.Style][]experiment.Effect{
		layout.Plain:  {{Verdict: experiment.Inconclusive, Guarded: true}, {Verdict: experiment.Regressed, Guarded: true}, {Verdict: experiment.Same}},
		layout.Yellow: {{Verdict: experiment.Inconclusive}, {Verdict: experiment.Inconclusive, Guarded: true, Unclear: true}},
		layout.Red:    {{Verdict: experiment.Regressed}, {Verdict: experiment.Regressed, Guarded: true, Broken: true}},
		layout.Green:  {{Verdict: experiment.Improved}, {Verdict: experiment.Improved, Guarded: true}},
	} {
		for i := range e {
			if got := effectStyle(&e[i]); got != want {
				t.Errorf("effectStyle(%+v) = %v, want %v", e[i], got, want)
			}
		}
	}
}

func TestChangeInterval(t *testing.T) {
	for ends, want := range map[[2]float64]string{{0.9, 1.05}: "−10.0 to +5.0%", {0.5, 4}: "×0.500 to ×4", {0, 1}: "-", {1, math.Inf(1)}: "-", {math.NaN(), 1}: "-"} {
		if got := ChangeInterval(ends[0], ends[1]); got != want {
			t.Errorf("ChangeInterval(%v) = %s, want %s", ends, got, want)
		}
	}
}

// A server that hardly ran shows any number of times that its threads waited.
func TestBusyTextOfIdleProgram(t *testing.T) {
	rounds := []experiment.Round{{Sample: experiment.Sample{Conditions: experiment.Conditions{Others: 0.1, Steal: -1, RunQueue: 660}}}}
	if got := busyText(rounds); strings.Contains(got, "waited") || !strings.Contains(got, "others used 10.0%") {
		t.Errorf("busyText() = %q, want others at 10%% and nobody who waited", got)
	}
}

// What is counted has its row, before all that is timed where it is decided.
func TestCountersHaveRows(t *testing.T) {
	tr := &experiment.Trial{Primary: diagnosis.Elapsed, Effects: []experiment.Effect{
		effect(diagnosis.Elapsed, experiment.Inconclusive, 1.5, 0.98, 0.06),
		counter(diagnosis.AllocsOp, experiment.Same, 12, 12),
		effect(diagnosis.Syscalls, experiment.Inconclusive, 70, 0.98, 0.06),
		effect(diagnosis.Switches, experiment.Inconclusive, 70, 0.98, 0.06),
	}}
	rows, rest := trialRows(tr, false)
	var names []string
	for _, e := range rows {
		names = append(names, string(e.Metric))
	}
	if got := strings.Join(names, " "); got != "allocs/op elapsed syscalls/op" || len(rest) != 1 || !strings.HasSuffix(rest[0], "switches/op") {
		t.Errorf("rows %q, rest %q", got, rest)
	}
}

// A row whose change is not that of its medians says so, and one that is not sure
// although its interval excludes "no change" says why.
func TestRowsDoNotContradictThemselves(t *testing.T) {
	cpu := effect(diagnosis.CPUPerOp, experiment.Inconclusive, 172, 0.916, 0.06)
	cpu.B, cpu.Open = 173, "machine's noise is 9.1%"
	calls := experiment.Effect{Metric: diagnosis.Syscalls, Verdict: experiment.Inconclusive, A: 21642, B: 10955,
		Ratio: math.NaN(), Low: math.NaN(), High: math.NaN(), P: math.NaN(), Open: "only counted twice"}
	plain := effect(diagnosis.Elapsed, experiment.Improved, 2, 0.5, 0.01)
	tr := &experiment.Trial{Conclusion: experiment.Undecided, Primary: diagnosis.CPUPerOp, Effects: []experiment.Effect{cpu, calls, plain}}
	var b bytes.Buffer
	if err := Trial(&b, tr, layout.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, want := range []string{
		"−8.4%* −14.4 to −2.4% not sure: machine's noise is 9.1%", "−49.4% - not sure: only counted twice", "−50.0% −51.0 to −49.0% improved",
		"* the typical change within a pair, in which one ran right after the other; the medians of A and of B alone would say +0.6% for cpu/op",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}

// A proof is short: what came of it, from what to what, and what was predicted.
func TestProof(t *testing.T) {
	confirmed := func(e experiment.Effect, best float64) *experiment.Trial {
		return &experiment.Trial{Conclusion: experiment.Confirmed, Primary: e.Metric, Effects: []experiment.Effect{e}, Pairs: 6, Margin: 0.02,
			Predicted: &experiment.Prediction{Metric: e.Metric, Best: best}}
	}
	faster := effect(diagnosis.Elapsed, experiment.Improved, 2, 0.5, 0.01)
	busy := confirmed(faster, 0.45)
	busy.Busy = true
	for _, tt := range []struct {
		trial *experiment.Trial
		want  []string
	}{
		{confirmed(faster, 0.45), []string{"proved: 2× faster, 95% interval 1.96 to 2.04\n", "elapsed time 2.00 s → 1.00 s, medians of 6 pairs", "at most 2.22× faster; that holds"}},
		{confirmed(faster, 0.5), []string{"at most 2× faster; that holds"}}, // by less than the margin
		{confirmed(faster, 0.6), []string{"measured is 16.7% beyond the bound, and so is the whole"}},
		{confirmed(effect(diagnosis.OpsPerSec, experiment.Improved, 100, 2.15, 0.1), 2.12), []string{"at most 2.12× operations per second; measured is 1.4% beyond the bound, within", "reaches back to 2.05× operations per second"}},
		{confirmed(effect(diagnosis.OpsPerSec, experiment.Improved, 100, 1.5, 0.1), 2), []string{"proved: 1.50× operations per second, 95% interval 1.40 to 1.60", "that holds"}},
		{confirmed(counter(diagnosis.AllocsOp, experiment.Improved, 10, 1), 0.05), []string{"proved: ", " allocations per operation, counted exactly", "10 → 1"}},
		{busy, []string{"kept this machine busy"}},
		{&experiment.Trial{Conclusion: experiment.Undecided, Why: "six pairs do not tell", Primary: diagnosis.Elapsed}, []string{"undecided: six pairs do not tell"}},
	} {
		var b bytes.Buffer
		if err := Proof(&b, tt.trial, layout.Options{Width: 100}); err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("Proof() of %+v has no %q, want it in\n%s", tt.trial.Effects, want, &b)
			}
		}
	}
}
