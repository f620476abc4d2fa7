// Package press prints what comes, one year after the other.
package press

import (
	"bufio"
	"io"

	"schoolreports/internal/layout"
	"schoolreports/internal/school"
)

// A Press prints.
type Press struct {
	layout *layout.Layout
	out    *counted
	tray   chan *school.Year
	done   chan error
}

// Start starts a press.
func Start(l *layout.Layout, out io.Writer) *Press {
	p := &Press{layout: l, out: &counted{w: out}, tray: make(chan *school.Year, 16), done: make(chan error, 1)}
	go p.run()
	return p
}

// Print lays a year into the tray.
func (p *Press) Print(y *school.Year) { p.tray <- y }

// Close waits for all that was laid there, and returns how many bytes were printed.
func (p *Press) Close() (int64, error) {
	close(p.tray)
	err := <-p.done
	return p.out.n, err
}

func (p *Press) run() {
	w := bufio.NewWriterSize(p.out, 32<<10)
	var failed error
	for y := range p.tray {
		if failed == nil {
			failed = p.layout.Render(w, y)
		}
	}
	if err := w.Flush(); failed == nil {
		failed = err
	}
	p.done <- failed
}

type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}
