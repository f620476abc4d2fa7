// Package press drives the printers.
package press

import (
	"time"

	"photobooths/internal/frame"
	"photobooths/internal/spool"
)

// Press is one printer.
type Press struct {
	Feed    time.Duration
	Printed int
}

// Run prints jobs until the spool is closed.
func (p *Press) Run(s *spool.Spool) {
	for {
		j := s.Next()
		if j == nil {
			return
		}
		j.Done <- p.print(j.Pic)
		p.Printed++
	}
}

func (p *Press) print(pic *frame.Picture) uint32 {
	out := frame.Dither(pic)
	time.Sleep(p.Feed)
	return frame.Sum(out)
}
