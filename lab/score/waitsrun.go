package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/testbed"
	"github.com/gowhy/gowhy/lab/internal/truth"
)

// A waitRunner runs programs of lab/waits and has gowhy look at them.
type waitRunner struct {
	bed   *testbed.Bed
	keep  string // folder that evidence is kept in; "" keeps none
	again bool   // look at what was kept, and run nothing
}

const (
	// waitLength is how long a program runs if nobody ends it.
	waitLength = 5 * time.Minute
	// waitRecord is how long it is recorded from outside.
	waitRecord = 4 * time.Second
	// waitWatch is how long it is watched at most: the first pieces of time take eight
	// seconds each, and two of them make a verdict.
	waitWatch = 30 * time.Second
	// waitDump is how long a program runs, from where its evidence is left, until it is
	// ended: who sends SIGQUIT does so after a while, and the dump has minutes then.
	waitDump = 65 * time.Second
	// waitLimit bounds all of it.
	waitLimit = 4 * time.Minute
)

func cpus() int { return max(1, runtime.NumCPU()) }

// A waitRun is one run of a program with the evidence of it.
type waitRun struct {
	*waitRunner
	name string
	dir  string // of its evidence
}

// evidence returns the file of a kind of evidence.
func (r *waitRun) evidence(kind WaitEvidence) string {
	name := map[WaitEvidence]string{WaitTrace: "trace", WaitDump: "dump.txt", WaitProfile: "goroutine.pb.gz", WaitPID: "pid.gowhy", WaitLive: "live.json"}[kind]
	return filepath.Join(r.dir, name)
}

// answers returns what gowhy says of a program from each kind of evidence. left is called
// once the program is no longer looked at; it may run on until a dump is taken.
func (r *waitRunner) answers(ctx context.Context, program string, want *truth.Wait, left func()) (answers []WaitAnswer) {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	defer left()
	name := want.Name
	run := &waitRun{waitRunner: r, name: name, dir: filepath.Join(cmp.Or(r.keep, r.bed.Dir()), "waits", name)}
	var failed error
	if !r.again {
		if r.keep == "" {
			defer os.RemoveAll(run.dir)
		}
		failed = run.take(ctx, program, want.Alone, left)
	}
	for _, kind := range waitEvidence {
		a := WaitAnswer{Program: name, Evidence: kind}
		err := run.ask(ctx, kind, &a)
		if r.again && errors.Is(err, fs.ErrNotExist) {
			continue // it was not kept
		}
		if err := errors.Join(failed, err); err != nil {
			a.Failed = (&runner{bed: r.bed}).brief(err)
		}
		answers = append(answers, a)
	}
	return answers
}

// take runs the program and takes all evidence of it, one after the other: none sees
// what another does to the program. One that uses the CPU is not kept for the dump.
func (r *waitRun) take(ctx context.Context, program string, busy bool, left func()) (err error) {
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, "-case", r.name, "-for", waitLength.String(), "-evidence", r.dir)
	cmd.Env = append(os.Environ(), "TMPDIR="+r.dir, "GOTRACEBACK=all")
	said, err := startSaying(ctx, cmd) // that evidence is left
	if err != nil {
		return err
	}
	until := time.NewTimer(waitDump)
	defer until.Stop()
	err = errors.Join(r.record(ctx, cmd.Process.Pid), r.watch(ctx, cmd.Process.Pid))
	left()
	if !busy {
		select {
		case <-until.C:
		case <-ctx.Done():
		}
	}
	if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
		return err
	}
	var exit *exec.ExitError
	if end := cmd.Wait(); !errors.As(end, &exit) || exit.ExitCode() != 2 {
		return fmt.Errorf("%s did not end by SIGQUIT: %v\n%s", r.name, end, said.String())
	}
	return errors.Join(err, os.WriteFile(r.evidence(WaitDump), said.Bytes(), 0o644))
}

// record records the program from outside.
func (r *waitRun) record(ctx context.Context, pid int) error {
	gowhy, err := r.bed.Gowhy(ctx)
	if err != nil {
		return err
	}
	_, err = testbed.Run(ctx, gowhy, "record", "--no-diagnose", "--pid", strconv.Itoa(pid), "-d", waitRecord.String(), "-o", r.evidence(WaitPID))
	return err
}

