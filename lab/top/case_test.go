//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/casetest"
)

// TestMain lets the test binary be a population, as the program is.
func TestMain(m *testing.M) {
	if os.Getenv(idleVariable) != "" {
		idle()
	}
	os.Exit(m.Run())
}

// A key is what of a row does not change while nobody works.
type key struct {
	id, depth int
	thread    bool
	name      string
}

// each gives every design and a monitor of it.
func each(t *testing.T, w watch, f func(t *testing.T, m monitor)) {
	for name, design := range designs {
		t.Run(name, func(t *testing.T) {
			m, err := design(w)
			if err != nil {
				t.Fatal(err)
			}
			defer m.close()
			f(t, m)
		})
	}
}

func start(t *testing.T, n int) *population {
	t.Helper()
	p, err := populate(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.end)
	return p
}

// All designs see the same.
func TestSameRows(t *testing.T) {
	p := start(t, 5)
	w := watch{pid: os.Getpid(), tree: true, threads: true, every: 1}
	children := map[int]bool{}
	for _, c := range p.children {
		children[c.Process.Pid] = true
	}
	seen := map[string][]key{}
	// The children's threads may still be starting.
	for range 50 {
		clear(seen)
		each(t, w, func(t *testing.T, m monitor) {
			for range 2 { // what came is whole by the second
				if err := m.update(); err != nil {
					t.Fatal(err)
				}
			}
			var keys []key
			ours := false
			for _, r := range m.rows() {
				if !r.thread {
					ours = children[r.id]
				}
				if ours {
					keys = append(keys, key{r.id, r.depth, r.thread, r.name})
				}
			}
			seen[t.Name()] = keys
		})
		if same(seen) {
			break
		}
	}
	for name, keys := range seen {
		if !same(seen) {
			t.Errorf("%s: %v, want the same rows by each design", name, keys)
		}
		for pid := range children {
			if !slices.Contains(keys, key{pid, 1, false, filepath.Base(os.Args[0])[:min(15, len(filepath.Base(os.Args[0])))]}) {
				t.Errorf("%s: %d is missing in %v", name, pid, keys)
			}
		}
	}
}

func same(seen map[string][]key) bool {
	var first []key
	for _, keys := range seen {
		if first == nil {
			first = keys
		}
		if !slices.Equal(keys, first) {
			return false
		}
	}
	return len(first) > 0
}

// Many goroutines may update one monitor while processes come and go: no map
// is written by two, no call is lost, nothing hangs.
func TestConcurrentUpdates(t *testing.T) {
	each(t, watch{pid: os.Getpid(), tree: true, threads: true, every: 3}, func(t *testing.T, m monitor) {
		var working sync.WaitGroup
		for range 4 {
			working.Go(func() {
				for range 10 {
					if err := m.update(); err != nil {
						t.Error(err)
					}
					m.rows()
					m.kept()
				}
			})
		}
		for range 3 {
			p, err := populate(2)
			if err != nil {
				t.Fatal(err)
			}
			m.update()
			p.end()
		}
		working.Wait()
		done := make(chan error, 1)
		go func() { done <- m.update() }()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("an update hangs")
		}
		if rows := m.rows(); rows[0].id != os.Getpid() {
			t.Errorf("the rows begin with %+v, want this process", rows[0])
		}
	})
}

