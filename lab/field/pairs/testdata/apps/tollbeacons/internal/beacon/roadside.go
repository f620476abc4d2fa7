package beacon

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
)

// Visit connects as a beacon, reports sightings and returns how many were acknowledged.
// Beacons with poor reception go away without a word.
func Visit(addr string, number, sightings int, r *rand.Rand) (int, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	in := bufio.NewReader(c)
	if err := Write(c, Frame{KindHello, fmt.Appendf(nil, "B%05d", number)}); err != nil {
		return 0, err
	}
	for n := range sightings {
		plate := fmt.Appendf(nil, "%c%c-%c %04d", 'A'+r.IntN(26), 'A'+r.IntN(26), 'A'+r.IntN(26), r.IntN(10000))
		if err := Write(c, Frame{KindSighting, plate}); err != nil {
			return n, err
		}
		if _, err := Read(in); err != nil {
			return n, err
		}
	}
	if r.IntN(2) == 0 {
		return sightings, Write(c, Frame{Kind: KindBye})
	}
	return sightings, nil
}
