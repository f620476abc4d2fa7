package record

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// withoutSymbols is in the environment of programs that have none.
const withoutSymbols = "STRIPPED=1"

// TestMemoryAccount has programs with memory of one kind: the account adds up to what the
// kernel says, and has the memory where it is.
func TestMemoryAccount(t *testing.T) {
	attempt.Only(t, "runs a dozen programs")
	exe := memoryProgram(t)
	stripped, err := building("memory", "-ldflags=-s")()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind, env, part string
		most            int64 // of 60 MiB, what may be elsewhere
	}{
		{"live", "", "heap: alive at the last collection", 2}, {"live", "GOMEMLIMIT=200MiB", "heap: alive at the last collection", 2},
		{"garbage", "GOGC=off", "heap: objects, garbage included", 2}, {"idle", "", "heap: free and not given back", 3},
		// Of 60 MiB in pieces of 1 KiB each eighth stays.
		{"fragmented", "", "heap: fragmentation in spans in use", 10},
		{"untouched", "", "", 0}, {"native", "", "native: cgo, mmap, threads' stacks", 5}, {"shared", "", "shared memory", 1},
		{"file", "GOGC=1", "mapped files", 1}, {"stacks", "", "stacks of goroutines", 6}, {"server", "", "", 0},
		{"live", withoutSymbols, "heap: alive at the last collection", 2}, {"fragmented", withoutSymbols, "heap: fragmentation in spans in use", 10},
		{"native", withoutSymbols, "native: cgo, mmap, threads' stacks", 5},
	} {
		t.Run(c.kind+c.env, func(t *testing.T) {
			exe := exe
			if c.env == withoutSymbols {
				exe = stripped
			}
			a, resident := accountOf(t, exe, c.kind, c.env)
			var sum, part uint64
			for _, p := range a.Parts {
				sum += p.Bytes
				if p.Name == c.part {
					part += p.Bytes
				}
			}
			t.Logf("%d KiB of %d, %s %d", sum>>10, resident>>10, c.part, part>>10)
			if apart := int64(sum) - int64(resident); max(apart, -apart) > int64(resident/100) {
				t.Errorf("the account has %d KiB, and smaps %d", sum>>10, resident>>10)
			}
			if want := int64(60<<20) - c.most<<20; c.part != "" && (int64(part) < want || part > 70<<20) {
				t.Errorf("%s is %d KiB, want 60 MiB: %+v", c.part, part>>10, a.Parts)
			}
			if untouched := a.Untouched >= 299<<20; untouched != (c.kind == "untouched") {
				t.Errorf("%d KiB were never touched", a.Untouched>>10)
			}
		})
	}
}

// accountOf returns the account of a program that was started so, and what smaps says of it.
func accountOf(t *testing.T, exe, kind, env string) (*model.MemoryAccount, uint64) {
	t.Helper()
	cmd := exec.Command(exe, kind)
	if cmd.Env = os.Environ(); env != "" {
		cmd.Env = append(cmd.Env, env)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cmd.Process.Kill()
		cmd.Wait()
	}()
	if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
		t.Fatalf("the program said %q", line)
	}
	time.Sleep(100 * time.Millisecond)
	out := filepath.Join(t.TempDir(), "memory.gowhy")
	if _, err := Run(t.Context(), Target{PID: cmd.Process.Pid}, Options{Out: out, Duration: 300 * time.Millisecond, Outside: true, Only: []string{"proc", "metrics"}}); err != nil {
		t.Fatal(err)
	}
	rollup, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "smaps_rollup"))
	if err != nil {
		t.Skip(err)
	}
	m, err := evidence.Load(t.Context(), []string{out}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(rollup), "\nRss:")
	resident, _ := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
	return m.MemoryAccount(), resident << 10
}
