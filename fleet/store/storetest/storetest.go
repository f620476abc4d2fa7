// Package storetest holds every engine to what [store] says.
//
// [Run] writes the same data to an engine and to a [Reference], which is plain enough to
// be right, and compares every answer over many selections. The data is a generated
// fleet and, by hand, what clients send when something is wrong. What the seam leaves
// open the suite decides:
//
//   - Times count in whole milliseconds, cut off. A selection without an Until has no end.
//   - IDs of batches and frames of stacks are a tenant's: no tenant hides or names the
//     stacks of another. The first frames that a stack has are kept.
//   - A profile without samples is there: its total is 0, a CPU profile's span is
//     covered. A batch without profiles makes a service known. A batch covers its span
//     once, however many CPU profiles it has.
//   - A stack whose values sum to 0 is in the answer. A sum that has no room wraps around.
//   - A stack without known frames is in Samples and not in Frames, and so is stack 0.
//   - A source has "" for a label it does not have, in selections and in Values.
//   - Stacks without a type and Series without one, except by type, are errors. So is a
//     step shorter than a millisecond.
package storetest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/simulate"
	"github.com/gowhy/gowhy/fleet/store"
)

// Start is when the data of [Batches] begins, half an hour before midnight.
var Start = time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)

const selections = 150 // that Run compares

// Run holds an engine to the seam. Open gives an empty store; the suite closes it.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("answers", func(t *testing.T) { testAnswers(t, open(t)) })
	t.Run("repeated", func(t *testing.T) { testRepeated(t, open(t)) })
	t.Run("mistakes", func(t *testing.T) { testMistakes(t, open(t)) })
	t.Run("concurrent", func(t *testing.T) { testConcurrent(t, open(t)) })
	t.Run("findings", func(t *testing.T) { testFindings(t, open(t)) })
	t.Run("closed", func(t *testing.T) { testClosed(t, open(t)) })
}

// RunReopen holds an engine to keeping all it was given: reopen closes a store and opens
// what it kept.
func RunReopen(t *testing.T, open func(t *testing.T) store.Store, reopen func(t *testing.T, s store.Store) store.Store) {
	t.Run("reopened", func(t *testing.T) {
		var reference Reference
		s := open(t)
		for i, b := range Batches() {
			write(t, b, s, &reference)
			if i%101 == 100 {
				s = reopen(t, s)
			}
		}
		writeFindings(t, findings(), s, &reference)
		s = reopen(t, s)
		for _, b := range Batches() { // known, still
			write(t, b, s)
		}
		Compare(t, s, &reference, selections/3)
		compareFindings(t, s, &reference)
		mustClose(t, s)
	})
}

// Compare compares every answer of two stores over a number of selections, drawn with a
// fixed seed, of the data that [Batches] gives.
func Compare(t *testing.T, got, want store.Reader, number int) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	batches := Batches()
	compare(t, got, want, store.Selection{}, time.Hour, store.ByNothing)
	year := func(n int) time.Time { return time.Date(n, 1, 1, 0, 0, 0, 0, time.UTC) }
	for _, w := range [][2]time.Time{{year(0), year(9999)}, {year(1), year(1970)}, {year(1960), Start.Add(time.Hour)}, {Start, year(9999)}} {
		s := store.Selection{Tenant: batches[0].Source.Tenant, Type: store.CPU, From: w[0], Until: w[1]}
		compare(t, got, want, s, 24*time.Hour, store.ByService)
	}
	for range number {
		s, step, by := selection(r, batches)
		compare(t, got, want, s, step, by)
		if t.Failed() {
			return // the others fail alike
		}
	}
}

