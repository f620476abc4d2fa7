package main

import (
	"slices"

	"github.com/miekg/dns"
)

// choose appends the addresses of a set that a client gets, and tells how many
// bits of the client's address that took. Addresses that are ill are left out,
// then those for other places, and of the rest the set's way of choosing
// takes. A step that would leave none is left out itself: a wrong address may
// work, none never does.
func (s *server) choose(out []dns.RR, set *addresses, q *query) (answer []dns.RR, bits int) {
	q.picked = q.picked[:0]
	for i := range set.list {
		a := &set.list[i]
		up := a.health == nil || !a.health.down.Load()
		if s.debug.on() {
			s.debug.printf("%s: address %d of weight %d, up: %v", q.name, i, a.weight, up) // want boxedargs
		}
		if up {
			q.picked = append(q.picked, a)
		}
	}
	if len(q.picked) == 0 {
		for i := range set.list {
			q.picked = append(q.picked, &set.list[i])
		}
	}
	if len(set.filter) > 0 {
		bits = s.filter(set, q)
	}
	if s.debug.on() {
		s.debug.printf("%s: %d of %d addresses, %s", q.name, len(q.picked), len(set.list), set.choose) // want boxedargs
	}
	switch set.choose {
	case "weighted":
		return append(out, s.weighted(q.picked).rr), bits
	case "rotate":
		first := int(set.turn.Add(1)-1) % len(q.picked)
		for i := range q.picked {
			out = append(out, q.picked[(first+i)%len(q.picked)].rr)
		}
	default:
		for _, a := range q.picked {
			out = append(out, a.rr)
		}
	}
	return out, bits
}

// weighted picks one, each as often as its weight is of the sum.
func (s *server) weighted(picked []*address) *address {
	sum := 0
	for _, a := range picked {
		sum += a.weight
	}
	n := s.random.below(sum)
	for _, a := range picked {
		if n -= a.weight; n < 0 {
			return a
		}
	}
	return picked[len(picked)-1]
}

// filter keeps the picked addresses for where the client is.
func (s *server) filter(set *addresses, q *query) (bits int) {
	client := q.place()
	l := s.geo.locate(client, needs(set.filter))
	if s.debug.on() {
		s.debug.printf("%v is in %s, AS%d", client, l.country, l.asn) // want boxedargs
	}
	for _, f := range set.filter {
		switch f {
		case "country":
			q.keep(func(a *address) bool { return slices.Contains(a.countries, l.country) }, func(a *address) bool { return len(a.countries) == 0 })
		case "asn":
			q.keep(func(a *address) bool { return slices.Contains(a.asns, l.asn) }, func(a *address) bool { return len(a.asns) == 0 })
		case "location":
			if l.at != nil {
				q.keepNearest(*l.at)
			}
		}
	}
	return l.bits
}

func needs(filter []string) (need int) {
	for _, f := range filter {
		switch f {
		case "country":
			need |= needCountry
		case "asn":
			need |= needASN
		case "location":
			need |= needPoint
		}
	}
	return need
}

// keep keeps those that are meant for the client, else those for everybody, else all.
func (q *query) keep(meant, everybody func(*address) bool) {
	for _, is := range [2]func(*address) bool{meant, everybody} {
		if slices.ContainsFunc(q.picked, is) {
			q.picked = slices.DeleteFunc(q.picked, func(a *address) bool { return !is(a) })
			return
		}
	}
}

// keepNearest keeps the nearest addresses, of which several may be at one place.
func (q *query) keepNearest(client point) {
	nearest := -1.0
	for _, a := range q.picked {
		if a.at != nil {
			if d := distance(client, *a.at); nearest < 0 || d < nearest {
				nearest = d
			}
		}
	}
	if nearest >= 0 {
		q.picked = slices.DeleteFunc(q.picked, func(a *address) bool { return a.at == nil || distance(client, *a.at) > nearest })
	}
}
