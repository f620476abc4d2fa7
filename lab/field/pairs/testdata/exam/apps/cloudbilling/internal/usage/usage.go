// Package usage stands for the export of a cloud's usage.
package usage

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// A Line is what a resource used and cost.
type Line struct {
	Path   string // folders, project, service and article, with slashes between them
	Unit   string
	Amount float64
	Micros int64 // millionths of the currency
}

var folders = [][]string{
	{"retail", "wholesale", "platform"},
	{"emea", "apac", "amer"},
	{"production", "staging"},
	{"payments", "search", "catalogue", "identity"},
	{"blue", "green"},
}

var services = map[string][]string{
	"compute":  {"n2-cpu", "n2-ram", "gpu-a100"},
	"storage":  {"standard", "nearline", "operations"},
	"network":  {"egress", "balancer"},
	"database": {"nodes", "backup"},
}

var names = []string{"compute", "storage", "network", "database"}

// Lines returns the lines of an organisation.
func Lines(org, n int) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		rnd := rand.New(rand.NewPCG(uint64(org), 31))
		for range n {
			path := ""
			for _, level := range folders {
				path += level[rnd.IntN(len(level))] + "/"
			}
			service := names[rnd.IntN(len(names))]
			articles := services[service]
			amount := rnd.ExpFloat64() * 40
			line := Line{
				Path:   fmt.Sprintf("%sproject-%d/%s/%s", path, rnd.IntN(2), service, articles[rnd.IntN(len(articles))]),
				Unit:   [...]string{"hours", "GiB", "requests"}[rnd.IntN(3)],
				Amount: amount,
				Micros: int64(amount * 13_700),
			}
			if !yield(line) {
				return
			}
		}
	}
}
