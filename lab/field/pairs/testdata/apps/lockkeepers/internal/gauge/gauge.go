// Package gauge makes the readings of a lock's water gauges.
package gauge

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"time"
)

// Reading is what a keeper reports.
type Reading struct {
	Lock   int       `json:"lock"`
	Number int       `json:"number"`
	Upper  []float64 `json:"upper"`
	Lower  []float64 `json:"lower"`
	Mean   float64   `json:"mean"`
}

// Submitter takes encoded readings.
type Submitter interface {
	Submit(ctx context.Context, body []byte) error
}

// Keeper reads the gauges of one lock.
type Keeper struct {
	Lock  int
	Every time.Duration
	To    Submitter
	rand  *rand.Rand
	Took  []time.Duration
}

// NewKeeper makes a keeper.
func NewKeeper(lock int, every time.Duration, to Submitter) *Keeper {
	return &Keeper{Lock: lock, Every: every, To: to, rand: rand.New(rand.NewPCG(uint64(lock), 31))}
}

// Work reports until ctx ends; a reading is due every k.Every, counted from the last report.
func (k *Keeper) Work(ctx context.Context) error {
	time.Sleep(time.Duration(k.rand.Int64N(int64(k.Every))))
	for n := 0; ctx.Err() == nil; n++ {
		body, err := json.Marshal(k.read(n))
		if err != nil {
			return err
		}
		began := time.Now()
		if err := k.To.Submit(context.Background(), body); err != nil {
			return err
		}
		k.Took = append(k.Took, time.Since(began))
		time.Sleep(k.Every)
	}
	return nil
}

func (k *Keeper) read(n int) Reading {
	r := Reading{Lock: k.Lock, Number: n}
	sum := 0.0
	for i := range 24 {
		level := 4 + math.Sin(float64(n+i)/50)/3 + k.rand.Float64()/100
		r.Upper = append(r.Upper, math.Round(level*1000)/1000)
		r.Lower = append(r.Lower, math.Round((level-2.7)*1000)/1000)
		sum += level
	}
	r.Mean = sum / 24
	return r
}
