// Package inbox has the messages that came overnight.
package inbox

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Fill makes n purchase orders as the partners write them.
func Fill(n int) []string {
	rng := rand.New(rand.NewPCG(41, 2))
	out := make([]string, n)
	for i := range out {
		out[i] = order(rng, i)
	}
	return out
}

func order(rng *rand.Rand, i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "UNH+%08d+ORDERS:D:96A:UN:EAN008'\n", i)
	fmt.Fprintf(&b, "BGM+220+PO%07d+9'\nDTM+137:2026%02d%02d:102'\n", rng.IntN(9999999), 1+rng.IntN(12), 1+rng.IntN(28))
	fmt.Fprintf(&b, "NAD+BY+40%011d::9'\nNAD+SU+40%011d::9'\n", rng.Int64N(99999999999), rng.Int64N(99999999999))
	b.WriteString("FTX+PUR+3++Deliver to the rear gate?, don?'t ring:between six and eight'\nCUX+2:EUR:9'\n")
	lines := 10 + rng.IntN(40)
	for l := range lines {
		fmt.Fprintf(&b, "LIN+%d++%013d:EN'\nPIA+1+A%05d:SA'\n", l+1, rng.Int64N(9999999999999), rng.IntN(99999))
		fmt.Fprintf(&b, "QTY+21:%d:PCE'\nPRI+AAA:%d.%02d:CT:NTP'\n", 1+rng.IntN(500), rng.IntN(200), rng.IntN(100))
	}
	fmt.Fprintf(&b, "UNS+S'\nCNT+2:%d'\nUNT+%d+%08d'\n", lines, 10+4*lines, i)
	return b.String()
}
