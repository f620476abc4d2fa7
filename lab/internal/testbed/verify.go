package testbed

import (
	"context"
	"time"

	"github.com/gowhy/gowhy/internal/ground/shell"
)

// A Comparison is an experiment: a program with two sets of arguments. Its
// placeholders are filled once, so that all its runs have the same port and
// directory.
type Comparison struct {
	Program string // from Build
	A, B    []string
	Time    time.Duration // that load is offered in each run
	Ready   string
	Load    []string
	Flags   []string // of gowhy verify
}

// Verify runs `gowhy verify` and reads the trial that it prints as JSON.
func (b *Bed) Verify(ctx context.Context, c Comparison, trial any) (took time.Duration, err error) {
	room, remove, err := b.Room(ctx, c.Program)
	if err != nil {
		return 0, err
	}
	defer remove()
	return b.Answer(ctx, trial, c.arguments(room)...)
}

func (c *Comparison) arguments(room *Room) []string {
	arm := func(args []string) string {
		return shell.Words(append([]string{c.Program}, room.Fill(args)...))
	}
	args := append([]string{"verify", "--json", "--a", arm(c.A), "--b", arm(c.B)}, c.Flags...)
	if len(c.Load) == 0 {
		return args
	}
	r := run{job: Job{Load: c.Load, Time: c.Time}, room: room}
	load := r.loadCommand("--json") // its text is for people
	return append(args, "--load", shell.Words(load), "--ready", "log:"+c.Ready)
}
