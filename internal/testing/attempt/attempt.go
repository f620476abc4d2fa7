// Package attempt is for tests whose answer depends on what else the machine
// does: programs that run in real time, are recorded, and judged.
//
// It hides which tests the plain go test leaves out, how often a test may try
// again, how continuous integration learns that one did, and how CPU time is read.
package attempt

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

const (
	// everything in this variable asks for all tests. A flag of go test would
	// have to be known to every package.
	testsVariable = "GOWHY_TESTS"
	everything    = "all"

	// retriesVariable names a file that gets a line for each retry: go test
	// shows nothing of a package that passes.
	retriesVariable = "GOWHY_RETRIES"

	// retries is how often a test may try again. Who needs more measures the
	// machine and not the program.
	retries = 2
)

// All reports whether all tests are asked for.
func All() bool { return os.Getenv(testsVariable) == everything }

// Only skips a test that is not for the plain go test, and says why it is not.
func Only(t testing.TB, why string) {
	t.Helper()
	if !All() {
		t.Skipf("%s: %s=%s runs it", why, testsVariable, everything)
	}
}

// Repeat calls try until it gives no error, three times at most, and returns
// the last error. Each retry and its reason is on record.
func Repeat(t testing.TB, try func() error) error {
	t.Helper()
	for n := 1; ; n++ {
		err := try()
		if err == nil || n > retries {
			return err
		}
		reason, _, _ := strings.Cut(err.Error(), "\n")
		line := fmt.Sprintf("retried: %s %d of %d: %s", t.Name(), n, retries, reason)
		t.Log(line)
		if err := record(line); err != nil {
			t.Error(err)
		}
	}
}

func record(line string) error {
	name := os.Getenv(retriesVariable)
	if name == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
