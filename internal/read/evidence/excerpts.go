package evidence

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A log has texts of several lines in it: the goroutines that a program prints when
// it panics or is ended, and profiles in text form. Such an excerpt is known by its
// first line, wherever that stands, and each further line has the same wrapping. The
// lines of other writers in between are passed over.

// Limits on excerpts.
const (
	maxForeign  = 64 // lines of others in a row after which an excerpt has ended
	maxExcerpts = 64 // with different wrappings
	maxNesting  = 3  // of strings in strings
	// maxJoined is how long a line can be that a container's runtime cut into pieces.
	maxJoined = logChunk
)

// A section reads the lines of one excerpt after the other, without their wrapping.
type section interface {
	// line reports whether a line belongs to the excerpt. sure says that it has the
	// excerpt's wrapping, so that it is of the same writer.
	line(text []byte, sure bool) (ours bool, err error)
	// end notes that the lines end, or that others follow.
	end() error
}

// An excerptKind is what reads an excerpt.
type excerptKind int

const (
	ofGoroutines excerptKind = iota
	ofProfiles
)

// section returns where the excerpts of a kind are read that have one writer.
func (f *finder) section(kind excerptKind, writer string) section {
	if kind == ofGoroutines {
		return f.dumpsOf(writer)
	}
	return f.textsOf(writer)
}

// excerptMarks are in the first line of an excerpt of each kind.
var excerptMarks = []struct {
	mark []byte
	line *regexp.Regexp // from the mark on
	kind excerptKind
	bare bool // only where nothing stands before it
}{
	{[]byte("goroutine "), regexp.MustCompile(dumpHeader.String() + `(?::| \{)|^goroutine \d+ .* labels:\{`), ofGoroutines, false},
	{[]byte(" goroutines ["), joinedHeader, ofGoroutines, false},
	{[]byte("fatal error: "), deathCause, ofGoroutines, false},
	{[]byte("panic: "), deathCause, ofGoroutines, false},
	{[]byte(" profile: "), textProfileBegin, ofProfiles, false},
	{[]byte("--- "), textProfileBegin, ofProfiles, false},
	{[]byte(" @ 0x"), goroutineGroup, ofProfiles, true},
}

// A finder finds the excerpts of one log.
type finder struct {
	l            *loader
	name, member string
	excerpts     map[string]*excerpt
	open         []*excerpt        // those whose next lines may come
	pieces       map[string][]byte // of a line that was cut, by stream
	now, stamp   []byte            // the line that is read, and what its wrapping says of when
	lost         bool              // excerpts over the limit
	dumps        []*dumpSection
	texts        []*textSection
}

// An excerpt is where texts of one kind with one wrapping are read.
type excerpt struct {
	from    string // the wrapping around the line: a stream, the fields of JSON
	prefix  prefix
	read    section
	foreign int // lines of others since the last
}

func newFinder(l *loader, s source) *finder {
	return &finder{l: l, name: s.name, member: s.member, excerpts: map[string]*excerpt{}, pieces: map[string][]byte{}}
}

// search reads a piece of whole lines. While no excerpt is open, and no line waits for
// its other pieces, only the lines with a mark are looked at.
func (f *finder) search(piece []byte) error {
	for len(piece) > 0 {
		if len(f.open)+len(f.pieces) == 0 {
			i := nextMark(piece)
			if i < 0 {
				return nil
			}
			piece = piece[firstPiece(piece, i):]
		}
		line, rest, _ := bytes.Cut(piece, []byte("\n"))
		if err := f.line(bytes.TrimSuffix(line, []byte("\r"))); err != nil {
			return err
		}
		piece = rest
	}
	return nil
}

// nextMark returns where the first line with a mark begins, -1 without any.
func nextMark(piece []byte) int {
	first := -1
	for _, k := range excerptMarks {
		if i := bytes.Index(piece[:cmp.Or(first+1, len(piece))], k.mark); i >= 0 {
			first = i
		}
	}
	if first < 0 {
		return -1
	}
	return bytes.LastIndexByte(piece[:first], '\n') + 1
}

// firstPiece returns where the line at i begins when it was cut before.
func firstPiece(piece []byte, i int) int {
	w := unwrapContainer(lineAt(piece, i))
	for w.from != "" && i > 0 {
		before := bytes.LastIndexByte(piece[:i-1], '\n') + 1
		if b := unwrapContainer(lineAt(piece, before)); b.from != w.from || !b.cut {
			break
		}
		i = before
	}
	return i
}

func lineAt(piece []byte, i int) []byte {
	line, _, _ := bytes.Cut(piece[i:], []byte("\n"))
	return line
}

// line reads a line as it stands in the file.
func (f *finder) line(line []byte) error {
	w := unwrapContainer(line)
	f.now, f.stamp = line, w.stamp
	if w.from != "" {
		if before := f.pieces[w.from]; len(before)+len(w.text) <= maxJoined && (w.cut || len(before) > 0) {
			w.text = append(before, w.text...)
			f.pieces[w.from] = w.text
			if w.cut {
				return nil
			}
		}
		delete(f.pieces, w.from)
	}
	return f.text(w.text, w.from, 0)
}

// lineTime returns when the line that is read was written, as far as the log tells.
func (f *finder) lineTime() time.Time { return stampOf(string(f.stamp), f.now) }

