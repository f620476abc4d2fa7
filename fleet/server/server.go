// Package server answers questions about a fleet over HTTP.
//
// It hides how a question is read from a request: its selection, its bounds and
// what is wrong with it. [Handler] never writes to the store and fetches no address.
// It neither checks who asks nor listens: that is for what mounts it.
package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/versions"
)

// Top is the answer of /api/v1/top: the functions with the largest self value first.
type Top struct {
	Functions []Function    `json:"functions"`
	Other     int64         `json:"other"` // self of the functions left out, and stacks without frames
	Total     int64         `json:"total"` // all self values and Other together
	Missing   store.Missing `json:"missing,omitempty"`
}

// A Function is what a function costs in the unit of the type.
type Function struct {
	Name  string `json:"name"`
	Self  int64  `json:"self"`
	Total int64  `json:"total"` // with its callees; recursion counts once
}

// Services is the answer of /api/v1/services, those first that use most CPU.
type Services struct {
	Tenant   string    `json:"tenant,omitempty"` // that was asked for
	Services []Service `json:"services"`
	Omitted  int       `json:"omitted"` // services beyond the limit
	// CoreMonth is what a core costs in a month, where that is known.
	CoreMonth float64       `json:"core_month,omitempty"`
	Currency  string        `json:"currency,omitempty"`
	Missing   store.Missing `json:"missing,omitempty"`
}

// A Service is one version of a service. Totals by CoveredNS are rates of one instance.
type Service struct {
	Name      string               `json:"name"`
	Version   string               `json:"version"`
	Instances int                  `json:"instances"`
	First     time.Time            `json:"first"`
	Last      time.Time            `json:"last"`
	CoveredNS int64                `json:"covered_ns"` // the spans of its CPU profiles, of all instances
	Totals    map[store.Type]int64 `json:"totals"`
}

// Handler serves the API. The tenant is that of X-Scope-OrgID.
func Handler(r store.Reader, now func() time.Time, prices func() Prices) http.Handler {
	mux := http.NewServeMux()
	// question has a selection read, and what is wrong with it told.
	question := func(path string, ask func(http.ResponseWriter, *http.Request, store.Selection, int) error) {
		mux.HandleFunc("GET /api/v1/"+path, func(w http.ResponseWriter, q *http.Request) {
			s, err := selection(q.URL.Query(), q.Header.Get("X-Scope-OrgID"), now())
			n := 0
			if err == nil {
				n, err = limit(q.URL.Query())
			}
			if err != nil {
				refuse(w, http.StatusBadRequest, err.Error())
				return
			}
			var m *misuse
			switch err = ask(w, q, s, n); {
			case errors.As(err, &m):
				refuse(w, http.StatusBadRequest, m.Error())
			case err != nil: // its text may name files of the server
				refuse(w, http.StatusInternalServerError, "the store cannot answer")
			}
		})
	}
	asJSON := func(path string, ask func(*http.Request, store.Selection, int) (any, error)) {
		question(path, func(w http.ResponseWriter, q *http.Request, s store.Selection, n int) error {
			v, err := ask(q, s, n)
			if err == nil {
				answer(w, http.StatusOK, v)
			}
			return err
		})
	}
	asJSON("top", func(q *http.Request, s store.Selection, n int) (any, error) {
		stacks, err := r.Stacks(q.Context(), s)
		return top(stacks, n), err
	})
	asJSON("services", func(q *http.Request, s store.Selection, n int) (any, error) {
		all, err := r.Services(q.Context(), s)
		a := services(all, s.Tenant, n)
		if p := prices(); p.CoreHour > 0 {
			a.Currency, a.CoreMonth = p.Currency, p.CoreHour*month
		}
		return a, err
	})
	asJSON("levels", func(q *http.Request, s store.Selection, n int) (any, error) {
		return levels(q.Context(), r, s, n)
	})
	asJSON("series", func(q *http.Request, s store.Selection, n int) (any, error) {
		step, err := stepOf(q.URL.Query(), s)
		if err != nil {
			return nil, &misuse{err}
		}
		by, err := byOf(q.URL.Query().Get("by"))
		if err != nil {
			return nil, &misuse{err}
		}
		return series(q.Context(), r, s, step, by, n)
	})
	asJSON("values", func(q *http.Request, s store.Selection, n int) (any, error) {
		by := store.By(q.URL.Query().Get("by"))
		if by != store.ByLabels {
			var err error
			if by, err = byOf(string(by)); err != nil {
				return nil, &misuse{err}
			}
		}
		return values(q.Context(), r, s, by, n)
	})
	asJSON("flame", func(q *http.Request, s store.Selection, _ int) (any, error) {
		return flame(q.Context(), r, s, q.URL.Query().Get("base_version"))
	})
	asJSON("versions", func(q *http.Request, s store.Selection, n int) (any, error) {
		return changes(q.Context(), r, s, n)
	})
	asJSON("findings", func(q *http.Request, s store.Selection, n int) (any, error) {
		return found(q.Context(), r, s, n, prices())
	})
	question("diff", func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
		base, head, err := sides(q.URL.Query(), s, func(v url.Values) (store.Selection, error) { return selection(v, s.Tenant, now()) })
		if err != nil {
			refuse(w, http.StatusBadRequest, err.Error())
			return nil
		}
		d, err := diff(q.Context(), r, base, head)
		if errors.Is(err, versions.ErrNothing) {
			refuse(w, http.StatusNotFound, err.Error())
			return nil
		}
		if err == nil {
			answer(w, http.StatusOK, d)
		}
		return err
	})
	question("evidence", func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
		return writeEvidence(w, q, r, s)
	})
	question("folded", func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
		stacks, err := r.Stacks(q.Context(), s)
		switch {
		case err != nil:
			return err
		case len(stacks.Missing) > 0:
			partial(w, stacks.Missing)
		case len(stacks.Samples) == 0:
			nothing(w)
		default:
			writeFolded(w, stacks)
		}
		return nil
	})
	question("pprof", func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
		stacks, err := r.Stacks(q.Context(), s)
		switch {
		case err != nil:
			return err
		case len(stacks.Missing) > 0:
			partial(w, stacks.Missing)
		case len(stacks.Samples) == 0:
			nothing(w)
		default:
			writePprof(w, s, stacks)
		}
		return nil
	})
	for path, asJSON := range map[string]bool{"otlp": false, "otlp.json": true} {
		question(path, func(w http.ResponseWriter, q *http.Request, s store.Selection, _ int) error {
			return writeOTLP(w, q, r, s, asJSON)
		})
	}
	return mux
}

