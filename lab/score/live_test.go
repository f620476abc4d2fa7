package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// viewOf returns a view of findings like "reopen main.read" and "neighbour remark".
func viewOf(at float64, findings ...string) View {
	v := View{At: at, Line: "a line"}
	for _, text := range findings {
		rule, function, _ := strings.Cut(text, " ")
		f := LiveFinding{Rule: rule, Function: function}
		if function == "remark" {
			f.Function, f.Remark = "", true
		}
		v.Findings = append(v.Findings, f)
	}
	return v
}

// When a verdict is right: the first problem, the rule alone, anywhere, at the end.
func TestJudgeLive(t *testing.T) {
	guilty := []string{"main.read", "main.open"}
	for name, c := range map[string]struct {
		views []View
		want  moments
	}{
		"nothing": {nil, moments{never, never, never, false}},
		"silence": {[]View{viewOf(12)}, moments{never, never, never, false}},
		"at once": {[]View{viewOf(12, "reopen main.read")}, moments{12, 12, 12, true}},
		"later":   {[]View{viewOf(12), viewOf(22.5, "reopen main.open")}, moments{22.5, 22.5, 22.5, true}},
		"behind a remark and the machine": {
			[]View{viewOf(12, "hotfunction remark", "neighbour main.x", "reopen main.read")}, moments{12, 12, 12, true}},
		"a closure is the function it stands in": {[]View{viewOf(12, "reopen main.read.func1")}, moments{12, 12, 12, true}},
		"another is first":                       {[]View{viewOf(12, "smallio main.read", "reopen main.read")}, moments{never, never, 12, false}},
		"another is first, then it is":           {[]View{viewOf(12, "smallio main.read"), viewOf(22, "reopen main.read", "smallio main.read")}, moments{22, 22, 22, true}},
		"not at the end":                         {[]View{viewOf(12, "reopen main.read"), viewOf(33)}, moments{12, 12, 12, false}},
		"another function":                       {[]View{viewOf(12, "reopen main.write")}, moments{never, 12, never, false}},
		"another function first":                 {[]View{viewOf(12, "reopen main.write", "reopen main.read")}, moments{never, 12, 12, false}},
		"no function":                            {[]View{viewOf(12, "reopen")}, moments{never, 12, never, false}},
		"another rule":                           {[]View{viewOf(12, "smallio main.read")}, moments{never, never, never, false}},
	} {
		if got := judgeLive(&LiveAnswer{Views: c.views}, "reopen", guilty); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	// Where the truth names no function any will do, and a remark is right when it is what was asked for.
	a := LiveAnswer{Views: []View{viewOf(12, "nopgo remark")}}
	if got := judgeLive(&a, "nopgo", nil); got.first != 12 || !got.held {
		t.Errorf("a remark that was asked for: first after %v, held %v, want 12, true", got.first, got.held)
	}
}

// A false line is any problem of a well program, once, but for what is allowed.
func TestFalseLines(t *testing.T) {
	a := LiveAnswer{Views: []View{
		viewOf(12, "hotfunction remark", "neighbour main.x"), viewOf(22, "gccost main.f", "syscallbound main.g"), viewOf(32), viewOf(42, "gccost main.h"),
	}}
	if got := falseWords(falseLines(&a, []string{"syscallbound"})); got != "gccost in main.f after 22 s" {
		t.Errorf("false lines: %s", got)
	}
	if got := machineLines(&a); !slices.Equal(got, []string{"neighbour"}) {
		t.Errorf("lines about the machine: %q", got)
	}
}

// A miss says what it was.
func TestWhyMissed(t *testing.T) {
	for want, a := range map[string]LiveAnswer{
		"the run failed: it broke":                              {Failed: "it broke"},
		"it was not judged once":                                {},
		"the rule needs an execution trace, and there was none": {Judged: 3, Unchecked: []string{"reopen"}},
		"too late: after 34 s":                                  {Judged: 3, Views: []View{viewOf(34, "reopen main.read")}},
		"shown, and another is first":                           {Judged: 3, Views: []View{viewOf(12, "smallio main.read", "reopen main.read")}},
		"shown after 34 s, and another is first":                {Judged: 3, Views: []View{viewOf(34, "smallio main.read", "reopen main.read")}},
		"the rule is right, and the function it names is not":   {Judged: 3, Views: []View{viewOf(12, "reopen main.write")}},
		"in none of the 2 pieces of time":                       {Judged: 2, Views: []View{viewOf(12)}, Pieces: make([]Piece, 2)},
		"in 1 of the 2 pieces of time, and not shown":           {Judged: 2, Views: []View{viewOf(12)}, Pieces: []Piece{{}, {Findings: []LiveFinding{{Rule: "reopen"}}}}},
	} {
		if got := whyMissed(&a, judgeLive(&a, "reopen", []string{"main.read"}), "reopen", 30); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// frames are what gowhy top --json writes of a program that is judged twice and ends.
const framesOfTop = `
{"time":"2026-11-24T12:00:01Z","machine":{"busy_cores":1},"processes":[{"pid":7,"cpu":{"user":0.2,"system":0.1}}],"cost":{"cpu":0.02}}
{"time":"2026-11-24T12:00:12.04Z","machine":{"busy_cores":1},"processes":[{"pid":7,"cpu":{"user":0.2,"system":0.1},"verdict":{"line":"looking twice","judged":1,"unchecked":["hotmutex"],"recording":"1.gowhy"}}],"cost":{"cpu":0.02}}
{"time":"2026-11-24T12:00:13Z","machine":{"busy_cores":1},"processes":[{"pid":7,"cpu":{"user":0.2,"system":0.1},"verdict":{"line":"looking twice","judged":1,"unchecked":["hotmutex"],"recording":"1.gowhy"}}],"cost":{"cpu":0.02}}
{"time":"2026-11-24T12:00:22Z","machine":{"busy_cores":1},"processes":[{"pid":7,"cpu":{"user":0.2,"system":0.1},"verdict":{"line":"Files: main.(*a).read a.go:9","judged":2,"recording":"2.gowhy",
  "findings":[{"rule":"reopen","where":"main.(*a).read a.go:9","confidence":"low"},{"rule":"neighbour","remark":true,"confidence":"high"}]}}],"cost":{"cpu":0.02}}
`

// Views are kept when they change; a line that the end has cut is none.
func TestFramesAreRead(t *testing.T) {
	read := func(text string) (LiveAnswer, []string, bool) {
		a := LiveAnswer{}
		var pieces []string
		v := viewer{pid: 7, began: time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC), answer: &a,
			piece: func(n int, file string) { pieces = append(pieces, fmt.Sprint(n, " ", file)) }}
		here := readFrames(strings.NewReader(text), &v)
		return a, pieces, here
	}
	a, pieces, here := read(framesOfTop + `{"time":"2026-11-24T12:00:23Z","proc`)
	want := LiveAnswer{
		Seconds: 22, Judged: 2, Cores: 0.3, Others: 0.68, Cost: 0.02,
		Views: []View{{At: 12, Line: "looking twice"}, {At: 22, Line: "Files: main.(*a).read a.go:9", Findings: []LiveFinding{
			{Rule: "reopen", Function: "main.(*a).read", Confidence: "low"}, {Rule: "neighbour", Confidence: "high", Remark: true}}}},
	}
	if !here || !reflect.DeepEqual(a, want) {
		t.Errorf("here %v,\n%+v, want\n%+v", here, a, want)
	}
	if !slices.Equal(pieces, []string{"1 1.gowhy", "2 2.gowhy"}) {
		t.Errorf("pieces: %q", pieces)
	}
	if _, _, here := read(framesOfTop + `{"processes":[{"pid":8}]}`); here {
		t.Error("a program that is gone is there")
	}
	if _, _, here := read(""); here {
		t.Error("a program that was never seen is there")
	}
}

// How a program runs for longer: a flag for how long, one for how many, or none.
func TestLasting(t *testing.T) {
	of := func(name string, args ...string) *watching {
		return &watching{task: task{c: &truth.Case{Name: name}, args: args}}
	}
	for _, c := range []struct {
		w    *watching
		took time.Duration
		want string
	}{
		{of("habits", "-time", "2s"), 0, "-time 2s -time 44s"},
		{of("top", "-refreshes", "8"), 0, "-refreshes 8 -refreshes 0"},
		{of("server", "-addr", "x"), 0, "-addr x"},
		{of("filepool", "-tasks", "1000"), 2 * time.Second, "-tasks 1000 -tasks 33000"},
		{of("filepool", "-tasks=1000"), 2 * time.Minute, "-tasks=1000 -tasks 1500"}, // long enough as it is
		{of("filepool", "-tasks", "1", "-tasks", "1000"), 2 * time.Second, "-tasks 1 -tasks 1000 -tasks 33000"},
		{of("filepool", "-tasks", "1000000"), 2 * time.Second, "for 44s it would need -tasks 33000000; it bears 8000000"},
	} {
		args, why, err := c.w.lasting(44*time.Second, c.took)
		if got := strings.Join(args, " ") + why; err != nil || got != c.want {
			t.Errorf("%s %q: %q, %v; want %q", c.w.c.Name, c.w.args, got, err, c.want)
		}
	}
	for _, args := range [][]string{nil, {"-tasks"}, {"-tasks", "many"}} {
		if _, _, err := of("filepool", args...).lasting(time.Minute, time.Second); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// Every run of the lab is watched or left out with a reason, and each once.
func TestWatchings(t *testing.T) {
	cases := allCases(t)
	sick, well, out := watchings(cases)
	seen := map[string]int{}
	for _, w := range slices.Concat(sick, well) {
		seen[w.key()]++
	}
	for _, x := range out {
		if seen[x.what]++; x.why == "" {
			t.Errorf("%s is left out for no reason", x.what)
		}
	}
	for _, one := range plan(cases, 1, false, 0) {
		a := one.answer()
		if k := key(&a); seen[k] != 1 {
			t.Errorf("%s is there %d times", k, seen[k])
		} else if delete(seen, k); one.kind == Sick {
			delete(seen, k+"+trace")
		}
	}
	if len(seen) > 0 {
		t.Errorf("nobody knows %v", seen)
	}
	for name := range extents {
		if !slices.ContainsFunc(cases, func(c *truth.Case) bool { return c.Name == name }) {
			t.Errorf("there is no case %q", name)
		}
	}
	for i := range sick {
		if w := &sick[i]; w.trace != (i%2 == 1) || w.trace && w.name != sick[i-1].name {
			t.Errorf("%s: a sick program is there without a trace and then with one", w.key())
		}
	}
	unknown := &truth.Case{Name: "unknown", Illnesses: []truth.Illness{{Name: "a", Rule: "reopen", Sick: []string{"-a"}}}}
	if _, _, out := watchings([]*truth.Case{unknown}); len(out) != 2 || !strings.Contains(out[0].why, "longer") {
		t.Errorf("a case of unknown extent: %v", out)
	}
}

// A sample has programs with and without their trace, the same for the same seed.
func TestSample(t *testing.T) {
	sick, _, _ := watchings(allCases(t))
	if got := sample(sick, 0, 1); len(got) != len(sick) {
		t.Errorf("no sample has %d of %d", len(got), len(sick))
	}
	a, b, c := sample(sick, 3, 1), sample(sick, 3, 1), sample(sick, 3, 2)
	names := func(list []watching) (out []string) {
		for _, w := range list {
			out = append(out, w.key())
		}
		return out
	}
	if len(a) != 6 || !slices.Equal(names(a), names(b)) || slices.Equal(names(a), names(c)) {
		t.Errorf("samples: %q, %q and %q", names(a), names(b), names(c))
	}
}

// Programs that use little are watched together, as long as that is little in all.
func TestTogether(t *testing.T) {
	use := map[string]float64{"a": 1, "b": 0.1, "c": 0.14, "d": 0.05, "e": 0.01, "f": 0.01, "g": 0.149, "served": 0}
	var list []watching
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "served"} {
		w := watching{task: task{c: &truth.Case{}, name: name, kind: Healthy}}
		if name == "served" {
			w.load = []string{"load"}
		}
		list = append(list, w)
	}
	cores := func(w watching) float64 { return use[w.name] }
	names := func(groups [][]watching) (got []string) {
		for _, g := range groups {
			var names []string
			for _, w := range g {
				names = append(names, w.name)
			}
			got = append(got, strings.Join(names, "+"))
		}
		return got
	}
	if got, want := names(groupWatches(list, cores)), []string{"g+c+b+e", "d+f", "a", "served"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := names(dealt(list, cores, 3)), []string{"a+b+f", "g+d+served", "c+e"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// liveAnswers are of the lab's first illness, one that needs a trace, and two well runs.
func liveAnswers() *Live {
	return &Live{Schema: schema, Taken: Provenance{Date: "2026-11-24", Commit: "abc", Go: "go1.26", Cores: 2}, Answers: []LiveAnswer{
		{Case: "top", Name: "reopen", Kind: Sick, Judged: 3, Seconds: 40, Views: []View{viewOf(12, "reopen main.(*readFile).read")}, Unchecked: []string{"broadcastclose"}},
		{Case: "top", Name: "reopen", Kind: Sick, Trace: true, Judged: 3, Seconds: 40, Views: []View{viewOf(33, "reopen main.(*readFile).read")}},
		{Case: "top", Name: "broadcast", Kind: Sick, Judged: 3, Seconds: 40, Views: []View{viewOf(12)}, Unchecked: []string{"broadcastclose"}},
		{Case: "top", Name: "broadcast", Kind: Sick, Trace: true, Judged: 3, Seconds: 40, Views: []View{viewOf(12, "broadcastclose main.(*broadcast).call")}},
		{Case: "top", Name: "once-a-second", Kind: Healthy, Seconds: 599, Judged: 59, Views: []View{viewOf(12)}},
		{Case: "top", Name: "many-procs", Kind: Healthy, Seconds: 20, Judged: 2, Views: []View{viewOf(12, "idlespin a|b")}},
		{Case: "ruleengine", Name: "as fast as it can", Kind: Healthy, Views: []View{}, LeftOut: "it would need too much"},
	}}
}

// The figures have both denominators, and the page names misses, false lines, what is left
// out and what is missing.
func TestLivePage(t *testing.T) {
	cases := allCases(t)
	tally := tallyLive(liveAnswers(), cases)
	for way, want := range map[string]Share{plainAll: {1, 2}, plainUsable: {1, 1}, tracedAll: {1, 2}} {
		if got := tally.figures(way).first; got != want {
			t.Errorf("%s: %+v, want %+v", way, got, want)
		}
	}
	if s, short := tally.quiet(); s != (Share{1, 2}) || short != 1 {
		t.Errorf("quiet() = %d of %d, %d short, want 1 of 2, 1", s.K, s.N, short)
	}
	var page bytes.Buffer
	p := livePage{l: liveAnswers(), t: tally}
	if err := p.write(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| top | broadcast | `broadcastclose` | yes | – | – |",
		"| top/broadcast/sick | `broadcastclose` | a line |  | the rule needs an execution trace, and there was none |",
		"| top/reopen/sick+trace | `reopen` | nothing yet; then reopen in main.(\\*readFile).read |  | too late: after 33 s |",
		"| top/many-procs/healthy | idlespin in a\\|b after 12 s |",
		"| ruleengine/as fast as it can/healthy | it would need too much |",
		"| zonedns/debug-lines/sick | `boxedargs` cannot be said",
		"all of `habits`", "`top/broadcast-and-procs/sick+trace`", "1 were watched for less",
	} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q:\n%s", want, page.String())
		}
	}
}

// What is saved is what is read, and an answer takes the place of an older one.
func TestLiveIsSaved(t *testing.T) {
	l, file := liveAnswers(), filepath.Join(t.TempDir(), "live.json")
	if err := l.save(file); err != nil {
		t.Fatal(err)
	}
	again, err := loadLive(file)
	if err != nil {
		t.Fatal(err)
	}
	again.Anew = nil
	if a, b := marshal(t, l), marshal(t, again); a != b {
		t.Errorf("saved %s, read %s", a, b)
	}
	n := len(again.Answers)
	again.put(LiveAnswer{Case: "top", Name: "reopen", Kind: Sick, Failed: "anew"})
	if len(again.Answers) != n || again.Answers[n-1].Failed != "anew" {
		t.Errorf("%d answers, want %d: %+v", len(again.Answers), n, again.Answers)
	}
	for _, text := range []string{"", "{", `{"schema": 99}`} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := loadLive(file); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestLivePageIs: LIVE.md is what live.json and the truth give, to the byte.
func TestLivePageIs(t *testing.T) {
	l, err := loadLive(filepath.Join(labDir, "live.json"))
	if os.IsNotExist(err) {
		t.Skip("nothing was watched yet: go run ./lab/score -live")
	}
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	p := livePage{l: l, t: tallyLive(l, allCases(t))}
	if err := p.write(&want); err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(labDir, "LIVE.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want.Bytes()) {
		t.Error("lab/LIVE.md is not what lab/live.json gives: go run ./lab/score -live -from lab/live.json")
	}
}

func TestLiveFlags(t *testing.T) {
	for name, o := range map[string]options{
		"no such trace":       {live: liveOptions{trace: "some"}},
		"shorter than it may": {live: liveOptions{trace: "none", sick: time.Second}},
		"negative":            {live: liveOptions{trace: "none", well: -1}},
		"another task":        {live: liveOptions{trace: "none"}, prove: true},
	} {
		if o.checkLive() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := (&options{live: liveOptions{trace: "all", sick: 40 * time.Second}}).checkLive(); err != nil {
		t.Error(err)
	}
}

// TestLive watches two programs: a sick one, which is named in time, and a well one.
func TestLive(t *testing.T) {
	attempt.Only(t, "watches two programs for a minute")
	cases := allCases(t)
	bed, err := testbed.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sick, well, _ := watchings(cases)
	pick := func(list []watching, key string) watching {
		i := slices.IndexFunc(list, func(w watching) bool { return w.key() == key })
		if i < 0 {
			t.Fatalf("there is no %s", key)
		}
		return list[i]
	}
	r := &liveRunner{bed: bed, took: map[string]time.Duration{}}
	err = attempt.Repeat(t, func() error {
		w := pick(sick, "top/reopen/sick")
		a := r.do(t.Context(), w, liveLimit+time.Second, 0)
		if m := judgeLive(&a, w.ill.Rule, w.ill.Where); a.Failed != "" || m.first > liveLimit.Seconds() {
			return fmt.Errorf("%s: right after %v s, failed %q, want %v s at most; %s",
				w.key(), m.first, a.Failed, liveLimit.Seconds(), marshal(t, a))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	w := pick(well, "top/reopen/healed")
	if a := r.do(t.Context(), w, 15*time.Second, 0); a.Failed != "" || a.Judged == 0 || len(falseLines(&a, w.allowed)) > 0 {
		t.Errorf("%s: %s", w.key(), marshal(t, a))
	}
	// One that ends while it is watched is a failed run, and leaves nothing behind.
	short := w
	short.task.c = &truth.Case{Name: "short", Dir: w.c.Dir, Time: time.Second}
	if a := r.do(t.Context(), short, 15*time.Second, 0); !strings.Contains(a.Failed, "ended") {
		t.Errorf("a program that ends: %s", marshal(t, a))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if a := r.do(ctx, w, 15*time.Second, 0); a.Failed == "" {
		t.Error("an interrupted run has not failed")
	}
	left, err := filepath.Glob(filepath.Join(bed.Dir(), "live-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}
