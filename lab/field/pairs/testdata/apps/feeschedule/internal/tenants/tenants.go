// Package tenants has the tenants' schedules and payments.
package tenants

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"feeschedule/internal/quote"
)

var countries = strings.Fields("DE FR IT ES PT NL BE LU AT CH PL CZ SK HU RO BG GR SE FI DK")

// Sources returns the source of each tenant's schedule.
func Sources(n int) []string {
	rng := rand.New(rand.NewPCG(31, 4))
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		fmt.Fprintf(&b, "# schedule of tenant %d\n", i)
		for j := range 40 + rng.IntN(110) {
			fmt.Fprintf(&b, "fee \"card-%d\" over %d in [", j, rng.IntN(40000))
			for k, c := range rng.Perm(len(countries))[:2+rng.IntN(4)] {
				if k > 0 {
					b.WriteString(", ")
				}
				b.WriteString(countries[c])
			}
			fmt.Fprintf(&b, "] {\n\tflat %d; # cents\n\tpercent %.2f;\n\tcap %d;\n}\n", rng.IntN(60), rng.Float64()*3, 200+rng.IntN(2000))
		}
		out[i] = b.String()
	}
	return out
}

// Payments returns the payments of a day.
func Payments(n int) []quote.Payment {
	rng := rand.New(rand.NewPCG(2, 9))
	out := make([]quote.Payment, n)
	for i := range out {
		out[i] = quote.Payment{Country: countries[rng.IntN(len(countries))], Cents: 100 + rng.Int64N(60000)}
	}
	return out
}
