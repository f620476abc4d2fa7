package evidence

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// dying is set in the environment of a test binary that is to die, or to recover.
const dying = "GOWHY_TEST_DIES"

func init() {
	switch os.Getenv(dying) {
	case "panic":
		panic("no room")
	case "twice":
		panicTwice()
	case "overflow":
		debug.SetMaxStack(1 << 20)
		fmt.Println(deeper(0))
	case "recovered":
		recovers()
		os.Exit(0)
	}
}

func panicTwice() {
	defer func() { panic(fmt.Sprint("again ", recover())) }()
	panic("no room")
}

func deeper(n int) int {
	if n < 0 { // never
		return n
	}
	return deeper(n+1) + n
}

func recovers() {
	defer func() {
		fmt.Fprintln(os.Stderr, "panic:", recover())
		debug.PrintStack()
	}()
	panic("no room")
}

// TestDeath: what the runtime says before the stack of a program that dies is why it died; one
// that recovers and prints its stack goes on.
func TestDeath(t *testing.T) {
	for _, c := range []struct{ how, want, in string }{
		{"panic", "died: panic: no room, in ", "evidence.init."},
		{"twice", "again no room, in ", "evidence.panicTwice"},
		{"overflow", "died: fatal error: stack overflow, in ", "evidence.deeper "},
		{"recovered", "", ""},
	} {
		t.Run(c.how, func(t *testing.T) {
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), dying+"="+c.how)
			out, err := cmd.CombinedOutput()
			if (err == nil) != (c.want == "") {
				t.Fatalf("the program ended with %v:\n%s", err, out)
			}
			for name, text := range map[string]string{"alone": string(out), "in a log": "2026/11/20 10:01:02 starting\n" + eachLine(string(out), inCRI("stderr", 1<<10))} {
				file := filepath.Join(t.TempDir(), "out.txt")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				m := load(t, Options{}, file)
				said := ""
				if m.Run.Death != nil {
					said = m.Run.Death.String()
				}
				if !strings.Contains(said, c.want) || !strings.Contains(said, c.in) || c.want == "" && said != "" {
					t.Errorf("%s: it is said to have %q, want %q and %q of\n%.2000s", name, said, c.want, c.in, out)
				}
			}
		})
	}
}
