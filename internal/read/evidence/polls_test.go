package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestPolls: a sleep between two looks at the same is told from a pause behind a failure, from one
// for each of what comes in, and from a delay.
func TestPolls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "polls.go")
	const source = `package polls

func await(j *job, every time.Duration) string {
	for {
		if out, ok := j.result(); ok {
			return out
		}
		time.Sleep(every) // polls
	}
}

func until(done *atomic.Bool) {
	for !done.Load() {
		time.Sleep(time.Millisecond) // polls
	}
}

func unless(j *job) {
	for {
		if !j.ready() {
			time.Sleep(time.Millisecond) // polls
			continue
		}
		break
	}
	for {
		if j.ready() { break }
		time.Sleep(time.Millisecond) // polls
	}
}

func retry(send func() error) error {
	for {
		err := send()
		if err == nil {
			return nil
		}
		time.Sleep(time.Second) // pause
	}
}

func attempts(send func() bool) {
	for i := 0; i < 3; i++ {
		send()
		time.Sleep(time.Second) // pause
	}
}

func serve(lines *bufio.Scanner, c net.Conn) {
	for lines.Scan() {
		if lines.Text() == "slow" {
			time.Sleep(time.Second) // delay
		}
		if _, err := fmt.Fprintln(c); err != nil {
			return
		}
	}
}

func answer() {
	time.Sleep(time.Second) // delay
}
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newSourceReader()
	if checked := eachMarked(source, ") // ", "example.com/polls.", file, func(f model.Frame, what string) {
		if got := r.polls(f); got != (what == "polls") {
			t.Errorf("line %d, %s in %s: polls = %t", f.Line, what, f.Func, got)
		}
	}); checked < 8 {
		t.Fatalf("%d lines were checked", checked)
	}
}

// eachMarked calls check for each line of a source that has a mark, with what is behind it, and returns how many there are.
func eachMarked(source, mark, pkg, file string, check func(f model.Frame, what string)) (checked int) {
	name := ""
	for i, line := range strings.Split(source, "\n") {
		if rest, ok := strings.CutPrefix(line, "func "); ok {
			name, _, _ = strings.Cut(rest, "(")
		}
		if _, what, ok := strings.Cut(line, mark); ok {
			checked++
			check(model.Frame{Func: pkg + name, File: file, Line: i + 1}, what)
		}
	}
	return checked
}