func compare(t *testing.T, got, want store.Reader, s store.Selection, step time.Duration, by store.By) {
	t.Helper()
	ctx := t.Context()
	asked := func(r store.Reader) []any {
		services, err1 := r.Services(ctx, s)
		instances, err2 := r.Instances(ctx, s)
		stacks, err3 := r.Stacks(ctx, s)
		series, err4 := r.Series(ctx, s, step, by)
		values, err5 := r.Values(ctx, s, by)
		return []any{
			plain(services), err1 != nil, plain(instances), err2 != nil, plain(stacks), err3 != nil,
			plain(series), err4 != nil, plain(values), err5 != nil,
		}
	}
	is, be := asked(got), asked(want)
	for i, name := range []string{"Services", "Instances", "Stacks", "Series", "Values"} {
		if !reflect.DeepEqual(is[2*i:2*i+2], be[2*i:2*i+2]) {
			t.Errorf("%s of %+v, step %v, by %q:\ngot  %s\nwant %s", name, s, step, by,
				head(is[2*i:2*i+2]), head(be[2*i:2*i+2]))
		}
	}
}

// head returns the beginning of an answer, enough to see what differs.
func head(answer any) string {
	text := fmt.Sprintf("%.80q", answer)
	return text[:min(len(text), 3000)]
}

// plain returns an answer without what does not matter in it: whether a list without entries
// is nil, and the zone of a time.
func plain(answer any) any {
	switch a := answer.(type) {
	case store.Services:
		a.Services = list(a.Services)
		for i, s := range a.Services {
			s.First, s.Last, s.Totals = s.First.UTC(), s.Last.UTC(), list(s.Totals)
			a.Services[i] = s
		}
		return a
	case store.Instances:
		a.Instances = list(a.Instances)
		for i, s := range a.Instances {
			s.First, s.Last, s.Totals = s.First.UTC(), s.Last.UTC(), list(s.Totals)
			a.Instances[i] = s
		}
		return a
	case store.Stacks:
		a.Samples = list(a.Samples)
		if len(a.Frames) == 0 {
			a.Frames = nil
		}
		return a
	case store.SeriesSet:
		a.Series = list(a.Series)
		for _, s := range a.Series {
			for i := range s.Points {
				s.Points[i].At = s.Points[i].At.UTC()
			}
		}
		return a
	case store.Values:
		a.Values = list(a.Values)
		return a
	}
	return answer
}

func list[T any](entries []T) []T {
	if len(entries) == 0 {
		return nil
	}
	return entries
}

// Batches returns the suite's data, in an order in which some come late: a fleet of two
// services for forty minutes over midnight, and what [corners] are.
func Batches() []*store.Batch {
	small := []simulate.Shape{
		{Type: store.CPU, Count: 30, Sum: 30e9, Unit: 10e6},
		{Type: store.AllocSpace, Count: 20, Sum: 600 << 20, Unit: 512},
		{Type: store.Goroutines, Count: 5, Sum: 200, Unit: 1},
	}
	plan := simulate.Plan{
		Seed: 7, Start: Start, Length: 40 * time.Minute, Step: time.Minute,
		Services: []simulate.Service{
			{Name: "cart", Processes: 4, Stacks: small, Versions: []simulate.Version{
				{Name: "v1"}, {Name: "v2", Deploy: 20 * time.Minute, Rollout: 10 * time.Minute},
			}},
			{Name: "mail", Processes: 2, Stacks: small, Versions: []simulate.Version{{Name: "v1"}}},
		},
	}
	batches := slices.Collect(plan.Batches())
	plan.Tenant, plan.Length, plan.Services = "other", 5*time.Minute, plan.Services[:1]
	batches = append(batches, slices.Collect(plan.Batches())...)
	batches = append(batches, corners()...)
	r := rand.New(rand.NewPCG(3, 4))
	for i := 0; i+20 < len(batches); i += 7 {
		j := i + r.IntN(20)
		batches[i], batches[j] = batches[j], batches[i]
	}
	return batches
}

