// Package track takes reports of lorries.
package track

import (
	"context"
	"errors"

	"convoytrace/internal/route"
)

// A Report is what a lorry sends.
type Report struct{ Lorry, X, Y, Litres int }

type key int

const (
	keyLorry key = iota
	keySector
	keyLitres
	keyDriver
)

// A Follower follows lorries.
type Follower struct {
	base   context.Context
	roads  *route.Map
	carry  bool
	known  map[int]context.Context
	warned int
}

// NewFollower makes one, which may carry what it learnt of a lorry on.
func NewFollower(ctx context.Context, m *route.Map, carry bool) *Follower {
	return &Follower{base: ctx, roads: m, carry: carry, known: map[int]context.Context{}}
}

func (f *Follower) start(lorry int) context.Context {
	ctx := context.WithValue(f.base, keyLorry, lorry)
	return context.WithValue(ctx, keyDriver, lorry*31%90)
}

// Take takes a report.
func (f *Follower) Take(r Report) error {
	ctx, ok := f.known[r.Lorry]
	if !ok {
		ctx = f.start(r.Lorry)
		f.known[r.Lorry] = ctx
	}
	ctx = context.WithValue(ctx, keySector, f.roads.Sector(r.X, r.Y))
	ctx = context.WithValue(ctx, keyLitres, r.Litres)
	if f.carry {
		f.known[r.Lorry] = ctx
	}
	return f.judge(ctx)
}

func (f *Follower) judge(ctx context.Context) error {
	litres, ok := ctx.Value(keyLitres).(int)
	if !ok {
		return errors.New("no litres")
	}
	driver, ok := ctx.Value(keyDriver).(int)
	if !ok {
		return errors.New("nobody drives")
	}
	if litres < 40 && driver%2 == 0 {
		f.warned++
	}
	return nil
}

// Warned is how often drivers were warned.
func (f *Follower) Warned() int { return f.warned }
