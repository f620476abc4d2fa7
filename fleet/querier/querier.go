// Package querier answers the questions of Pyroscope's clients, so that Grafana's data
// source and profilecli read a fleet as they read a Pyroscope.
//
// It hides their protocol ([Handler]), the HTTP API before it ([Render]), their flame graphs
// and their selectors of labels. What they can
// ask and a [store.Reader] cannot answer is an error that says so, and no answer to
// another question.
package querier

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	querierv1 "github.com/grafana/pyroscope/api/gen/proto/go/querier/v1"
	"github.com/grafana/pyroscope/api/gen/proto/go/querier/v1/querierv1connect"
	typesv1 "github.com/grafana/pyroscope/api/gen/proto/go/types/v1"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
)

// Labels that the protocol has for what a [store.Source] has as fields.
const (
	serviceLabel = "service_name"
	typeLabel    = "__profile_type__"
)

// Handler serves the protocol under the path that it returns. The tenant is that of
// X-Scope-OrgID.
func Handler(r store.Reader) (path string, h http.Handler) {
	// Questions are small: their answers are not.
	return querierv1connect.NewQuerierServiceHandler(&querier{from: r}, connect.WithReadMaxBytes(1<<20))
}

// A querier answers; what it does not know of is unimplemented.
type querier struct {
	querierv1connect.UnimplementedQuerierServiceHandler
	from store.Reader
}

// A scope is what a question is about, before its selector is read.
type scope struct {
	header     http.Header
	start, end int64 // milliseconds since 1970
	selectors  []string
}

// selection reads a scope.
func (q *scope) selection() (store.Selection, error) {
	s := store.Selection{Tenant: q.header.Get("X-Scope-OrgID"), From: time.UnixMilli(q.start), Until: time.UnixMilli(q.end)}
	if q.end == 0 {
		s.Until = time.Time{} // clients that list labels leave it out
	}
	if err := few("selectors", q.selectors); err != nil {
		return s, err
	}
	for _, selector := range q.selectors {
		labels, err := matchers(selector)
		if err != nil {
			return s, connect.NewError(connect.CodeInvalidArgument, err)
		}
		if len(s.Labels)+len(labels) > mostMatchers {
			return s, invalid("the selectors have more than %d labels together", mostMatchers)
		}
		for _, l := range labels {
			switch l.Name {
			case serviceLabel:
				s.Service = l.Value
			case typeLabel:
				s.Type = store.Type(l.Value)
			default:
				s.Labels = append(s.Labels, l)
			}
		}
	}
	return s, nil
}

// few refuses a list of a question that no source can answer, for it has more than [mostMatchers].
func few(what string, list []string) error {
	if len(list) > mostMatchers {
		return invalid("%d %s, %d are the most", len(list), what, mostMatchers)
	}
	return nil
}

// named refuses a label that no source has, by its name.
func named(label string) error {
	if len(label) > store.LongestName {
		return invalid("the label %.40q has %d bytes, %d are the most", label, len(label), store.LongestName)
	}
	return nil
}

// storeError returns an error of the store, whose text may name files of the server.
func storeError(err error) error {
	if errors.Is(err, context.Canceled) {
		return connect.NewError(connect.CodeCanceled, errors.New("the client is gone"))
	}
	switch {
	case errors.Is(err, memory.ErrBusy):
		return connect.NewError(connect.CodeUnavailable, errors.New("the server has no memory for this question now: ask again in some seconds"))
	case errors.Is(err, memory.ErrLarge):
		return connect.NewError(connect.CodeResourceExhausted, errors.New("the answer needs more memory than the server has for one: ask for a shorter time or fewer processes"))
	}
	return connect.NewError(connect.CodeInternal, errors.New("the store cannot answer"))
}

// complete returns an error where an answer lacks a part: the protocol has no word for that.
func complete(m store.Missing) error {
	if len(m) == 0 {
		return nil
	}
	return connect.NewError(connect.CodeUnavailable, fmt.Errorf("the answer would lack %s", strings.Join(m, ", ")))
}

