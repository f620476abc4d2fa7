// Package export turns registers into streams.
package export

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"

	"parishrolls/internal/roll"
)

// Stream returns the register as text with a seal in its last line.
func Stream(r *roll.Register) *io.PipeReader {
	pr, pw := io.Pipe()
	go func() {
		h := sha256.New()
		bw := bufio.NewWriterSize(pw, 2048)
		fmt.Fprintf(bw, "#%s\n", r.Parish)
		err := r.WriteCSV(io.MultiWriter(bw, h))
		if err == nil {
			fmt.Fprintf(bw, "#seal %x\n", h.Sum(nil))
			err = bw.Flush()
		}
		pw.CloseWithError(err)
	}()
	return pr
}
