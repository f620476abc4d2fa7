// Package rpc dispatches calls through a chain of interceptors.
package rpc

import (
	"bytes"
	"context"
	"errors"
	"strings"
)

// Handler answers a call.
type Handler func(ctx context.Context, body []byte) ([]byte, error)

// Interceptor wraps a handler.
type Interceptor func(next Handler) Handler

// ErrFrame is returned for a frame that cannot be read.
var ErrFrame = errors.New("rpc: bad frame")

// Server holds the methods.
type Server struct {
	methods map[string]Handler
	chain   []Interceptor
	v2      bool
}

// NewServer returns a server whose calls pass the interceptors in order.
func NewServer(v2 bool, chain ...Interceptor) *Server {
	return &Server{methods: map[string]Handler{}, chain: chain, v2: v2}
}

// Register adds a method.
func (s *Server) Register(name string, h Handler) {
	for i := len(s.chain) - 1; i >= 0; i-- {
		h = s.chain[i](h)
	}
	s.methods[name] = h
}

// Call handles one frame: the method, lines of metadata, an empty line and the body.
func (s *Server) Call(ctx context.Context, frame []byte) ([]byte, error) {
	head, body, ok := bytes.Cut(frame, []byte("\n\n"))
	if !ok {
		return nil, ErrFrame
	}
	method, rest, _ := strings.Cut(string(head), "\n")
	h := s.methods[method]
	if h == nil {
		return nil, ErrFrame
	}
	md := make(MD, 16)
	for line := range strings.SplitSeq(rest, "\n") {
		k, v, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, ErrFrame
		}
		k = strings.ToLower(k)
		md[k] = append(md[k], v)
	}
	return h(withIncoming(ctx, md, s.v2), body)
}
