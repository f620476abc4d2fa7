package record

import (
	"errors"
	"fmt"
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
