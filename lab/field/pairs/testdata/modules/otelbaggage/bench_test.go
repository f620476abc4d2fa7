package otelbaggage

import (
	"fmt"
	"net/http"
	"testing"

	"go.opentelemetry.io/otel/baggage"
	"go.opentelemetry.io/otel/propagation"
)

var propagator = propagation.Baggage{}

// tenant reads who a request is made for, and the zone it is from.
func tenant(r *http.Request) (name, zone string) {
	ctx := propagator.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	m := baggage.FromContext(ctx).Member("tenant")
	for _, p := range m.Properties() {
		if p.Key() == "zone" {
			zone, _ = p.Value()
		}
	}
	return m.Value(), zone
}

func traffic() (all []*http.Request, err error) {
	for i := range 64 {
		r, err := http.NewRequest(http.MethodGet, "http://shop.example/cart", nil)
		if err != nil {
			return nil, err
		}
		r.Header.Set("baggage", fmt.Sprintf("tenant=t%d;zone=b;paid,region=eu-central-1;ttl=60,user.tier=gold;trust=high;since=2019,"+
			"session=%08x,release=2024-%02d-01", i%9, i*7919, i%12+1))
		all = append(all, r)
	}
	return all, nil
}

func BenchmarkTenant(b *testing.B) {
	all, err := traffic()
	if err != nil {
		b.Fatal(err)
	}
	i := 0
	for b.Loop() {
		if name, zone := tenant(all[i%len(all)]); name == "" || zone != "b" {
			b.Fatal(name, zone)
		}
		i++
	}
}
