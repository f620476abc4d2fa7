package evidence

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A goroutine dump is what net/http/pprof gives for debug=2 and a program
// prints when it dies of SIGQUIT: every goroutine with what it waits for, and
// for how many minutes.

// dumpHeader is the line before a goroutine's stack. Since Go 1.23 a dying
// program puts the addresses of its g and m between number and state.
var dumpHeader = regexp.MustCompile(`^goroutine (\d+) (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\]]+)\]`)

// joinedHeader is that of goroutines with one stack that a tool has joined to read them.
var joinedHeader = regexp.MustCompile(`^(\d{1,9}) goroutines? \[([^\]]+)\]`)

func isGoroutineDump(head []byte) bool {
	return bytes.HasPrefix(head, []byte("SIGQUIT: ")) || dumpHeader.Match(head)
}

// A dump is read goroutine by goroutine, as a goroutine profile whose samples have the
// labels "state", the runtime's word for what the goroutine waits for, "minutes" when it
// has been waiting for one or more, and those that the program gave them.
type dump struct {
	l      *loader
	name   string
	t      *tally
	inside bool // a goroutine
	labels map[string]string
	id     int64
	count  int64 // of goroutines that are inside, more than one where a tool has joined them
	frames []model.Frame
	args   []uint64 // the first argument of each frame, 0 where it is not sure
	placed bool     // the last frame has its file
	looks  []look
	dead   bool   // the runtime found that nobody can go on
	cause  string // of the program's end, in the runtime's words; "" where nothing tells
}

// allAsleep is how the runtime says that no goroutine can go on.
var allAsleep = []byte("fatal error: all goroutines are asleep - deadlock!")

// The labels under which the profile of a dump has what it prints of each goroutine.
const (
	stateLabel   = "state"
	minutesLabel = "minutes"
)

func newDump(l *loader, name string) *dump {
	return &dump{l: l, name: name, t: newTally(model.ValueType{Name: "goroutine", Unit: "count"})}
}

// line takes the next line, as the runtime printed it.
func (d *dump) line(line []byte) error {
	switch {
	case len(line) == 0:
		return d.flush()
	case bytes.HasPrefix(line, []byte("goroutine ")):
		if m := dumpHeader.FindSubmatch(line); m != nil {
			err := d.flush()
			d.inside, d.labels = true, dumpLabels(string(m[2]), string(line[len(m[0]):]))
			d.id, _ = strconv.ParseInt(string(m[1]), 10, 64)
			d.count = 1
			return err
		}
	case joinedHeader.Match(line):
		m := joinedHeader.FindSubmatch(line)
		err := d.flush()
		d.inside, d.id, d.labels = true, 0, dumpLabels(string(m[2]), "")
		d.count, _ = strconv.ParseInt(string(m[1]), 10, 64)
		return err
	case !d.inside:
		d.dead = d.dead || bytes.HasPrefix(line, allAsleep)
	case line[0] == '\t':
		d.place(string(line[1:]))
	case bytes.HasPrefix(line, []byte("created by ")):
		d.placed = true // the line after it is the creator's
	case bytes.IndexByte(line, '(') > 0 && len(d.frames) < maxStackFrames:
		name, args, _ := cutLast(string(line), "(")
		d.frames = append(d.frames, model.Frame{Func: clipName(name)})
		d.args = append(d.args, firstArgument(args))
		d.placed = false
	}
	return nil
}

// firstArgument returns the first word that a frame was called with: of a method on a pointer
// its receiver. Since Go 1.17 one that may be gone has a question mark, and is no use.
func firstArgument(args string) uint64 {
	word := args[:len(args)-len(strings.TrimLeft(args, "0123456789abcdefx"))]
	if strings.HasPrefix(args[len(word):], "?") {
		return 0
	}
	v, err := strconv.ParseUint(word, 0, 64)
	if err != nil || v < leastPointer {
		return 0
	}
	return v
}