// services are the n that use most CPU.
func services(all store.Services, tenant string, n int) Services {
	slices.SortStableFunc(all.Services, func(a, b store.Service) int { return cmp.Compare(cpuOf(b), cpuOf(a)) })
	shown := all.Services[:min(n, len(all.Services))]
	a := Services{Tenant: tenant, Services: []Service{}, Omitted: len(all.Services) - len(shown), Missing: all.Missing}
	for _, s := range shown {
		totals := map[store.Type]int64{}
		for _, t := range s.Totals {
			totals[t.Type] = t.Value
		}
		a.Services = append(a.Services, Service{s.Name, s.Version, s.Instances, s.First.UTC(), s.Last.UTC(), int64(s.Covered), totals})
	}
	return a
}

func cpuOf(s store.Service) int64 {
	for _, t := range s.Totals {
		if t.Type == store.CPU {
			return t.Value
		}
	}
	return 0
}

// top sums stacks by function.
func top(stacks store.Stacks, n int) Top {
	sums := map[string]*Function{}
	for _, sample := range stacks.Samples {
		seen := map[string]bool{}
		for i, frame := range stacks.Frames[sample.Stack] {
			f := sums[frame.Function]
			if f == nil {
				f = &Function{Name: frame.Function}
				sums[frame.Function] = f
			}
			if i == 0 {
				f.Self += sample.Value
			}
			if !seen[frame.Function] {
				seen[frame.Function] = true
				f.Total += sample.Value
			}
		}
	}
	functions := make([]Function, 0, len(sums))
	for _, f := range sums {
		functions = append(functions, *f)
	}
	slices.SortFunc(functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Total, a.Total), cmp.Compare(a.Name, b.Name))
	})
	t := Top{Functions: functions[:min(n, len(functions))], Total: stacks.Total, Other: stacks.Total, Missing: stacks.Missing}
	for _, f := range t.Functions {
		t.Other -= f.Self
	}
	return t
}

// A misuse is a question that cannot be meant so.
type misuse struct{ err error }

func (m *misuse) Error() string { return m.err.Error() }

func refuse(w http.ResponseWriter, status int, message string) {
	answer(w, status, map[string]string{"error": message})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails only when the client is gone
}
