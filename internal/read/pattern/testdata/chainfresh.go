package testdata

import "context"

// context-chain through a function that wraps, for one round

func withBay(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, "bay", id)
}

func load(ctx context.Context, bays []string) (n int) {
	for _, id := range bays {
		of := withBay(ctx, id)
		if of.Value("station") != nil { // well context-chain context.(*valueCtx).Value
			n++
		}
	}
	return n
}
