package testbed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Plain runs a job's program, with its load, as it is: nothing is recorded. One that
// does not end by itself is interrupted when its time or its load is over. Load, if
// gowhy offered it, is what it measured.
func (b *Bed) Plain(ctx context.Context, j Job) (f FinishedRun, load []byte, err error) {
	gowhy, err := b.Gowhy(ctx)
	if err != nil {
		return f, nil, err
	}
	room, err := b.room(j.Program, gowhy)
	if err != nil {
		return f, nil, err
	}
	defer room.remove()
	limit := j.Limit
	if limit == 0 {
		limit = j.Time + defaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &run{job: j, room: room}
	defer r.end()
	if r.recorder, err = start(j.Program, room.Fill(j.Args), j.Ready); err != nil {
		return f, nil, err
	}
	if err := r.plain(ctx); err != nil {
		return f, nil, fmt.Errorf("running %s: %w", filepath.Base(j.Program), err)
	}
	g := r.recorder
	f = FinishedRun{Stdout: g.stdout.String(), Stderr: g.stderr.String(), Took: g.took, State: g.cmd.ProcessState, ExitCode: g.cmd.ProcessState.ExitCode()}
	load, _ = os.ReadFile(r.loadFile()) // another generator leaves none
	return f, load, nil
}

// plain runs the program to its end, or interrupts it when it was asked for enough.
func (r *run) plain(ctx context.Context) (err error) {
	load := r.loadCommand()
	if len(load) == 0 && r.job.Time == 0 {
		return r.recorder.wait(ctx)
	}
	if len(load) == 0 {
		timer := time.NewTimer(r.job.Time)
		defer timer.Stop()
		select {
		case <-r.recorder.ended:
			return r.recorder.err
		case <-timer.C:
		case <-ctx.Done():
			return r.recorder.failed(whyDone(ctx))
		}
	} else {
		if err := r.recorder.awaitReady(ctx); err != nil {
			return err
		}
		if err := r.offer(ctx, load); err != nil {
			return err
		}
	}
	r.recorder.interrupt()
	select { // that it fails when it is interrupted is no failure
	case <-r.recorder.ended:
	case <-time.After(parting):
		r.recorder.kill()
		<-r.recorder.ended
	}
	return nil
}

// parting is how long a program may take to end when it is interrupted.
const parting = 5 * time.Second
