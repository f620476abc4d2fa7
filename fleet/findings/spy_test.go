package findings

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// A request is one question to a store.
type request struct {
	what string
	store.Selection
	step time.Duration
}

// A spy is a store that keeps the questions. The functions, where a test sets them, answer
// instead of the store.
type spy struct {
	storetest.Reference
	requests  []request
	wrote     [][]store.Finding
	refuse    func(r request) (store.Missing, error)
	services  func(s store.Selection) []store.Service
	instances func(s store.Selection) []store.Instance
	stacks    func(s store.Selection) store.Stacks
	series    func(s store.Selection) []store.Series
}

func (k *spy) note(what string, s store.Selection, step time.Duration) (m store.Missing, err error) {
	r := request{what, s, step}
	k.requests = append(k.requests, r)
	if k.refuse != nil {
		m, err = k.refuse(r)
	}
	return m, err
}

func (k *spy) Services(ctx context.Context, s store.Selection) (a store.Services, err error) {
	missing, err := k.note("services", s, 0)
	if err != nil {
		return a, err
	}
	if k.services != nil {
		return store.Services{Services: k.services(s), Missing: missing}, nil
	}
	a, err = k.Reference.Services(ctx, s)
	a.Missing = missing
	return a, err
}

func (k *spy) Instances(ctx context.Context, s store.Selection) (a store.Instances, err error) {
	missing, err := k.note("instances", s, 0)
	if err != nil {
		return a, err
	}
	if k.instances != nil {
		return store.Instances{Instances: k.instances(s), Missing: missing}, nil
	}
	a, err = k.Reference.Instances(ctx, s)
	a.Missing = missing
	return a, err
}

func (k *spy) Stacks(ctx context.Context, s store.Selection) (a store.Stacks, err error) {
	missing, err := k.note("stacks", s, 0)
	if err != nil {
		return a, err
	}
	if k.stacks != nil {
		a = k.stacks(s)
	} else {
		a, err = k.Reference.Stacks(ctx, s)
	}
	a.Missing = missing
	return a, err
}

func (k *spy) Series(ctx context.Context, s store.Selection, step time.Duration, by store.By) (a store.SeriesSet, err error) {
	missing, err := k.note("series", s, step)
	if err != nil {
		return a, err
	}
	if k.series != nil {
		return store.SeriesSet{Series: k.series(s), Missing: missing}, nil
	}
	a, err = k.Reference.Series(ctx, s, step, by)
	a.Missing = missing
	return a, err
}

func (k *spy) Findings(ctx context.Context, s store.Selection) (a store.Findings, err error) {
	missing, err := k.note("findings", s, 0)
	if err != nil {
		return a, err
	}
	a, err = k.Reference.Findings(ctx, s)
	a.Missing = missing
	return a, err
}

func (k *spy) WriteFindings(ctx context.Context, rows []store.Finding) error {
	if _, err := k.note("write", store.Selection{}, 0); err != nil {
		return err
	}
	k.wrote = append(k.wrote, rows)
	return k.Reference.WriteFindings(ctx, rows)
}

// rows returns all rows that were written.
func (k *spy) rows() (all []store.Finding) {
	for _, rows := range k.wrote {
		all = append(all, rows...)
	}
	return all
}

// of returns the questions of a sort.
func (k *spy) of(what string) (list []request) {
	for _, r := range k.requests {
		if r.what == what {
			list = append(list, r)
		}
	}
	return list
}

// clock writes a time in minutes since start.
func clock(at time.Time) string { return fmt.Sprint(at.Sub(start).Minutes()) }

// span writes the time of a selection in minutes since start.
func span(s store.Selection) string { return clock(s.From) + "-" + clock(s.Until) }

// spans writes the times of questions.
func spans(list []request) string {
	var text []string
	for _, r := range list {
		text = append(text, span(r.Selection))
	}
	return strings.Join(text, " ")
}

// A sample is a stack with its value; the leaf of a stack comes first.
type sample struct {
	value  int64
	frames []string // of a file of the same name
}

// put writes what a process sent over a span that ends at a time.
func put(t *testing.T, w store.Writer, source store.Source, from, until time.Time, sent map[store.Type][]sample) {
	t.Helper()
	b := &store.Batch{Source: source, From: from, Until: until, Stacks: map[store.StackID][]*store.Frame{}}
	copy(b.ID[:], fmt.Sprintf("%8x%s%s", until.UnixMilli()/1000%1e8, source.Service[len(source.Service)-4:], source.Instance))
	for kind, samples := range sent {
		p := store.Profile{Type: kind}
		for _, one := range samples {
			id := store.IDOf(framesOf(one.frames))
			b.Stacks[id] = framesOf(one.frames)
			p.Samples = append(p.Samples, store.Sample{Stack: id, Value: one.value})
		}
		b.Profiles = append(b.Profiles, p)
	}
	if err := w.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

// framesOf returns frames by their functions; each is in a file of its own, in the line that its
// name is long.
func framesOf(functions []string) (frames []*store.Frame) {
	for _, f := range functions {
		frames = append(frames, &store.Frame{Function: f, File: f + ".go", Line: int32(len(f))})
	}
	return frames
}

// told writes all that a finding says.
func told(f *diagnosis.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q %s %v at %v\n", f.Rule, f.Title, f.Confidence, f.Reasons, f.Where)
	fmt.Fprintf(&b, "%s\n", f.Summary)
	fmt.Fprintf(&b, "cost: %s = %.4g %s\n", f.Cost.What, f.Cost.Value, f.Cost.Unit)
	for _, o := range f.Cost.Operands {
		fmt.Fprintf(&b, "\t%s = %.4g %s, %s of %d\n", o.Name, o.Value, o.Unit, o.Origin.Name, o.Origin.N)
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "%s = %.4g %s, %s of %d\n", e.Name, e.Value, e.Unit, e.Origin.Name, e.Origin.N)
	}
	fmt.Fprintf(&b, "remedy: %s\nprove: %s\n", f.Remedy.Text, f.Prove)
	return b.String()
}

// same compares texts line by line.
func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if x != y {
			t.Errorf("%s, line %d = %q, want %q", what, i+1, x, y)
		}
	}
}

var errDisk = errors.New("the disk is gone")
