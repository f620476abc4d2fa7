// Package cluster is the nodes whose instances come and go.
package cluster

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"servicecatalog/internal/catalog"
)

// Nodes run instances of services.
type Nodes struct {
	c         *catalog.Store
	services  []string
	instances int
	rng       *rand.Rand
}

// New starts instances of services.
func New(c *catalog.Store, services, instances int) *Nodes {
	n := &Nodes{c: c, instances: instances, rng: rand.New(rand.NewPCG(4, 2))}
	for i := range services {
		name := fmt.Sprintf("svc-%04d", i)
		n.services = append(n.services, name)
		for k := range instances {
			c.Register(name, n.instance(i, k, 0))
		}
	}
	return n
}

// Services are their names.
func (n *Nodes) Services() []string { return n.services }

func (n *Nodes) instance(service, k, generation int) catalog.Instance {
	return catalog.Instance{
		ID:      fmt.Sprintf("%d-%d", service, k),
		Addr:    fmt.Sprintf("10.%d.%d.%d:%d", service>>8, service&255, k, 20000+generation%20000),
		Healthy: generation%5 != 4,
	}
}

// Run moves so many instances a second to other ports, and returns how many it moved.
func (n *Nodes) Run(ctx context.Context, rate int) (changes int) {
	t := time.NewTicker(time.Second / time.Duration(rate))
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return changes
		case <-t.C:
			changes++
			i := n.rng.IntN(len(n.services))
			n.c.Register(n.services[i], n.instance(i, n.rng.IntN(n.instances), changes))
		}
	}
}
