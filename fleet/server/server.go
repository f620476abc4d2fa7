// Package server answers questions about a fleet over HTTP.
//
// It hides how a question is read from a request: its selection, its bounds and
// what is wrong with it. [Handler] never writes to the store and fetches no address.
// It neither checks who asks nor listens: that is for what mounts it.
package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

// Handler serves the API, but for the recordings; kept, which may be nil, has those that
// show a finding. The tenant is that of X-Scope-OrgID.
func Handler(r store.Reader, now func() time.Time, prices func() api.Prices, kept *runs.Store) http.Handler {
	a := &questions{mux: http.NewServeMux(), reader: r, now: now, there: &directory{profiles: r, kept: kept}}
	a.serveCosts(prices)
	a.serveSeries()
	a.serveCauses(prices, kept)
	a.serveExports()
	return a.mux
}

// questions are the paths of the API, each with what answers it from a store.
type questions struct {
	mux    *http.ServeMux
	reader store.Reader
	now    func() time.Time
	there  *directory
}

// handle has a selection and a limit read, and says what is wrong where there is no answer.
func (a *questions) handle(path string, ask func(w http.ResponseWriter, q *http.Request, s store.Selection, limit int) error) {
	a.mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, q *http.Request) {
		s, err := selection(q.URL.Query(), q.Header.Get("X-Scope-OrgID"), a.now())
		n := 0
		if err == nil {
			n, err = limit(q.URL.Query())
		}
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return
		}
		if err = ask(w, q, s, n); errors.Is(err, errNothing) || errors.Is(err, versions.ErrNothing) {
			err = cmp.Or(a.there.check(q.Context(), s), err)
		}
		var known *problem.Error
		switch {
		case scarce(w, err):
		case errors.As(err, &known):
			refuseWith(w, statuses[known.Kind], known.What, known.Hint)
		case errors.Is(err, errNothing), errors.Is(err, versions.ErrNothing):
			refuseWith(w, http.StatusNotFound, err.Error(), longer)
		case err != nil: // its text may name files of the server
			refuse(w, http.StatusInternalServerError, "the store cannot answer")
		}
	})
}

// handleJSON handles a question whose answer is a value of package api.
func (a *questions) handleJSON(path string, ask func(q *http.Request, s store.Selection, limit int) (any, error)) {
	a.handle(path, func(w http.ResponseWriter, q *http.Request, s store.Selection, n int) error {
		v, err := ask(q, s, n)
		if err == nil && isEmpty(v) {
			err = a.there.check(q.Context(), s)
		}
		if err == nil {
			answer(w, http.StatusOK, v)
		}
		return err
	})
}

// serveCosts serves what services and functions cost.
func (a *questions) serveCosts(prices func() api.Prices) {
	a.handleJSON("top", func(q *http.Request, s store.Selection, n int) (any, error) {
		stacks, err := a.reader.Stacks(q.Context(), s)
		return top(stacks, n), err
	})
	a.handleJSON("services", func(q *http.Request, s store.Selection, n int) (any, error) {
		all, err := services(q.Context(), a.reader, s, n)
		if p := prices(); p.CoreHour > 0 {
			all.Currency, all.CoreMonth = p.Currency, p.CoreHour*month
		}
		return all, err
	})
	a.handleJSON("levels", func(q *http.Request, s store.Selection, n int) (any, error) {
		return levels(q.Context(), a.reader, s, n)
	})
	a.handleJSON("flame", func(q *http.Request, s store.Selection, _ int) (any, error) {
		return flame(q.Context(), a.reader, s, q.URL.Query().Get("base_version"))
	})
}

// serveSeries serves sums over time, and by what they can be told apart.
func (a *questions) serveSeries() {
	a.handleJSON("series", func(q *http.Request, s store.Selection, n int) (any, error) {
		step, err := stepOf(q.URL.Query(), s)
		if err != nil {
			return nil, problem.New(problem.Misuse, "", "%w", err)
		}
		by, err := readDimension(q.URL.Query().Get("by"))
		if err != nil {
			return nil, problem.New(problem.Misuse, "", "%w", err)
		}
		return series(q.Context(), a.reader, s, step, by, n)
	})
	a.handleJSON("values", func(q *http.Request, s store.Selection, n int) (any, error) {
		by := store.By(q.URL.Query().Get("by"))
		if by != store.ByLabels {
			var err error
			if by, err = readDimension(string(by)); err != nil {
				return nil, problem.New(problem.Misuse, "", "%w", err)
			}
		}
		return values(q.Context(), a.reader, s, by, n)
	})
}

// serveCauses serves what changed and why.
func (a *questions) serveCauses(prices func() api.Prices, kept *runs.Store) {
	a.handleJSON("versions", func(q *http.Request, s store.Selection, n int) (any, error) {
		return changes(q.Context(), a.reader, s, n)
	})
	a.handleJSON("findings", func(q *http.Request, s store.Selection, n int) (any, error) {
		all, err := findingsAnswer(q.Context(), a.reader, s, n, prices())
		if err == nil && kept != nil {
			show(&all, kept, s.Tenant)
		}
		return all, err
	})
	a.handleJSON("diff", func(q *http.Request, s store.Selection, _ int) (any, error) {
		base, head, err := sides(q.URL.Query(), s, func(v url.Values) (store.Selection, error) { return selection(v, s.Tenant, a.now()) })
		if err != nil {
			return nil, problem.New(problem.Misuse, "", "%w", err)
		}
		return diff(q.Context(), a.reader, base, head)
	})
	a.handle("evidence", func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
		return writeEvidence(w, q, a.reader, s)
	})
}

