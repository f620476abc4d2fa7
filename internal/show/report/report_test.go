package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; go test ./internal/show/report -update, then look at the difference", name)
	}
}

func render(t *testing.T, f Format, d *diagnosis.Diagnosis, o layout.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, d, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saved returns the diagnoses of testdata by name: those of real recordings,
// and one that is hostile.
func saved(t *testing.T) map[string]*diagnosis.Diagnosis {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) < 3 {
		t.Fatalf("%d saved diagnoses, %v; want 3 or more", len(paths), err)
	}
	ds := map[string]*diagnosis.Diagnosis{}
	for _, p := range paths {
		if strings.HasPrefix(filepath.Base(p), "ledger-") {
			continue
		}
		f, err := os.Open(p)
		if err != nil {
			t.Fatal(err)
		}
		d, err := diagnosis.Decode(f)
		f.Close()
		if err != nil {
			t.Fatalf("Decode(%s): %v, want nil", p, err)
		}
		ds[strings.TrimSuffix(filepath.Base(p), ".json")] = d
	}
	ds["hostile"] = hostile()
	second := *ds["hotmutex"]
	second.Files = []string{"second.gowhy"}
	ds["joined"] = diagnosis.Join([]*diagnosis.Diagnosis{ds["hotmutex"], &second, ds["healed"]})
	return ds
}

// hostile returns a diagnosis with everything that a recording can smuggle in, more
// findings than are shown in full, and every part filled.
func hostile() *diagnosis.Diagnosis {
	f := diagnosis.Finding{
		Rule: "oversubscribed", Title: "Title with \x1b]0;owned\x07",
		Summary: "A summary with <script>alert(1)</script>, a |pipe|, an @mention, `code` and \u202ereversed",
		Where: []diagnosis.Place{{Function: "main.evil\x1b[31m`|<b>", File: "dir with space/a.go", Line: 3},
			{Function: "main.nofile"}, {Function: "main.noline", File: "b.go"}},
		Evidence: []fact.Fact{
			fact.Figure("cores", 1, fact.Cores, "trace"),
			fact.Figure("time", 0.0123, fact.Seconds, "trace"),
			fact.Figure("memory", 3<<30, fact.Bytes, "heap"),
			fact.Figure("a share", 0.4567, fact.Ratio, "trace"),
			fact.Figure("a factor", 12.5, fact.Factor, "trace"),
			fact.Figure("a very long name of a fact that does not fit into the line of a narrow terminal", 1234567, fact.Count, "a source"),
			fact.Figure("rate", 4321.5, fact.PerSec, "trace \x9b31m"),
		},
		Cost:       diagnosis.CostOf(fact.Figure("of something", 1.5, fact.Cores, "trace"), 0.75),
		Bound:      diagnosis.Limit(fact.Figure("half of it", 0.5, fact.Cores, "half of it"), diagnosis.CPUGoal, 0.25, ""),
		Confidence: diagnosis.Medium, Reasons: []string{"one reason", "another"}, RuledOut: []string{"an innocent explanation"},
		Remedy: diagnosis.Remedy{Text: "Do this.", Code: "if x {\n\treturn // ```\x1b[2J\n}\n", Knob: "GOMAXPROCS=4"},
		Prove:  "run it again",
		Try: []string{"gowhy verify 'a long name of a recording that does not fit into the line of a narrow terminal.gowhy' --apply idlespin",
			"gowhy compare a\x1b[2J b"},
	}
	f.Symptoms = []diagnosis.Finding{{Rule: "schedlatency", Title: "A symptom", Summary: "It waits."}}
	none := f
	none.Title, none.Bound.Value, none.Try = "No promise", 0, nil
	part := f
	part.Title, part.Bound.Kind = "Perhaps more", diagnosis.IsDirection
	d := &diagnosis.Diagnosis{
		Schema: diagnosis.Schema, Verdict: diagnosis.Problem, Summary: "Something else than the first finding says.", Goal: diagnosis.Latency,
		Findings:  []diagnosis.Finding{f, none, part, f, f},
		Fine:      []diagnosis.Fine{{Rule: "heapgrowth", Text: "memory \x00 is fine"}},
		Obsolete:  []diagnosis.Obsolete{{Rule: "lockedrand", Pattern: "math/rand \x1b[2J`of all`", Since: "Go 1.20", Why: "its <functions> take no lock"}},
		Unchecked: []diagnosis.Unchecked{{What: "locks", Why: "no CPU profile", How: "gowhy record \x1b[0m"}},
		Warnings:  []string{"a warning\nof two lines"},
		Files:     []string{"it's.out", "-"},
		Trace:     &diagnosis.TraceInfo{Go: "go1.26", DurationNS: int64(2 * time.Second), Events: 1234567, Generations: 2, LostBytes: 5000},
		Time:      []diagnosis.Share{{Name: "user code", NS: int64(time.Second), Share: 0.25}, {Name: "idle", NS: int64(3 * time.Second), Share: 0.75}},
	}
	target, before := 1.25, 1.2
	d.Recording = &diagnosis.Recording{RecorderNS: int64(60 * time.Millisecond), TargetCores: &target, BeforeCores: &before}
	d.CPU = &diagnosis.CPU{WindowNS: int64(2 * time.Second), TotalNS: int64(2500 * time.Millisecond), Cores: 1.25, UserNS: int64(2 * time.Second),
		SystemNS: int64(500 * time.Millisecond), Counted: true, Source: "cpu", Scale: 1, Why: "believe the process's counters\x1b[0m",
		Coverage: map[string]float64{"cpu": 0.8, "kernel": 0.4},
		Parts: []diagnosis.CPUPart{{Name: "application", NS: int64(1250 * time.Millisecond), Share: 0.5},
			{Name: "garbage collector", NS: int64(5 * time.Millisecond), Share: 0.002},
			{Name: "system calls", NS: int64(745 * time.Millisecond), Share: 0.298, By: []diagnosis.CPUPart{
				{Name: "futex\u202e", NS: int64(500 * time.Millisecond), Share: 0.2}, {Name: "read", NS: int64(245 * time.Millisecond), Share: 0.098}}},
			{Name: "not sampled", NS: int64(500 * time.Millisecond), Share: 0.2}}}
	return d
}

