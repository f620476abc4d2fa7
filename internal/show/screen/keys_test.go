package screen

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/watch/live"
)

// TestTyped edits a filter: each key narrows the list, and Esc leaves it as without one.
func TestTyped(t *testing.T) {
	for _, c := range []struct {
		name string
		keys string
		want string // the filter
	}{
		{"letters", "\\ d b Enter", "db"},
		{"a letter taken back", "\\ d b x Backspace2 Enter", "db"},
		{"more taken back than there is", "\\ d Backspace2 Backspace2 Enter", ""},
		{"all taken back", "\\ d b Ctrl-U w Enter", "w"},
		{"given up", "\\ d b Esc", ""},
		{"given up by the other key", "\\ d b Ctrl-C", ""},
		{"not yet ended", "\\ d", "d"},
		{"F3 has no meaning there", "\\ d F3 b Enter", "db"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := draw(t, 120, 30, Options{})
			d.press(strings.Fields(c.keys)...)
			if d.v.filter != c.want {
				t.Errorf("filter after %s = %q, want %q", c.keys, d.v.filter, c.want)
			}
			for _, r := range d.v.rows {
				if !matches(r.Process, c.want) {
					t.Errorf("after %s process %d is in the list, want those of %q", c.keys, r.PID, c.want)
				}
			}
		})
	}
	d := draw(t, 120, 30, Options{})
	d.press("\\")
	for range 2 * maxTyped {
		d.press("x")
	}
	if n := len(d.v.input.text); n != maxTyped {
		t.Errorf("letters that are kept = %d, want %d", n, maxTyped)
	}
}

// TestSearch goes from one process that matches to the next, and says when none does.
func TestSearch(t *testing.T) {
	d := draw(t, 120, 30, Options{})
	d.press("/", "r")
	first := d.v.selected
	d.press("F3")
	if second := d.v.selected; second == first || !matches(process(d.v.frame, second), "r") {
		t.Errorf("F3 goes from %d to %d, want another that has an r", first, second)
	}
	d.press("Enter", "/", "z", "z", "z")
	if !strings.Contains(d.v.message, "nothing matches zzz") {
		t.Errorf("message = %q, want that nothing matches", d.v.message)
	}
	if d.press("Esc"); d.v.search != "r" {
		t.Errorf("search after one that was given up = %q, want the one before", d.v.search)
	}
}

// TestTab goes through programs without going back to the list, and F lets the bar stay.
func TestTab(t *testing.T) {
	d := draw(t, 120, 30, Options{})
	d.press("Home", "Enter")
	first := d.v.open
	d.press("Tab")
	if d.v.open == 0 || d.v.open == first {
		t.Errorf("Tab opens %d after %d, want the next", d.v.open, first)
	}
	if d.press("Backtab"); d.v.open != first {
		t.Errorf("Backtab opens %d, want %d again", d.v.open, first)
	}
	d.press("Esc")
	for _, want := range []string{"the bar stays in its place", "the bar follows process"} {
		if d.press("F"); !strings.Contains(d.v.message, want) {
			t.Errorf("message after F = %q, want %q", d.v.message, want)
		}
	}
}

// TestEmpty says why the list is empty.
func TestEmpty(t *testing.T) {
	for _, c := range []struct {
		name   string
		closed int
		keys   string
		want   []string
	}{
		{"a filter", 0, "\\ z z z Enter", []string{"no process matches the ", "Esc shows all"}},
		{"a user", 0, "u z z z Enter", []string{"no process matches the ", "Esc shows all"}},
		{"nothing runs", 0, "", []string{"no Go program runs here; a shows all processes"}},
		{"one is not readable", 1, "", []string{"no Go program runs here", "1 process is not readable: sudo gowhy top"}},
		{"several are not readable", 7, "", []string{"7 processes are not readable"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := draw(t, 120, 30, Options{})
			f := *d.m.frame
			if f.Machine.Closed = c.closed; c.keys == "" {
				f.Processes = nil
			}
			d.v.take(&f)
			d.press(strings.Fields(c.keys)...)
			d.wants(c.want...)
		})
	}
}

func TestVerdictLine(t *testing.T) {
	growing := &live.Goroutines{Total: 900, Growth: leakGrowth}
	for _, c := range []struct {
		name string
		p    live.Process
		want string
	}{
		{"of another language", live.Process{Verdict: &live.Verdict{Line: "x"}}, ""},
		{"not readable", live.Process{Go: "go1.26", Goroutines: &live.Goroutines{Why: "another user's program"}}, "another user's program"},
		{"new", live.Process{Go: "go1.26"}, "not judged yet"},
		{"judged", live.Process{Go: "go1.26", Verdict: &live.Verdict{Line: "nothing found"}}, "nothing found"},
		{"growing", live.Process{Go: "go1.26", Goroutines: growing, Verdict: &live.Verdict{Line: "idle"}}, "idle; "},
		{"growing, and it is known why", live.Process{Go: "go1.26", Goroutines: growing,
			Verdict: &live.Verdict{Line: "they pile up", Findings: []live.Finding{{}}}}, "they pile up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := verdictLine(&c.p)
			if rest, more := strings.CutPrefix(got, c.want); rest != "" && (!strings.HasSuffix(c.want, "; ") || !strings.HasSuffix(got, " goroutines") || !more) {
				t.Errorf("verdictLine() = %q, want %q", got, c.want)
			} else if rest == "" && strings.HasSuffix(c.want, "; ") {
				t.Errorf("verdictLine() = %q, want how many goroutines more", got)
			}
		})
	}
}

// TestKill sends a signal to the process that was asked about, and says what came of it.
func TestKill(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	d := draw(t, 120, 30, Options{})
	d.v.kill(child.Process, os.Interrupt, "SIGINT")
	if !strings.Contains(d.v.message, "sent SIGINT to process ") {
		t.Errorf("message = %q, want what was sent", d.v.message)
	}
	var ended *exec.ExitError
	if err := child.Wait(); !errors.As(err, &ended) {
		t.Errorf("Wait() = %v, want the end by a signal", err)
	}
	d.v.kill(child.Process, os.Interrupt, "SIGINT")
	if !strings.Contains(d.v.message, "has ended") {
		t.Errorf("message = %q, want that it has ended", d.v.message)
	}
}
