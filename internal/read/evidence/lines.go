package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is how long a line of a text is read; what is beyond is left out.
const maxLine = 1 << 20

// lines calls f with every line of a text, without its end, until f returns an
// error. f must not keep the bytes. A text that ends in an error is read as far
// as it goes, and that is noted.
func (l *loader) lines(s source, f func(line []byte) error) error {
	r := bufio.NewReaderSize(ctxReader{l.ctx, s.r}, maxLine)
	rest := false // of a line that was too long
	for {
		line, err := r.ReadSlice('\n')
		if !rest && (len(line) > 0) {
			if ferr := f(bytes.TrimRight(line, "\r\n")); ferr != nil {
				return ferr
			}
		}
		switch rest = errors.Is(err, bufio.ErrBufferFull); {
		case err == nil, rest:
		case l.ctx.Err() != nil:
			return l.ctx.Err()
		case err == io.EOF:
			return nil
		default:
			l.note("%s could not be read to its end: %v", s.name, err)
			return nil
		}
	}
}
