// Package cameras makes the record of two cameras along a busy road.
package cameras

import (
	"bytes"
	"container/heap"
	"fmt"
	"math/rand"
)

type coming struct {
	at    int64
	plate string
}

type arrivals []coming

func (a arrivals) Len() int           { return len(a) }
func (a arrivals) Less(i, j int) bool { return a[i].at < a[j].at }
func (a arrivals) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *arrivals) Push(x any)        { *a = append(*a, x.(coming)) }
func (a *arrivals) Pop() any {
	old := *a
	c := old[len(old)-1]
	*a = old[:len(old)-1]
	return c
}

func plate(rng *rand.Rand) string {
	b := make([]byte, 0, 8)
	for range 1 + rng.Intn(3) {
		b = append(b, byte('A'+rng.Intn(26)))
	}
	b = append(b, '-')
	for range 2 {
		b = append(b, byte('A'+rng.Intn(26)))
	}
	return fmt.Sprintf("%s%d", b, 100+rng.Intn(9900))
}

// Record returns the lines of n cars; about onWay of them are between the cameras at a time.
func Record(n, onWay int) []byte {
	rng := rand.New(rand.NewSource(21))
	var out, line bytes.Buffer
	write := func(plate string, camera byte, at int64) {
		line.Reset()
		fmt.Fprintf(&line, "%s;%c;%d;%d;%.3f", plate, camera, at, 1+rng.Intn(4), 0.75+rng.Float64()/4)
		var sum byte
		for _, c := range line.Bytes() {
			sum ^= c
		}
		fmt.Fprintf(&out, "%s*%02x\n", line.Bytes(), sum)
	}
	const trip = 320_000
	gap := max(int64(trip/onWay), 1)
	var road arrivals
	at := int64(1_767_000_000_000)
	for range n {
		at += 1 + rng.Int63n(2*gap)
		for len(road) > 0 && road[0].at <= at {
			c := heap.Pop(&road).(coming)
			write(c.plate, 'B', c.at)
		}
		p := plate(rng)
		write(p, 'A', at)
		if rng.Intn(25) > 0 {
			heap.Push(&road, coming{at + trip*3/4 + rng.Int63n(trip/2), p})
		}
	}
	return out.Bytes()
}