// text reads a line in its wrapping from, or the string in it that an excerpt is in.
func (f *finder) text(line []byte, from string, depth int) error {
	for _, k := range excerptMarks {
		i := excerptBegin(line, k.mark, k.line)
		if i < 0 || k.bare && len(bytes.TrimSpace(line[:i])) > 0 {
			continue
		}
		if text, begin, ok := literal(line, i); ok && depth < maxNesting {
			return f.string(text, fieldOf(from, fieldBefore(line[:begin])), depth+1)
		}
		e := f.excerpt(k.kind, from, newPrefix(line[:i]))
		if e == nil {
			return nil
		}
		_, err := f.give(e, line[i:], true)
		return err
	}
	return f.follow(line, from, depth)
}

// follow gives a line without a mark to the excerpt that it belongs to.
func (f *finder) follow(line []byte, from string, depth int) error {
	var closing []*excerpt
	for _, e := range slices.Backward(f.open) {
		if field, ok := strings.CutPrefix(e.from, fieldOf(from, "")); ok && depth < maxNesting {
			if text, ok := stringField(line, field); ok {
				return f.string(text, e.from, depth+1)
			}
		}
		if e.from == from {
			text, wrapped := e.prefix.cut(line)
			if !wrapped {
				text = line // many loggers put theirs before the first line only
			}
			if ours, err := f.give(e, text, wrapped); ours || err != nil {
				return err
			}
		}
		if e.foreign++; e.foreign > maxForeign {
			closing = append(closing, e)
		}
	}
	for _, e := range closing {
		if err := f.close(e); err != nil {
			return err
		}
	}
	return nil
}

func (f *finder) give(e *excerpt, text []byte, sure bool) (ours bool, err error) {
	if ours, err = e.read.line(text, sure); ours {
		e.foreign = 0
	}
	return ours, err
}

// close ends an excerpt for now: another may begin with the same wrapping.
func (f *finder) close(e *excerpt) error {
	f.open = slices.DeleteFunc(f.open, func(o *excerpt) bool { return o == e })
	e.foreign = 0
	return e.read.end()
}

// fieldOf returns the wrapping of a string in a wrapped line.
func fieldOf(from, field string) string { return from + "\x02" + field }

// excerptBegin returns where in a line an excerpt begins, -1 where none does.
func excerptBegin(line, mark []byte, whole *regexp.Regexp) int {
	for from := 0; ; {
		i := bytes.Index(line[from:], mark)
		if i < 0 {
			return -1
		}
		i += from
		from = i + len(mark)
		if mark[0] == ' ' { // the word before it is the excerpt's
			if i = bytes.LastIndexAny(line[:i], " \t\"\\") + 1; i > 0 && line[i-1] == '\\' {
				i++ // the letter of an escape
			}
		}
		text := line[i:]
		if j := endOfString(text); j >= 0 && !whole.Match(text) {
			text = text[:j]
		}
		if j := bytes.Index(text, []byte(`\n`)); j >= 0 {
			text = text[:j]
		}
		if whole.Match(text) {
			return i
		}
	}
}

// fieldBefore returns the name of the field whose value begins behind before.
func fieldBefore(before []byte) string {
	before = bytes.TrimRight(before, " :=")
	name := before[bytes.LastIndexAny(bytes.TrimSuffix(before, []byte(`"`)), "\" ,{")+1:]
	return string(bytes.Trim(name, `"`))
}

// string reads the lines of a string. One of several lines is whole.
func (f *finder) string(text []byte, from string, depth int) error {
	text = bytes.TrimSuffix(text, []byte("\n"))
	whole := bytes.IndexByte(text, '\n') >= 0
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		if err := f.text(bytes.TrimSuffix(line, []byte("\r")), from, depth); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	for _, e := range slices.Clone(f.open) {
		if e.from == from {
			if err := f.close(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// excerpt returns the one with this wrapping, nil when there are too many.
func (f *finder) excerpt(kind excerptKind, from string, p prefix) *excerpt {
	key := fmt.Sprint(kind, "\x00", from, "\x00", p.key())
	e := f.excerpts[key]
	if e == nil {
		if len(f.excerpts) >= maxExcerpts {
			f.lost = true
			return nil
		}
		e = &excerpt{from: from, prefix: p, read: f.section(kind, from+"\x00"+p.writer())}
		f.excerpts[key] = e
	}
	if !slices.Contains(f.open, e) {
		f.open = append(f.open, e)
	}
	return e
}

// finish ends what is open and gives the loader what was found; it reports whether
// that was anything. alone says that the log has nothing else of use.
func (f *finder) finish(alone bool) (found bool, err error) {
	for _, e := range slices.Clone(f.open) {
		if err := f.close(e); err != nil {
			return false, err
		}
	}
	if f.lost {
		f.l.note("%s has goroutine dumps or profiles behind more than %d kinds of prefixes; only those of the first were read", f.name, maxExcerpts)
	}
	dumps, err := f.finishDumps()
	if err != nil {
		return false, err
	}
	texts, err := f.finishTexts(dumps)
	if dumps || texts || err != nil {
		return true, err
	}
	return alone && f.finishSingles(), nil
}
