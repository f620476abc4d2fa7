package agent

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// A clock gives wall times that do not step: the wall time of its start and
// what the monotonic clock counted since.
type clock struct{ start time.Time }

func startClock() clock { return clock{time.Now()} }

func (c clock) now() time.Time { return c.at(time.Now()) }

// at returns the moment t, which may be before the clock's start.
func (c clock) at(t time.Time) time.Time { return c.start.Add(t.Sub(c.start)) }

// anchor reads both clocks at once, as well as that can be had: of a few
// tries the one in which the least time passed.
func (c clock) anchor() (a recording.Anchor, ok bool) {
	best := int64(-1)
	for try := 0; try < 5; try++ {
		before, ok := monotonic()
		wall := c.now()
		after, _ := monotonic()
		if !ok {
			return a, false
		}
		if d := after - before; best < 0 || d < best {
			best = d
			a = recording.Anchor{Wall: wall.Round(0), Monotonic: before + d/2}
		}
	}
	return a, true
}

// variables of the environment that change what the runtime does.
var variables = []string{"GODEBUG", "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GOEXPERIMENT", "GOTRACEBACK"}

// manifest returns what is known of the program.
func manifest(redact bool) recording.Manifest {
	m := recording.Manifest{
		Go:       runtime.Version(),
		Procs:    runtime.GOMAXPROCS(0),
		PID:      os.Getpid(),
		Redacted: redact,
	}
	if redact {
		return m
	}
	m.Command = os.Args
	if dir, err := os.Getwd(); err == nil { // it may have been removed
		m.Dir = dir
	}
	for _, name := range variables {
		if v, ok := os.LookupEnv(name); ok {
			m.Env = append(m.Env, name+"="+v)
		}
	}
	return m
}

// buildText returns what the program was built from, as go version -m prints
// it, or nothing when the linker left it out.
func buildText(redact bool) []byte {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	name := "program"
	if exe, err := os.Executable(); err == nil && !redact {
		name = filepath.Base(exe)
	}
	return buildLines(name, info, redact)
}

func buildLines(name string, info *debug.BuildInfo, redact bool) []byte {
	text := []byte(name + ": " + info.GoVersion + "\n")
	for _, line := range strings.SplitAfter(info.String(), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "go\t"): // said above
		case redact && strings.HasPrefix(line, "build\t") && strings.Contains(line, "flags="), redact && strings.Contains(line, "FLAGS="):
			// -ldflags "-X main.token=…"
		default:
			text = append(append(text, '\t'), line...)
		}
	}
	return text
}
