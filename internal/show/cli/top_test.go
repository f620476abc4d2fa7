package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/pty"
)

// soonEnough is how long a test waits for what must come, on the busiest machine.
const soonEnough = 30 * time.Second

// An onTerminal is gowhy on a terminal that is read, and whose keys are pressed.
type onTerminal struct {
	t        *testing.T
	terminal *pty.Terminal
	command  *exec.Cmd
	ended    chan error
	changed  chan struct{}

	mu     sync.Mutex
	screen *vt
}

func startOnTerminal(t *testing.T, width, height int, env []string, args ...string) *onTerminal {
	t.Helper()
	terminal, err := pty.Open(width, height)
	if err != nil {
		t.Skipf("no pseudo-terminal: %v", err)
	}
	o := &onTerminal{t: t, terminal: terminal, command: again(t, args...), ended: make(chan error, 1), changed: make(chan struct{}, 1), screen: newVT(width, height)}
	o.command.Env = append(append(o.command.Env, "TERM=xterm-256color", "NO_COLOR=", "LC_ALL=C.UTF-8"), env...)
	if err := terminal.Start(o.command); err != nil {
		t.Fatal(err)
	}
	go func() { o.ended <- o.command.Wait() }()
	go o.read()
	t.Cleanup(func() {
		o.command.Process.Kill()
		terminal.Close()
	})
	return o
}

// again is this binary as gowhy.
func again(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	c.Env = append(os.Environ(), mainEnv+"=1")
	c.Dir = t.TempDir()
	return c
}

func (o *onTerminal) read() {
	b := make([]byte, 64<<10)
	for {
		n, err := o.terminal.Master.Read(b)
		if err != nil {
			return
		}
		o.mu.Lock()
		o.screen.Write(b[:n])
		o.mu.Unlock()
		select {
		case o.changed <- struct{}{}:
		default:
		}
	}
}

// look gives the screen to a function that only reads it.
func (o *onTerminal) look(at func(v *vt)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	at(o.screen)
}

// until waits until the screen is as wanted.
func (o *onTerminal) until(what string, wanted func(v *vt) bool) {
	o.t.Helper()
	late := time.After(soonEnough)
	for {
		ok := false
		o.look(func(v *vt) { ok = wanted(v) })
		if ok {
			return
		}
		select {
		case <-o.changed:
		case <-late:
			o.look(func(v *vt) { o.t.Fatalf("%s: not after %v, but\n%s", what, soonEnough, v) })
		}
	}
}

// shows waits until all of the texts are on the screen.
func (o *onTerminal) shows(texts ...string) {
	o.t.Helper()
	o.until(fmt.Sprintf("%q on the screen", texts), func(v *vt) bool {
		s := v.String()
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(s, text) })
	})
}

func (o *onTerminal) types(keys string) {
	o.t.Helper()
	if _, err := o.terminal.Master.WriteString(keys); err != nil {
		o.t.Fatal(err)
	}
}

// clickOn presses and releases the first mouse button on a text, if it is there.
func (o *onTerminal) clickOn(text string) {
	o.t.Helper()
	x, y := -1, -1
	o.look(func(v *vt) {
		for at, line := range strings.Split(v.String(), "\n") {
			if before, _, ok := strings.Cut(line, text); ok {
				x, y = len([]rune(before)), at
			}
		}
	})
	if y >= 0 {
		o.types(fmt.Sprintf("\x1b[<0;%d;%dM\x1b[<0;%d;%dm", x+1, y+1, x+1, y+1))
	}
}

// opens clicks on a program at each change of the screen until it is open: the first click
// selects, the second opens. Rows may change their places between a look and a click, and
// who was opened by mistake is left.
func (o *onTerminal) opens(pid string) {
	o.t.Helper()
	for late := time.After(soonEnough); ; {
		select {
		case <-o.changed: // before the click, of which it tells nothing
		default:
		}
		screen := ""
		o.look(func(v *vt) { screen = v.String() })
		switch {
		case !strings.Contains(screen, "EscBack"):
			o.clickOn(pid + " ")
		case strings.Contains(screen, pid+" cli.test"):
			return
		default:
			o.types("\x1b")
		}
		select {
		case <-o.changed:
		case <-late:
			o.t.Fatalf("%s is not opened by clicks, but\n%s", pid, screen)
		}
	}
}

func (o *onTerminal) resize(width, height int) {
	o.t.Helper()
	o.mu.Lock()
	o.screen.resize(width, height)
	o.mu.Unlock()
	if err := o.terminal.Resize(width, height); err != nil {
		o.t.Fatal(err)
	}
}

// ends waits for the end of the program.
func (o *onTerminal) ends(how string) error {
	o.t.Helper()
	select {
	case err := <-o.ended:
		return err
	case <-time.After(soonEnough):
		o.t.Fatalf("%s does not end it", how)
		return nil
	}
}

