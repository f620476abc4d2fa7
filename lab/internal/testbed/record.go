package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A Job is one run of a program that is to be recorded. Placeholders in its
// commands are filled; see [Room].
type Job struct {
	Program string // from Build
	Args    []string
	// Time is how long is recorded, or load offered when there is any; 0 is to
	// the program's end.
	Time time.Duration
	// Ready is what a line of standard output begins with when load can be
	// offered.
	Ready string
	// Load is a command that offers load; the recording ends with it.
	Load []string
	// Beside is a command that runs meanwhile.
	Beside []string
	// Out is the file to write; "" takes one in the bed.
	Out string
	// Limit ends a run that takes longer; 0 is a minute more than Time.
	Limit time.Duration
}

// A Recording is a recorded run.
type Recording struct {
	Path string
	Size int64 // bytes
	// Took is the whole run with recording, from start to packed file.
	Took           time.Duration
	Stdout, Stderr string // the program's, and gowhy's between it
	Operations     float64
}

const defaultLimit = time.Minute

// Record runs a program under `gowhy record`, with its load. The program's own
// failure is an error, and so is a load's.
func (b *Bed) Record(ctx context.Context, j Job) (*Recording, error) {
	gowhy, err := b.Gowhy(ctx)
	if err != nil {
		return nil, err
	}
	room, err := b.room(j.Program, gowhy)
	if err != nil {
		return nil, err
	}
	defer room.remove()
	if j.Out == "" {
		j.Out = room.Dir + ".gowhy"
	}
	limit := j.Limit
	if limit == 0 {
		limit = j.Time + defaultLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &run{job: j, room: room}
	defer r.end()
	if err := r.record(ctx); err != nil {
		return nil, fmt.Errorf("recording %s: %w", filepath.Base(j.Program), err)
	}
	return r.result()
}

// A run is what was started for one job.
type run struct {
	job                  Job
	room                 *Room
	recorder, load, hogs *group
}

// end leaves nothing behind.
func (r *run) end() {
	for _, g := range []*group{r.load, r.recorder, r.hogs} {
		if g != nil {
			g.kill()
			<-g.ended
		}
	}
}

func (r *run) record(ctx context.Context) (err error) {
	if beside := r.room.Fill(r.job.Beside); len(beside) > 0 {
		if r.hogs, err = start(beside[0], beside[1:], ""); err != nil {
			return err
		}
	}
	load := r.loadCommand()
	args := append(r.recordFlags(load), r.job.Program)
	args = append(args, r.room.Fill(r.job.Args)...)
	if r.recorder, err = start(r.room.Gowhy, args, r.job.Ready); err != nil {
		return err
	}
	if len(load) == 0 {
		return r.recorder.wait(ctx)
	}
	return r.underLoad(ctx, load)
}

// recordFlags returns the arguments of gowhy before the program's.
func (r *run) recordFlags(load []string) []string {
	args := []string{"record", "--no-diagnose", "-o", r.job.Out}
	if len(load) == 0 && r.job.Time > 0 {
		args = append(args, "-d", r.job.Time.String())
	}
	if r.ofGowhy(load) {
		args = append(args, "--load", r.loadFile())
	}
	return append(args, "--")
}

func (r *run) ofGowhy(load []string) bool {
	return len(load) > 1 && load[0] == r.room.Gowhy && load[1] == "load"
}

func (r *run) loadFile() string { return filepath.Join(r.room.Dir, "load.json") }

// loadCommand returns the load with its placeholders filled; gowhy's own leaves its
// result in a file, is told how long to go on when nobody says so, and has
// more flags.
func (r *run) loadCommand(more ...string) []string {
	load := r.room.Fill(r.job.Load)
	if !r.ofGowhy(load) {
		return load
	}
	end := len(load) // what follows -- is another program's
	if i := slices.Index(load, "--"); i >= 0 {
		end = i
	}
	return slices.Insert(load, end, append(r.loadFlags(load[2:end]), more...)...)
}

func (r *run) loadFlags(given []string) []string {
	flags := []string{"-o", r.loadFile()}
	if r.job.Time == 0 || slices.ContainsFunc(given, ends) {
		return flags
	}
	return append(flags, "-d", r.job.Time.String())
}

// ends reports whether an argument says when a load ends.
func ends(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.Contains([]string{"-d", "--duration", "-n", "--count"}, name)
}

// underLoad offers the load once the program is ready, and ends the recording
// with it: an interrupt is how a user would.
func (r *run) underLoad(ctx context.Context, load []string) (err error) {
	if err := r.recorder.awaitReady(ctx); err != nil {
		return err
	}
	if err := r.offer(ctx, load); err != nil {
		return err
	}
	r.recorder.interrupt()
	return r.recorder.wait(ctx)
}

// offer offers a load to its end, or for the job's time when it has none.
func (r *run) offer(ctx context.Context, load []string) (err error) {
	if r.load, err = start(load[0], load[1:], ""); err != nil {
		return err
	}
	var done <-chan time.Time
	if !r.ofGowhy(load) && r.job.Time > 0 {
		timer := time.NewTimer(r.job.Time)
		defer timer.Stop()
		done = timer.C
	}
	select {
	case <-r.load.ended:
		if r.load.err != nil {
			return r.load.err
		}
	case <-done: // a load without an end of its own
		r.load.kill()
	case <-r.recorder.ended:
		return errors.Join(errors.New("the program ended under its load"), r.recorder.err)
	case <-ctx.Done():
		return r.recorder.failed(whyDone(ctx))
	}
	return nil
}

func (r *run) result() (*Recording, error) {
	info, err := os.Stat(r.job.Out)
	if err != nil {
		return nil, fmt.Errorf("gowhy record wrote nothing: %w\n%s", err, tail(r.recorder.stderr.String()))
	}
	stdout := r.recorder.stdout.String()
	return &Recording{
		Path: r.job.Out, Size: info.Size(), Took: r.recorder.took,
		Stdout: stdout, Stderr: r.recorder.stderr.String(), Operations: Operations(stdout),
	}, nil
}

// Room makes a room for commands that somebody else runs; remove ends it.
func (b *Bed) Room(ctx context.Context, program string) (room *Room, remove func(), err error) {
	gowhy, err := b.Gowhy(ctx)
	if err != nil {
		return nil, nil, err
	}
	if room, err = b.room(program, gowhy); err != nil {
		return nil, nil, err
	}
	return room, room.remove, nil
}
