// Package layout lays certificates out.
package layout

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"certificateprints/internal/scratch"
)

// A Job is a certificate, or a yearbook of them.
type Job struct {
	Number, School int
	Yearbook       bool
}

func (j Job) pages() int {
	if j.Yearbook {
		return 1500
	}
	return 1 + j.Number%3
}

func page(b *bytes.Buffer, job, n int) {
	fmt.Fprintf(b, "%%page %d\n/title (certificate %d) show\n", n, job)
	for line := range 20 {
		fmt.Fprintf(b, "%d %d moveto (line %d of %d) show\n", 72, 720-line*14, line, job)
	}
	b.WriteString("showpage\n")
}

// Certificate lays one out and returns how large it is.
func Certificate(p *scratch.Pads, j Job) (int, error) {
	b := p.Take(j.School)
	defer p.Give(j.School, b)
	for n := range j.pages() {
		page(b, j.Number, n)
	}
	if crc32.ChecksumIEEE(b.Bytes()) == 0 {
		return 0, fmt.Errorf("job %d is empty", j.Number)
	}
	return b.Len(), nil
}
