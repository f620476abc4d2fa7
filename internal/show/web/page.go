package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/compare"
)

// A page is all that is open together: runs, each of which may still be being
// read, and saved results. It only grows, so that an index in the URL of the
// page stays the same run.
type page struct {
	mu      sync.Mutex
	runs    []*run
	results []Result
	static  bool
	changes int64         // counts what happened to runs and results
	changed chan struct{} // closed at the next of them; nil when nobody waits
}

// A run is one run of the page, from the moment it was named.
type run struct {
	name  string
	files []string
	ready chan struct{} // closed when view or err is set
	view  *View
	err   error
}

// add names a run that will be there.
func (p *page) add(name string, files []string) *run {
	r := &run{name: name, files: files, ready: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = append(p.runs, r)
	p.notify()
	return r
}

// addView adds a run that is read already, and returns its index.
func (p *page) addView(v *View, files []string) int {
	r := &run{name: v.Name, files: files, ready: make(chan struct{})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = append(p.runs, r)
	p.settle(r, v, nil)
	return len(p.runs) - 1
}

// finish says how reading a run has ended.
func (p *page) finish(r *run, v *View, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settle(r, v, err)
}

// settle is called with the lock held.
func (p *page) settle(r *run, v *View, err error) {
	if r.view, r.err = v, err; v != nil {
		i := slices.Index(p.runs, r)
		v.page = p
		v.fill(i, p.static)
	}
	close(r.ready)
	p.notify()
}

// notify wakes whoever waits for a change. It is called with the lock held, when
// the change can be seen.
func (p *page) notify() {
	p.changes++
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// next is closed at the first change after the one that a session named. What
// names another than the last, like one of before, has its change already: nil.
func (p *page) next(since string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if since != strconv.FormatInt(p.changes, 10) {
		return nil
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return p.changed
}

// fill completes what only the page knows of a run, and what is sent as it is.
func (v *View) fill(index int, static bool) {
	for i := range v.Members {
		if v.Fetch != nil && !static {
			v.Members[i].Get = "api/member?r=" + strconv.Itoa(index) + "&name=" + url.QueryEscape(v.Members[i].Name)
		}
	}
	for i := range v.Tools {
		if t := &v.Tools[i]; static {
			t.Path, t.Why = "", "a report file cannot start it; gowhy view can"
		} else if t.Why == "" {
			t.Path = "tools/" + url.PathEscape(t.Name) + "?r=" + strconv.Itoa(index)
		}
	}
	complete(v.Diagnosis)
}

// addResult adds a saved result and returns its index.
func (p *page) addResult(r Result) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.results = append(p.results, r)
	p.notify()
	return len(p.results) - 1
}

// snapshot returns what is open now.
func (p *page) snapshot() ([]*run, []Result) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.runs), slices.Clone(p.results)
}

// state returns how far a run is.
func (r *run) state() (v *View, err error, loading bool) {
	select {
	case <-r.ready:
		return r.view, r.err, false
	default:
		return nil, nil, true
	}
}

// session tells what is open.
func (p *page) session(version, loading string) *Session {
	p.mu.Lock()
	changes := p.changes // before the runs are looked at: a change between is sent twice rather than not at all
	p.mu.Unlock()
	runs, results := p.snapshot()
	s := &Session{Version: version, Static: p.static, Loading: loading, Change: changes}
	for _, r := range runs {
		s.Runs = append(s.Runs, r.describe())
	}
	for _, g := range groupByProgram(runs) {
		for _, i := range g {
			s.Runs[i].Together = g
		}
	}
	for i := range results {
		s.Trials = append(s.Trials, Trial{name(results[i].Name), results[i].Kind, name(results[i].Summary)})
	}
	return s
}

func (r *run) describe() Run {
	v, err, loading := r.state()
	d := Run{Name: name(r.name), Loading: loading}
	for _, f := range r.files {
		d.Files = append(d.Files, name(f))
	}
	if err != nil {
		p, _ := explain(err)
		d.Error, d.Hint = p.What, p.Hint
	}
	if v == nil {
		return d
	}
	m := v.Model
	d.Program = name(compare.Program(m))
	d.Go, d.DurationNS, d.Procs = name(m.Run.Go), int64(m.Run.Duration), m.Run.Procs
	if !m.Run.Start.IsZero() {
		d.Start = m.Run.Start.Format(time.RFC3339Nano)
	}
	d.Verdict, d.Summary = string(v.Diagnosis.Verdict), name(v.Diagnosis.Summary)
	d.Screens, d.Again = v.screens(), name(diagnosis.HowToGet(&m.Run, model.Trace))
	return d
}

// screens returns those that have something to show.
func (v *View) screens() []string {
	list := []string{"findings"}
	for _, s := range []struct {
		name string
		has  bool
	}{
		{"timeline", v.Timeline != nil},
		{"flame", v.Model.Sched != nil || len(flame.Kinds(v.Model)) > 0},
		{"goroutines", v.Model.Sched != nil},
		{"standing", v.Model.Moment != nil},
		{"memory", hasMemory(v.Model)},
		{"runtime", hasCharts(v.Model)},
		{"tasks", hasTasks(v.Model)},
	} {
		if s.has {
			list = append(list, s.name)
		}
	}
	return append(list, "sources")
}

// hasCharts reports whether anything was measured over time.
func hasCharts(m *model.Model) bool {
	if slices.ContainsFunc([]model.Source{model.Trace, model.MetricsLog, model.ProcFS}, m.Has) || m.Machine != nil {
		return true
	}
	return m.Load != nil && len(m.Load.Over)+len(m.Load.Backlog) > 0 || len(alignedGC(m))+len(alignedSched(m)) > 0
}

func hasTasks(m *model.Model) bool {
	return m.Tasks != nil && len(m.Tasks.Tasks)+len(m.Tasks.Regions)+len(m.Tasks.Logs) > 0
}

// indexedRun returns a run by its index in a query, once it is read. ctx bounds the wait.
func (p *page) indexedRun(ctx context.Context, q url.Values, parameter string) (*View, error) {
	runs, _ := p.snapshot()
	if len(runs) == 0 {
		return nil, missing("no run is open", "drop a recording, a trace or profiles on the page")
	}
	i, err := integer(q, parameter, 0, 0, int64(len(runs)-1))
	if err != nil {
		return nil, err
	}
	r := runs[i]
	if v, err, loading := r.state(); !loading { // a select of two that are ready takes either
		return v, err
	}
	select {
	case <-r.ready:
		return r.view, r.err
	case <-ctx.Done():
		return nil, refuse(http.StatusServiceUnavailable, "ask again", "%s is still being read", short(r.name))
	}
}

// run returns another run of the page, the one whose index a parameter holds.
func (v *View) run(q url.Values, parameter string) (*View, error) {
	if v.page == nil {
		return nil, missing("no run is open", "")
	}
	// Whoever asks has waited for the runs that the query names.
	now, stop := context.WithCancel(context.Background())
	stop()
	return v.page.indexedRun(now, q, parameter)
}

// result returns a saved result of the page, the one whose index a parameter holds.
func (v *View) result(q url.Values, parameter string) (*Result, error) {
	var results []Result
	if v.page != nil {
		_, results = v.page.snapshot()
	}
	if len(results) == 0 {
		return nil, missing("no saved result is open", "gowhy verify … --format json -o trial.json   # then: gowhy view trial.json")
	}
	i, err := integer(q, parameter, 0, 0, int64(len(results)-1))
	if err != nil {
		return nil, err
	}
	return &results[i], nil
}

// answer asks an endpoint. What it returns is either a value to be sent as JSON
// or bytes as they are.
func (p *page) answer(ctx context.Context, e endpoint, q url.Values) (value any, data []byte, err error) {
	v := &View{page: p}
	if !e.page {
		if v, err = p.indexedRun(ctx, q, "r"); err != nil {
			return nil, nil, err
		}
	}
	if e.bytes != nil {
		data, err = e.bytes(v, q)
		return nil, data, err
	}
	value, err = e.value(v, q)
	return value, nil, err
}

// explain returns an error as a problem, and the status of its answer. One that is no problem
// came from below and knows no hint.
func explain(err error) (p *problem.Error, status int) {
	var s *statusError
	switch {
	case !errors.As(err, &p):
		return problem.New(problem.Failure, "", "%w", err), http.StatusInternalServerError
	case errors.As(err, &s):
		return p, s.status
	case p.Kind == problem.Absence:
		return p, http.StatusNotFound
	}
	return p, http.StatusBadRequest
}