// A waitFrame is a line of `gowhy top --json`, as far as it is looked at.
type waitFrame struct {
	Processes []struct {
		PID     int
		Verdict *waitVerdict
	}
}

type waitVerdict struct {
	Line     string `json:"line"`
	Judged   int    `json:"judged"`
	Findings []struct {
		Rule    string `json:"rule"`
		Summary string `json:"summary"`
		Where   string `json:"where"`
		Remark  bool   `json:"remark"`
	} `json:"findings"`
}

// watch has gowhy top look at the program until there are findings, or it was judged
// twice without any, and keeps the last verdict.
func (r *waitRun) watch(ctx context.Context, pid int) error {
	gowhy, err := r.bed.Gowhy(ctx)
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, waitWatch)
	defer cancel()
	cmd := exec.CommandContext(timed, gowhy, "top", "--json", strconv.Itoa(pid))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = watchDelay
	cmd.Env = append(os.Environ(), "TMPDIR="+r.dir)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var last *waitVerdict
	for frames := json.NewDecoder(out); last == nil || last.Judged < 2 && len(last.Findings) == 0; {
		var f waitFrame
		if frames.Decode(&f) != nil { // its time is over
			break
		}
		for _, p := range f.Processes {
			if p.PID == pid && p.Verdict != nil {
				last = p.Verdict
			}
		}
	}
	cancel()
	_ = cmd.Wait() // it was interrupted
	if last == nil {
		return fmt.Errorf("gowhy top said nothing in %v: %s", waitWatch, strings.TrimSpace(complaint.String()))
	}
	b, err := json.MarshalIndent(last, "", "\t")
	if err != nil {
		return err
	}
	return os.WriteFile(r.evidence(WaitLive), b, 0o644)
}

// ask has gowhy answer from one kind of evidence.
func (r *waitRun) ask(ctx context.Context, kind WaitEvidence, a *WaitAnswer) error {
	file := r.evidence(kind)
	if _, err := os.Stat(file); err != nil {
		return err
	}
	if kind == WaitLive {
		return r.readLive(file, a)
	}
	return r.findings(ctx, a, file)
}

// findings has gowhy diagnose files.
func (r *waitRun) findings(ctx context.Context, a *WaitAnswer, files ...string) error {
	var d struct {
		Verdict, Summary string
		Findings         []struct {
			Rule, Summary string
			Remark        bool
			Where         []struct {
				Function, File string
				Line           int
			}
		}
	}
	if _, err := r.bed.Answer(ctx, &d, append([]string{"diagnose", "--format", "json"}, files...)...); err != nil {
		return err
	}
	a.Verdict, a.Said = d.Verdict, d.Summary
	for _, f := range d.Findings {
		finding := WaitFinding{Rule: f.Rule, Remark: f.Remark, Summary: f.Summary}
		for _, w := range f.Where[:min(len(f.Where), firstPlaces)] {
			finding.Where = append(finding.Where, WaitPlace{w.Function, filepath.Base(w.File), w.Line})
		}
		a.Findings = append(a.Findings, finding)
	}
	return nil
}

// readLive takes the verdict of the live view, whose line begins with its word.
func (r *waitRun) readLive(file string, a *WaitAnswer) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var v waitVerdict
	if err := json.Unmarshal(b, &v); err != nil {
		return err
	}
	a.Verdict, _, _ = strings.Cut(v.Line, " ")
	a.Said = v.Line
	for _, f := range v.Findings {
		finding := WaitFinding{Rule: f.Rule, Remark: f.Remark, Summary: f.Summary}
		if f.Where != "" {
			finding.Where = []WaitPlace{placeOf(f.Where)}
		}
		a.Findings = append(a.Findings, finding)
		if !f.Remark {
			a.Verdict = truth.WantProblem
		}
	}
	if strings.HasPrefix(v.Line, truth.WantStalled) {
		a.Verdict = truth.WantStalled
	}
	return nil
}

// placeOf returns the place of words like "main.work main.go:17".
func placeOf(where string) WaitPlace {
	function, at, ok := strings.Cut(where, " ")
	p := WaitPlace{Function: function}
	if file, line, found := strings.Cut(at, ":"); ok && found {
		p.File = filepath.Base(file)
		p.Line, _ = strconv.Atoi(line)
	}
	return p
}
