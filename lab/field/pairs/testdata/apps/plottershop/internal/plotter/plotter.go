// Package plotter drives the pen plotter.
package plotter

import (
	"hash/crc32"
	"runtime"
	"strconv"

	"plottershop/internal/artwork"
)

// Plotter is the driver. Its handle belongs to the thread that opened it,
// so every use goes through Do.
type Plotter struct {
	calls chan call

	buf   []byte
	pen   int
	Lines int
	Sum   uint32
}

type call struct {
	f    func()
	done chan struct{}
}

// Open starts the driver on a thread of its own.
func Open() *Plotter {
	p := &Plotter{calls: make(chan call), pen: -1}
	go p.loop()
	return p
}

func (p *Plotter) loop() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for c := range p.calls {
		c.f()
		close(c.done)
	}
}

// Do runs f on the driver's thread.
func (p *Plotter) Do(f func()) {
	c := call{f, make(chan struct{})}
	p.calls <- c
	<-c.done
}

// Close ends the driver.
func (p *Plotter) Close() { close(p.calls) }

// Pen takes a pen and moves it to a point.
func (p *Plotter) Pen(n int, at artwork.Point) {
	if n != p.pen {
		p.pen = n
		p.buf = append(p.buf, "SP"...)
		p.buf = strconv.AppendInt(p.buf, int64(n), 10)
		p.buf = append(p.buf, ';')
	}
	p.coords("PU", at)
}

// Line draws along points.
func (p *Plotter) Line(pts []artwork.Point) {
	for _, q := range pts {
		p.coords("PD", q)
	}
	p.Lines += len(pts)
	if len(p.buf) > 4096 {
		p.flush()
	}
}

func (p *Plotter) coords(op string, q artwork.Point) {
	p.buf = append(p.buf, op...)
	p.buf = strconv.AppendInt(p.buf, int64(q.X*40), 10)
	p.buf = append(p.buf, ',')
	p.buf = strconv.AppendInt(p.buf, int64(q.Y*40), 10)
	p.buf = append(p.buf, ';')
}

func (p *Plotter) flush() {
	p.Sum = crc32.Update(p.Sum, crc32.IEEETable, p.buf)
	p.buf = p.buf[:0]
}
