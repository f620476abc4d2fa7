package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"

	"github.com/gowhy/gowhy/internal/know/model"
)

func writeReport(t *testing.T, r *Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dataOf returns what the page in a file finds.
func dataOf(t *testing.T, file []byte) map[string]json.RawMessage {
	t.Helper()
	_, rest, ok := bytes.Cut(file, []byte(`<script type="application/json" id="data">`))
	text, _, ended := bytes.Cut(rest, []byte("</script>"))
	var data map[string]json.RawMessage
	if err := json.Unmarshal(text, &data); !ok || !ended || err != nil {
		t.Fatalf("no data: %v", err)
	}
	return data
}

func TestReportFile(t *testing.T) {
	trial := Result{Trial: Trial{Name: evilName, Kind: "verify", Summary: evilName}, JSON: json.RawMessage(`{"why": "</script><b>"}`)}
	of := func() *Report {
		return &Report{Version: "v1", Views: []*View{sampleView(), sampleView()}, Results: []Result{trial}}
	}
	file := writeReport(t, of())
	if !bytes.Equal(file, writeReport(t, of())) {
		t.Error("the same report gave other bytes")
	}
	data := dataOf(t, file)
	for _, key := range []string{
		"api/session", "api/findings?r=0", "api/findings?r=1", "api/memory?r=0", "api/runtime?r=0", "api/groups?r=0", "api/goroutines?r=0", "api/goroutines?group=main.main&r=0",
		"api/flame?r=0", "api/flame?kind=cpu&r=1", "api/flame?base=0&kind=cpu&r=1", "api/tasks?r=0", "api/sources?r=0", "api/compare?a=0&b=1", "api/compare?trial=0",
	} {
		if len(data[key]) == 0 {
			t.Errorf("%s is not in the file", key)
		}
	}
	var s Session
	if err := json.Unmarshal(data["api/session"], &s); err != nil || !s.Static || len(s.Runs) != 2 || len(s.Runs[0].Files) != 1 || strings.Contains(s.Runs[0].Files[0], "somebody") {
		t.Errorf("session of the file: %v, %+v; want a static one of 2 runs, with one file that does not name who ran it", err, s)
	}
	var sources Sources
	if err := json.Unmarshal(data["api/sources?r=0"], &sources); err != nil || len(sources.Exports)+len(sources.Tools) > 0 || sources.Members[0].Get != "" {
		t.Errorf("the file has exports %+v, tools %+v, members %+v, %v, want nothing that only a server has",
			sources.Exports, sources.Tools, sources.Members, err)
	}
	var none refusal
	if err := json.Unmarshal(data["api/timeline?r=0"], &none); err != nil || none.Status != 404 || none.Hint == "" {
		t.Errorf("what is not there is not said: %s", data["api/timeline?r=0"])
	}
}

// Nothing in the data is HTML, and the policy lets nothing run but what it names.
func TestReportFileIsInert(t *testing.T) {
	file := string(writeReport(t, &Report{Version: evilName, Views: []*View{sampleView()}, Results: []Result{{Trial: Trial{Kind: "verify"}, JSON: json.RawMessage("{\n\"a\":\"</ScRiPt>\",\"b\":\"<!--<script>\",\"c\":\"\u202e\u009b31m\U000e0001\"}")}}}))
	_, rest, _ := strings.Cut(file, `id="data">`)
	data, after, _ := strings.Cut(rest, "</script>")
	if strings.ContainsAny(data, "<>\u2028\x1b") || strings.Contains(after, "alert(1)") {
		t.Error("a name from the recording is HTML")
	}
	if i := strings.IndexFunc(data, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); i >= 0 {
		t.Errorf("the data has %q as it is", data[i:i+4])
	}
	if !strings.Contains(data, `\u202e\u009b31m\udb40\udc01`) {
		t.Error("what turns text is not escaped, or is lost")
	}
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(file)
	if policy == nil || strings.Contains(policy[1], "unsafe") || strings.Contains(policy[1], "'self'") || !strings.HasPrefix(policy[1], "default-src 'none'; ") {
		t.Fatalf("the policy is %q, want nothing but what the file holds", policy)
	}
	for element, opening := range map[string]string{"script": `<script type="module">`, "style": "<style>"} {
		_, text, ok := strings.Cut(file, opening)
		text, _, _ = strings.Cut(text, "</"+element+">")
		sum := sha256.Sum256([]byte(text))
		if hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; ok && !strings.Contains(policy[1], element+"-src "+hash) {
			t.Errorf("the policy does not let the %s run", element)
		}
	}
	if m := regexp.MustCompile(`<(?:script|link|img)[^>]*(?:src|href)="(?:https?:|/)`).FindString(file); m != "" {
		t.Errorf("the file loads %s, want nothing from elsewhere", m)
	}
}

func TestInlined(t *testing.T) {
	a, err := readAssets(fstest.MapFS{
		"index.html": {Data: []byte("<!doctype html><html><head><meta charset=\"utf-8\">\n<script type=\"module\" crossorigin src=\"./app.js\"></script>\n<link rel=\"stylesheet\" crossorigin href=\"./app.css\">\n</head><body><div id=\"app\"></div></body></html>")},
		"app.js":     {Data: []byte("const a='</SCRIPT><!--$1'")}, "app.css": {Data: []byte("a::after{content:'</style>'}")},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.inlineTemplate()
	if err != nil {
		t.Fatal(err)
	}
	page := string(s.before) + "DATA" + string(s.after)
	for _, want := range []string{`content:'<\/style>'}</style>`, `const a='<\/SCRIPT><\!--$1'</script>`, "DATA<script type=\"module\">const", "</body></html>"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in %s", want, page)
		}
	}
	if strings.Contains(page, "app.js") || strings.Contains(page, "crossorigin") || strings.Count(strings.ToLower(page), "</script>") != 1 {
		t.Errorf("page %s, want one script, inside of it, and nothing by name or across origins", page)
	}
	for _, broken := range []string{"<head></head><body></body>", `<head><script src="./gone.js"></script></head><body></body>`, `<script src="./app.js"></script>`} {
		a, err := readAssets(fstest.MapFS{"index.html": {Data: []byte(broken)}, "app.js": {}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.inlineTemplate(); err == nil {
			t.Errorf("%s was taken for a page", broken)
		}
	}
}

// What goes into files is the whole page: a part that it asked for would not come.
func TestReportPageIsWhole(t *testing.T) {
	a, err := reportAssets()
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.inlineTemplate()
	if err != nil {
		t.Fatal(err)
	}
	part := regexp.MustCompile("(?:\\bfrom|\\bimport)\\s*\\(?\\s*[\"'`]\\./")
	for _, text := range [][]byte{s.before, s.after} {
		if m := part.Find(text); m != nil || bytes.Contains(text, []byte(`rel="stylesheet"`)) {
			t.Errorf("it needs more than it has: %s", m)
		}
	}
	served, err := servedAssets()
	if err != nil {
		t.Fatal(err)
	}
	if !part.Match(served.byPath["app.js"].data) {
		t.Error("the page that is served is not in parts: this test finds none anywhere")
	}
}

// A large tree is pruned until it fits, and the file says so.
func TestReportPrunes(t *testing.T) {
	v := sampleView()
	m := *v.Model
	for i := range 30_000 {
		m.CPU.Samples = append(m.CPU.Samples, deepSample(&m, i))
	}
	v.Model = m.Frozen()
	file := writeReport(t, &Report{Views: []*View{v}})
	data := dataOf(t, file)
	var f Flame
	if err := json.Unmarshal(data["api/flame?kind=cpu&r=0"], &f); err != nil || f.LeftNodes == 0 || len(f.Parent) < 100 {
		t.Fatalf("%v: %d nodes, %d left out", err, len(f.Parent), f.LeftNodes)
	}
	if len(file) > maxReport {
		t.Errorf("the file has %d bytes, want at most %d", len(file), maxReport)
	}
	var s Sources
	if err := json.Unmarshal(data["api/sources?r=0"], &s); err != nil || !slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, "pruned") }) {
		t.Errorf("it is not said: %v %q", err, s.Notes)
	}
}

func TestTargets(t *testing.T) {
	links := &Findings{Links: []FindingLinks{
		{Evidence: []FactLink{{To: "timeline?from=1&to=5&g=a%26b"}, {}}, Where: []string{"flame?fn=x"}, More: []Link{{To: "runtime"}}, Symptoms: []FindingLinks{{Where: []string{"goroutines?group=y"}}}},
		{Evidence: []FactLink{{To: "timeline?%zz"}}},
	}}
	var got []string
	for _, p := range targetsOf(links) {
		got = append(got, p.screen+" "+p.params.Encode())
	}
	if want := []string{"timeline from=1&g=a%26b&to=5", "flame fn=x", "runtime ", "goroutines group=y"}; !slices.Equal(got, want) {
		t.Errorf("targets %q, want %q", got, want)
	}
}

// deepSample returns a sample at a stack of its own.
func deepSample(m *model.Model, i int) model.Sample {
	frames := make([]model.Frame, 12)
	for k := range frames {
		frames[k] = model.Frame{Func: "main.f" + strconv.Itoa(i>>k) + "_" + strconv.Itoa(k), File: "main.go", Line: k}
	}
	return model.Sample{Stack: m.Stacks.Add(frames), Values: []int64{1, int64(i)}}
}

// Every row of the groups' table leads to what is in the file, whatever the
// group's name: none, or one that is no text.
func TestReportHasGroups(t *testing.T) {
	v := accounts()
	const odd = "main.\xff&group=x"
	v.Model.Sched.Groups[1].Name, v.Model.Sched.Goroutines[3].Group = odd, odd
	data := dataOf(t, writeReport(t, &Report{Views: []*View{v}}))
	var groups Table
	if err := json.Unmarshal(data["api/groups?r=0"], &groups); err != nil || len(groups.Links) != 3 {
		t.Fatalf("groups of the file: %v, links %+v; want 3", err, groups.Links)
	}
	for _, link := range groups.Links {
		_, rest, _ := strings.Cut(link, "?")
		var table Table
		if err := json.Unmarshal(data["api/goroutines?"+rest+"&r=0"], &table); err != nil || table.Total == 0 {
			t.Errorf("%q leads to %v, %d goroutines; want some", link, err, table.Total)
		}
	}
}
