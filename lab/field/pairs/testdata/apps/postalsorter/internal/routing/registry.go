package routing

import "context"

type (
	lookup struct {
		postcode, service string
		reply             chan answer
	}
	answer struct {
		route Route
		ok    bool
	}
	change struct {
		service string
		route   Route
	}
)

// Registry is a directory whose state belongs to one goroutine.
type Registry struct {
	lookups chan lookup
	changes chan change
	done    <-chan struct{}
}

// NewRegistry starts a registry that lives as long as the context.
func NewRegistry(ctx context.Context, routes map[string]Route) *Registry {
	r := &Registry{lookups: make(chan lookup), changes: make(chan change), done: ctx.Done()}
	go r.loop(routes)
	return r
}

func (r *Registry) loop(routes map[string]Route) {
	for {
		select {
		case <-r.done:
			return
		case c := <-r.changes:
			routes[c.service+"/"+c.route.Prefix] = c.route
		case l := <-r.lookups:
			route, ok := longest(routes, l.service, l.postcode)
			l.reply <- answer{route, ok}
		}
	}
}

// Lookup finds the route of a postcode.
func (r *Registry) Lookup(postcode, service string) (Route, bool) {
	l := lookup{postcode, service, make(chan answer, 1)}
	select {
	case r.lookups <- l:
	case <-r.done:
		return Route{}, false
	}
	select {
	case a := <-l.reply:
		return a.route, a.ok
	case <-r.done:
		return Route{}, false
	}
}

// Set changes a route.
func (r *Registry) Set(service string, route Route) {
	select {
	case r.changes <- change{service, route}:
	case <-r.done:
	}
}