// leastPointer is below all addresses that a program can have: what is less is a number.
const leastPointer = 4 << 10

// place reads "/src/work.go:12 +0x34" for the frame before it.
func (d *dump) place(s string) {
	if d.placed || len(d.frames) == 0 {
		return
	}
	f := &d.frames[len(d.frames)-1]
	s, _, _ = strings.Cut(s, " +0x")
	file, line, ok := cutLast(s, ":")
	if f.File = clipName(file); ok {
		line, _, _ = strings.Cut(line, " ")
		f.Line, _ = strconv.Atoi(line)
	}
	d.placed = true
}

// dumpLabels reads "chan receive, 5 minutes, locked to thread" and the program's own
// labels: since Go 1.27 they follow as {route: /orders, "a key": "a value"}, and in Go
// 1.26 with tracebacklabels=1 they stand within the brackets.
func dumpLabels(state, after string) map[string]string {
	labels := map[string]string{}
	state, own, within := strings.Cut(state, " labels:{")
	if within {
		readLabels(own+"]"+after, labels) // the value may have had the bracket that ended it
	} else if own, ok := strings.CutPrefix(after, " {"); ok {
		readLabels(own, labels)
	}
	parts := strings.Split(state, ", ")
	labels[stateLabel] = strings.TrimSuffix(parts[0], " (scan)")
	for _, p := range parts[1:] {
		if n, ok := strings.CutSuffix(p, " minutes"); ok {
			labels[minutesLabel] = n
		}
	}
	return labels
}

// readLabels reads "key: value, …}" as the runtime prints it: words with anything but
// letters, digits and some signs are quoted. What cannot be read ends it.
func readLabels(s string, labels map[string]string) {
	for s != "" && s[0] != '}' {
		key, rest, _ := labelWord(s, ":")
		rest, ok := strings.CutPrefix(rest, ":")
		if !ok || key == "" {
			return
		}
		value, rest, ok := labelWord(strings.TrimPrefix(rest, " "), ",}")
		if !ok {
			return
		}
		labels[clipName(key)] = clipName(value)
		s = strings.TrimPrefix(rest, ", ")
	}
}

// labelWord cuts a word that is quoted, or ends before one of some bytes.
func labelWord(s, end string) (word, rest string, ok bool) {
	if quoted, err := strconv.QuotedPrefix(s); err == nil {
		word, err = strconv.Unquote(quoted)
		return word, s[len(quoted):], err == nil
	}
	i := strings.IndexAny(s, end)
	if i < 0 {
		return "", s, false
	}
	return s[:i], s[i:], true
}

// death returns how the program ended that printed the dump, nil where it may have gone on:
// one that recovers from a panic prints its own stack.
func (d *dump) death() *model.Death {
	if d.cause == "" || len(d.looks) == 0 {
		return nil
	}
	frames := d.l.m.Stacks.Frames(d.looks[0].stack)
	if slices.ContainsFunc(frames, func(f model.Frame) bool { return f.Func == "runtime/debug.Stack" || f.Func == "runtime.Stack" }) {
		return nil
	}
	death := &model.Death{Words: d.cause}
	if at, ok := model.UserFrame(frames); ok {
		death.Func, death.File, death.Line = at.Func, at.File, at.Line
	}
	return death
}

func (d *dump) flush() error {
	if !d.inside {
		return nil
	}
	stack, err := d.l.intern(d.name, d.frames)
	if err != nil {
		return err
	}
	d.t.add(stack, d.labels, 1, d.count)
	k := look{stack: stack, state: stateOfDump(d.labels[stateLabel], d.frames), count: d.count, id: d.id, args: slices.Clone(d.args)}
	if n, err := strconv.Atoi(d.labels[minutesLabel]); err == nil {
		k.waited = time.Duration(n) * time.Minute
	}
	d.looks = append(d.looks, k)
	d.inside, d.frames, d.args = false, nil, d.args[:0]
	return nil
}
