package evidence

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// What Delve's `goroutines` prints of a program or a core: a line for each goroutine, with
// the innermost place of the program, and with -t the stack below it. What a goroutine waits for
// it tells in the words of the newest Go that it knows: of a newer one "sync.Cond.Wait" stands
// for a send. So stacks are believed, and words only for want of them.

var (
	// The number behind what a goroutine waits for is the clock's since when, not how long.
	delveGoroutine = regexp.MustCompile(`^[* ] Goroutine (\d{1,18}) - (?:User|Start|Go|Runtime): (.+):(\d{1,9}) (\S+) \(0x[0-9a-f]+\)(.*)$`)
	delveWait      = regexp.MustCompile(`\[([^\]]*?)(?: [\d.]+[a-zµ]*)?\]`)
	delveCall      = regexp.MustCompile(`^\s+\d{1,4}\s+0x[0-9a-f]+ in (\S.*)$`)
	delvePlace     = regexp.MustCompile(`^\s+at (.+):(\d{1,9})$`)
)

func isDelve(head []byte) bool {
	for line := range strings.Lines(string(head)) {
		if delveGoroutine.MatchString(strings.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}

// readDelve reads the goroutines as a dump: they have no minutes. Of several listings the last
// is of the latest moment.
func (l *loader) readDelve(s source) error {
	if err := l.sameRun(model.GoroutineProfile, s.name); err != nil {
		return err
	}
	d, known, words := newDump(l, s.name), map[int64]bool{}, 0
	user := true // the one frame is the program's innermost, of a goroutine without a stack
	flush := func() error {
		if state := model.StateOf(d.frames); d.inside && !user && state != model.StateRunning && state != model.StateWaiting {
			d.labels[stateLabel] = state
		} else if d.inside && user {
			words++
		}
		return d.flush()
	}
	s.r = &plainReader{r: s.r}
	err := l.lines(s, func(line []byte) error {
		text := string(line)
		if m := delveGoroutine.FindStringSubmatch(text); m != nil {
			if err := flush(); err != nil {
				return err
			}
			id, _ := strconv.ParseInt(m[1], 10, 64)
			if known[id] {
				d, known, words = newDump(l, s.name), map[int64]bool{}, 0
			}
			known[id], user = true, true
			d.inside, d.id, d.count, d.labels = true, id, 1, map[string]string{stateLabel: delveState(m[5])}
			d.call(m[4])
			d.at(m[2], m[3])
			return nil
		}
		if m := delveCall.FindStringSubmatch(text); m != nil && d.inside {
			if user {
				user, d.frames, d.args = false, nil, d.args[:0]
			}
			d.call(m[1])
		} else if m := delvePlace.FindStringSubmatch(text); m != nil && d.inside && !user {
			d.at(m[1], m[2])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := flush(); err != nil {
		return err
	}
	if words > 0 && len(d.looks) > 0 {
		l.note("%s has no stacks of %d goroutines: what they wait for is said in Delve's words, "+
			"which may be wrong of a newer Go; goroutines -t prints stacks", s.name, words)
	}
	if len(d.looks) == 0 {
		return l.pass(problem.New(problem.Absence, "dlv attach PID   # then, in it: transcript delve.txt, and goroutines -t", "%q has no goroutine of Delve's list", s.name))
	}
	l.snapshot(model.GoroutineProfile, snapshot{name: s.name, member: s.member, dump: true, p: d.t.p, looks: d.looks})
	return nil
}

// delveState returns a goroutine's state, by what stands behind its place: those that wait say for
// what, those that run on which thread.
func delveState(rest string) string {
	if m := delveWait.FindStringSubmatch(rest); m != nil {
		return m[1]
	}
	if strings.Contains(rest, "(thread ") {
		return "running"
	}
	return "runnable"
}

// call adds a frame whose place is not known yet.
func (d *dump) call(function string) {
	if len(d.frames) < maxStackFrames {
		d.frames, d.args, d.placed = append(d.frames, model.Frame{Func: clipName(function)}), append(d.args, 0), false
	}
}

// at says where the last frame is.
func (d *dump) at(file, line string) {
	if d.placed || len(d.frames) == 0 {
		return
	}
	f := &d.frames[len(d.frames)-1]
	f.File = clipName(file)
	f.Line, _ = strconv.Atoi(line)
	d.placed = true
}
