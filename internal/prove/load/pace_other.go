//go:build !linux

package load

import (
	"context"
	"time"
)

// A pacer sleeps as exactly as the runtime's timers do.
type pacer struct{}

func newPacer(context.Context) (p *pacer, stop func()) { return &pacer{}, func() {} }

func (*pacer) sleep(ctx context.Context, d time.Duration) { nap(ctx, d) }
