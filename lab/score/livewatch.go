package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
)

// A frameJSON is what a line of `gowhy top --json` promises, as far as it is looked at.
type frameJSON struct {
	Time    time.Time
	Machine struct {
		Busy float64 `json:"busy_cores"`
	}
	Processes []processJSON
	Cost      struct {
		CPU float64
	}
}

type processJSON struct {
	PID     int
	CPU     struct{ User, System float64 }
	Verdict *struct {
		Line     string
		Judged   int
		Findings []struct {
			Rule, Where, Confidence string
			Remark                  bool
		}
		Unchecked []string
		Recording string
	}
}

// A viewer makes an answer of frames.
type viewer struct {
	pid    int
	began  time.Time
	answer *LiveAnswer
	// piece is called for each new recording that a verdict is from.
	piece func(n int, file string)

	frames             int
	cores, busy, gowhy float64 // sums
}

// add takes a frame. It reports whether the program is still there.
func (v *viewer) add(f *frameJSON) bool {
	i := slices.IndexFunc(f.Processes, func(p processJSON) bool { return p.PID == v.pid })
	if i < 0 {
		return false
	}
	p, a := &f.Processes[i], v.answer
	at := digits1(f.Time.Sub(v.began).Seconds())
	a.Seconds = at
	v.frames++
	v.cores += p.CPU.User + p.CPU.System
	v.busy += f.Machine.Busy
	v.gowhy += f.Cost.CPU
	n := float64(v.frames)
	a.Cores, a.Cost = digits2(v.cores/n), digits2(v.gowhy/n)
	a.Others = digits2(max(0, (v.busy-v.cores-v.gowhy)/n))
	if p.Verdict == nil {
		return true
	}
	if p.Verdict.Judged > a.Judged && v.piece != nil {
		v.piece(p.Verdict.Judged, p.Verdict.Recording)
	}
	a.Judged, a.Unchecked = p.Verdict.Judged, p.Verdict.Unchecked
	view := View{At: at, Line: p.Verdict.Line}
	for _, g := range p.Verdict.Findings {
		view.Findings = append(view.Findings, LiveFinding{g.Rule, functionOf(g.Where), g.Confidence, g.Remark})
	}
	last := len(a.Views) - 1
	if last < 0 || a.Views[last].Line != view.Line || !slices.Equal(a.Views[last].Findings, view.Findings) {
		a.Views = append(a.Views, view)
	}
	return true
}

// functionOf returns the function of a place, which is "main.work main.go:17".
func functionOf(where string) string {
	if i := strings.LastIndexByte(where, ' '); i >= 0 {
		return where[:i]
	}
	return where
}

func digits1(v float64) float64 { return math.Round(v*10) / 10 }
func digits2(v float64) float64 { return math.Round(v*100) / 100 }

// A liveRunner runs programs and watches them.
type liveRunner struct {
	bed  *testbed.Bed
	keep string // folder that the pieces are kept in; "" keeps none

	mu   sync.Mutex
	took map[string]time.Duration // by arguments: how long a program that counts runs
}

const (
	// settle is how long a program runs before it is watched: how it begins is not what
	// is judged.
	settle = 2 * time.Second
	// farewell is how much longer it runs than it is watched.
	farewell = 2 * time.Second
	// pidLimit bounds the start of a program.
	pidLimit = 10 * time.Second
)

// do watches one program for a time, beside so many others. One that had too little to
// count, because the machine was slower when that was found out, is run once more.
func (r *liveRunner) do(ctx context.Context, w watching, d time.Duration, beside int) LiveAnswer {
	for more := 1.0; ; more = 3 {
		a := LiveAnswer{Case: w.c.Name, Name: w.name, Kind: w.kind, Trace: w.trace, Beside: beside, Views: []View{}}
		err := r.attend(ctx, w, d, more, &a)
		if errors.Is(err, errEnded) && w.counts() && more == 1 && ctx.Err() == nil {
			continue
		}
		if err != nil {
			a.Failed = (&runner{bed: r.bed}).brief(err)
		}
		return a
	}
}

