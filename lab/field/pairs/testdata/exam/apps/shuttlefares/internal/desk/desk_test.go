package desk

import (
	"testing"
	"time"

	"shuttlefares/internal/fares"
	"shuttlefares/internal/metrics"
	"shuttlefares/internal/rpc"
)

func TestFaresDoNotDependOnGauges(t *testing.T) {
	var found []fares.Fare
	for _, when := range []string{"call", "interval"} {
		p, err := metrics.NewProcess(when, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		s := rpc.NewServer(rpc.Authenticate(map[string]string{"k-desk": "desk"}), p.Intercept)
		fares.Register(s, fares.NewTariff(24))
		f, err := Cheapest(t.Context(), s, fares.Question{From: 3, To: 17, Seats: 2, Day: 40})
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, f)
	}
	if found[0] != found[1] || found[0].Cents == 0 {
		t.Error(found)
	}
}
