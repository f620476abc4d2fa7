package evidence

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// What a program printed reaches a log behind a time, a name and a level, as a string of
// JSON, or in pieces. Two wrappings are known, because they cut long lines and tell the time
// of each: those of Docker and of Kubernetes. All others show in the line that a text begins
// with: what stands before it stands before each of its lines, with other times; or the text
// stands in a string there, whole.

// A wrapped line is one without what a container's runtime put around it.
type wrapped struct {
	text  []byte
	from  string // the runtime and the stream, "" of a bare line
	stamp []byte
	cut   bool // the line goes on in the next of its stream
}

// unwrapContainer takes a line out of Docker's JSON or the form of Kubernetes' CRI.
func unwrapContainer(line []byte) wrapped {
	if len(line) > 0 && line[0] == '{' {
		text, ok := stringField(line, "log")
		stream, known := stringField(line, "stream")
		if !ok || !known {
			return wrapped{text: line}
		}
		stamp, _ := stringField(line, "time")
		whole := bytes.TrimSuffix(text, []byte("\n"))
		return wrapped{text: bytes.TrimSuffix(whole, []byte("\r")), from: "docker " + string(stream), stamp: stamp, cut: len(whole) == len(text)}
	}
	stamp, rest, ok := bytes.Cut(line, []byte(" "))
	if !ok || len(stamp) < len("2006-01-02T15:04:05Z") || stamp[10] != 'T' || !timeLike(stamp) {
		return wrapped{text: line}
	}
	for _, stream := range []string{"stdout", "stderr"} {
		tag, ok := bytes.CutPrefix(rest, []byte(stream+" "))
		if !ok || len(tag) == 0 || tag[0] != 'P' && tag[0] != 'F' {
			continue
		}
		if text := tag[1:]; len(text) == 0 || text[0] == ' ' {
			return wrapped{text: text[min(1, len(text)):], from: "cri " + stream, stamp: stamp, cut: tag[0] == 'P'}
		}
	}
	return wrapped{text: line}
}

// timeLike reports whether a word may be a time, or another number that differs from
// line to line.
func timeLike(word []byte) bool {
	digit := false
	for _, c := range word {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case bytes.IndexByte([]byte("-:./,+TZ[]()"), c) < 0:
			return false
		}
	}
	return digit
}

// A prefix is what stands before each line of a text: words, of which those that are
// times differ in their digits, and at last the blanks before the text.
type prefix struct {
	words  [][]byte // of a time what separates its digits
	times  []bool   // which of them are times
	lead   int      // blanks before the first word
	blanks []byte   // before the text
}

func newPrefix(before []byte) prefix {
	words := bytes.TrimRight(before, " \t")
	p := prefix{blanks: bytes.Clone(before[len(words):]), lead: len(words) - len(bytes.TrimLeft(words, " \t"))}
	for _, w := range bytes.Fields(words) {
		p.times = append(p.times, timeLike(w))
		p.words = append(p.words, timeless(w))
	}
	return p
}

// timeless returns a word without the digits by which times differ: a whole second has no
// point.
func timeless(word []byte) []byte {
	if !timeLike(word) {
		return bytes.Clone(word)
	}
	return bytes.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, word)
}

// key returns one value for all prefixes that differ in times only.
func (p *prefix) key() string {
	return string(bytes.Join(p.words, []byte{0})) + "\x01" + string(p.blanks)
}

// writer returns one value for all prefixes with the same words: whoever writes them may
// put a time, or nothing, before the text.
func (p *prefix) writer() string {
	var names [][]byte
	for i, w := range p.words {
		if !p.times[i] {
			names = append(names, w)
		}
	}
	return string(bytes.Join(names, []byte{' '}))
}

// cut takes the prefix away from a line that begins with it.
func (p *prefix) cut(line []byte) (text []byte, ok bool) {
	for i, w := range p.words {
		blank := len(line) - len(bytes.TrimLeft(line, " \t"))
		if i == 0 && blank != p.lead || i > 0 && blank == 0 {
			return nil, false
		}
		line = line[blank:]
		end := bytes.IndexAny(line, " \t")
		if end < 0 {
			end = len(line)
		}
		if word := line[:end]; timeLike(word) != p.times[i] || !bytes.Equal(w, timeless(word)) {
			return nil, false
		}
		line = line[end:]
	}
	if text, ok = bytes.CutPrefix(line, p.blanks); ok {
		return text, true
	}
	return nil, len(bytes.TrimSpace(line)) == 0 // an empty line, whose blanks were trimmed
}

// stringField returns the value of a field of a line of JSON that is a string.
func stringField(line []byte, name string) ([]byte, bool) {
	key := `"` + name + `":`
	i := bytes.Index(line, []byte(key))
	if i < 0 {
		return nil, false
	}
	rest := bytes.TrimLeft(line[i+len(key):], " ")
	if len(rest) == 0 || rest[0] != '"' {
		return nil, false
	}
	return unquote(rest[1:]), true
}

// literal returns the string, quoted as JSON and Go quote them, that position i of a
// line is in, and where it begins. ok is false where i is in none.
func literal(line []byte, i int) (text []byte, begin int, ok bool) {
	begin = -1
	for j := 0; j < i; j++ {
		switch line[j] {
		case '\\':
			j++
		case '"':
			if ok = !ok; ok {
				begin = j
			}
		}
	}
	if !ok || line[0] != '{' && endOfString(line[begin+1:]) < 0 {
		return nil, 0, false // a quotation mark that stands alone
	}
	return unquote(line[begin+1:]), begin, true
}

// endOfString returns where a quoted string ends, -1 where it does not.
func endOfString(b []byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unquote reads a quoted string up to its end, or what there is of it.
func unquote(b []byte) []byte {
	if i := endOfString(b); i >= 0 {
		b = b[:i]
	}
	i := bytes.IndexByte(b, '\\')
	if i < 0 {
		return b
	}
	out := append(make([]byte, 0, len(b)), b[:i]...)
	for b = b[i:]; len(b) > 0; {
		if b[0] != '\\' {
			n := bytes.IndexByte(b, '\\')
			if n < 0 {
				n = len(b)
			}
			out, b = append(out, b[:n]...), b[n:]
			continue
		}
		r, size := escape(b)
		out, b = utf8.AppendRune(out, r), b[size:]
	}
	return out
}

// escape reads one escape of a string and returns its length.
func escape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	switch b[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'x':
		return hexEscape(b, 2)
	case 'u':
		r, size = hexEscape(b, 4)
		if utf16.IsSurrogate(r) && size == 6 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			low, _ := hexEscape(b[6:], 4)
			return utf16.DecodeRune(r, low), 12
		}
		return r, size
	}
	return rune(b[1]), 2 // a quotation mark, a backslash or a slash
}

func hexEscape(b []byte, digits int) (rune, int) {
	if len(b) < 2+digits {
		return utf8.RuneError, len(b)
	}
	n, err := strconv.ParseUint(string(b[2:2+digits]), 16, 32)
	if err != nil {
		return utf8.RuneError, 2
	}
	return rune(n), 2 + digits
}
