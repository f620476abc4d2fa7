// Package visitors plays the front desks that ask for many animals at once.
package visitors

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"kennelqueries/internal/registry"
)

// Desk sends rounds of commands until the deadline and returns how many were answered.
func Desk(addr string, seed uint64, animals, round int, until time.Time) (int64, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	rnd := rand.New(rand.NewPCG(seed, 11))
	w := bufio.NewWriterSize(c, 16<<10)
	r := bufio.NewReaderSize(c, 32<<10)
	var n int64
	for time.Now().Before(until) {
		for i := 0; i < round; i++ {
			chip := registry.ChipOf(rnd.IntN(animals))
			if rnd.IntN(10) == 0 {
				fmt.Fprintf(w, "MOVE %d %d\n", chip, rnd.IntN(180))
			} else {
				fmt.Fprintf(w, "FIND %d\n", chip)
			}
		}
		if err := w.Flush(); err != nil {
			return n, err
		}
		for i := 0; i < round; i++ {
			if _, err := r.ReadSlice('\n'); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
