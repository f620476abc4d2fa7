package printer

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/store"
)

var update = flag.Bool("update", false, "write the golden files")

func number(x float64) *float64 { return &x }

// TestGolden compares each text with its file, and holds it to 80 columns without
// anything that steers a terminal.
func TestGolden(t *testing.T) {
	start := time.Date(2026, 11, 1, 10, 0, 0, 0, time.UTC)
	const evil = "evil\x1b[2J\u202e-service-with-a-name-that-is-much-longer-than-any-column-of-the-table"
	services := &api.Services{Omitted: 3, Missing: store.Missing{"shard 2"}, Services: []api.Service{
		{Name: "checkout", Version: "v1.5.0", Running: 20, Cores: number(15), First: start, Last: start.Add(3 * time.Hour), Totals: map[store.Type]int64{store.CPU: 45e12, store.AllocSpace: 3 << 40}},
		{Name: evil, Running: 1, Cores: number(5), First: start, Last: start.Add(72 * time.Hour), Totals: map[store.Type]int64{store.CPU: 5e12}},
		{Name: "no CPU profile", Version: "v1", Running: 2, First: start, Last: start, Totals: map[store.Type]int64{store.Goroutines: 7}, Saturated: true},
	}}
	top := &api.Top{Total: 100e9, Other: 5e9, Functions: []api.Function{
		{Name: "encoding/json.(*encodeState).marshal", Self: 80e9, Total: 90e9}, {Name: evil, Self: 15e9, Total: 15e9}, {Name: "main.main", Total: 100e9},
	}}
	versions := &api.Versions{Omitted: 1, Changes: []api.Change{
		{Service: "checkout", Base: "v1.4.0", Head: "v1.5.0; rm -rf", Since: start, Verdict: "worse", Unit: "CPU/operation", Was: number(524e-6), Is: number(569e-6),
			Ratio: number(1.08), Low: number(1.06), High: number(1.1), BaseProcesses: 20, HeadProcesses: 20, Paired: true, Function: "example.com/checkout.total",
			Also:   []api.Also{{Type: string(store.AllocObjects), Unit: "objects/operation", Was: 120, Is: 948, Ratio: 7.9}},
			Causes: []api.Cause{{Rule: "recompile", Title: "A regular expression is compiled for each call", Function: "example.com/checkout.total"}, {Title: evil}}},
		{Service: "cart", Base: "v1", Head: "v2", Since: start, Verdict: "worse", Unit: "cores", Was: number(0.5), Is: number(0.6), Ratio: number(1.2), Low: number(1.1), High: number(1.3), BaseProcesses: 12, HeadProcesses: 12,
			NoCause: "no rule found a cause that was not there before; a recording shows more"},
		{Service: evil, Base: "v1", Head: "v2", Since: start, Verdict: "better", Unit: "cores", Was: number(0.5), Is: number(0.4), Ratio: number(0.8), Low: number(0.7), High: number(0.9), BaseProcesses: 9, HeadProcesses: 12},
		{Service: "same", Verdict: "no change seen"}, {Service: "few", Verdict: "undecided", Why: "too few processes"},
	}, Steps: []api.Finding{{Service: "payments", First: start, Cost: 1.11, Function: "example.com/payments.charge"}, {Service: evil, First: start, Cost: 0.5}}}
	judged := start.Add(time.Hour)
	found := &api.Findings{Omitted: 2, Currency: "EUR", Judged: &judged, Findings: []api.Finding{
		{Service: "checkout", Versions: []string{"v1.5.0", "v1.5.1"}, Title: "Work is repeated for every call that could be done once", Function: "example.com/checkout/order.price", File: "example.com/checkout/order/price.go", Line: 33,
			First: start, Last: judged, State: "open", Spans: 12, Instances: 20, Cost: 3.07, Unit: "cores", What: "CPU in compiling regular expressions", Whole: true, Money: number(89.6),
			Gain: "11.8% to 42.4% less CPU", Confidence: "medium", Reasons: []string{"its profiles have few samples"}, Remedy: "Compile the expression once.", Command: "gowhy fleet evidence checkout -o merged.gowhy && gowhy merged.gowhy",
			Recording: &api.Shown{Start: judged, Command: "gowhy fleet runs get 0123456789ab -o 0123456789ab.gowhy && gowhy view 0123456789ab.gowhy"}},
		{Service: evil, Versions: []string{evil}, Title: evil, Function: evil, First: start, Earlier: true, Last: start, State: "gone", Instances: 1, Cost: 0.2, Unit: "ratio", Confidence: "low", Remedy: evil, Command: evil, Recording: &api.Shown{Start: start, Command: evil}},
	}, Verdicts: map[string]api.Verdict{"cart": {Verdict: "too-thin"}, "mail": {Verdict: "too-thin"}, evil: {Verdict: "failed"}, "checkout": {Verdict: "problem"}}}
	difference := &api.Diff{Missing: store.Missing{"shard 2"}, Changes: []api.Change{
		{Type: string(store.CPU), Verdict: "worse", Unit: "CPU/operation", Was: number(524e-6), Is: number(686e-6), Ratio: number(1.28), Low: number(1.25), High: number(1.31),
			Functions: []api.Difference{{Name: evil, Is: 163e-6, Delta: 163e-6}, {Name: "f", Was: 9e-5, Is: 85e-6, Delta: -5e-6}, {Name: "noise", Was: 1e-6, Is: 1.1e-6, Delta: 1e-7}}},
		{Type: string(store.AllocSpace), Verdict: "no change seen", Unit: "bytes/operation", Was: number(11 << 10), Is: number(11 << 10), Ratio: number(1), Low: number(0.99), High: number(1.01)},
		{Type: string(store.AllocObjects), Verdict: "better", Unit: "objects/operation", Was: number(300), Is: number(200), Ratio: number(0.667), Low: number(0.66), High: number(0.67)},
		{Type: string(store.BlockDelay), Verdict: "undecided", Why: "too few processes", Unit: "waiting"},
	}, New: []api.Cause{{Rule: "hotfunction", Title: "Work is repeated for every call that could be done once", Function: evil}}, Gone: []api.Cause{{Rule: "gccost", Title: "The collector works often"}}}
	seconds := &api.Diff{NoCause: "no rule found a cause that was not there before; a recording shows more", Changes: []api.Change{{Type: string(store.CPU), Verdict: "undecided", Why: "too few processes", Unit: "cores"}}}
	recorded := func(d api.Diagnosis) api.Recording {
		return api.Recording{ID: strings.Repeat("0123456789abcdef", 4), Service: "checkout", Version: "v1.5.0", Start: start, Duration: 10 * time.Second, Bytes: 3 << 20, Diagnosis: d}
	}
	hostile := recorded(api.Diagnosis{State: api.Failed, Why: evil})
	hostile.ID, hostile.Service, hostile.Event, hostile.Why = "\x1b[2J", evil, evil, evil
	sampled := recorded(api.Diagnosis{State: api.Done, Verdict: "idle"})
	sampled.Why = "no recording for an hour"
	ended := recorded(api.Diagnosis{State: api.Waiting})
	ended.Event, ended.Killed = "killed for want of memory", &api.Killed{At: start.Add(21 * time.Second), Of: "memory.max", Limit: 256 << 20, Age: new(11 * time.Second)}
	starved := recorded(api.Diagnosis{State: api.Waiting})
	starved.Event, starved.Killed = "killed for want of memory", &api.Killed{At: start.Add(21 * time.Second), Of: evil}
	recordings := &api.Recordings{Omitted: 2, Runs: []api.Recording{
		recorded(api.Diagnosis{State: api.Done, Verdict: "problem", Findings: []api.RecordingFinding{
			{Rule: "hotmutex", Title: "A hot lock", Where: "main.total main.go:7", Gain: "at most 1.2× the throughput"}, {Rule: "other"}},
			Held: []api.Held{{Kind: "global", Name: "main.cache", Way: "main.cache → map[string]*main.Session → []byte", Bytes: 120 << 20, Grew: new(int64(3 << 20))}, {Kind: "goroutines", Name: evil, Way: evil, Bytes: 1 << 20}}}),
		recorded(api.Diagnosis{State: api.Done, Verdict: "healthy", Findings: []api.RecordingFinding{{Rule: "hotfunction", Title: "Much CPU in one function", Gain: "none", Remark: true}}}),
		sampled, recorded(api.Diagnosis{State: api.Waiting}), ended, starved, hostile,
	}}
	for name, write := range map[string]func(*bytes.Buffer){
		"services": func(b *bytes.Buffer) { Services(b, services) },
		"nothing": func(b *bytes.Buffer) {
			Services(b, &api.Services{})
			Top(b, &api.Top{}, "cpu")
			Versions(b, &api.Versions{})
			Findings(b, &api.Findings{})
			Findings(b, &api.Findings{Judged: &judged})
			Runs(b, &api.Recordings{})
		},
		"diff":      func(b *bytes.Buffer) { Diff(b, difference); Diff(b, seconds); Diff(b, &api.Diff{}) },
		"findings":  func(b *bytes.Buffer) { Findings(b, found) },
		"top":       func(b *bytes.Buffer) { Top(b, top, "cpu") },
		"top-bytes": func(b *bytes.Buffer) { Top(b, top, "alloc_space") },
		"wish": func(b *bytes.Buffer) {
			for _, w := range []api.Wish{{Service: "checkout", Version: "v1.5.0", Agents: true}, {Service: evil, Version: evil}, {Service: "cart", Agents: true, Not: "program"}, {Service: "cart", Agents: true, Not: evil}} {
				Wish(b, &w)
			}
		},
		"runs":     func(b *bytes.Buffer) { Runs(b, recordings) },
		"versions": func(b *bytes.Buffer) { Versions(b, versions) },
	} {
		var b bytes.Buffer
		write(&b)
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, b.String(), want)
		}
		for line := range strings.Lines(b.String()) {
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width && !strings.Contains(line, "prove") && !strings.Contains(line, "  more ") {
				t.Errorf("%s has a line of more than %d columns: %s", name, width, line)
			}
			if strings.ContainsAny(line, "\x1b\u202e") {
				t.Errorf("%s has a raw name: %q", name, line)
			}
		}
	}
}

