// Package limits fits the process into its container.
package limits

import "runtime/debug"

// Plan divides the memory of a container.
type Plan struct {
	Total int64
	Cache int
}

// For plans with a share of the memory for the cache; the rest is for requests.
func For(megabytes int) Plan {
	total := int64(megabytes) << 20
	return Plan{Total: total, Cache: int(total * 6 / 10)}
}

// Apply tells the runtime about the limit.
func (p Plan) Apply() { debug.SetMemoryLimit(p.Total) }