// corners are batches that a client sends when something is wrong with it.
func corners() []*store.Batch {
	bytes := "a\x00b\xff\xfe'\"\\\n" + strings.Repeat("é", 40)
	odd := store.Source{
		Service: bytes, Version: bytes, Instance: bytes,
		Labels: []store.Label{{Name: bytes, Value: bytes}, {Name: "region", Value: "east"}},
	}
	cart := store.Source{Service: "cart", Version: "v1", Instance: "host-000"}
	frames := []*store.Frame{{Function: bytes, File: bytes, Line: -1}, {}, {Function: "main.main", Line: math.MaxInt32}}
	named, unknown := store.IDOf(frames), store.StackID(math.MaxInt64)
	profile := func(t store.Type, samples ...store.Sample) store.Profile {
		return store.Profile{Type: t, Samples: samples}
	}
	one := []store.Profile{profile(store.CPU, store.Sample{Stack: named, Value: 1})}
	batches := []*store.Batch{
		{Source: odd, Profiles: one, Stacks: map[store.StackID][]*store.Frame{named: frames}},
		{Source: odd, Profiles: []store.Profile{profile(store.Type(bytes), store.Sample{Stack: unknown, Value: 5})}},
		{Source: odd}, // no profile
		{Source: cart, Profiles: []store.Profile{profile(store.CPU), profile(store.BlockDelay)}},
		{Source: cart, Profiles: []store.Profile{profile(store.CPU, store.Sample{Value: 12})}}, // no frames
		{Source: cart, Profiles: []store.Profile{profile(store.MutexDelay,
			store.Sample{Stack: 1, Value: math.MaxInt64}, store.Sample{Stack: 2, Value: 1})}},
		{Source: cart, Profiles: []store.Profile{profile(store.MutexDelay, // would wrap
			store.Sample{Stack: 1, Value: math.MaxInt64}, store.Sample{Stack: 3, Value: 7}, store.Sample{Stack: 4, Value: 7})}},
		{Source: cart, Profiles: []store.Profile{profile(store.MutexDelay, store.Sample{Stack: 3, Value: 0})}}, // sums to no more
		{Source: cart, Profiles: append(one, one...)},                                                          // a type twice
		{Source: store.Source{}, Profiles: one},                                                                // no service
		{Source: store.Source{Tenant: bytes, Service: "cart"}, Profiles: one},                                  // frames are another tenant's
		{Source: store.Source{Tenant: "other", Service: "cart"}, Profiles: one},                                // the same
		{Source: cart, Profiles: one, Stacks: map[store.StackID][]*store.Frame{9: nil}},                        // a stack without its frames
	}
	for i, b := range batches {
		b.ID[0] = byte(i + 1)
		b.From = Start.Add(time.Duration(i) * 3 * time.Minute)
		b.Until = b.From.Add(90*time.Second + 999*time.Microsecond)
	}
	batches[1].From, batches[1].Until = batches[1].Until, batches[1].From // ends before it begins
	batches[4].From, batches[4].Until = time.UnixMilli(-10_001), time.UnixMilli(-1)
	batches[11].ID = batches[10].ID // of another tenant
	return batches
}

// selection draws what to ask, often something that is there.
func selection(r *rand.Rand, batches []*store.Batch) (store.Selection, time.Duration, store.By) {
	from := batches[r.IntN(len(batches))]
	some := func(one, other string) string { return [...]string{"", one, other, "", ""}[r.IntN(5)] }
	s := store.Selection{
		Tenant:   from.Source.Tenant,
		Service:  some(from.Source.Service, "cart"),
		Version:  some(from.Source.Version, "v2"),
		Instance: some(from.Source.Instance, "host-001"),
		From:     Start.Add(time.Duration(r.IntN(3000)-300) * time.Second),
		Type:     []store.Type{store.CPU, store.AllocSpace, store.MutexDelay, store.Operations, ""}[r.IntN(5)],
	}
	if r.IntN(4) == 0 {
		s.From = from.Until.Truncate(time.Millisecond) // it is the first in the span
	}
	s.Until = s.From.Add(time.Duration(r.IntN(4000)) * time.Second)
	if r.IntN(4) == 0 {
		s.Until = time.UnixMilli(max(from.Until.UnixMilli(), s.From.UnixMilli())) // it is the first that is not
	}
	for _, l := range from.Source.Labels {
		if r.IntN(4) == 0 {
			s.Labels = append(s.Labels, l)
		}
	}
	if r.IntN(10) == 0 {
		s.Labels = append(s.Labels, store.Label{Name: "nowhere", Value: some("x", "")})
	}
	if len(from.Profiles) > 0 && r.IntN(2) == 0 {
		s.Type = from.Profiles[0].Type
	}
	keys := []store.By{
		store.ByNothing, store.ByService, store.ByVersion, store.ByInstance, store.ByType,
		store.ByLabel("region"), store.ByLabel("nowhere"), store.ByLabels,
	}
	step := time.Duration(1+r.IntN(2_000_000)) * time.Millisecond
	return s, step, keys[r.IntN(len(keys))]
}

