package evidence

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/problem"
	"github.com/gowhy/gowhy/internal/shell"
)

// A kind is what the first bytes of a file say that it is.
type kind int

const (
	isEmpty   kind = iota
	isTrace        // execution trace, any version
	isGzip         // something compressed
	isZip          // a recording or another archive
	isBinary       // not text: perhaps an uncompressed profile
	isProgram      // an executable
	isHTML         // a web page
	isText
)

const traceHeaderLen = 16 // "go 1.NN trace" and zeros

// sniff tells what a file is by its first bytes. Names are not asked: traces
// come as trace.out, trace.bin, download(3) and without any.
func sniff(head []byte) kind {
	switch {
	case len(head) == 0:
		return isEmpty
	case traceHeader(head):
		return isTrace
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return isGzip
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return isZip
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("MZ")), bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return isProgram
	case html(head):
		return isHTML
	case !textual(head):
		return isBinary
	}
	return isText
}

// traceHeader reports whether head begins like "go 1.26 trace\0\0\0", whole or cut.
func traceHeader(head []byte) bool {
	h := head[:min(len(head), traceHeaderLen)]
	if !bytes.HasPrefix(h, []byte("go 1.")) {
		return false
	}
	digits := len(h[5:]) - len(bytes.TrimLeft(h[5:], "0123456789"))
	rest := h[5+digits:]
	want := []byte(" trace\x00\x00\x00\x00")
	return digits > 0 && len(h) == traceHeaderLen && bytes.HasPrefix(want, rest)
}

// html reports whether head begins like a page of the web, in whatever encoding.
func html(head []byte) bool {
	h := bytes.ToLower(bytes.TrimLeft(head, "\xef\xbb\xbf \t\r\n"))
	for _, p := range []string{"<!doctype", "<html", "<head", "<?xml"} {
		if bytes.HasPrefix(h, []byte(p)) {
			return true
		}
	}
	return false
}

// textual reports whether head is text: valid UTF-8, its last rune perhaps
// cut, without control characters other than white space.
func textual(head []byte) bool {
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 && len(head)-i >= utf8.UTFMax {
			return false
		}
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return false
		}
		i += n
	}
	return true
}

// problem says what is wrong with a file of a kind that is no evidence.
func (k kind) problem(name string, head []byte) *problem.Error {
	p := &problem.Error{Kind: problem.Absence}
	switch k {
	case isEmpty:
		p.What = fmt.Sprintf("%q is empty", name)
		p.Hint = "was the program ended before trace.Stop()?   gowhy record -o run.gowhy -- CMD"
	case isHTML:
		p.What = fmt.Sprintf("%q is a web page, not a trace: %q", name, firstLine(head))
		p.Hint = "was an error page saved?   gowhy record -o run.gowhy -d 5s --url http://HOST:PORT"
	case isProgram:
		p.What = fmt.Sprintf("%q is a program, not a recording of one", name)
		if !strings.Contains(name, "/") {
			name = "./" + name // as the shell wants it
		}
		p.Hint = "gowhy record -o run.gowhy -- " + shell.Word(name)
	case isText:
		if bytes.HasPrefix(head, []byte("{")) {
			p.What = fmt.Sprintf("%q is JSON, but no saved diagnosis and no result of a load generator: %q", name, firstLine(head))
			p.Hint = saveHint
			break
		}
		fallthrough
	default:
		p.What = fmt.Sprintf("%q is a text file, not a trace or profile: %q", name, firstLine(head))
		p.Hint = "gowhy record -o run.gowhy -d 5s --url http://HOST:PORT   # or: go test -trace trace.out"
	}
	return p
}
