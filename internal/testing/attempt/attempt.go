// Package attempt is for tests whose answer depends on what else the machine
// does: programs that run in real time, are recorded, and judged.
//
// It hides which tests the plain go test leaves out, how often a test may try again, how
// continuous integration learns of both, and how CPU time is read.
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

	// leftVariable names a file that gets a line for each test that leaves something out.
	leftVariable = "GOWHY_LEFT"

	// retries is how often a test may try again. Who needs more measures the
	// machine and not the program.
	retries = 2
)

// All reports whether all tests are asked for. What t leaves out where they are not is on record.
func All(t testing.TB) bool {
	t.Helper()
	if os.Getenv(testsVariable) == everything {
		return true
	}
	dir, err := os.Getwd()
	test, _, _ := strings.Cut(t.Name(), "/")
	if err == nil {
		err = note(leftVariable, dir+" "+test)
	}
	if err != nil {
		t.Error(err)
	}
	return false
}

// Only skips a test that is not for the plain go test, and says why it is not.
func Only(t testing.TB, why string) {
	t.Helper()
	if !All(t) {
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
		if err := note(retriesVariable, line); err != nil {
			t.Error(err)
		}
	}
}

// note adds a line to the file that a variable names, if it names one.
func note(variable, line string) error {
	name := os.Getenv(variable)
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