func write(t *testing.T, b *store.Batch, writers ...store.Writer) {
	t.Helper()
	for _, w := range writers {
		if err := w.Write(t.Context(), b); err != nil {
			t.Fatalf("Write: %v", err)
		}
	}
}

func mustClose(t *testing.T, s store.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func testAnswers(t *testing.T, s store.Store) {
	defer mustClose(t, s)
	var reference Reference
	compare(t, s, &reference, store.Selection{Type: store.CPU}, time.Second, store.ByNothing) // nothing yet
	for _, b := range Batches() {
		write(t, b, s, &reference)
	}
	Compare(t, s, &reference, selections)
}

// The same batch again, at once and later, and one that has its ID and says otherwise.
func testRepeated(t *testing.T, s store.Store) {
	defer mustClose(t, s)
	var reference Reference
	batches := Batches()[:40]
	for _, b := range batches {
		liar := *b
		liar.Source.Service = "liar"
		liar.Stacks = map[store.StackID][]*store.Frame{77: {{Function: "main.liar"}}}
		write(t, b, s, &reference)
		write(t, b, s)
		write(t, &liar, s)
	}
	for _, b := range batches {
		write(t, b, s)
	}
	Compare(t, s, &reference, selections/3)
}

func testMistakes(t *testing.T, s store.Store) {
	defer mustClose(t, s)
	write(t, Batches()[0], s)
	for name, mistake := range map[string]func() error{
		"stacks without a type": func() error { _, err := s.Stacks(t.Context(), store.Selection{}); return err },
		"series without a type": func() error {
			_, err := s.Series(t.Context(), store.Selection{}, time.Minute, store.ByService)
			return err
		},
		"series without a step": func() error {
			_, err := s.Series(t.Context(), store.Selection{Type: store.CPU}, 0, store.ByNothing)
			return err
		},
		"an unknown key": func() error { _, err := s.Values(t.Context(), store.Selection{}, "colour"); return err },
		"a profile without a type": func() error {
			return s.Write(t.Context(), &store.Batch{ID: [16]byte{99}, Profiles: []store.Profile{{}}})
		},
	} {
		if mistake() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Writers that send the same, readers beside them: no answer has half a batch, none goes
// back, and what is there at the end is what one writer would have left.
func testConcurrent(t *testing.T, s store.Store) {
	defer mustClose(t, s)
	var reference Reference
	batches := Batches()
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		writers.Go(func() {
			for j := range batches {
				b := batches[(j+i*len(batches)/8)%len(batches)]
				if err := s.Write(context.WithoutCancel(t.Context()), b); err != nil {
					t.Errorf("Write: %v", err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() { watch(t, s, done) })
	}
	for _, b := range batches {
		write(t, b, &reference)
	}
	writers.Wait()
	close(done)
	readers.Wait()
	Compare(t, s, &reference, selections/3)
}

// watch sees that operations only become more: all of them are positive.
func watch(t *testing.T, s store.Store, done chan struct{}) {
	seen := int64(0)
	for {
		select {
		case <-done:
			return
		default:
		}
		stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.Operations})
		if err != nil {
			t.Errorf("Stacks: %v", err)
			return
		}
		if stacks.Total < seen {
			t.Errorf("%d operations after %d", stacks.Total, seen)
			return
		}
		seen = stacks.Total
	}
}

func testClosed(t *testing.T, s store.Store) {
	mustClose(t, s)
	if err := s.Write(t.Context(), Batches()[0]); err == nil {
		t.Error("Write after Close: no error")
	}
	if err := s.WriteFindings(t.Context(), findings()); err == nil {
		t.Error("WriteFindings after Close: no error")
	}
}
