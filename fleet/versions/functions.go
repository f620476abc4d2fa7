package versions

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A Function is what a function costs in two versions, itself and with what it calls.
type Function struct {
	Name string
	File string
	// Was and Is are the cost of its own lines in the change's unit, TotalWas and TotalIs
	// with what it calls.
	Was, Is           float64
	TotalWas, TotalIs float64
}

// Delta returns by how much its own lines cost more.
func (f *Function) Delta() float64 { return f.Is - f.Was }

// A Difference is where a change is.
type Difference struct {
	Change *Change
	// Narrow is the function that the change is in, or in how often it is called; nil where
	// no function has most of it.
	Narrow    *Function
	Functions []Function // the largest difference of their own lines first
	Other     float64    // the sum of the differences of those left out
	Was, Is   float64    // all cost in the unit: the sums of all functions
	Missing   store.Missing
}

// Functions says in which functions a change of a version is, the most of them. It
// compares sums over all processes, where the change itself compares processes.
func Functions(ctx context.Context, r store.Reader, s store.Selection, c *Change, most int) (*Difference, error) {
	base, head := s, s
	base.Service, base.Version = c.Service, c.Base
	head.Service, head.Version = c.Service, c.Head
	return FunctionsBetween(ctx, r, base, head, c, most)
}

// FunctionsBetween says it of a change between two selections.
func FunctionsBetween(ctx context.Context, r store.Reader, base, head store.Selection, c *Change, most int) (*Difference, error) {
	d := &Difference{Change: c}
	k := kindOf(c.Type)
	functions := map[string]*Function{}
	for _, side := range []struct {
		store.Selection
		all *float64
		add func(f *Function, self, total float64)
	}{
		{base, &d.Was, func(f *Function, self, total float64) { f.Was += self; f.TotalWas += total }},
		{head, &d.Is, func(f *Function, self, total float64) { f.Is += self; f.TotalIs += total }},
	} {
		side.Type = k.Type
		by, err := denominator(ctx, r, side.Selection, k, k.counted(c.Unit))
		if err != nil {
			return nil, err
		}
		by *= k.scale
		stacks, err := r.Stacks(ctx, side.Selection)
		if err != nil {
			return nil, err
		}
		d.Missing = append(d.Missing, stacks.Missing...)
		*side.all = float64(stacks.Total) / by
		sum(&stacks, functions, func(f *Function, self, total int64) {
			side.add(f, float64(self)/by, float64(total)/by)
		})
	}
	d.keep(functions, most)
	return d, nil
}

// Grown returns the function that has most of the growth between two sums of stacks, as of a
// change; nil where none has. Each sum counts by a part, for there may be more levels in one.
func Grown(was, is *store.Stacks, byWas, byIs float64) *Function {
	d := &Difference{Was: float64(was.Total) / byWas, Is: float64(is.Total) / byIs}
	functions := map[string]*Function{}
	sum(was, functions, func(f *Function, self, total int64) {
		f.Was += float64(self) / byWas
		f.TotalWas += float64(total) / byWas
	})
	sum(is, functions, func(f *Function, self, total int64) { f.Is += float64(self) / byIs; f.TotalIs += float64(total) / byIs })
	d.keep(functions, len(functions))
	return d.Narrow
}

// denominator returns by what the values of a selection are divided.
func denominator(ctx context.Context, r store.Reader, s store.Selection, k kind, operation bool) (by float64, err error) {
	all, err := r.Instances(ctx, s)
	if err != nil {
		return 0, err
	}
	for i := range all.Instances {
		by += k.denominator(&all.Instances[i], operation)
	}
	if by <= 0 {
		return 0, fmt.Errorf("version %q of %s has no %s profiles between %s and %s",
			s.Version, s.Service, strings.Split(string(k.Type), ":")[0], s.From.Format(time.RFC3339), s.Until.Format(time.RFC3339))
	}
	return by, nil
}

// sum adds the values of stacks to their functions, each once for a stack it recurs in.
func sum(stacks *store.Stacks, functions map[string]*Function, add func(f *Function, self, total int64)) {
	seen := map[string]bool{}
	for _, sample := range stacks.Samples {
		clear(seen)
		frames := stacks.Frames[sample.Stack]
		if len(frames) == 0 {
			frames = []*store.Frame{{Function: store.NoStack}}
		}
		for i, frame := range frames {
			f := functions[frame.Function]
			if f == nil {
				f = &Function{Name: frame.Function, File: frame.File}
				functions[frame.Function] = f
			}
			self, all := int64(0), sample.Value
			if i == 0 {
				self = sample.Value
			}
			if seen[frame.Function] {
				all = 0
			}
			seen[frame.Function] = true
			add(f, self, all)
		}
	}
}

const (
	// mostOf is the part of a change that a function must have to be named for it.
	mostOf = 0.5
	// programOf is the part of all cost from which a function is as good as the program:
	// that it changed is known. Where a server does little but one thing, all callers of
	// that up to the goroutine's start function grow by the same factor.
	programOf = 0.8
	// insteadOf is the part of the change that a function must have to be named instead
	// of one that is as good as the program.
	insteadOf = 2.0 / 3
)

// narrow finds the function that a change is in: it has most of the change, and the change
// is most of it. A caller has all of the change and much else, what it calls only a part.
func (d *Difference) narrow() {
	change, whole := d.Is-d.Was, programOf*max(d.Is, d.Was)
	if change == 0 {
		return
	}
	share := func(f *Function) float64 { return (f.TotalIs - f.TotalWas) / change }
	size := func(f *Function) float64 { return max(f.TotalWas, f.TotalIs) }
	best := func(named func(f *Function) bool) (most *Function) {
		fits := 0.0
		for _, f := range d.Functions {
			if f.Name == store.NoStack || !named(&f) {
				continue
			}
			if fit := min(1, share(&f)) * abs(f.TotalIs-f.TotalWas) / size(&f); fit > fits {
				fits, most = fit, &f
			}
		}
		return most
	}
	d.Narrow = best(func(f *Function) bool { return share(f) >= insteadOf && size(f) < whole })
	if d.Narrow == nil {
		d.Narrow = best(func(f *Function) bool { return share(f) >= mostOf })
	}
}

// keep keeps the functions that differ most.
func (d *Difference) keep(functions map[string]*Function, most int) {
	for _, f := range functions {
		d.Functions = append(d.Functions, *f)
	}
	slices.SortFunc(d.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(abs(b.Delta()), abs(a.Delta())), cmp.Compare(a.Name, b.Name))
	})
	d.narrow()
	for _, f := range d.Functions[min(most, len(d.Functions)):] {
		d.Other += f.Delta()
	}
	d.Functions = d.Functions[:min(most, len(d.Functions))]
}

func abs(x float64) float64 { return max(x, -x) }
