package record

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestRuntimeLimit reads how near programs with 60 MiB of one kind are to their GOMEMLIMIT: what
// a collection would free does not count.
func TestRuntimeLimit(t *testing.T) {
	exe := memoryProgram(t)
	for _, c := range []struct {
		kind, limit string
		low, high   float64 // of the share
	}{{"live", "72MiB", 0.83, 0.97}, {"garbage", "72MiB", 0, 0.7}, {"idle", "72MiB", 0, 0.2}, {"live", "4GiB", 0.01, 0.03}, {"live", "off", 0, 0}} {
		t.Run(c.kind+c.limit, func(t *testing.T) {
			t.Setenv("GOMEMLIMIT", c.limit)
			cmd := startMemory(t, exe, c.kind, "")
			l, err := OpenRuntimeLimit(cmd.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			if err := attempt.Repeat(t, func() error {
				b, ok := l.Bound()
				if want := c.high > 0; ok != want || ok && (b.Of != "GOMEMLIMIT" || b.Share() < c.low || b.Share() > c.high) {
					return fmt.Errorf("Bound() = %+v, %v, want a share of %v to %v", b, ok, c.low, c.high)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
		})
	}
	gone := exec.Command(exe, "live", "1ns")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if l, err := OpenRuntimeLimit(gone.Process.Pid); !errors.Is(err, goroutines.ErrGone) || l != nil {
		t.Errorf("OpenRuntimeLimit() of what has ended = %v, %v, want ErrGone", l, err)
	}
}

// TestRuntimeLimitGone has a program execute itself anew: its limit is another's then, and is opened again.
func TestRuntimeLimitGone(t *testing.T) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serveEnv+"=exec", "GOMEMLIMIT=4GiB")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	open := func() *RuntimeLimit {
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the program said %q", lines.Text())
		}
		l, err := OpenRuntimeLimit(cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		if b, ok := l.Bound(); !ok || b.Limit != 4<<30 {
			t.Fatalf("Bound() = %+v, %t, want 4 GiB", b, ok)
		}
		return l
	}
	l := open()
	defer l.Close()
	if l.Gone() {
		t.Error("Gone() = true of a program that runs")
	}
	in.Write([]byte{'\n'})
	again := open()
	defer again.Close()
	if b, ok := l.Bound(); ok || !l.Gone() || again.Gone() {
		t.Errorf("Bound() = %+v, %t of a program that is no more, Gone() = %t, and %t of what it executed", b, ok, l.Gone(), again.Gone())
	}
}
