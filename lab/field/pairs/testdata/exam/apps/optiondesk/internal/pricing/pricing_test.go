package pricing

import (
	"math"
	"testing"

	"optiondesk/internal/draws"
	"optiondesk/internal/market"
)

func TestSourcesAgree(t *testing.T) {
	cs := market.Contracts(3)
	var all [][]Quote
	for _, name := range []string{"session", "worker"} {
		src, err := draws.Open(name, 7)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, NewDesk(src, 2, 4000).Price(cs))
	}
	for i := range cs {
		a, b := all[0][i], all[1][i]
		if math.Abs(a.Value-b.Value) > 6*math.Hypot(a.Error, b.Error) {
			t.Errorf("%s: %f and %f", a.Contract, a.Value, b.Value)
		}
	}
}