// given checks that the terminal is as it was before: the shell's screen, with a
// cursor, without mouse, and what is typed is shown.
func (o *onTerminal) given() {
	o.t.Helper()
	o.types("typed\n")
	o.shows("typed")
	o.look(func(v *vt) {
		for _, mode := range []string{"?1049", "?1000", "?1002", "?1003", "?1006", "?2004"} {
			if v.modes[mode] {
				o.t.Errorf("mode %s is still set", mode)
			}
		}
		if !v.modes["?25"] {
			o.t.Error("there is no cursor")
		}
	})
}

// sane checks that all of the sequences were understood, and nothing was cut by the terminal.
func (o *onTerminal) sane() {
	o.t.Helper()
	o.look(func(v *vt) {
		if len(v.unknown) > 0 {
			o.t.Errorf("sequences that this test does not know: %q", v.unknown)
		}
		if v.beyond {
			o.t.Error("a line is longer than the screen")
		}
	})
}

// twoPrograms are Go programs to be watched: this one, and one that does nothing.
func twoPrograms(t *testing.T) (list []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	self := fmt.Sprint(os.Getpid())
	still := again(t, "top", "--json", "-d", "1h", self)
	other := exec.CommandContext(ctx, still.Path, still.Args[1:]...)
	other.Env, other.Dir = still.Env, still.Dir
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); other.Wait() })
	return []string{self, fmt.Sprint(other.Process.Pid)}
}

func needsTerminal(t *testing.T) {
	t.Helper()
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("runs gowhy on a pseudo-terminal of Linux")
	}
}

func TestTopOnTerminal(t *testing.T) {
	needsTerminal(t)
	pids := twoPrograms(t)
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			width, height := size[0], size[1]
			o := startOnTerminal(t, width, height, nil, "top", pids[0], pids[1])
			o.shows("PID", "CPU%", "GOROUT", "PROGRAM", pids[0]+" ", pids[1]+" ", "F1Help", "F10Quit")
			o.look(func(v *vt) {
				if !v.modes["?1049"] || !v.modes["?1000"] {
					t.Errorf("no screen or no mouse of its own: %v", v.modes)
				}
				if beside := strings.Contains(v.String(), "VERDICT"); beside != (width == 200) {
					t.Errorf("verdicts stand beside the figures: %v", beside)
				}
				if len(v.colours) == 0 {
					t.Error("there are no colours")
				}
			})

			o.opens(pids[1])
			o.shows(pids[1]+" cli.test", "Diagnosis", "Goroutines", "EscBack")
			o.types("\x1b")
			o.shows("F10Quit")
			o.types("\r")
			o.shows(pids[1]+" cli.test", "EscBack")
			o.types("q")
			o.shows("F10Quit")

			o.resize(width-20, height-4)
			o.until("the last line of the new size", func(v *vt) bool {
				lines := strings.Split(v.String(), "\n")
				return strings.HasPrefix(lines[height-5], "F1Help")
			})
			o.types("\x1bOP") // F1
			o.shows("look at one program")
			o.types(" ")
			o.shows("PROGRAM")
			o.types("q")
			if err := o.ends("q"); err != nil {
				t.Error(err)
			}
			o.given()
			o.sane()
		})
	}
}

func TestTopWithoutColours(t *testing.T) {
	needsTerminal(t)
	o := startOnTerminal(t, 80, 24, []string{"NO_COLOR=1"}, "top", fmt.Sprint(os.Getpid()))
	o.shows("Diagnosis", "EscBack")
	o.types("\x1b")
	o.shows("PROGRAM", "F10Quit")
	o.look(func(v *vt) {
		if len(v.colours) > 0 {
			t.Errorf("colours in spite of NO_COLOR: %q", v.colours)
		}
	})
	o.types("q")
	o.ends("q")
	o.sane()
}

// TestTopLetsGo gives the terminal back to whoever stops it, and ends when it is gone.
func TestTopLetsGo(t *testing.T) {
	needsTerminal(t)
	self := fmt.Sprint(os.Getpid())
	start := func(t *testing.T) *onTerminal {
		o := startOnTerminal(t, 80, 24, nil, "top", self)
		o.shows("Diagnosis")
		return o
	}
	t.Run("SIGTERM", func(t *testing.T) {
		o := start(t)
		o.command.Process.Signal(syscall.SIGTERM)
		if err := o.ends("SIGTERM"); err != nil {
			t.Error(err)
		}
		o.given()
	})
	t.Run("stopped", func(t *testing.T) {
		o := start(t)
		o.types("\x1a") // Ctrl+Z: without a shell nothing stops it, so it comes back at once
		o.until("the screen left and taken again", func(v *vt) bool {
			return v.left == 1 && v.modes["?1049"] && strings.Contains(v.String(), "Diagnosis")
		})
	})
	t.Run("closed", func(t *testing.T) {
		o := start(t)
		o.terminal.Close()
		var exit *exec.ExitError
		if err := o.ends("a closed terminal"); err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
	})
}
