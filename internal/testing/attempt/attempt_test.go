package attempt

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestRepeat(t *testing.T) {
	for _, c := range []struct {
		failures, calls int
		fails           bool
	}{{0, 1, false}, {2, 3, false}, {3, 3, true}} {
		t.Run(fmt.Sprint(c.failures), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "retries")
			t.Setenv(retriesVariable, file)
			calls, want := 0, ""
			err := Repeat(t, func() error {
				if calls++; calls > c.failures {
					return nil
				}
				return errors.New("the machine is busy\nand more")
			})
			if calls != c.calls || (err != nil) != c.fails {
				t.Errorf("Repeat calls %d times and returns %v, want %d times and an error: %v", calls, err, c.calls, c.fails)
			}
			for n := range calls - 1 {
				want += fmt.Sprintf("retried: %s %d of 2: the machine is busy\n", t.Name(), n+1)
			}
			if got, err := os.ReadFile(file); string(got) != want || err != nil && calls > 1 {
				t.Errorf("on record is %q, %v, want %q", got, err, want)
			}
		})
	}
}

func TestOnly(t *testing.T) {
	for value, want := range map[string]bool{"": false, "all": true, "some": false} {
		t.Setenv(testsVariable, value)
		ran := false
		t.Run("only", func(t *testing.T) {
			Only(t, "depends on timing")
			ran = true
		})
		if ran != want || All() != want {
			t.Errorf("%s=%s runs the test: %v, All() = %v, want %v", testsVariable, value, ran, All(), want)
		}
	}
}
