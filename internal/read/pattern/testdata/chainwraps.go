package testdata

import "context"

// context-chain through a function that wraps

func withLot(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, "lot", id)
}

func serve(ctx context.Context, lots []string) (n int) {
	for _, id := range lots {
		ctx = withLot(ctx, id)
		if ctx.Value("station") != nil { // sick context-chain context.(*valueCtx).Value
			n++
		}
	}
	return n
}
