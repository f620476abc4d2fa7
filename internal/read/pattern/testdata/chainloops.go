package testdata

import "context"

// context-chain in a loop

func all(ctx context.Context, list []int) (n int) {
	for i, of := range list {
		ctx = context.WithValue(ctx, i, of)
		if ctx.Value("user") != nil { // sick context-chain context.(*valueCtx).Value
			n++
		}
	}
	return n
}
