// Package faults has the errors of the warehouse.
package faults

import (
	"errors"
	"fmt"
	"runtime/debug"
)

// ErrNone says that there is nothing of an article.
var ErrNone = errors.New("no stock")

// Maker makes the error for an article.
type Maker func(op, sku string) error

// Fault is an error with what support wants to see.
type Fault struct {
	Op    string
	SKU   string
	Where string
	Err   error
}

func (f *Fault) Error() string { return fmt.Sprintf("%s %s: %v", f.Op, f.SKU, f.Err) }

// Unwrap gives the error below.
func (f *Fault) Unwrap() error { return f.Err }

// Full makes errors for support.
func Full(op, sku string) error {
	return &Fault{Op: op, SKU: sku, Where: string(debug.Stack()), Err: ErrNone}
}

// Short makes errors for callers.
func Short(op, sku string) error { return ErrNone }