// TestSARIF has a cause that is there now and one that is gone.
func TestSARIF(t *testing.T) {
	a := &api.Findings{Findings: []api.Finding{
		{Service: "shop", Versions: []string{"v2"}, Rule: "allocchurn", Title: "It allocates", Summary: "A third of the CPU.", Function: "main.f", File: "shop/f.go", Line: 12, State: "open", Cores: number(1.5)},
		{Service: "cart", Rule: "hotmutex", Title: "Goroutines queue", State: "gone"},
	}}
	var b bytes.Buffer
	if err := SARIF(&b, a); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"ruleId": "allocchurn"`, `"text": "shop: A third of the CPU."`, `"uri": "shop/f.go"`, `"startLine": 12`, `"cores": 1.5`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s is not in\n%s", want, b.String())
		}
	}
	if err := SARIF(&b, &api.Findings{Missing: store.Missing{"a shard"}}); err == nil {
		t.Error("half of an answer: no error")
	}
	if err := SARIF(&b, &api.Findings{Findings: a.Findings[:1], Omitted: 3}); err == nil || !strings.Contains(err.Error(), "--limit") {
		t.Errorf("causes that are cut off: error %v, want what to do", err)
	}
	b.Reset()
	if err := SARIF(&b, &api.Findings{Findings: a.Findings, Omitted: 3}); err != nil {
		t.Errorf("causes that are gone are cut off: %v", err)
	}
	if strings.Contains(b.String(), "hotmutex") {
		t.Errorf("what is gone is in\n%s", b.String())
	}
}
