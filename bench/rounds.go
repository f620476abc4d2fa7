package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

// A Run is one process that was measured.
type Run struct {
	Trace     string  `json:"trace"`
	Contender string  `json:"contender"`
	Round     int     `json:"round"`
	CPU       float64 `json:"cpu_s"`  // user and system
	Wall      float64 `json:"wall_s"` // seconds
	RSS       int64   `json:"rss_bytes"`
	// Others is how many CPUs everything else on the machine used meanwhile; -1 when not known.
	Others float64 `json:"others_cpus"`
	// Failure says why the process did not finish; its figures are then what
	// it had taken by that time.
	Failure string          `json:"failure,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
}

// disturbed is how many CPUs others may use before a run no longer counts.
// Idle machines measure 0.00-0.05, those where something compiles 0.5 and more.
const disturbed = 0.25

func (r Run) calm() bool { return r.Others <= disturbed }

// A session measures contenders on traces.
type session struct {
	options
	contenders []contender
	traces     []trace
	progress   io.Writer

	measure func(context.Context, process) (usage, error) // for tests; nil means to run it
}

// run lets all contenders read all traces in turn. Within a round the traces
// come in random order, and for each trace the contenders do, one right after
// the other, so that what is compared ran at the same time.
func (s session) run(ctx context.Context) ([]Run, error) {
	if s.measure == nil {
		s.measure = func(ctx context.Context, p process) (usage, error) { return p.measure(ctx) }
	}
	random := rand.New(rand.NewPCG(s.seed, 0))
	var runs []Run
	for round := range s.rounds {
		for _, t := range random.Perm(len(s.traces)) {
			for _, c := range random.Perm(len(s.contenders)) {
				trace, contender := s.traces[t], s.contenders[c]
				if s.enough(runs, trace, contender) {
					continue
				}
				r, err := s.one(ctx, trace, contender, round)
				if err != nil {
					return nil, err
				}
				runs = append(runs, r)
			}
		}
	}
	return runs, nil
}

// enough reports whether a contender need not read the trace again: it
// failed, or takes so long that twice will do.
func (s session) enough(runs []Run, t trace, c contender) bool {
	n, slow := 0, false
	for _, r := range runs {
		if r.Trace != t.name() || r.Contender != c.name {
			continue
		}
		if r.Failure != "" {
			return true
		}
		n++
		slow = slow || r.Wall > s.long.Seconds()
	}
	return slow && n >= 2
}

func (s session) one(ctx context.Context, t trace, c contender, round int) (Run, error) {
	u, err := s.measure(ctx, process{
		argv: c.argv(t.path), oneCore: !c.all, timeout: s.timeout, memory: s.memory * 1e6,
	})
	if err != nil {
		return Run{}, fmt.Errorf("%s on %s: %w", c.name, t.name(), err)
	}
	r := Run{
		Trace: t.name(), Contender: c.name, Round: round,
		CPU: u.cpu.Seconds(), Wall: u.wall.Seconds(), RSS: u.rss, Others: u.others, Failure: u.failure,
	}
	// The diagnosis is JSON too, but nobody's to compare and long.
	if a := bytes.TrimSpace(u.stdout); c.name != diagnose && json.Valid(a) {
		r.Answer = a
	}
	note := r.Failure
	if note == "" && !r.calm() {
		note = fmt.Sprintf("disturbed: others used %.2f CPUs", r.Others)
	}
	fmt.Fprintf(s.progress, "round %d/%d  %-13s %-10s %8.2fs CPU %8.2fs wall %7.0f MB  %s\n",
		round+1, s.rounds, r.Trace, r.Contender, r.CPU, u.wall.Round(time.Millisecond).Seconds(), float64(r.RSS)/1e6, note)
	return r, nil
}
