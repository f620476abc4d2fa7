// Package routing knows which depot and chute serve a postcode.
package routing

import (
	"context"
	"fmt"
	"time"
)

// Route says where a parcel goes.
type Route struct {
	Prefix string
	Depot  string
	Chute  int
}

// Directory finds routes by the longest matching prefix of a postcode.
type Directory interface {
	Lookup(postcode, service string) (Route, bool)
	Set(service string, r Route)
}

var services = [...]string{"letter", "parcel", "express"}

// Initial makes the routes of n prefixes per service.
func Initial(n int) map[string]Route {
	routes := make(map[string]Route)
	for _, s := range services {
		for i := range n {
			p := fmt.Sprintf("%03d", i+50)
			routes[s+"/"+p] = Route{Prefix: p, Depot: fmt.Sprintf("D%02d", i%37), Chute: i % 64}
		}
	}
	return routes
}

// Revise moves a route to another chute now and then, until the context ends.
func Revise(ctx context.Context, d Directory, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			d.Set(services[i%3], Route{Prefix: fmt.Sprintf("%03d", 50+i%900), Depot: "D00", Chute: i % 64})
		}
	}
}

func longest(routes map[string]Route, service, postcode string) (Route, bool) {
	for n := len(postcode); n > 0; n-- {
		if r, ok := routes[service+"/"+postcode[:n]]; ok {
			return r, true
		}
	}
	return Route{}, false
}
