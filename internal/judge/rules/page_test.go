package rules

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/show/web"
)

// Every rule on the page. The sick case of each is a run of one server, the one that
// users have: its name is the rule's. Here it is asked as the page asks it; ui/e2e
// walks through it by clicks, and so can a person:
//
//	cd rules && go test -c -o rules.test && ./rules.test -test.run TestServePage -serve

var serve = flag.Bool("serve", false, "serve the rules' sick cases to a browser, until the input ends")

// TestServePage says what each rule says of its case, then where the page is, and
// ends with its input: with whoever started it, however that ended.
func TestServePage(t *testing.T) {
	if !*serve {
		t.Skip("only with -serve; TestPageHasEvidence asks the same server")
	}
	s, says := pageOfRules(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	out := json.NewEncoder(os.Stdout)
	for _, line := range says {
		if err := out.Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		defer stop()
		_, _ = io.Copy(io.Discard, os.Stdin) // it ends, whatever the reason
	}()
	fmt.Println(s.URL(l.Addr()))
	if err := s.Serve(ctx, l); err != nil {
		t.Fatal(err)
	}
}

// A saying is what a rule says of its case when it runs alone: what has to stand on
// the page where all of them have run.
type saying struct {
	Rule      string   `json:"rule"`
	Findings  int      `json:"findings"`
	Sentences []string `json:"sentences"`
	Commands  []string `json:"commands"`
}

// pageOfRules returns a server with a run for each rule, in the order of All.
func pageOfRules(t *testing.T) (*web.Server, []saying) {
	t.Helper()
	views := map[string]*web.View{}
	var says []saying
	var found web.Found
	for _, rule := range All {
		v, said := sickView(t, rule)
		views[rule.Name] = v
		says = append(says, said)
		found.Runs = append(found.Runs, web.RunFiles{Name: rule.Name})
	}
	s, err := web.New(web.Options{
		Version: "test",
		Open: func(_ context.Context, s web.RunFiles, _ func(read, size int64)) (*web.View, error) {
			return views[s.Name], nil
		},
		Log: t.Errorf,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	read := make(chan error, len(found.Runs))
	s.Open(found, func(_ web.RunFiles, err error) { read <- err })
	for range found.Runs {
		if err := <-read; err != nil {
			t.Fatal(err)
		}
	}
	return s, says
}

// sickView returns a rule's first sick case in which it has a finding of its own when
// all rules run, as they do for users; else what it says alone.
func sickView(t *testing.T, rule *diagnosis.Rule) (*web.View, saying) {
	t.Helper()
	_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
	cases = slices.DeleteFunc(cases, func(c *fixture) bool { return c.kind != "sick" })
	for _, suite := range [][]*diagnosis.Rule{All, {rule}} {
		for _, c := range cases {
			d := diagnosis.Run(c.model, suite, diagnosis.Options{Goal: c.goal})
			own := slices.ContainsFunc(d.Findings, func(f diagnosis.Finding) bool { return f.Rule == rule.Name })
			if !own && !slices.Contains(evidenceRules, rule.Name) {
				continue
			}
			alone := diagnosis.Run(c.model, []*diagnosis.Rule{rule}, diagnosis.Options{Goal: c.goal})
			return &web.View{Name: rule.Name, Model: c.model.Frozen(), Diagnosis: d, Members: membersOf(c.model)}, say(rule, alone)
		}
	}
	t.Fatalf("%s says nothing of its sick cases", rule.Name)
	return nil, saying{}
}

// say takes what a rule says out of its diagnosis.
func say(rule *diagnosis.Rule, d *diagnosis.Diagnosis) saying {
	s := saying{Rule: rule.Name, Sentences: []string{}, Commands: []string{}}
	for _, f := range d.Findings {
		s.Findings++
		s.Sentences = append(s.Sentences, f.Title, f.Summary)
	}
	if !slices.Contains(evidenceRules, rule.Name) {
		return s
	}
	for _, u := range d.Unchecked {
		s.Sentences = append(s.Sentences, u.What, u.Why)
		s.Commands = append(s.Commands, u.How)
	}
	return s
}

// membersOf returns the files of a recording that has what a model has.
func membersOf(m *model.Model) (list []web.Member) {
	for _, of := range []struct {
		source model.Source
		name   string
	}{
		{model.Trace, "trace"}, {model.CPU, "cpu.pb.gz"}, {model.Heap, "allocs.pb.gz"}, {model.LiveHeap, "heap-end.pb.gz"},
		{model.Block, "block.pb.gz"}, {model.Mutex, "mutex.pb.gz"}, {model.GoroutineProfile, "goroutine-end.pb.gz"},
		{model.ThreadCreate, "threadcreate.pb.gz"}, {model.Leak, "goroutineleak.pb.gz"}, {model.MetricsLog, "metrics.jsonl"},
		{model.GCTrace, "gctrace.log"}, {model.SchedTrace, "schedtrace.log"}, {model.BuildInfo, "build.txt"},
		{model.ProcFS, "proc.jsonl"}, {model.KernelCPU, "kernel.pb.gz"}, {model.OffCPU, "offcpu.pb.gz"},
		{model.SyscallLog, "syscalls.json"}, {model.Holders, "holders.json"}, {model.LoadResult, "load"},
	} {
		if m.Has(of.source) {
			list = append(list, web.Member{Name: of.name})
		}
	}
	return list
}

// TestPageHasEvidence: the server has what each of a finding's links is about.
func TestPageHasEvidence(t *testing.T) {
	s, says := pageOfRules(t)
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	base := s.URL(h.Listener.Addr())
	var session web.Session
	answer(t, base+"api/session", nil, &session)
	if len(session.Runs) != len(All) {
		t.Fatalf("%d runs of %d rules", len(session.Runs), len(All))
	}
	for r, run := range session.Runs {
		t.Run(run.Name, func(t *testing.T) {
			var f web.Findings
			answer(t, base+"api/findings", url.Values{"r": {strconv.Itoa(r)}}, &f)
			own := 0
			for i := range f.Diagnosis.Findings {
				if f.Diagnosis.Findings[i].Rule == run.Name {
					own++
				}
				for _, link := range linksOf(f.Links[i]) {
					if fault := evidenceAt(t, base, r, link); fault != "" {
						t.Errorf("%s: %s: %s", f.Diagnosis.Findings[i].Rule, link, fault)
					}
				}
			}
			if own != says[r].Findings {
				t.Errorf("it has %d findings where all rules run, and %d alone", own, says[r].Findings)
			}
			if len(says[r].Sentences) == 0 {
				t.Error("it says nothing")
			}
		})
	}
}

// linksOf returns all places that a finding leads to, each once.
func linksOf(l web.FindingLinks) []string {
	list := slices.Clone(l.Where)
	var number func(web.FactLink)
	number = func(l web.FactLink) {
		list = append(list, l.To)
		for _, o := range l.Operands {
			number(o)
		}
	}
	for _, e := range slices.Concat(l.Evidence, []web.FactLink{l.Cost, l.Bound}) {
		number(e)
	}
	for _, m := range l.More {
		list = append(list, m.To)
	}
	for _, s := range l.Symptoms {
		list = append(list, linksOf(s)...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// evidenceAt asks for what a place of the page shows, and says what is missing.
func evidenceAt(t *testing.T, base string, r int, link string) string {
	t.Helper()
	screen, rest, _ := strings.Cut(link, "?")
	asked, err := url.ParseQuery(rest)
	if err != nil {
		return err.Error()
	}
	q := url.Values{"r": {strconv.Itoa(r)}}
	switch screen {
	case "flame":
		if asked.Has("kind") {
			q.Set("kind", asked.Get("kind"))
		}
		var f web.Flame
		answer(t, base+"api/flame", q, &f)
		if f.Total == 0 || asked.Has("q") && !slices.Contains(f.Names, asked.Get("q")) {
			return fmt.Sprintf("a tree of %d with %q", f.Total, f.Names)
		}
	case "goroutines":
		var table web.Table
		answer(t, base+"api/groups", q, &table)
		if table.All == 0 || asked.Has("group") && !slices.Contains(table.Links, link) {
			return fmt.Sprintf("%d groups: %q", table.All, table.Links)
		}
	case "number":
		q.Set("fact", asked.Get("fact"))
		var n web.Derivation
		answer(t, base+"api/number", q, &n)
		if n.Finding == "" {
			return "no number there"
		}
	case "standing":
		var s web.Standings
		answer(t, base+"api/standing", q, &s)
		if s.Total == 0 || len(s.Groups) == 0 {
			return fmt.Sprintf("%d goroutines in %d groups", s.Total, len(s.Groups))
		}
	case "memory":
		var m web.Memory
		answer(t, base+"api/memory", q, &m)
		if held := q.Get("held"); held != "" && (m.Held == nil || !slices.ContainsFunc(m.Held.Holders, func(h web.Holder) bool { return h.Kind+" "+h.Name == held })) {
			return "no such holder"
		}
		if len(m.Rows) == 0 && m.Held == nil {
			return "nothing is said of the memory"
		}
	case "runtime":
		var charts web.Runtime
		answer(t, base+"api/runtime", q, &charts)
		of := func(c web.Chart) bool { return !asked.Has("chart") || c.Name == asked.Get("chart") }
		i := slices.IndexFunc(charts.Charts, of)
		switch {
		case i < 0:
			return fmt.Sprintf("%d charts, not that one", len(charts.Charts))
		case asked.Has("chart") && !slices.ContainsFunc(charts.Charts[i].Series, rises):
			return "the chart says that there was nothing"
		}
	case "sources":
		var s web.Sources
		answer(t, base+"api/sources", q, &s)
		if len(s.Members)+len(s.Build) == 0 {
			return "nothing was recorded"
		}
	default:
		return "no such screen"
	}
	return ""
}

// rises reports whether a line is ever other than zero.
func rises(s web.Series) bool {
	return slices.ContainsFunc(s.Value, func(v *float64) bool { return v != nil && *v != 0 })
}

// answer asks the server for JSON.
func answer(t *testing.T, address string, q url.Values, into any) {
	t.Helper()
	resp, err := http.Get(address + "?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(resp.Body)
		t.Errorf("%s?%s: %s: %s", address, q.Encode(), resp.Status, body)
		return
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Errorf("%s?%s: %v", address, q.Encode(), err)
	}
}
