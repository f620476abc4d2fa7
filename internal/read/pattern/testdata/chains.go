package testdata

import "context"

// context-chain

type request struct{ ctx context.Context }

func (r *request) with(key, value any) *request {
	ctx := context.WithValue(r.ctx, key, value)
	return &request{ctx}
}

func (r *request) first(base context.Context) any {
	r.ctx = context.WithValue(base, "user", 1)
	return r.ctx.Value("user") // alike context-chain context.(*valueCtx).Value
}

func each(base context.Context, list []int) (n int) {
	for _, of := range list {
		ctx := context.WithValue(base, "of", of)
		ctx = context.WithValue(ctx, "all", list)
		if ctx.Value("user") != nil { // well context-chain context.(*valueCtx).Value
			n++
		}
	}
	return n
}
