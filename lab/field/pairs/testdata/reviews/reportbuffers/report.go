// Package report renders the statements of bank accounts.
package report

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"sync"
)

// An Entry is a line of a statement.
type Entry struct {
	Text  string
	Cents int
}

// most is the largest buffer worth keeping.
const most = 64 << 10

// A Renderer writes statements through buffers that it keeps.
type Renderer struct {
	Largest int // buffers that are larger are not kept
	buffers sync.Pool
}

// NewRenderer keeps buffers up to a size; 0 is the usual one.
func NewRenderer(largest int) *Renderer {
	if largest == 0 {
		largest = most
	}
	return &Renderer{Largest: largest}
}

func (r *Renderer) get() *bytes.Buffer {
	if b, ok := r.buffers.Get().(*bytes.Buffer); ok {
		b.Reset()
		return b
	}
	return bytes.NewBuffer(make([]byte, 0, 512))
}

func (r *Renderer) put(b *bytes.Buffer) {
	if b.Cap() <= r.Largest {
		r.buffers.Put(b)
	}
}

// Render writes a statement.
func (r *Renderer) Render(w io.Writer, account string, entries []Entry) error {
	b := r.get()
	defer r.put(b)
	b.WriteString("<table>")
	sum := 0
	for i := range entries {
		e := &entries[i]
		sum += e.Cents
		b.WriteString("<tr><td>")
		b.WriteString(e.Text)
		b.WriteString("</td><td class=cents>")
		b.Write(appendCents(b.AvailableBuffer(), e.Cents))
		b.WriteString("</td></tr>\n")
	}
	fmt.Fprintf(b, "</table><p>%s: %d</p>", account, sum)
	_, err := w.Write(b.Bytes())
	return err
}

func appendCents(b []byte, cents int) []byte {
	b = append(strconv.AppendInt(b, int64(cents/100), 10), '.')
	return append(b, byte('0'+cents/10%10), byte('0'+cents%10))
}
