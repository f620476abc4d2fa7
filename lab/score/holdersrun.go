package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

const (
	// holderLength is how long a program runs if nobody ends it.
	holderLength = 2 * time.Minute
	// holderLimit bounds what is done with one.
	holderLimit = 90 * time.Second
)

// errNoCore is of a machine on which a kernel does not put cores into the working directory.
var errNoCore = errors.New("the kernel leaves no core in the working directory")

// A holderRun is one run of a program, from its start to its core.
type holderRun struct {
	waitRun
	want    *truth.Holder
	program string
	cmd     *exec.Cmd
	core    string
}

// take has the program run, or end with a core.
func (r *holderRun) take(ctx context.Context, kind HolderEvidence) error {
	if kind == HolderCore {
		return r.abort()
	}
	r.cmd = exec.CommandContext(ctx, "sh", "-c", `ulimit -c unlimited; exec "$0" "$@"`, r.program, "-case", r.name, "-for", holderLength.String())
	r.cmd.Dir, r.cmd.Env = r.dir, append(os.Environ(), "GOTRACEBACK=crash", "GOMAXPROCS=2")
	_, err := startSaying(ctx, r.cmd)
	return err
}

// abort ends the program with a core.
func (r *holderRun) abort() error {
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	if name := strings.TrimSpace(string(pattern)); name == "" || strings.ContainsAny(name[:1], "|/") {
		return errNoCore
	}
	if err := r.cmd.Process.Signal(syscall.SIGABRT); err != nil {
		return err
	}
	_ = r.cmd.Wait() // it was aborted
	r.cmd = nil
	list, err := filepath.Glob(filepath.Join(r.dir, "*core*"))
	if err != nil || len(list) == 0 {
		return errNoCore
	}
	r.core = list[0]
	return nil
}

// end ends the program.
func (r *holderRun) end() {
	if r.cmd != nil && r.cmd.Process != nil {
		_ = r.cmd.Process.Kill()
		_ = r.cmd.Wait()
	}
}

// ask has gowhy answer from one kind of evidence.
func (r *holderRun) ask(ctx context.Context, kind HolderEvidence, a *HolderAnswer) error {
	of := []string{r.core, r.program}
	if kind == HolderPID {
		of = []string{strconv.Itoa(r.cmd.Process.Pid)}
	}
	switch {
	case r.want.Kind == truth.WantNone:
		return r.diagnose(ctx, kind, a)
	case r.want.InAccount():
		return r.account(ctx, of, a)
	}
	return r.holders(ctx, of, a)
}

// diagnose asks what is wrong with the program.
func (r *holderRun) diagnose(ctx context.Context, kind HolderEvidence, a *HolderAnswer) error {
	var w WaitAnswer
	var err error
	if kind == HolderCore {
		err = r.findings(ctx, &w, r.core, r.program)
	} else if err = r.record(ctx, r.cmd.Process.Pid); err == nil {
		err = r.waitRun.ask(ctx, WaitPID, &w)
	}
	a.Verdict, a.Findings = w.Verdict, w.Findings
	return err
}

// holders asks who holds the heap.
func (r *holderRun) holders(ctx context.Context, of []string, a *HolderAnswer) error {
	var held struct {
		Holders []struct {
			Kind, Name, Way string
			Bytes           int64
		}
		Reached   struct{ Bytes int64 }
		Marked    int64 `json:"marked_bytes"`
		Allocated int64 `json:"allocated_bytes"`
	}
	if _, err := r.bed.Answer(ctx, &held, append([]string{"memory", "--holders", "--format", "json"}, of...)...); err != nil {
		return err
	}
	a.Reached, a.Marked, a.Allocated = held.Reached.Bytes, held.Marked, held.Allocated
	if len(held.Holders) > 0 {
		first := held.Holders[0]
		a.Kind, a.Name, a.Way, a.Bytes = first.Kind, first.Name, first.Way, first.Bytes
	}
	return nil
}

// account asks for the account of memory, of which the largest part is the answer.
func (r *holderRun) account(ctx context.Context, of []string, a *HolderAnswer) error {
	rows, err := askAccount(ctx, r.bed, of...)
	for _, row := range rows {
		if row.bytes > a.Bytes {
			a.Kind, a.Name, a.Bytes = rowKind, row.name, row.bytes
		}
	}
	return err
}
