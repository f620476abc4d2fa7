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
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]bool{"": false, "all": true, "some": false} {
		t.Setenv(testsVariable, value)
		left := filepath.Join(t.TempDir(), "left")
		t.Setenv(leftVariable, left)
		ran := false
		t.Run("only", func(t *testing.T) {
			Only(t, "depends on timing")
			ran = true
		})
		line := dir + " TestOnly\n"
		if want {
			line = ""
		}
		if got, _ := os.ReadFile(left); string(got) != line {
			t.Errorf("%s=%s: left out is %q, want %q", testsVariable, value, got, line)
		}
		if all := All(t); ran != want || all != want {
			t.Errorf("%s=%s runs the test: %v, All = %v, want %v", testsVariable, value, ran, all, want)
		}
	}
}
