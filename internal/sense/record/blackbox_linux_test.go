package record

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// memoryGroup makes a control group with a limit of memory and returns the file that takes
// processes; it skips the test where none can be made.
func memoryGroup(t *testing.T, limit int) (procs string) {
	t.Helper()
	for _, v := range []struct{ dir, file string }{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}} {
		dir := filepath.Join(v.dir, fmt.Sprintf("gowhy-test-%d-%d", os.Getpid(), time.Now().UnixNano()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		if os.WriteFile(filepath.Join(dir, v.file), []byte(strconv.Itoa(limit)), 0) != nil {
			os.Remove(dir)
			continue
		}
		t.Cleanup(func() {
			for range 100 { // its processes end some time after they were killed
				if os.Remove(dir) == nil {
					return
				}
				time.Sleep(20 * time.Millisecond)
			}
			t.Errorf("%s stays", dir)
		})
		return filepath.Join(dir, "cgroup.procs")
	}
	t.Skip("no control group with a limit can be made here")
	return ""
}

// buildMemory and buildWall build a program of testdata when they are called first.
var buildMemory, buildWall = building("memory"), building("wall")

func building(name string, flags ...string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		if err := os.MkdirAll(programs, 0o755); err != nil {
			return "", err
		}
		exe := filepath.Join(programs, name+strings.Join(flags, ""))
		args := append(append([]string{"build", "-o", exe}, flags...), "./testdata/"+name)
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %s", err, out)
		}
		return exe, nil
	})
}

