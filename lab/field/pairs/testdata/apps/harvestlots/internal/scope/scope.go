// Package scope carries what belongs to the work at hand through the calls.
package scope

import (
	"context"
	"fmt"
	"io"
)

type key int

const (
	lotKey key = iota
	stationKey
	tariffKey
	operatorKey
)

func WithLot(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, lotKey, id)
}

func WithStation(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, stationKey, name)
}

// WithTariff sets the price per tonne by grade.
func WithTariff(ctx context.Context, t map[string]float64) context.Context {
	return context.WithValue(ctx, tariffKey, t)
}

func WithOperator(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, operatorKey, name)
}

func text(ctx context.Context, k key) string {
	s, _ := ctx.Value(k).(string)
	return s
}

func Lot(ctx context.Context) string      { return text(ctx, lotKey) }
func Station(ctx context.Context) string  { return text(ctx, stationKey) }
func Operator(ctx context.Context) string { return text(ctx, operatorKey) }

// Price returns the tariff of a grade.
func Price(ctx context.Context, grade string) float64 {
	t, _ := ctx.Value(tariffKey).(map[string]float64)
	return t[grade]
}

// Line writes where the work is done.
func Line(w io.Writer, ctx context.Context) {
	fmt.Fprintf(w, "%s/%s lot=%s", Station(ctx), Operator(ctx), Lot(ctx))
}
