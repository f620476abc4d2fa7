// Package flight reads the messages of the airport's operations system.
package flight

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Call says which flight stands at a gate.
type Call struct {
	Gate   int
	Flight string
	Dest   string
	Depart int // minute of the day
	Status string
}

var (
	dests    = []string{"OSLO", "PORTO", "GDANSK", "TUNIS", "ATHENS", "CORK", "BERGEN", "LISBON"}
	airlines = []string{"LX", "SK", "TP", "LO", "TU", "A3", "EI"}
	states   = []string{"CHECKIN", "BOARDING", "LASTCALL", "CLOSED", "DELAYED"}
)

// Message makes the text of a change.
func Message(rng *rand.Rand, gates int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "GAT/%d FLT/%s%d DST/%s STD/%04d STS/%s", rng.IntN(gates), airlines[rng.IntN(len(airlines))],
		100+rng.IntN(900), dests[rng.IntN(len(dests))], rng.IntN(1440), states[rng.IntN(len(states))])
	for i := range 6 {
		fmt.Fprintf(&b, " RMK%d/%08X", i, rng.Uint32())
	}
	return b.String()
}

// Parse reads the text of a change.
func Parse(s string) (c Call, err error) {
	for _, f := range strings.Fields(s) {
		k, v, ok := strings.Cut(f, "/")
		if !ok {
			return c, fmt.Errorf("flight: field %q", f)
		}
		switch k {
		case "GAT":
			c.Gate, err = strconv.Atoi(v)
		case "FLT":
			c.Flight = v
		case "DST":
			c.Dest = v
		case "STD":
			c.Depart, err = strconv.Atoi(v)
		case "STS":
			c.Status = v
		}
		if err != nil {
			return c, err
		}
	}
	return c, nil
}
