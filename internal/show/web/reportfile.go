package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// The page in one file.
//
// A report file is the page with answers in it: the same script asks for the same
// paths, and finds them in the file instead of at a server. So what is in the file
// is a list of questions, asked here ahead of the reader, of the same table of
// endpoints. What nobody asked ahead cannot be seen: the list follows what the
// screens ask first, and the links that lead from findings to their evidence.
//
// A recording of a gigabyte must still make a file that can be mailed. Tables and
// charts are small; what grows is the flame graphs, which are pruned until they
// fit, and the timeline, of which the file has the overview and the windows that
// findings link to, in the order of the findings, until there is no more room. What
// was left out is said in the list of sources.
//
// The file is opened from anywhere and by anyone, and names in it come from a
// program that may be hostile: all data is JSON in which no "<" stands as itself,
// in an element that is no script, and the policy in the head lets only the
// script and the style run whose hashes it names.

// Limits of a report file, in bytes of HTML.
const (
	maxReport      = 10 << 20 // about
	maxReportFlame = 1 << 20  // one tree
	maxReportTrees = 4 << 20  // all trees of the runs
	maxReportTiles = 4 << 20
	maxOneWindow   = 700 << 10 // tiles of one window
)

// And of what is requested ahead.
const (
	reportNodes      = 20_000 // of a tree, at first
	reportGroups     = 24     // whose goroutines are listed
	reportGoroutines = 1000   // of one list
	reportTasks      = 32
	reportWindows    = 24
	reportLanes      = 48   // of a window
	reportBuckets    = 1200 // of a window: what a wide screen shows
	lanePage         = 200  // as the page asks for lanes
	reportPairs      = 6    // of runs, compared
)

// A Report is what goes into a file.
type Report struct {
	Version string
	Views   []*View
	Results []Result
}

// Write writes the page with the answers to all its questions as one HTML file. The same
// report gives the same bytes.
func (r *Report) Write(w io.Writer) error {
	files, err := reportAssets()
	if err != nil {
		return err
	}
	blank, err := files.inlineTemplate()
	if err != nil {
		return err
	}
	p := &page{static: true}
	for _, res := range r.Results {
		p.addResult(res)
	}
	for _, v := range r.Views {
		p.addView(v, bases(v.Model.Run.Files))
	}
	f := &reportFile{page: p, answers: map[string]json.RawMessage{}, nodes: map[string]int{}, room: maxReport - len(blank.before) - len(blank.after)}
	if err := f.collect(r.Version); err != nil {
		return err
	}
	return f.write(w, blank)
}

// A reportFile collects answers.
type reportFile struct {
	page    *page
	answers map[string]json.RawMessage
	room    int            // bytes that are left
	trees   int            // bytes of flame graphs so far
	nodes   map[string]int // of each of them, at most, by its question
	tiles   int
	left    map[int][]string // what of a run did not fit, in words
}

// A refusal is why there is no answer, as the page in a file reads it.
type refusal struct {
	Failure
	Status int `json:"status"`
}

// add puts an answer under the question that the page will ask.
func (f *reportFile) add(path string, q url.Values, data []byte) {
	key := path
	if len(q) > 0 {
		key += "?" + q.Encode()
	}
	if _, ok := f.answers[key]; ok {
		return
	}
	data = bytes.TrimSpace(data)
	f.answers[key] = data
	f.room -= len(key) + len(data)
}

// ask asks an endpoint. hidden are parameters that the page in a file leaves out.
func (f *reportFile) ask(path string, q, hidden url.Values) (any, []byte, error) {
	all := maps.Clone(q)
	maps.Copy(all, hidden)
	value, data, err := f.page.answer(context.Background(), endpoints[path], all)
	if err != nil {
		if !errors.As(err, new(*problem.Error)) {
			return nil, nil, err
		}
		p, status := explain(err)
		text, err := encode(refusal{Failure{name(p.What), name(p.Hint)}, status})
		return nil, text, err
	}
	if data != nil {
		text, err := json.Marshal(base64.StdEncoding.EncodeToString(data))
		return nil, text, err
	}
	text, err := encode(value)
	return value, text, err
}

// answerAs returns an endpoint's answer, when it is of the type that such endpoints answer.
func answerAs[T any](answer any) (*T, bool) {
	switch a := answer.(type) {
	case *T:
		return a, true
	case T:
		return &a, true
	}
	return nil, false
}

// take asks and keeps the answer.
func (f *reportFile) take(path string, q, hidden url.Values) (any, error) {
	value, text, err := f.ask(path, q, hidden)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f.add(path, q, text)
	return value, nil
}

// queryOf returns a query: names and values in turn.
func queryOf(r int, pairs ...string) url.Values {
	q := url.Values{"r": {strconv.Itoa(r)}}
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// runList returns a list of runs as the page asks for it.
func runList(runs []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(runs), " ", ","), "[]")
}

func (f *reportFile) collect(version string) error {
	f.left = map[int][]string{}
	session, err := encode(f.page.session(version, ""))
	if err != nil {
		return err
	}
	f.add("api/session", nil, session)
	// What is small, of all runs, before what may fill the file.
	for _, part := range []func(int, *View) error{f.tables, f.flames, f.timelines, f.sources} {
		for i, r := range f.page.runs {
			if err := part(i, r.view); err != nil {
				return err
			}
		}
	}
	for _, g := range groupByProgram(f.page.runs) {
		if _, err := f.take("api/together", url.Values{"runs": {runList(g)}}, nil); err != nil {
			return err
		}
	}
	return f.comparisons()
}

// write writes the file: the template with the answers in it, by their questions in
// order.
func (f *reportFile) write(w io.Writer, blank *template) error {
	b := bufio.NewWriterSize(w, 1<<16)
	_, _ = b.Write(blank.before) // Flush tells the first error
	_, _ = b.WriteString(`<script type="application/json" id="data">{`)
	for i, key := range slices.Sorted(maps.Keys(f.answers)) {
		if i > 0 {
			_, _ = b.WriteString(",\n")
		}
		text, err := json.Marshal(key)
		if err != nil {
			return err
		}
		_, _ = b.Write(text)
		_, _ = b.WriteString(":")
		_, _ = b.Write(harmless(f.answers[key]))
	}
	_, _ = b.WriteString("}</script>\n")
	_, _ = b.Write(blank.after)
	return b.Flush()
}

// harmless is JSON in which nothing can end the element that it stands in, and nothing
// turns or hides what an editor shows of the file. What encode wrote has no "<" in it
// already; names and saved results come as they were written.
func harmless(text []byte) []byte {
	if bytes.IndexFunc(text, disturbs) < 0 {
		return text
	}
	b := make([]byte, 0, len(text)+64)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		if disturbs(r) {
			for _, u := range utf16.Encode([]rune{r}) {
				b = fmt.Appendf(b, `\u%04x`, u)
			}
		} else {
			b = append(b, text[:n]...)
		}
		text = text[n:]
	}
	return b
}

// disturbs reports whether a character of JSON is to be escaped. Those below a space stand
// between its words, for within them they are escaped already.
func disturbs(r rune) bool {
	return r == '<' || r == '>' || r == '&' || r > ' ' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
