package storetest_test

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

func TestReferenceConforms(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return &storetest.Reference{} })
}

// What the reference answers to three batches, by hand.
func TestReference(t *testing.T) {
	var r storetest.Reference
	for i, value := range []int64{3, 4, 5} {
		until := storetest.Start.Add(time.Duration(i+1) * time.Minute)
		b := &store.Batch{
			ID: [16]byte{byte(i)}, Source: store.Source{Service: "cart", Instance: []string{"a", "b", "a"}[i]},
			From: until.Add(-time.Minute), Until: until,
			Profiles: []store.Profile{{Type: store.CPU, Samples: []store.Sample{{Stack: 1, Value: value}}}},
		}
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	span := store.Selection{Type: store.CPU, From: storetest.Start, Until: storetest.Start.Add(3 * time.Minute)}
	stacks, err := r.Stacks(t.Context(), span)
	if err != nil || stacks.Total != 7 { // the third counts at the end of the span, which is no part of it
		t.Errorf("total %d, %v, want 7", stacks.Total, err)
	}
	services, err := r.Services(t.Context(), store.Selection{})
	if err != nil || len(services.Services) != 1 || services.Services[0].Instances != 2 || services.Services[0].Covered != 3*time.Minute {
		t.Errorf("%+v, %v, want one service of 2 instances and 3m covered", services, err)
	}
	series, err := r.Series(t.Context(), span, 2*time.Minute, store.ByInstance)
	if err != nil || len(series.Series) != 2 || series.Series[1].Points[0] != (store.Point{At: storetest.Start.Add(2 * time.Minute), Value: 4}) {
		t.Errorf("%+v, %v, want a point of 4 after 2m", series, err)
	}
}
