//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// A screen shows rows: again and again in the same place on a terminal.
type screen struct {
	out  *os.File
	live bool
	buf  bytes.Buffer

	last time.Time
	used map[task]time.Duration // CPU time as it was shown last
}

// A task is whose row it is: the first thread has its process's number.
type task struct {
	id     int
	thread bool
}

func newScreen(out *os.File) *screen {
	_, err := unix.IoctlGetTermios(int(out.Fd()), unix.TCGETS)
	return &screen{out: out, live: err == nil}
}

// size returns how many rows and columns there are; much where nothing limits it.
func (s *screen) size() (rows, columns int) {
	if s.live {
		if w, err := unix.IoctlGetWinsize(int(s.out.Fd()), unix.TIOCGWINSZ); err == nil && w.Row > 4 && w.Col > 20 {
			return int(w.Row) - 3, int(w.Col)
		}
	}
	return 20, 100
}

const (
	home  = "\x1b[H" // to the first line
	clean = "\x1b[K" // to the end of the line
	rest  = "\x1b[J" // to the end of the screen
)

// show writes a table of the first rows.
func (s *screen) show(all []row) {
	most, columns := s.size()
	now, used := time.Now(), make(map[task]time.Duration, len(all))
	for _, r := range all {
		used[task{r.id, r.thread}] = r.user + r.system
	}
	s.buf.Reset()
	if s.live {
		s.buf.WriteString(home)
	}
	s.line(columns, fmt.Sprintf("%8s %1s %5s %10s %10s %10s %9s  %s", "PID", "S", "CPU%", "USER", "SYSTEM", "WAIT", "RSS", "NAME"))
	for _, r := range all[:min(most, len(all))] {
		s.line(columns, fmt.Sprintf("%8d %c %5s %10s %10s %10s %9s  %s%s", r.id, printable(rune(r.state)), s.share(r, now), seconds(r.user), seconds(r.system), seconds(r.wait),
			megabytes(r), strings.Repeat("  ", min(r.depth, 10)), label(r)))
	}
	if more := len(all) - most; more > 0 {
		s.line(columns, fmt.Sprintf("%8s %d more", "", more))
	}
	if s.live {
		s.buf.WriteString(rest)
	}
	s.last, s.used = now, used
	s.out.Write(s.buf.Bytes())
}

// share returns the part of one CPU that a row used since it was shown last.
func (s *screen) share(r row, now time.Time) string {
	was, shown := s.used[task{r.id, r.thread}]
	elapsed := now.Sub(s.last)
	if !shown || elapsed <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(max(0, r.user+r.system-was))/float64(elapsed))
}

func (s *screen) line(columns int, text string) {
	if r := []rune(text); len(r) > columns {
		text = string(r[:columns])
	}
	s.buf.WriteString(text)
	if s.live {
		s.buf.WriteString(clean)
	}
	s.buf.WriteByte('\n')
}

// label returns a name, in braces when it is a thread's. Programs choose their
// names, so that nothing in it may reach a terminal but what can be read.
func label(r row) string {
	name := strings.Map(printable, r.name)
	if r.thread {
		return "{" + name + "}"
	}
	return name
}

func printable(r rune) rune {
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

func seconds(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", d.Seconds())
}

func megabytes(r row) string {
	if r.thread {
		return ""
	}
	return fmt.Sprintf("%.1fM", float64(r.rss)/(1<<20))
}
