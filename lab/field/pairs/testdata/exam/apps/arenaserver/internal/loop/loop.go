// Package loop runs the frames of a match.
package loop

import (
	"context"
	"time"

	"arenaserver/internal/system"
	"arenaserver/internal/world"
)

// A Loop has systems go through all fighters in each frame.
type Loop struct {
	w       *world.World
	systems []*system.System
	caller  *system.Caller
	frame   time.Duration
	changes int
}

// New makes a loop.
func New(w *world.World, systems []*system.System, fps int) *Loop {
	return &Loop{w: w, systems: systems, caller: system.NewCaller(), frame: time.Second / time.Duration(fps)}
}

// Run runs frames until the context ends, and returns how many, and how many took longer
// than a frame may.
func (l *Loop) Run(ctx context.Context) (frames, late int) {
	t := time.NewTicker(l.frame)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return frames, late
		case <-t.C:
		}
		start := time.Now()
		l.Frame()
		frames++
		if time.Since(start) > l.frame {
			late++
		}
	}
}

// Frame runs one frame: each fighter goes through the systems in their order.
func (l *Loop) Frame() {
	for i := range l.w.Fighters {
		for _, s := range l.systems {
			if l.caller.Call(s, i) {
				l.changes++
			}
		}
	}
	l.w.Frame++
}
