package desk

import (
	"context"
	"slices"
	"testing"
	"time"

	"ferrytimes/internal/dial"
	"ferrytimes/internal/replica"
	"ferrytimes/internal/timetable"
)

func TestSame(t *testing.T) {
	table := timetable.Generate(40)
	var addrs []string
	for range 3 {
		s, err := replica.Start(table, time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		addrs = append(addrs, s.Addr())
	}
	var plans [][]string
	for _, late := range []dial.Late{dial.Register, dial.HangUp} {
		r := dial.NewRacer(addrs, late)
		defer r.Shutdown()
		plans = append(plans, New(r).Advise(context.Background(), 17))
	}
	if len(plans[0]) != 8 || !slices.Equal(plans[0], plans[1]) {
		t.Error(plans)
	}
}
