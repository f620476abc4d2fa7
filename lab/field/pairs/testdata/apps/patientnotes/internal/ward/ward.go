// Package ward takes the notes of a ward over from its paper files.
package ward

import (
	"crypto/sha256"
	"math/rand/v2"
	"time"

	"patientnotes/internal/cluster"
	"patientnotes/internal/note"
)

// Consent is the register of who may be written about.
type Consent struct{ Latency time.Duration }

func (c *Consent) given(patient int) bool {
	time.Sleep(c.Latency)
	return patient%50 != 0
}

// Clerk takes notes over.
type Clerk struct {
	No      uint64
	Cluster *cluster.Cluster
	Consent *Consent
	Notes   int
	Refused int
	Failed  int
	Chain   [32]byte
}

// Run takes notes over until the time is over.
func (c *Clerk) Run(until time.Time) {
	rng := rand.New(rand.NewPCG(c.No, 31))
	for time.Now().Before(until) {
		n := note.Random(rng)
		if !c.Consent.given(n.Patient) {
			c.Refused++
			continue
		}
		n.Index()
		b, err := n.Pack()
		if err != nil {
			c.Failed++
			continue
		}
		c.Chain = sha256.Sum256(append(c.Chain[:], b...))
		if err := c.Cluster.Store(b); err != nil {
			c.Failed++
			continue
		}
		c.Notes++
	}
}
