// Package rpc calls methods by name, with JSON in and out.
package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// A Call is one call of a method.
type Call struct {
	Method string
	Key    string // of who calls
	Caller string // who that is, after authentication
	In     json.RawMessage
}

// A Handler answers calls.
type Handler func(ctx context.Context, c *Call) (any, error)

// An Interceptor stands before a handler.
type Interceptor func(Handler) Handler

// A Server has methods.
type Server struct {
	methods      map[string]Handler
	interceptors []Interceptor
}

// NewServer returns a server whose methods stand behind interceptors, the first outermost.
func NewServer(interceptors ...Interceptor) *Server {
	return &Server{map[string]Handler{}, interceptors}
}

// Handle adds a method.
func (s *Server) Handle(method string, h Handler) {
	for i := len(s.interceptors) - 1; i >= 0; i-- {
		h = s.interceptors[i](h)
	}
	s.methods[method] = h
}

// ErrDenied is returned to callers who are not known.
var ErrDenied = errors.New("rpc: denied")

// Call calls a method.
func (s *Server) Call(ctx context.Context, key, method string, in, out any) error {
	h, ok := s.methods[method]
	if !ok {
		return fmt.Errorf("rpc: no method %s", method)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	answer, err := h(ctx, &Call{Method: method, Key: key, In: body})
	if err != nil {
		return err
	}
	if body, err = json.Marshal(answer); err != nil {
		return err
	}
	return json.Unmarshal(body, out)
}

// Authenticate finds who calls by their key.
func Authenticate(keys map[string]string) Interceptor {
	return func(next Handler) Handler {
		return func(ctx context.Context, c *Call) (any, error) {
			who, ok := keys[c.Key]
			if !ok {
				return nil, ErrDenied
			}
			c.Caller = who
			return next(ctx, c)
		}
	}
}
