// Package lifecycle tells parts of the agent that the node is drained.
package lifecycle

import (
	"context"
	"errors"
)

// ErrDrained is why what runs on a drained node ends.
var ErrDrained = errors.New("lifecycle: the node is drained")

// A Node is in service until it is drained.
type Node struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// NewNode returns a node in service.
func NewNode() *Node {
	ctx, cancel := context.WithCancelCause(context.Background())
	return &Node{ctx: ctx, cancel: cancel}
}

// Context ends when the node is drained.
func (n *Node) Context() context.Context { return n.ctx }

// Drain takes the node out of service.
func (n *Node) Drain() { n.cancel(ErrDrained) }

// OnDrain has a function called when the node is drained, in a goroutine of its own. It
// returns what takes the function back.
func (n *Node) OnDrain(f func(error)) (remove func() bool) {
	return context.AfterFunc(n.ctx, func() { f(context.Cause(n.ctx)) })
}
