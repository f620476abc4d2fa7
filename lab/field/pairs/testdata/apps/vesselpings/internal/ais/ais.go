// Package ais decodes sentences of the vessels' transponders.
package ais

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Position of a vessel.
type Position struct {
	Vessel   int
	Lat, Lon float64
	Speed    float64
	Course   float64
	At       time.Time
	Raw      string
}

var errSum = errors.New("ais: damaged sentence")

// Decode reads a sentence.
func Decode(s string) (Position, error) {
	var p Position
	body, sum, ok := strings.Cut(s, "*")
	if !ok {
		return p, errSum
	}
	var x byte
	for i := range len(body) {
		x ^= body[i]
	}
	want, err := strconv.ParseUint(sum, 16, 8)
	f := strings.Split(body, ",")
	if err != nil || byte(want) != x || len(f) < 7 {
		return p, errSum
	}
	var v [6]float64
	for i := range v {
		if v[i], err = strconv.ParseFloat(f[i+1], 64); err != nil {
			return p, fmt.Errorf("ais: field %d: %w", i+1, err)
		}
	}
	at := time.UnixMicro(int64(v[5]))
	return Position{Vessel: int(v[0]), Lat: v[1], Lon: v[2], Speed: v[3], Course: v[4], At: at, Raw: s}, nil
}

// Receiver plays the radio.
type Receiver struct {
	rnd *rand.Rand
	at  []Position
}

func NewReceiver(vessels int, seed uint64) *Receiver {
	r := &Receiver{rnd: rand.New(rand.NewPCG(seed, seed)), at: make([]Position, vessels)}
	for i := range r.at {
		r.at[i] = Position{Lat: 53 + r.rnd.Float64(), Lon: 7 + 2*r.rnd.Float64(), Speed: 20 * r.rnd.Float64(), Course: 360 * r.rnd.Float64()}
	}
	return r
}

// Next is the next sentence.
func (r *Receiver) Next(now time.Time) string {
	i := r.rnd.IntN(len(r.at))
	p := &r.at[i]
	p.Course = math.Mod(p.Course+360+4*r.rnd.Float64()-2, 360)
	sin, cos := math.Sincos(p.Course * math.Pi / 180)
	p.Lat += cos * p.Speed / 2e6
	p.Lon += sin * p.Speed / 1.2e6
	body := fmt.Sprintf("!AIVDM,%d,%.6f,%.6f,%.1f,%.1f,%d", i, p.Lat, p.Lon, p.Speed, p.Course, now.UnixMicro())
	var x byte
	for i := range len(body) {
		x ^= body[i]
	}
	if r.rnd.IntN(150) == 0 {
		x++
	}
	return fmt.Sprintf("%s*%02X", body, x)
}
