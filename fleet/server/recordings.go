package server

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/exposition"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/problem"
)

const (
	// mostPrograms of a host, and the bytes that these may have. An agent's program has four
	// commas: of a list without end each would become 64 bytes for two or three that were sent.
	mostPrograms, mostAsk, mostCommas = 2000, 1 << 20, 10_000
	// latestRuns of a version are looked at for the answer to a trigger.
	latestRuns = 16
)

// NewPlan returns a plan of which a store of runs has what is recorded already.
func NewPlan(s *runs.Store, o sampling.Options, now func() time.Time) *sampling.Plan {
	return sampling.New(o, func(of sampling.Subject) (all []sampling.Last) {
		for _, r := range s.Latest(runs.Subject(of), latestRuns) {
			all = append(all, sampling.Last{At: r.Began(), Why: r.Why})
		}
		return all
	}, now)
}

// wanted tells an agent which of its programs to record.
func (h *runsHandler) wanted(w http.ResponseWriter, r *http.Request) {
	var a api.Offer
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostAsk))
	if n := bytes.Count(data, []byte(",")); n > mostCommas {
		err = fmt.Errorf("%d commas", n)
	}
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("send the programs of a host as JSON, %d at most and in 1 MiB", mostPrograms))
		return
	case len(a.Programs) > mostPrograms:
		refuse(w, http.StatusBadRequest, fmt.Sprintf("send %d programs at most", mostPrograms))
		return
	case a.Agent == "" || !runs.Plain(a.Agent):
		refuse(w, http.StatusBadRequest, "an agent has a name")
		return
	}
	// A program chooses its name: one of which no recording can be kept is not to keep the
	// others of its host from being recorded.
	a.Programs = slices.DeleteFunc(a.Programs, func(p api.Program) bool {
		return p.Service == "" || slices.ContainsFunc([]string{p.Service, p.Version, p.Instance, p.Not}, func(text string) bool { return !runs.Plain(text) })
	})
	answer(w, http.StatusOK, h.plan.Ask(r.Header.Get("X-Scope-OrgID"), a))
}

// record notes what an operator wants recorded.
func (h *runsHandler) record(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s := sampling.Subject{Tenant: r.Header.Get("X-Scope-OrgID"), Service: q.Get("service"), Version: q.Get("version")}
	if s.Service == "" || !runs.Plain(s.Service) || !runs.Plain(s.Version) {
		refuse(w, http.StatusBadRequest, "say which service, by its name")
		return
	}
	var known *problem.Error
	switch err := h.there.check(r.Context(), store.Selection{Tenant: s.Tenant, Service: s.Service, From: h.now().Add(-time.Hour), Until: h.now()}); {
	case errors.As(err, &known): // no agent would ever come for it
		refuseWith(w, statuses[known.Kind], known.What, known.Hint)
		return
	case err != nil:
		refuse(w, http.StatusInternalServerError, "the store cannot answer")
		return
	}
	wish, ok := h.plan.Wish(s)
	if !ok {
		w.Header().Set("Retry-After", "60")
		refuse(w, http.StatusTooManyRequests, "too many recordings wait for an agent: ask again when these are made")
		return
	}
	answer(w, http.StatusAccepted, wish)
}

// planMetrics writes what was handed out as Prometheus reads it.
func planMetrics(p *sampling.Plan, w io.Writer) {
	c, leases := p.Counts()
	exposition.Gauge(w, "gowhy_fleet_recordings_now", "Recordings that agents make now.").Int(int64(leases))
	exposition.Counter(w, "gowhy_fleet_recordings_orders_total", "Recordings that the plan gave to agents.").Int(c.Orders)
	exposition.Counter(w, "gowhy_fleet_recordings_arrived_total", "Of these, those that came.").Int(c.Arrived)
	exposition.Counter(w, "gowhy_fleet_recordings_lapsed_total", "Of these, those that did not.").Int(c.Lapsed)
	exposition.Counter(w, "gowhy_fleet_recordings_missed_total", "Times that an agent could not record a version that the plan wanted.").Int(c.Missed)
}

// optionsOf returns those of settings that may say nothing.
func optionsOf(s *Settings) sampling.Options {
	return *cmp.Or(s.Recordings, &sampling.Usual)
}
