// Package chart keeps what mariners see.
package chart

import (
	"crypto/sha256"
	"fmt"
	"math"
	"sync"

	"lighthouselogs/internal/report"
)

type light struct {
	seq   int
	reach float64
	seal  [32]byte
}

// Chart holds the newest state of all lights.
type Chart struct {
	mu     sync.Mutex
	lights map[string]light
	late   int
}

// New returns an empty chart.
func New() *Chart { return &Chart{lights: map[string]light{}} }

// Mark applies a report; reports of a light must come in order.
func (c *Chart) Mark(r *report.Report, miles int) {
	reach := float64(miles) * r.Lamp / 100 * math.Exp(-float64(r.Fog)/8)
	seal := sha256.Sum256(fmt.Appendf(nil, "%s %d %.3f %s", r.Light, r.Seq, reach, r.Note))
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, ok := c.lights[r.Light]; ok && old.seq > r.Seq {
		c.late++
		return
	}
	c.lights[r.Light] = light{r.Seq, reach, seal}
}

// Size returns the number of lights and of reports that came too late.
func (c *Chart) Size() (lights, late int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.lights), c.late
}