// errEnded is of a program that was to run for longer.
var errEnded = errors.New("the program ended before it was watched for its time")

// becomes is a shell that says its number and becomes the program, which makes its
// temporary files in a folder that is removed with all of it.
const becomes = `export TMPDIR="$1"; echo $$ >"$1/pid"; shift; exec "$@"`

func (r *liveRunner) attend(ctx context.Context, w watching, d time.Duration, more float64, a *LiveAnswer) error {
	program, err := r.bed.Build(ctx, w.c.Dir)
	if err != nil {
		return err
	}
	length := settle + d + farewell
	args, why, err := r.lasting(ctx, program, w, length, more)
	if err != nil || why != "" {
		a.LeftOut = why
		return err
	}
	if w.trace {
		args = append(args, "-pprof", "127.0.0.1:0")
	}
	dir, err := os.MkdirTemp(r.bed.Dir(), "live-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if beside := fillCase(w.beside, program); len(beside) > 0 {
		stopped := make(chan struct{})
		hogs, stop := context.WithCancel(ctx)
		go func() {
			defer close(stopped)
			for hogs.Err() == nil { // it may have a time of its own
				if _, err := testbed.Run(hogs, beside[0], beside[1:]...); err != nil {
					return
				}
			}
		}()
		defer func() { stop(); <-stopped }()
	}
	ended := make(chan error, 1)
	go func() {
		_, _, err := r.bed.Plain(ctx, testbed.Job{
			Program: "/bin/sh", Args: slices.Concat([]string{"-c", becomes, "sh", dir, program}, fillCase(args, program)),
			Time: length, Ready: w.c.Ready, Load: fillCase(w.load, program),
		})
		ended <- err
	}()
	pid, err := awaitPID(ctx, filepath.Join(dir, "pid"), ended)
	if err == nil {
		err = r.watch(ctx, pid, w, d, dir, a)
	}
	if err != nil {
		cancel()
		<-ended
		return err
	}
	return <-ended
}

// fillCase puts the program where a command has it.
func fillCase(args []string, program string) []string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = strings.ReplaceAll(arg, "{case}", program)
	}
	return out
}

