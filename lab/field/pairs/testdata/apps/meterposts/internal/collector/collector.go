// Package collector turns telegrams into readings.
package collector

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
	"math/cmplx"
	"time"

	"meterposts/internal/batch"
	"meterposts/internal/billing"
	"meterposts/internal/radio"
)

type Collector struct {
	Posted, Rejected int
	Spent            time.Duration

	head   *radio.Head
	poster *batch.Poster
}

func New(h *radio.Head, p *batch.Poster) *Collector { return &Collector{head: h, poster: p} }

func (c *Collector) Run(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		r, err := c.decode(c.head.Telegram())
		if err == nil {
			err = c.poster.Post(r)
		}
		if err != nil {
			c.Rejected++
			continue
		}
		c.Posted++
		c.Spent += time.Since(begun)
	}
}

var errSum = errors.New("sum of telegram")

func (c *Collector) decode(t []byte) (r billing.Reading, err error) {
	block, err := aes.NewCipher(radio.Key(c.head.ID()))
	if err != nil {
		return r, err
	}
	plain := t[16:]
	cipher.NewCTR(block, t[:16]).XORKeyStream(plain, plain)
	r.Meter = binary.LittleEndian.Uint32(plain)
	var load [96]float64
	for i := range load {
		v := binary.LittleEndian.Uint32(plain[8+4*i:])
		r.WattHrs += v
		r.Peak = max(r.Peak, v)
		load[i] = float64(v)
	}
	if r.WattHrs != binary.LittleEndian.Uint32(plain[4:]) {
		return r, errSum
	}
	r.Crest = crest(load[:])
	return r, nil
}

// crest is the share of the strongest daily rhythm in the load.
func crest(load []float64) float64 {
	best, total := 0.0, 0.0
	for k := 1; k <= 24; k++ {
		var sum complex128
		for i, v := range load {
			sum += complex(v, 0) * cmplx.Exp(complex(0, -2*math.Pi*float64(k*i)/float64(len(load))))
		}
		a := cmplx.Abs(sum)
		total += a
		best = max(best, a)
	}
	return best / total
}
