package rpc

import (
	"context"
	"strings"
)

// MD holds the metadata of a call. Keys are in lower case.
type MD map[string][]string

// Get returns the values of a key.
func (md MD) Get(key string) []string { return md[strings.ToLower(key)] }

type incoming struct {
	md     MD
	direct bool
}

type incomingKey struct{}

func withIncoming(ctx context.Context, md MD, direct bool) context.Context {
	return context.WithValue(ctx, incomingKey{}, incoming{md: md, direct: direct})
}

// FromContext returns the metadata of the call. The caller may change what it got.
func FromContext(ctx context.Context) (MD, bool) {
	in, ok := ctx.Value(incomingKey{}).(incoming)
	if !ok {
		return nil, false
	}
	out := make(MD, len(in.md))
	for k, v := range in.md {
		out[strings.ToLower(k)] = append([]string(nil), v...)
	}
	return out, true
}

// First returns the first value of a key of the call's metadata.
func First(ctx context.Context, key string) string {
	in, ok := ctx.Value(incomingKey{}).(incoming)
	if ok && in.direct {
		if v := in.md.Get(key); len(v) > 0 {
			return v[0]
		}
		return ""
	}
	md, ok := FromContext(ctx)
	if !ok {
		return ""
	}
	if v := md.Get(key); len(v) > 0 {
		return v[0]
	}
	return ""
}