// awaitPID reads the number of a program that has settled.
func awaitPID(ctx context.Context, file string, ended chan error) (pid int, err error) {
	early := func(err error) error {
		ended <- err // for who waits for the end
		if err == nil {
			err = errEnded
		}
		return err
	}
	for begin := time.Now(); ; {
		b, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
		if strings.HasSuffix(string(b), "\n") {
			if pid, err = strconv.Atoi(strings.TrimSpace(string(b))); err != nil {
				return 0, err
			}
			break
		}
		if time.Since(begin) > pidLimit {
			return 0, errors.New("it did not start in time")
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case err := <-ended:
			return 0, early(err)
		}
	}
	select {
	case <-time.After(settle):
		return pid, nil
	case err := <-ended:
		return 0, early(err)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// lasting returns the arguments of a run of a length. How long a program that counts runs is
// found out by running it as it is recorded; more is a factor beyond that.
func (r *liveRunner) lasting(ctx context.Context, program string, w watching, d time.Duration, more float64) (args []string, why string, err error) {
	took := time.Duration(0)
	if w.counts() {
		if took, _, err = r.probe(ctx, program, w); err != nil {
			return nil, "", fmt.Errorf("as it is recorded: %w", err)
		}
	}
	return w.lasting(d, time.Duration(float64(took)/more))
}

// probeTime is how long a program that does not count is run to see what it uses.
const probeTime = 4 * time.Second

// probe runs a program as it is recorded, to its end or for a few seconds: how long that
// took, and how many CPUs it used.
func (r *liveRunner) probe(ctx context.Context, program string, w watching) (took time.Duration, cores float64, err error) {
	id := program + "\x00" + strings.Join(w.args, "\x00")
	job := testbed.Job{Program: program, Args: w.args}
	if !w.counts() {
		if job.Time = probeTime; len(extents[w.c.Name].endless) > 0 {
			job.Args = slices.Concat(w.args, extents[w.c.Name].endless)
		}
	} else if took := r.known(id); took > 0 {
		return took, 0, nil
	}
	f, _, err := r.bed.Plain(ctx, job)
	if err != nil {
		return 0, 0, err
	}
	if w.counts() {
		r.mu.Lock()
		r.took[id] = f.Took
		r.mu.Unlock()
	}
	return f.Took, (f.State.UserTime() + f.State.SystemTime()).Seconds() / f.Took.Seconds(), nil
}

func (r *liveRunner) known(id string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took[id]
}

// watchDelay bounds the end of gowhy top.
const watchDelay = 30 * time.Second

// watch has gowhy top look at a process for a time.
func (r *liveRunner) watch(ctx context.Context, pid int, w watching, d time.Duration, dir string, a *LiveAnswer) error {
	gowhy, err := r.bed.Gowhy(ctx)
	if err != nil {
		return err
	}
	args := []string{"top", "--json"}
	if w.trace {
		args = append(args, "--trace")
	}
	timed, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	cmd := exec.CommandContext(timed, gowhy, append(args, strconv.Itoa(pid))...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = watchDelay
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	var pieces []string
	v := viewer{pid: pid, answer: a, piece: func(n int, file string) {
		if r.keep == "" && w.kind != Sick {
			return // nobody looks at them again
		}
		if copied := r.keepPiece(a, n, file, dir); copied != "" {
			pieces = append(pieces, copied)
		}
	}}
	v.began = time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	here := readFrames(out, &v)
	_, _ = io.Copy(io.Discard, out)
	err = cmd.Wait()
	switch {
	case timed.Err() != nil && here: // it was interrupted: that was the end of its time
		if w.kind == Sick && judgeLive(a, w.ill.Rule, w.ill.Where).first > liveLimit.Seconds() {
			a.Pieces, err = r.diagnosePieces(ctx, pieces)
			return err
		}
		return nil
	case v.frames > 0:
		return fmt.Errorf("%w, after %.0f s", errEnded, a.Seconds)
	case err != nil:
		return fmt.Errorf("gowhy top: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	return errors.New("gowhy top showed nothing of it")
}

// readFrames reads frames to their end, or to that of the program that they show.
func readFrames(from io.Reader, v *viewer) (here bool) {
	frames := json.NewDecoder(from)
	for {
		var f frameJSON
		if frames.Decode(&f) != nil { // the end, or a line that the end has cut
			return v.frames > 0
		}
		if !v.add(&f) {
			return false
		}
	}
}

// keepPiece copies the recording of a piece of time while it is there, to where all are kept
// or to the folder of the run.
func (r *liveRunner) keepPiece(a *LiveAnswer, n int, file, dir string) (copied string) {
	b, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	name := strings.NewReplacer("/", "-", " ", "-", ",", "", "+", "-").Replace(a.key())
	copied = filepath.Join(cmp.Or(r.keep, dir), fmt.Sprintf("%s-%d.gowhy", name, n))
	if os.WriteFile(copied, b, 0o644) != nil {
		return ""
	}
	return copied
}

// diagnosePieces has gowhy diagnose pieces of time one by one: what was shown is what
// several of them have.
func (r *liveRunner) diagnosePieces(ctx context.Context, files []string) (pieces []Piece, err error) {
	for _, file := range files {
		var d struct {
			Verdict  string
			Findings []struct {
				Rule, Confidence string
				Remark           bool
				Where            []struct{ Function string }
			}
		}
		if _, err := r.bed.Answer(ctx, &d, "diagnose", "--format", "json", file); err != nil {
			return pieces, err
		}
		p := Piece{Verdict: d.Verdict}
		for _, f := range d.Findings {
			g := LiveFinding{Rule: f.Rule, Confidence: f.Confidence, Remark: f.Remark}
			if len(f.Where) > 0 {
				g.Function = f.Where[0].Function
			}
			p.Findings = append(p.Findings, g)
		}
		pieces = append(pieces, p)
	}
	return pieces, nil
}