// serveExports serves stacks in formats of others.
func (a *questions) serveExports() {
	for path, write := range map[string]func(http.ResponseWriter, store.Selection, store.Stacks){"folded": writeFolded, "pprof": writePprof} {
		a.handle(path, func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
			stacks, err := a.reader.Stacks(q.Context(), s)
			switch {
			case err != nil:
				return err
			case len(stacks.Missing) > 0:
				partial(w, stacks.Missing)
			case len(stacks.Samples) == 0:
				return errNothing
			default:
				write(w, s, stacks)
			}
			return nil
		})
	}
	for path, asJSON := range map[string]bool{"otlp": false, "otlp.json": true} {
		a.handle(path, func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
			return writeOTLP(w, q, a.reader, s, asJSON)
		})
	}
}

// services returns the n that use most CPU.
func services(ctx context.Context, r store.Reader, s store.Selection, n int) (api.Services, error) {
	all, err := r.Services(ctx, s)
	if err != nil {
		return api.Services{}, err
	}
	lately := s
	if from := s.Until.Add(-recent); from.After(s.From) {
		lately.From = from
	}
	last, err := r.Instances(ctx, lately)
	if err != nil {
		return api.Services{}, err
	}
	running := runningOf(last.Instances)
	a := api.Services{Tenant: s.Tenant, Services: []api.Service{}, Missing: append(all.Missing, last.Missing...)}
	slices.Sort(a.Missing)
	a.Missing = slices.Compact(a.Missing)
	costs := make([]cost, len(all.Services))
	for i := range all.Services {
		costs[i] = costOf(&all.Services[i], running)
	}
	slices.SortStableFunc(costs, func(a, b cost) int {
		return cmp.Or(cmp.Compare(b.cores, a.cores), cmp.Compare(b.cpu, a.cpu))
	})
	shown := min(n, len(costs))
	a.Omitted = len(costs) - shown
	for _, c := range costs[:shown] {
		a.Services = append(a.Services, c.row())
	}
	return a, nil
}

// A cost is what a version of a service costs, by which it has its place.
type cost struct {
	of      *store.Service
	running int
	cores   float64 // negative where no time was profiled
	cpu     int64
}

func costOf(s *store.Service, running map[version]int) cost {
	c := cost{of: s, running: running[version{s.Name, s.Version}], cores: -1}
	for _, t := range s.Totals {
		if t.Type == store.CPU {
			c.cpu = t.Value
		}
	}
	if s.Covered > 0 {
		c.cores = float64(c.cpu) / float64(s.Covered) * float64(c.running)
	}
	return c
}

func (c cost) row() api.Service {
	s := c.of
	one := api.Service{Name: s.Name, Version: s.Version, Instances: s.Instances, Running: c.running,
		First: s.First.UTC(), Last: s.Last.UTC(), CoveredNS: int64(s.Covered), Totals: map[store.Type]int64{}}
	for _, t := range s.Totals {
		one.Totals[t.Type] = t.Value
		one.Saturated = one.Saturated || t.Value == math.MaxInt64
	}
	if c.cores >= 0 {
		one.Cores = &c.cores
	}
	return one
}

// A version is one of a service.
type version struct{ service, name string }

// runningOf counts processes; one that was deployed meanwhile is one of its last version.
func runningOf(processes []store.Instance) map[version]int {
	type process struct{ service, name string }
	newest := map[process]store.Instance{}
	for _, p := range processes {
		who := process{p.Service, p.Name}
		if known, ok := newest[who]; !ok || p.Last.After(known.Last) {
			newest[who] = p
		}
	}
	n := map[version]int{}
	for _, p := range newest {
		n[version{p.Service, p.Version}]++
	}
	return n
}

// top sums stacks by function.
func top(stacks store.Stacks, n int) api.Top {
	sums := map[string]*api.Function{}
	for _, sample := range stacks.Samples {
		seen := map[string]bool{}
		for i, frame := range stacks.Frames[sample.Stack] {
			f := sums[frame.Function]
			if f == nil {
				f = &api.Function{Name: frame.Function}
				sums[frame.Function] = f
			}
			if i == 0 {
				f.Self = store.Add(f.Self, sample.Value)
			}
			if !seen[frame.Function] {
				seen[frame.Function] = true
				f.Total = store.Add(f.Total, sample.Value)
			}
		}
	}
	functions := make([]api.Function, 0, len(sums))
	for _, f := range sums {
		functions = append(functions, *f)
	}
	slices.SortFunc(functions, func(a, b api.Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	t := api.Top{Functions: functions[:min(n, len(functions))], Total: stacks.Total, Other: stacks.Total, Missing: stacks.Missing}
	t.Saturated = t.Total == math.MaxInt64
	for _, f := range t.Functions {
		t.Other = max(0, t.Other-f.Self)
	}
	return t
}

// statuses are those of questions that cannot be answered.
var statuses = map[problem.Kind]int{problem.Misuse: http.StatusBadRequest, problem.Absence: http.StatusNotFound}

func refuse(w http.ResponseWriter, status int, message string) { refuseWith(w, status, message, "") }

// refuseWith says what to do, too: a command to paste, or a sentence.
func refuseWith(w http.ResponseWriter, status int, message, hint string) {
	answer(w, status, api.Error{Error: message, Hint: hint})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails only when the client is gone
}
