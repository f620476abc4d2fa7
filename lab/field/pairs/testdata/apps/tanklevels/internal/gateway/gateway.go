// Package gateway takes the lines of the gauges and keeps the contents of the tanks.
package gateway

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"net"
	"sync"

	"tanklevels/internal/sentence"
	"tanklevels/internal/vessel"
)

type entry struct {
	Tank   string   `json:"tank"`
	Serial int      `json:"serial"`
	Tonnes float64  `json:"tonnes"`
	Curve  []uint16 `json:"curve,omitempty"`
}

// Gateway serves gauges.
type Gateway struct {
	Ahead int
	Shape vessel.Shape

	mu     sync.Mutex
	tonnes map[string]float64
	levels int
	packed int
}

// Serve takes lines until the listener is closed.
func (g *Gateway) Serve(ln net.Listener) {
	g.tonnes = make(map[string]float64)
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		go g.line(c)
	}
}

func (g *Gateway) line(c net.Conn) {
	defer c.Close()
	r := sentence.NewReader(c, g.Ahead)
	var page bytes.Buffer
	var packed bytes.Buffer
	z, _ := flate.NewWriter(&packed, flate.BestSpeed)
	enc := json.NewEncoder(&page)
	for {
		l, err := r.Next()
		if err != nil {
			return
		}
		mass := g.Shape.Mass(l)
		enc.Encode(entry{l.Tank, l.Serial, mass, l.Curve})
		n := 0
		if page.Len() > 16<<10 {
			packed.Reset()
			z.Reset(&packed)
			z.Write(page.Bytes())
			z.Close()
			n = packed.Len()
			page.Reset()
		}
		g.mu.Lock()
		g.tonnes[l.Tank] = mass
		g.levels++
		g.packed += n
		g.mu.Unlock()
	}
}

// Totals returns the count of levels, the tonnes in all tanks and the bytes of packed pages.
func (g *Gateway) Totals() (levels int, tonnes float64, packed int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range g.tonnes {
		tonnes += t
	}
	return g.levels, tonnes, g.packed
}
