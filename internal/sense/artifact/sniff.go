package artifact

import (
	"bytes"
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/sense/heapdump"
)

// A Kind is what the first bytes of a file say that it is.
type Kind int

// The kinds of files.
const (
	Empty Kind = iota
	Trace      // execution trace, any version
	Gzip       // something compressed, as are the next two
	Zstd
	Bzip2
	Zip      // a recording or another archive
	Tar      // an archive of files, one after the other
	Binary   // not text: perhaps an uncompressed profile
	Program  // an executable
	Core     // a core file of Linux, of 64 bits
	HeapDump // of runtime/debug.WriteHeapDump
	HTML     // a web page
	Text
)

const traceHeaderLen = 16 // "go 1.NN trace" and zeros

// Sniff tells what a file is by its first bytes. Names are not asked: traces
// come as trace.out, trace.bin, download(3) and without any.
func Sniff(head []byte) Kind {
	switch {
	case len(head) == 0:
		return Empty
	case traceHeader(head):
		return Trace
	case bytes.HasPrefix(head, []byte(heapdump.Magic)):
		return HeapDump
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return Gzip
	case bytes.HasPrefix(head, []byte("\x28\xb5\x2f\xfd")):
		return Zstd
	case bzip2(head):
		return Bzip2
	case bytes.HasPrefix(head, []byte("PK\x03\x04")), bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return Zip
	case tarHeader(head):
		return Tar
	case bytes.HasPrefix(head, []byte("\x7fELF\x02\x01")) && len(head) >= 20 && binary.LittleEndian.Uint16(head[16:]) == elfCore:
		return Core
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("MZ")), bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return Program
	case html(head):
		return HTML
	case UTF16(head) != nil:
		return Text
	case !textual(head):
		return Binary
	}
	return Text
}

// bzip2 reports whether head begins like a stream of bzip2, which tells its blocks' size
// and then how the first begins, or that there is none.
func bzip2(head []byte) bool {
	if len(head) < 10 || !bytes.HasPrefix(head, []byte("BZh")) || head[3] < '1' || head[3] > '9' {
		return false
	}
	return bytes.HasPrefix(head[4:], []byte("1AY&SY")) || bytes.HasPrefix(head[4:], []byte("\x17\x72\x45\x38\x50\x90"))
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

// tarHeader reports whether head begins with the first file of a tar archive.
func tarHeader(head []byte) bool {
	const at = 257
	return len(head) >= at+5 && string(head[at:at+5]) == "ustar"
}

// OtherCore reports whether head begins a core dump of another kind: of ELF of 32 bits or the
// other order of bytes, or of Mach-O.
func OtherCore(head []byte) bool {
	switch {
	case len(head) < 20 || Sniff(head) == Core:
		return false
	case bytes.HasPrefix(head, []byte("\x7fELF\x02\x02")), bytes.HasPrefix(head, []byte("\x7fELF\x01\x02")):
		return binary.BigEndian.Uint16(head[16:]) == elfCore
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return binary.LittleEndian.Uint16(head[16:]) == elfCore
	case bytes.HasPrefix(head, []byte("\xcf\xfa\xed\xfe")):
		return binary.LittleEndian.Uint32(head[12:]) == machCore
	}
	return false
}

// The types of a file that is a core dump.
const (
	elfCore  = 4
	machCore = 4
)

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

// Escape begins what steers a terminal; with [ after it, a control sequence, which
// is a colour as a rule.
const Escape = 0x1b

// textual reports whether head is text: valid UTF-8, its last rune perhaps
// cut, without control characters other than white space and those that begin the
// control sequences of a terminal.
func textual(head []byte) bool {
	for i := 0; i < len(head); {
		if rest := head[i:]; rest[0] == Escape && (len(rest) == 1 || rest[1] == '[') {
			i++
			continue
		}
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

// The marks that begin a text of Unicode, by which one knows its encoding.
var (
	MarkUTF8    = []byte("\xef\xbb\xbf")
	markUTF16LE = []byte("\xff\xfe")
	markUTF16BE = []byte("\xfe\xff")
)

// UTF16 returns the order of the bytes of a text in UTF-16, as PowerShell writes what
// is redirected; nil for any other file.
func UTF16(head []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(head, markUTF16LE):
		return binary.LittleEndian
	case bytes.HasPrefix(head, markUTF16BE):
		return binary.BigEndian
	}
	return nil
}

// JSONKind recognises the JSON that gowhy itself writes into recordings: an
// object whose first field is its kind.
func JSONKind(kind string) func(head []byte) bool {
	return func(head []byte) bool {
		for _, token := range []string{"{", `"kind"`, ":", `"` + kind + `"`} {
			var ok bool
			if head, ok = bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(token)); !ok {
				return false
			}
		}
		return true
	}
}

// FirstLine returns the beginning of a text for an error message.
func FirstLine(head []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return string(line[:min(len(line), 80)])
}
