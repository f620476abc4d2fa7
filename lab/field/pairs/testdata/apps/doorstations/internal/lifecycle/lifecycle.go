// Package lifecycle combines the lifetimes of a server, its sessions and their commands.
package lifecycle

import "context"

// Joiner makes contexts that end with either of two others.
type Joiner struct{ V2 bool }

// Join gives a context with the values of a that ends when a or b ends. The
// returned function is called when the context is no longer needed.
func (j Joiner) Join(a, b context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(a)
	if j.V2 {
		stop := context.AfterFunc(b, func() { cancel(context.Cause(b)) })
		return ctx, func() {
			stop()
			cancel(context.Canceled)
		}
	}
	go func() {
		select {
		case <-a.Done():
			cancel(context.Cause(a))
		case <-b.Done():
			cancel(context.Cause(b))
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}