func TestGolden(t *testing.T) {
	for name, d := range saved(t) {
		golden(t, name+".txt", render(t, Text, d, layout.Options{}))
		golden(t, name+"-verbose.txt", render(t, Text, d, layout.Options{Verbose: true}))
		golden(t, name+".md", render(t, Markdown, d, layout.Options{}))
		golden(t, name+"-shared.md", render(t, Shared, d, layout.Options{}))
		golden(t, name+".sarif", render(t, SARIF, d, layout.Options{}))
	}
}

// A fresh diagnosis and a saved one give the same bytes, in every format.
func TestFreshEqualsSaved(t *testing.T) {
	for name, fresh := range saved(t) {
		again, err := diagnosis.Decode(bytes.NewReader(render(t, JSON, fresh, layout.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		for format, f := range Formats {
			o := layout.Options{Width: 100, Color: true}
			if format == "json" && name == "hostile" {
				continue // its invalid UTF-8 is escaped once and then a character
			}
			if a, b := render(t, f, fresh, o), render(t, f, again, o); !bytes.Equal(a, b) {
				t.Errorf("%s as %s differs after saving", name, format)
			}
		}
	}
}

func TestNothingEscapes(t *testing.T) {
	for name, d := range saved(t) {
		for _, format := range []string{"text", "markdown"} {
			out := render(t, Formats[format], d, layout.Options{Width: 60})
			for _, r := range string(out) {
				if r != '\n' && layout.UnsafeRune(r) {
					t.Errorf("%s as %s holds %q", name, format, r)
				}
			}
		}
		if out := render(t, Markdown, d, layout.Options{}); bytes.Contains(out, []byte("<script")) || bytes.Contains(out, []byte(" @mention")) {
			t.Errorf("%s: want no markup in Markdown:\n%s", name, out)
		}
	}
	// With colours, the only escapes are ours.
	out := string(render(t, Text, hostile(), layout.Options{Color: true}))
	for _, s := range []layout.Style{layout.Bold, layout.Dim, layout.Red, layout.Green, layout.Yellow} {
		out = strings.ReplaceAll(out, "\x1b["+string(s)+"m", "")
	}
	if out = strings.ReplaceAll(out, "\x1b[0m", ""); strings.Contains(out, "\x1b") {
		t.Error("a foreign escape sequence")
	}
	if out != string(render(t, Text, hostile(), layout.Options{})) {
		t.Error("colours change more than colours")
	}
}

func TestWidth(t *testing.T) {
	for name, d := range saved(t) {
		for _, width := range []int{layout.MinWidth, 60, 80, 100} {
			for _, line := range strings.Split(string(render(t, Text, d, layout.Options{Width: width})), "\n") {
				// What is longer is a single word, a command or code, to be copied.
				if n := utf8.RuneCountInString(line); n > width && len(strings.Fields(line)) > 4 &&
					!strings.Contains(line, "$ ") && !strings.Contains(line, "gowhy ") && !strings.HasPrefix(line, strings.Repeat(" ", labelled+2)) {
					t.Errorf("%s at %d columns has a line of %d, want at most as many: %q", name, width, n, line)
				}
			}
		}
	}
}

// What is printed without being asked for more fits on a screen, and has for each of the
// first findings what to do and how to prove it.
func TestBriefFitsAScreen(t *testing.T) {
	for name, d := range saved(t) {
		for _, width := range []int{80, 100, layout.MaxWidth} {
			for height, most := range map[int]int{0: briefScreen, 24: 23, 30: 29, 50: 49} {
				out := string(render(t, Text, d, layout.Options{Width: width, Height: height}))
				if n := rows(out, width); n > most {
					t.Errorf("%s at %dx%d has %d rows, want at most %d:\n%s", name, width, height, n, most, out)
				}
				if len(d.Findings) > 0 && !strings.Contains(out, "1. "+layout.Safe(d.Findings[0].Title)) || !strings.Contains(out, "gowhy -v") {
					t.Errorf("%s at %dx%d lacks its first finding, or where the rest is:\n%s", name, width, height, out)
				}
			}
		}
		out := string(render(t, Text, d, layout.Options{}))
		written := 0
		for i := range d.Findings {
			f := &d.Findings[i]
			if f.Remark || written == briefFindings {
				continue
			}
			written++
			for _, want := range []string{layout.Safe(f.Title), layout.Safe(strings.Fields(f.Remedy.Text)[0])} {
				if !strings.Contains(out, want) {
					t.Errorf("%s: no %q in\n%s", name, want, out)
				}
			}
			if len(f.Try) > 0 && !strings.Contains(out, "$ "+layout.Safe(f.Try[0])+"\n") {
				t.Errorf("%s: the command that proves it is not in a line of its own in\n%s", name, out)
			}
		}
		if i := strings.LastIndex(out, "\nmore "); i < 0 || !strings.Contains(out[i:], "$ gowhy -v "+fileArguments(d)) || strings.Count(out[i:], "\n") != 2 {
			t.Errorf("%s does not end with where the rest is:\n%s", name, out)
		}
	}
}

// What has no room is counted, and a long text ends at a sentence, at a clause or with a sign.
func TestUpTo(t *testing.T) {
	x := newTexter(layout.Options{})
	for _, c := range []struct {
		text, more string
		most       int
		want       string
	}{
		{"It fits.", "", 1, "It fits."},
		{"It fits.", " (+2)", 1, "It fits. (+2)"},
		{"One is done. Two goes on for long", "", 1, "One is done."},
		{"first: what is so, and that it is", " (+3)", 1, "first: what is so (+3)"},
		{"many words without an end of any kind", " (+3)", 1, "many words without an … (+3)"},
		{"many words without an end of any kind at all of them", "", 2, "many words without an end of|any kind at all of them"},
	} {
		if got := strings.Join(x.upTo(c.text, c.more, 30, c.most), "|"); got != c.want {
			t.Errorf("upTo(%q, %q, %d) = %q, want %q", c.text, c.more, c.most, got, c.want)
		}
	}
	sentence := "This sentence has to be read and takes three lines of thirty columns. Another one."
	if got := strings.Join(x.first(sentence, 30, 2), " "); got != "This sentence has to be read and takes three lines of thirty columns." {
		t.Errorf("first() = %q, want the first sentence whole", got)
	}
}

// What has no room is counted, and what to do ends at a sentence.
func TestBriefLeavesOut(t *testing.T) {
	d := hostile()
	for range 9 {
		d.Findings = append(d.Findings, d.Findings[0])
		d.Warnings = append(d.Warnings, "another")
	}
	d.Findings[0].Remedy.Text = "Do this first. " + strings.Repeat("Then read on for long ", 20)
	d.Findings[1].Remedy.Text = strings.Repeat("word ", 100)
	out := string(render(t, Text, d, layout.Options{}))
	for _, want := range []string{"do     Do this first.\n", "a warning of two lines (+9)\n", " (+7)\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if n := strings.Count(out, "\n"); n > briefScreen {
		t.Errorf("%d lines, want at most %d:\n%s", n, briefScreen, out)
	}
}

// Readers depend on these keys; docs/json.md has the same list.
func TestJSONKeys(t *testing.T) {
	var got map[string]any
	if err := json.Unmarshal(render(t, JSON, hostile(), layout.Options{}), &got); err != nil {
		t.Fatal(err)
	}
	if got["schema"] != 3.0 {
		t.Errorf("schema %v, want 3", got["schema"])
	}
	first := func(of map[string]any, key string) map[string]any {
		t.Helper()
		list, ok := of[key].([]any)
		if !ok || len(list) == 0 {
			t.Fatalf("%q is no list with something in it: %v", key, of[key])
		}
		return list[0].(map[string]any)
	}
	finding := first(got, "findings")
	for _, tt := range []struct {
		name string
		of   map[string]any
		keys string
	}{
		{"diagnosis", got, "schema verdict summary findings fine unchecked warnings trace cpu recording"},
		{"cpu", got["cpu"].(map[string]any), "window_ns total_ns cores user_ns system_ns counted parts source why coverage scale"},
		{"part", first(got["cpu"].(map[string]any), "parts"), "name ns share"},
		{"recording", got["recording"].(map[string]any), "recorder_cpu_ns target_cores target_cores_before"},
		{"trace", got["trace"].(map[string]any), "go duration_ns events generations lost_bytes"},
		{"unchecked", first(got, "unchecked"), "what why how"},
		{"finding", finding, "rule title summary where evidence cost bound confidence confidence_reasons ruled_out explains remedy prove"},
		{"where", first(finding, "where"), "function file line"},
		{"evidence", first(finding, "evidence"), "name value unit text origin"},
		{"cost", finding["cost"].(map[string]any), "value unit text what origin"},
		{"bound", finding["bound"].(map[string]any), "kind value unit text name method origin"},
	} {
		for _, k := range strings.Fields(tt.keys) {
			if _, ok := tt.of[k]; !ok {
				t.Errorf("no %q in %s", k, tt.name)
			}
		}
	}
}

// A list without entries is an empty list, not null: readers loop over it.
func TestJSONEmptyLists(t *testing.T) {
	d := diagnosis.Run(&model.Model{}, nil, diagnosis.Options{})
	var got map[string]any
	if err := json.Unmarshal(render(t, JSON, d, layout.Options{}), &got); err != nil {
		t.Fatal(err)
	}
	for _, k := range []string{"findings", "fine", "unchecked", "warnings"} {
		if _, ok := got[k].([]any); !ok {
			t.Errorf("%q is %v, want a list", k, got[k])
		}
	}
}

func TestQuantity(t *testing.T) {
	for _, tt := range []struct {
		v    float64
		u    fact.Unit
		want string
	}{
		{1, fact.Cores, "1 core"}, {0.0312, fact.Cores, "0.031 cores"}, {1.999, fact.Cores, "2.00 cores"},
		{0, fact.Seconds, "0 s"}, {1.5e-7, fact.Seconds, "150 ns"}, {0.0123456, fact.Seconds, "12.3 ms"},
		{61, fact.Seconds, "61.0 s"}, {4000, fact.Seconds, "1h6m40s"}, {-0.5, fact.Seconds, "-500 ms"},
		{1536, fact.Bytes, "1.50 KiB"}, {100, fact.Bytes, "100 B"}, {5e12, fact.Bytes, "4.55 TiB"},
		{0.5, fact.Ratio, "50.0%"}, {1, fact.Ratio, "100%"}, {0.0004, fact.Ratio, "0.04%"}, {42.123, fact.Ratio, "42.1×"},
		{1234567, fact.Count, "1,234,567"}, {-1234, fact.Count, "-1,234"}, {0.00012, fact.Count, "0.00012"},
		{1e18, fact.Count, "1e+18"}, {999.5, fact.PerSec, "1,000/s"}, {2, "widgets", "2 widgets"},
	} {
		if got := layout.Safe(tt.u.Format(tt.v)); got != tt.want {
			t.Errorf("Format(%v %s) = %q, want %q", tt.v, tt.u, got, tt.want)
		}
	}
}

// What is fine has one line, and all of it when asked for.
func TestFineIsFolded(t *testing.T) {
	d := &diagnosis.Diagnosis{Schema: diagnosis.Schema, Verdict: diagnosis.Healthy, Summary: "Well."}
	for i := range 12 {
		d.Fine = append(d.Fine, diagnosis.Fine{Text: fmt.Sprintf("topic%c: nobody waits", 'a'+i)})
	}
	if text := string(render(t, Text, d, layout.Options{})); !strings.Contains(text, "topica: nobody waits (+11)\n") {
		t.Errorf("what is fine is not counted in\n%s", text)
	}
	all := string(render(t, Text, d, layout.Options{Verbose: true}))
	for _, f := range d.Fine {
		if !strings.Contains(all, f.Text) {
			t.Errorf("no %q in\n%s", f, all)
		}
	}
}

// What is there and harmless is told, since it answers old advice.
func TestObsoleteIsTold(t *testing.T) {
	d := &diagnosis.Diagnosis{Schema: diagnosis.Schema, Verdict: diagnosis.Healthy, Summary: "Well.",
		Obsolete: []diagnosis.Obsolete{{Rule: "oldtimers", Pattern: "time.After in loops", Since: "Go 1.23", Why: "timers that nobody holds are collected"}}}
	for i := range 12 {
		d.Fine = append(d.Fine, diagnosis.Fine{Text: fmt.Sprintf("share%c: %d%% of it", 'a'+i, i+1)})
	}
	const want = "time.After in loops: harmless since Go 1.23, timers that nobody holds are collected"
	for name, write := range map[string]Format{"text": Text, "markdown": Markdown} {
		if got := string(render(t, write, d, layout.Options{Width: 110, Verbose: name == "text"})); !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("%s: no %q in\n%s", name, want, got)
		}
	}
	if got := string(render(t, JSON, d, layout.Options{})); !strings.Contains(got, `"since": "Go 1.23"`) {
		t.Errorf("not in\n%s", got)
	}
}

// A command is told once for all that it would let be checked.
func TestUncheckedShareCommands(t *testing.T) {
	d := &diagnosis.Diagnosis{Schema: diagnosis.Schema, Verdict: diagnosis.Healthy, Summary: "Well.", Unchecked: []diagnosis.Unchecked{
		{What: "locks", How: "first"}, {What: "heap", How: "second"}, {What: "channels", How: "first"}, {What: "nothing helps"}}}
	text := string(render(t, Text, d, layout.Options{Verbose: true}))
	want := "   ? locks\n   ? channels\n       $ first\n   ? heap\n       $ second\n   ? nothing helps\n"
	if !strings.Contains(text, want) {
		t.Errorf("no\n%s in\n%s", want, text)
	}
}

// An account of the last second must not be read beside a trace of six.
func TestCPUOfAPart(t *testing.T) {
	c := &diagnosis.CPU{WindowNS: 1e9, TotalNS: 15e8, Cores: 1.5, Parts: []diagnosis.CPUPart{{Name: "application", NS: 15e8, Share: 1}}}
	for duration, want := range map[int64]string{
		6_000_000_000: "1.50 cores in 1.00 s of the 6.00 s = application 100%",
		1_050_000_000: "1.50 cores = application 100%",
	} {
		if got := cpuText(c, &diagnosis.TraceInfo{DurationNS: duration}); got != want {
			t.Errorf("cpuText() of %d ns = %q, want %q", duration, got, want)
		}
	}
}

// The page is offered where it has something to show, by the files as they were given.
func TestNextOffersThePage(t *testing.T) {
	finding := []diagnosis.Finding{{Rule: "hotmutex"}}
	for want, d := range map[string]*diagnosis.Diagnosis{
		"":                           {Files: []string{"build.txt"}, Verdict: diagnosis.TooThin},
		"gowhy view run.gowhy":       {Files: []string{"run.gowhy"}, Trace: &diagnosis.TraceInfo{}},
		"gowhy view 'a b' cpu.pprof": {Files: []string{"a b", "cpu.pprof"}, CPU: &diagnosis.CPU{}},
		"gowhy view FILE":            {Files: []string{"-"}, Trace: &diagnosis.TraceInfo{}},
		"gowhy view metrics.jsonl":   {Files: []string{"metrics.jsonl"}, Findings: finding},
	} {
		got := ""
		for _, n := range nextCommands(d) {
			if strings.HasPrefix(n[0], "gowhy view") {
				got = n[0]
			}
		}
		if got != want {
			t.Errorf("command for %v = %q, want %q", d.Files, got, want)
		}
	}
}