// A broadcast calls every listener once, whatever the number of calls.
func TestEveryCallIsAnswered(t *testing.T) {
	m, err := newBroadcast(watch{pid: os.Getpid(), tree: true, threads: true, every: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	b := m.(*broadcast)
	for range 100 {
		if err := b.update(); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range b.all {
		if l.turn < 0 || l.turn >= 4 {
			t.Errorf("a listener reads in %d calls, want 0 to 3", l.turn)
		}
	}
}

func TestGone(t *testing.T) {
	each(t, watch{pid: 1 << 30, every: 1}, func(t *testing.T, m monitor) {
		if err := m.update(); err == nil {
			t.Error("no error for a process that never was")
		}
	})
}

// The population ends with its parent, however that ends.
func TestPopulationEnds(t *testing.T) {
	program := casetest.Build(t)
	cmd := exec.Command(strings.Fields(program.Command())[0], "-processes", "3", "-thread=false", "-interval", "1ms")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m, err := newKept(watch{pid: cmd.Process.Pid, tree: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var family []int
	deadline := time.Now().Add(10 * time.Second)
	for len(family) < 4 && time.Now().Before(deadline) {
		family = family[:0]
		m.update()
		for _, r := range m.rows() {
			family = append(family, r.id)
		}
		time.Sleep(time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	if len(family) != 4 {
		t.Fatalf("%d processes, want 4", len(family))
	}
	for _, pid := range family {
		for syscall.Kill(pid, 0) == nil && !zombie(pid) {
			if time.Now().After(deadline) {
				t.Fatalf("%d is still there", pid)
			}
			time.Sleep(time.Millisecond)
		}
	}
}

// zombie reports whether a process has ended and only its parent has not asked.
func zombie(pid int) bool {
	text, err := os.ReadFile(filepath.Join(processDir(pid), "stat"))
	if err != nil {
		return true
	}
	s, err := parseStat(text)
	return err == nil && s.state == 'Z'
}

// What the program prints whatever the design, and what it says of wrong flags.
func TestProgram(t *testing.T) {
	program := casetest.Build(t)
	for name := range designs {
		run := program.Run(t, "-design", name, "-processes", "3", "-refreshes", "4", "-interval", "1ms", "-every", "2", "-procs", "3")
		if !strings.HasSuffix(run.Stdout, "\noperations: 4\n") || !strings.Contains(run.Stdout, "PID S") || strings.Contains(run.Stdout, "\x1b") {
			t.Errorf("%s printed %q, want the table and 4 operations, without control characters", name, run.Stdout)
		}
	}
	path := strings.Fields(program.Command())[0]
	for _, args := range [][]string{{"-design", "x"}, {"-pid", "-1"}, {"-every", "0"}, {"-processes", "1000000"}, {"-pid", strconv.Itoa(1 << 30), "-refreshes", "1"}} {
		out, err := exec.Command(path, args...).CombinedOutput()
		if err == nil || !strings.HasPrefix(string(out), "top: ") && !strings.Contains(string(out), "\ntop: ") {
			t.Errorf("top %q: %v, %q; want an error of top", args, err, out)
		}
	}
}

// No name reaches the terminal with what can move its cursor.
func TestNames(t *testing.T) {
	if got := label(row{name: "a\x1b[2J\nb\u202e\xff", thread: true}); got != "{a?[2J?b?\ufffd}" {
		t.Errorf("label() = %q, want {a?[2J?b?\ufffd}", got)
	}
}

// The counts that the case is about, by the kernel: ten system calls for a file
// that is opened anew, and one for a file that is kept.
func TestSystemCalls(t *testing.T) {
	attempt.Only(t, "counts system calls, which takes root")
	if os.Getuid() != 0 {
		t.Skip("only root may count system calls")
	}
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	const refreshes = "20"
	command := func(design string) string {
		return program.Command("-design", design, "-processes", "10", "-interval", "0", "-refreshes", refreshes)
	}
	trial := gowhy.Verify(t, command("readfile"), command("kept"), "--primary", "syscalls/op", "--ops", refreshes, "--pairs", "3", "--guard", "none", "--no-floor")
	i := slices.IndexFunc(trial.Effects, func(e casetest.Effect) bool { return e.Metric == "syscalls/op" })
	if i < 0 {
		t.Fatalf("Verify() has the effects %+v, want one on syscalls/op", trial.Effects)
	}
	// Some of what is counted is the start of the program and its population.
	if e := trial.Effects[i]; e.Ratio <= 0 || e.Ratio > 0.25 {
		t.Errorf("%.2f times the system calls of readfile, want a quarter at most; %s", e.Ratio, trial.Why)
	}
}
