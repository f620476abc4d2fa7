package evidence

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// maxEscapes is how many messages are kept: the standard library and a large
// program together have some 200,000.
const maxEscapes = 1 << 20

// escapeMark is a line that only `go build -gcflags=-m` prints.
var escapeMark = regexp.MustCompile(`(?m)^[^\s:][^:\n]*:\d+:\d+: (?:.* escapes to heap|moved to heap: |.* does not escape|can inline |inlining call to |leaking param|cannot inline )`)

func isEscape(head []byte) bool { return escapeMark.Match(head) }

var (
	escapesToHeap = []byte(" escapes to heap")
	argumentStays = []byte(": ... argument does not escape")
	movedToHeap   = []byte("moved to heap: ")
)

// readEscape reads the compiler's messages on what it puts on the heap. With
// -m=2 each is explained on lines of their own, which end otherwise. A generic
// function appears for each of its shapes: equal messages of one place are one.
func (l *loader) readEscape(s source) error {
	if l.escaping == nil {
		l.escaping = map[escapeKey]bool{}
	}
	lost := 0
	err := l.lines(s, func(line []byte) error {
		if !bytes.HasSuffix(line, escapesToHeap) && !bytes.Contains(line, movedToHeap) && !bytes.HasSuffix(line, argumentStays) {
			return nil
		}
		key, ok := parseEscape(string(line))
		switch {
		case !ok || l.escaping[key]:
		case len(l.m.Escapes) == maxEscapes:
			lost++
		default:
			l.escaping[key] = true
			l.m.Escapes = append(l.m.Escapes, key.Escaping)
		}
		return nil
	})
	if lost > 0 {
		l.note("%s: %d messages beyond the %d that are kept were left out", s.name, lost, maxEscapes)
	}
	l.from[model.Escape] = s.name
	l.uses++
	return err
}

// An escapeKey is one message of the compiler.
type escapeKey struct {
	model.Escaping
	column int
}

// parseEscape reads "./work.go:12:7: x escapes to heap". Paths are relative to
// where the go command ran, or to the package: what comes before the first real
// name says nothing to us and is dropped.
func parseEscape(line string) (e escapeKey, ok bool) {
	place, message, ok := strings.Cut(line, ": ")
	if !ok {
		return e, false
	}
	parts := strings.Split(place, ":")
	if len(parts) < 3 {
		return e, false
	}
	n := len(parts)
	var err error
	if e.Line, err = strconv.Atoi(parts[n-2]); err != nil {
		return e, false
	}
	if e.column, err = strconv.Atoi(parts[n-1]); err != nil {
		return e, false
	}
	e.File = strings.Join(parts[:n-2], ":")
	for strings.HasPrefix(e.File, "./") || strings.HasPrefix(e.File, "../") {
		_, e.File, _ = strings.Cut(e.File, "/")
	}
	if what, moved := strings.CutPrefix(message, string(movedToHeap)); moved {
		e.What, e.Moved = what, true
		return e, e.File != ""
	}
	if e.What, ok = strings.CutSuffix(message, " does not escape"); ok {
		e.Stays = true
	} else {
		e.What, ok = strings.CutSuffix(message, string(escapesToHeap))
	}
	e.Variadic = e.What == "... argument"
	return e, ok && e.File != ""
}
