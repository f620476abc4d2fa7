package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/prove/load"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// memoryGroup makes a control group whose processes may have so many bytes, and
// returns the file that takes them in.
func memoryGroup(t *testing.T, limit int64) string {
	t.Helper()
	for _, v := range []struct{ root, limit, swap string }{
		{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.swappiness"},
		{"/sys/fs/cgroup", "memory.max", "memory.swap.max"},
	} {
		dir := filepath.Join(v.root, fmt.Sprintf("gowhy-zonedns-%d", os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		if os.WriteFile(filepath.Join(dir, v.limit), []byte(strconv.FormatInt(limit, 10)), 0o644) != nil {
			continue
		}
		_ = os.WriteFile(filepath.Join(dir, v.swap), []byte("0"), 0o644) // not every kernel swaps
		return filepath.Join(dir, "cgroup.procs")
	}
	t.Skip("no control group with a limit of memory can be made here")
	return ""
}

// TestFlooded is the story: under a flood the server's memory grows until the system
// kills it; healed, it drops what it cannot do, and stays.
func TestFlooded(t *testing.T) {
	attempt.Only(t, "a flood takes both cores, and a control group needs root")
	const limit = 192 << 20
	procs := memoryGroup(t, limit)
	program := filepath.Join(t.TempDir(), "zonedns")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	file, err := os.Open("queries.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	questions, err := load.ReadQuestions(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   string
		killed bool
	}{{"-story", true}, {"-healthy -lookups redis", false}, {"-healthy -limit 500", false}} {
		cmd := exec.Command("sh", "-c", `echo $$ > "$0" && exec "$@"`, procs, program)
		cmd.Args = append(cmd.Args, strings.Fields("-addr 127.0.0.1:0 "+c.args)...)
		var said bytes.Buffer
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		line, _ := lines.ReadString('\n')
		at, err := netip.ParseAddrPort(strings.TrimSpace(strings.TrimPrefix(line, "ready ")))
		if err != nil {
			t.Fatalf("%s: %q: %v", c.args, line, err)
		}
		flooded, err := load.Flood(t.Context(), load.DNSRequest{Server: at, Questions: questions}, 32, 40_000, 8*time.Second, nil)
		if err != nil {
			t.Fatal(err)
		}
		status, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(cmd.Process.Pid), "status"))
		cmd.Process.Signal(os.Interrupt)
		said.ReadFrom(lines)
		ended := cmd.Wait()
		killed := ended != nil && strings.Contains(ended.Error(), "killed")
		t.Logf("%s: %v, %s\n%s%s", c.args, ended, flooded, peakOf(status), &said)
		if killed != c.killed || !c.killed && ended != nil {
			t.Errorf("%s: %v; killed %v, want %v", c.args, ended, killed, c.killed)
		}
		if !c.killed && (flooded.Answered == 0 || !strings.Contains(said.String(), "dropped")) {
			t.Errorf("%s: it answered %d, and said %q", c.args, flooded.Answered, &said)
		}
	}
}

// peakOf returns the line of a process's status with the most memory that it had.
func peakOf(status []byte) string {
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			return line
		}
	}
	return ""
}