// memoryProgram returns the program that has memory of one kind.
func memoryProgram(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe, err := buildMemory()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// startMemory starts the program with memory of a kind, in a group if it is not empty, and
// returns when the memory is there.
func startMemory(t *testing.T, exe, kind, procs string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(exe, kind)
	if procs != "" { // else what it has before counts for the group that it was in
		cmd = exec.Command("sh", "-c", `echo $$ > "$1" && exec "$2" "$3"`, "sh", procs, exe, kind)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program said %q", line)
	}
	return cmd
}

// TestKilledByMemory has a program that keeps 20 MB more each second in a group of 256 MiB: what
// it holds is on the disk while it still runs, and how it ended is added.
func TestKilledByMemory(t *testing.T) {
	attempt.Only(t, "fills control groups until the kernel kills")
	exe := memoryProgram(t)
	for i := range 4 {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			if err := attempt.Repeat(t, func() error { return killedByMemory(t, exe) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func killedByMemory(t *testing.T, exe string) error {
	t.Helper()
	procs := memoryGroup(t, 256<<20)
	cmd := startMemory(t, exe, "filling", procs)
	pid := cmd.Process.Pid
	go cmd.Wait()
	out := filepath.Join(t.TempDir(), "killed.gowhy")
	kept := 0
	var wrong error
	res, err := Run(t.Context(), Target{PID: pid}, Options{Out: out, UntilMemory: Mark{Share: 0.9}, Holders: Looks, Log: func(s string) { t.Log(s) }, Kept: func(recording.Event) {
		if exited(pid) {
			wrong = errors.New("it has ended by the time that evidence is kept")
			return
		}
		kept++
		if _, err := checkKilled(t, out, false); err != nil {
			wrong = err
		}
	}})
	if wrong != nil {
		return wrong
	}
	if err != nil || !res.Written || kept == 0 || res.Event == nil {
		return fmt.Errorf("Run() = %+v, %v, kept %d times, want it written, with an event, once or more",
			res, err, kept)
	}
	rec, err := checkKilled(t, out, true)
	if err != nil {
		return err
	}
	if looks := load(t, evidence.Options{}, out).Run.Holders; len(looks) == 0 || looks[0].Holders[0].Name != "main.kept" {
		return fmt.Errorf("%d looks at who holds the heap, want one with main.kept: refused %+v", len(looks), res.Refused)
	}
	t.Logf("kept %d times, the last %v before the end; %.0f ms of CPU in %v", kept, rec.Ended.Time.Sub(rec.Event.Time).Round(time.Millisecond),
		1000*res.Cost.RecorderCPU, res.Duration.Round(100*time.Millisecond))
	return nil
}

// checkKilled reads what is on the disk.
func checkKilled(t *testing.T, path string, ended bool) (*recording.Manifest, error) {
	t.Helper()
	rec, err := recording.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	man := rec.Manifest
	if e := man.Event; rec.Cut || e == nil || e.Kind != "memory" || e.Value < 0.9*e.Limit || e.Limit != 256<<20 {
		return man, fmt.Errorf("cut %v, event %+v; want 90%% of 256 MiB", rec.Cut, man.Event)
	}
	if e := man.Ended; ended && (e == nil || e.Kind != recording.EndedByMemory || e.Limit != 256<<20) {
		return man, fmt.Errorf("it ended by %+v, want the limit", e)
	}
	var names []string
	for _, m := range rec.Members {
		names = append(names, m.Name)
		if m.Name == recording.HeapEndMember {
			if err := checkHolder(t, m); err != nil {
				return man, err
			}
		}
	}
	for _, want := range []string{recording.HeapStartMember, recording.HeapEndMember, recording.GoroutineEndMember, recording.MetricsMember, recording.ProcMember} {
		if !slices.Contains(names, want) {
			return man, fmt.Errorf("members %q, want %s too", names, want)
		}
	}
	return man, nil
}

// checkHolder wants who filled the memory in a profile of the heap.
func checkHolder(t *testing.T, m recording.Member) error {
	t.Helper()
	r, err := m.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := profile.Parse(r)
	if err != nil {
		t.Fatal(err)
	}
	var by int64
	for _, s := range p.Sample {
		for _, l := range s.Location {
			if len(l.Line) > 0 && l.Line[0].Function.Name == "main.fill" {
				by += s.Value[3]
			}
		}
	}
	if by < 80<<20 {
		return fmt.Errorf("main.fill holds %d MiB by the profile, want about 100", by>>20)
	}
	return nil
}

// TestMarkNotReached has waits that end otherwise: what there is then is kept.
func TestMarkNotReached(t *testing.T) {
	attempt.Only(t, "runs programs for some seconds")
	exe := memoryProgram(t)
	for _, c := range []unreached{
		{"a size", Mark{Bytes: 20 << 20}, func(cmd *exec.Cmd, _ func()) { cmd.Process.Kill() }, 0, "signal"},
		{"time", Mark{Bytes: 4 << 30}, nil, 2 * time.Second, ""},
		{"interrupt", Mark{Bytes: 4 << 30}, func(_ *exec.Cmd, cancel func()) { cancel() }, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := attempt.Repeat(t, func() error { return c.waits(t, exe) }); err != nil {
				t.Error(err)
			}
		})
	}
	cmd, out := startMemory(t, exe, "live", ""), filepath.Join(t.TempDir(), "r.gowhy")
	_, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, Options{Out: out, UntilMemory: Mark{Share: 0.99}, Duration: time.Second})
	_, left := os.Stat(out)
	switch { // there may be a limit here
	case err == nil:
		t.Log("something limits it here")
	case !strings.Contains(err.Error(), "nothing limits the memory") || left == nil:
		t.Errorf("without a limit: %v, and a recording: %v", err, left == nil)
	}
}

// An unreached mark is waited for until the wait ends otherwise.
type unreached struct {
	name     string
	mark     Mark
	end      func(cmd *exec.Cmd, cancel func())
	duration time.Duration
	ended    string
}

// waits records a program until the wait ends, and says what is wrong with what was kept.
func (c *unreached) waits(t *testing.T, exe string) error {
	t.Helper()
	cmd := startMemory(t, exe, "live", "")
	go cmd.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if c.end != nil {
		time.AfterFunc(1500*time.Millisecond, func() { c.end(cmd, cancel) })
	}
	out := filepath.Join(t.TempDir(), "r.gowhy")
	var said []string
	res, err := Run(ctx, Target{PID: cmd.Process.Pid}, Options{Out: out, UntilMemory: c.mark, Duration: c.duration, Log: func(s string) { said = append(said, s) }})
	if err != nil || !res.Written {
		return fmt.Errorf("Run() = %+v, %v, want it written", res, err)
	}
	if (res.Event != nil) != (c.mark.Bytes < 1<<30) {
		return fmt.Errorf("event %+v, log %q, want an event %v", res.Event, said, c.mark.Bytes < 1<<30)
	}
	if res.Ended != nil {
		if got := res.Ended.Kind; got != c.ended && got != "" { // before Linux 6.15 nothing tells it
			return fmt.Errorf("ended by %q, want %q: %q", got, c.ended, said)
		}
	} else if c.ended != "" {
		return fmt.Errorf("nothing says that it ended: %q", said)
	}
	if !slices.ContainsFunc(res.Members, func(m recording.Member) bool { return m.Name == recording.HeapEndMember }) {
		return fmt.Errorf("members %+v, want the heap", res.Members)
	}
	return nil
}
