package evidence

import (
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// textLayers are what may lie around a whole text, the outermost first. plain returns
// the text without; it is given the beginning too.
var textLayers = []struct {
	is    func(head []byte) bool
	plain func(r io.Reader, head []byte) io.Reader
}{
	{
		func(head []byte) bool { return artifact.UTF16(head) != nil },
		func(r io.Reader, head []byte) io.Reader { return &utf16Reader{r: r, order: artifact.UTF16(head)} },
	},
	{
		func(head []byte) bool { return bytes.HasPrefix(head, artifact.MarkUTF8) },
		func(r io.Reader, _ []byte) io.Reader { return skip(r, len(artifact.MarkUTF8)) },
	},
	{
		func(head []byte) bool { return bytes.IndexByte(head, artifact.Escape) >= 0 },
		func(r io.Reader, _ []byte) io.Reader { return &plainReader{r: r} },
	},
}

// httpHead returns the length of the headers that `curl -i` puts before what it got, 0
// without any. There are several after a redirection.
func httpHead(head []byte) (n int) {
	for bytes.HasPrefix(head[n:], []byte("HTTP/")) {
		end := bytes.Index(head[n:], []byte("\r\n\r\n"))
		if end < 0 {
			return n
		}
		n += end + len("\r\n\r\n")
	}
	return n
}

// skip returns what follows n bytes, which are there.
func skip(r io.Reader, n int) io.Reader {
	_, _ = io.CopyN(io.Discard, r, int64(n)) // an error comes again
	return r
}

// A utf16Reader turns UTF-16 into UTF-8. Its mark is left out.
type utf16Reader struct {
	r     io.Reader
	order binary.ByteOrder
	buf   [4 << 10]byte
	have  int    // bytes in buf that are no whole character yet
	out   []byte // not read yet
	begun bool
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		var n int
		n, u.err = u.r.Read(u.buf[u.have:])
		u.decode(u.have + n)
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// decode turns the first n bytes of the buffer into out, but for a half character.
func (u *utf16Reader) decode(n int) {
	u.out = u.out[:0:0]
	i := 0
	for ; i+1 < n; i += 2 {
		r := rune(u.order.Uint16(u.buf[i:]))
		if utf16.IsSurrogate(r) {
			if i+3 >= n && u.err == nil {
				break
			}
			if i+3 < n {
				if both := utf16.DecodeRune(r, rune(u.order.Uint16(u.buf[i+2:]))); both != utf8.RuneError {
					r, i = both, i+2
				}
			}
		}
		if u.begun || r != '\ufeff' {
			u.out = utf8.AppendRune(u.out, r)
		}
		u.begun = true
	}
	u.have = copy(u.buf[:], u.buf[i:n])
}