// values returns those of a key in a scope.
func (q *querier) values(ctx context.Context, s scope, by store.By) ([]string, error) {
	selected, err := s.selection()
	if err != nil {
		return nil, err
	}
	v, err := q.from.Values(ctx, selected, by)
	if err != nil {
		return nil, storeError(err)
	}
	return slices.DeleteFunc(v.Values, func(v string) bool { return v == "" }), complete(v.Missing)
}

// ProfileTypes lists the types of profiles.
func (q *querier) ProfileTypes(ctx context.Context, r *connect.Request[querierv1.ProfileTypesRequest]) (*connect.Response[querierv1.ProfileTypesResponse], error) {
	kinds, err := q.values(ctx, scope{r.Header(), r.Msg.Start, r.Msg.End, nil}, store.ByType)
	if err != nil {
		return nil, err
	}
	answer := &querierv1.ProfileTypesResponse{}
	for _, kind := range kinds {
		if t := strings.Split(kind, ":"); len(t) == 5 {
			answer.ProfileTypes = append(answer.ProfileTypes,
				&typesv1.ProfileType{ID: kind, Name: t[0], SampleType: t[1], SampleUnit: t[2], PeriodType: t[3], PeriodUnit: t[4]})
		}
	}
	return connect.NewResponse(answer), nil
}

// LabelNames lists the labels that can be selected by.
func (q *querier) LabelNames(ctx context.Context, r *connect.Request[typesv1.LabelNamesRequest]) (*connect.Response[typesv1.LabelNamesResponse], error) {
	names, err := q.values(ctx, scope{r.Header(), r.Msg.Start, r.Msg.End, r.Msg.Matchers}, store.ByLabels)
	if err != nil {
		return nil, err
	}
	names = append(names, serviceLabel, typeLabel)
	slices.Sort(names)
	return connect.NewResponse(&typesv1.LabelNamesResponse{Names: slices.Compact(names)}), nil
}

// LabelValues lists the values of one.
func (q *querier) LabelValues(ctx context.Context, r *connect.Request[typesv1.LabelValuesRequest]) (*connect.Response[typesv1.LabelValuesResponse], error) {
	if err := named(r.Msg.Name); err != nil {
		return nil, err
	}
	values, err := q.values(ctx, scope{r.Header(), r.Msg.Start, r.Msg.End, r.Msg.Matchers}, keyOf(r.Msg.Name))
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&typesv1.LabelValuesResponse{Names: values}), nil
}

// keyOf returns the key of the store for a label of the protocol.
func keyOf(label string) store.By {
	switch label {
	case serviceLabel:
		return store.ByService
	case typeLabel:
		return store.ByType
	}
	return store.ByLabel(label)
}

// Series lists which services have which types: Grafana asks for nothing else.
func (q *querier) Series(ctx context.Context, r *connect.Request[querierv1.SeriesRequest]) (*connect.Response[querierv1.SeriesResponse], error) {
	s := scope{r.Header(), r.Msg.Start, r.Msg.End, r.Msg.Matchers}
	selected, err := s.selection()
	if err != nil {
		return nil, err
	}
	wanted := r.Msg.LabelNames
	if err := few("labels to tell series apart", wanted); err != nil {
		return nil, err
	}
	for _, name := range wanted {
		if name != serviceLabel && name != typeLabel {
			return nil, connect.NewError(connect.CodeUnimplemented, fmt.Errorf("series by label %.40q: only by %s and %s", name, serviceLabel, typeLabel))
		}
	}
	services, err := q.from.Services(ctx, selected)
	if err != nil {
		return nil, storeError(err)
	}
	if err := complete(services.Missing); err != nil {
		return nil, err
	}
	answer, seen := &querierv1.SeriesResponse{}, map[string]bool{}
	for _, service := range services.Services {
		for _, t := range service.Totals {
			set := labelSet(wanted, service.Name, string(t.Type))
			if key := fmt.Sprint(set); !seen[key] && (selected.Type == "" || selected.Type == t.Type) {
				seen[key] = true
				answer.LabelsSet = append(answer.LabelsSet, &typesv1.Labels{Labels: set})
			}
		}
	}
	return connect.NewResponse(answer), nil
}

