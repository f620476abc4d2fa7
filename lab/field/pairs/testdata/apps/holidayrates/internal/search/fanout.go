// Package search asks operators for offers.
package search

import (
	"context"
	"sync"

	"holidayrates/internal/supplier"
)

// Fanout asks all operators, but never more than Width at the same time, as
// agreed with the gateway.
type Fanout struct {
	Operators []supplier.Operator
	Width     int
	Flow      bool
}

type Answer struct {
	Operator string
	Doc      []byte
	Err      error
}

func (f *Fanout) Collect(ctx context.Context, r supplier.Request) []Answer {
	if f.Flow {
		return f.flow(ctx, r)
	}
	answers := make([]Answer, len(f.Operators))
	for lo := 0; lo < len(f.Operators); lo += f.Width {
		hi := min(lo+f.Width, len(f.Operators))
		var wg sync.WaitGroup
		for i := lo; i < hi; i++ {
			wg.Add(1)
			go func() {
				defer wg.Done()
				answers[i] = ask(ctx, f.Operators[i], r)
			}()
		}
		wg.Wait()
	}
	return answers
}

func (f *Fanout) flow(ctx context.Context, r supplier.Request) []Answer {
	answers := make([]Answer, len(f.Operators))
	sem := make(chan struct{}, f.Width)
	var wg sync.WaitGroup
	for i, op := range f.Operators {
		sem <- struct{}{}
		wg.Add(1)
		go func() {
			defer wg.Done()
			answers[i] = ask(ctx, op, r)
			<-sem
		}()
	}
	wg.Wait()
	return answers
}

func ask(ctx context.Context, op supplier.Operator, r supplier.Request) Answer {
	doc, err := op.Offers(ctx, r)
	return Answer{Operator: op.Name(), Doc: doc, Err: err}
}
