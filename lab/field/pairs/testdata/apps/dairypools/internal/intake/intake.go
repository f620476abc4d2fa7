// Package intake reads the milk collection lines of the tankers.
package intake

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Sample is one farm's collection.
type Sample struct {
	Farm    int
	Litres  int
	Fat     int
	Protein int
	Cells   int
}

// Route builds one tanker's file.
func Route(seed uint64, stops int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 3))
	var b bytes.Buffer
	for range stops {
		fmt.Fprintf(&b, "%d;%d;%d;%d;%d\n", rnd.IntN(420), 200+rnd.IntN(3000), 350+rnd.IntN(120), 300+rnd.IntN(80), 50+rnd.IntN(500))
	}
	return b.Bytes()
}

// Parse reads one line.
func Parse(line []byte) (Sample, error) {
	var v [5]int
	for i := range v {
		field, rest, _ := bytes.Cut(line, []byte{';'})
		n, err := strconv.Atoi(string(field))
		if err != nil {
			return Sample{}, err
		}
		v[i], line = n, rest
	}
	return Sample{v[0], v[1], v[2], v[3], v[4]}, nil
}