// labelSet returns the labels that were asked for, or both.
func labelSet(wanted []string, service, kind string) (set []*typesv1.LabelPair) {
	for _, l := range []*typesv1.LabelPair{{Name: typeLabel, Value: kind}, {Name: serviceLabel, Value: service}} {
		if len(wanted) == 0 || slices.Contains(wanted, l.Name) {
			set = append(set, l)
		}
	}
	return set
}

// SelectSeries sums over steps of time. A point has the step that ends at it, and the first
// is at the start, as Pyroscope has them: the same question has the same points of both.
func (q *querier) SelectSeries(ctx context.Context, r *connect.Request[querierv1.SelectSeriesRequest]) (*connect.Response[querierv1.SelectSeriesResponse], error) {
	m := r.Msg
	s := scope{r.Header(), m.Start, m.End, []string{m.LabelSelector}}
	selected, err := s.selection()
	if err != nil {
		return nil, err
	}
	selected.Type = store.Type(m.ProfileTypeID)
	step := time.Duration(m.Step * float64(time.Second)).Truncate(time.Millisecond)
	switch {
	case len(m.GroupBy) > 1:
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("series by more than one label"))
	case m.StackTraceSelector != nil:
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("series of a selection of stacks"))
	case m.GetAggregation() != typesv1.TimeSeriesAggregationType_TIME_SERIES_AGGREGATION_TYPE_SUM:
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("series that are no sums"))
	case step < time.Millisecond, m.End <= m.Start, (m.End-m.Start)/step.Milliseconds() > mostSteps:
		return nil, connect.NewError(connect.CodeInvalidArgument, fmt.Errorf("a step of %v s from %d to %d: at most %d steps", m.Step, m.Start, m.End, mostSteps))
	}
	selected.From = selected.From.Add(-step)
	selected.Until = selected.Until.Add(-selected.Until.Sub(selected.From) % step) // nothing after the last point
	by, label := store.ByNothing, ""
	if len(m.GroupBy) == 1 {
		label = m.GroupBy[0]
		if err := named(label); err != nil {
			return nil, err
		}
		by = keyOf(label)
	}
	series, err := q.from.Series(ctx, selected, step, by)
	if err != nil {
		return nil, storeError(err)
	}
	if err := complete(series.Missing); err != nil {
		return nil, err
	}
	answer := &querierv1.SelectSeriesResponse{}
	for _, one := range series.Series {
		out := &typesv1.Series{}
		if label != "" {
			out.Labels = []*typesv1.LabelPair{{Name: label, Value: one.Key}}
		}
		for _, p := range one.Points {
			out.Points = append(out.Points, &typesv1.Point{Timestamp: p.At.Add(step).UnixMilli(), Value: float64(p.Value)})
		}
		answer.Series = append(answer.Series, out)
	}
	return connect.NewResponse(answer), nil
}

// mostSteps is more than any screen is wide.
const mostSteps = 20_000

// SelectMergeStacktraces returns the flame graph of a selection.
func (q *querier) SelectMergeStacktraces(ctx context.Context, r *connect.Request[querierv1.SelectMergeStacktracesRequest]) (*connect.Response[querierv1.SelectMergeStacktracesResponse], error) {
	m := r.Msg
	s := scope{r.Header(), m.Start, m.End, []string{m.LabelSelector}}
	selected, err := s.selection()
	if err != nil {
		return nil, err
	}
	if f := m.Format; f != querierv1.ProfileFormat_PROFILE_FORMAT_UNSPECIFIED && f != querierv1.ProfileFormat_PROFILE_FORMAT_FLAMEGRAPH || m.StackTraceSelector != nil {
		return nil, connect.NewError(connect.CodeUnimplemented, errors.New("only whole flame graphs"))
	}
	if selected.Type = store.Type(m.ProfileTypeID); selected.Type == "" {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("the question has no profile type"))
	}
	stacks, err := q.from.Stacks(ctx, selected)
	if err != nil {
		return nil, storeError(err)
	}
	if err := complete(stacks.Missing); err != nil {
		return nil, err
	}
	most := int(m.GetMaxNodes())
	if most <= 0 || most > mostNodes {
		most = mostNodes
	}
	graph, err := flameOf(ctx, &stacks, most)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&querierv1.SelectMergeStacktracesResponse{Flamegraph: graph}), nil
}
