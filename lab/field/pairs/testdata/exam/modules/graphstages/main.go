// Graphstages plans the nightly runs of a warehouse of data: which table is filled after
// which others.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/dominikbraun/graph"
)

// tables are as many as stages times width, each made out of some of the stage before.
func tables(stages, width int) (graph.Graph[string, string], error) {
	g := graph.New(graph.StringHash, graph.Directed(), graph.Acyclic())
	name := func(stage, i int) string { return fmt.Sprintf("stage%02d.table%03d", stage, i%width) }
	for stage := range stages {
		for i := range width {
			if err := g.AddVertex(name(stage, i)); err != nil {
				return nil, err
			}
			if stage == 0 {
				continue
			}
			for _, from := range []int{i, i + 1, i*3 + 2} {
				err := g.AddEdge(name(stage-1, from), name(stage, i))
				if err != nil && err != graph.ErrEdgeAlreadyExists {
					return nil, err
				}
			}
		}
	}
	return g, nil
}

// plan is the order of the tables; of those that may come next, the first by name does.
func plan(g graph.Graph[string, string]) ([]string, error) {
	return graph.StableTopologicalSort(g, func(a, b string) bool { return a < b })
}

func main() {
	nights := flag.Int("nights", 60, "how many nights are planned")
	stages := flag.Int("stages", 6, "stages of tables")
	width := flag.Int("width", 25, "tables in a stage")
	flag.Parse()
	n := 0
	for night := range *nights {
		g, err := tables(*stages, *width+night%3)
		if err != nil {
			log.Fatal(err)
		}
		order, err := plan(g)
		if err != nil {
			log.Fatal(err)
		}
		n += len(order)
		time.Sleep(30 * time.Millisecond) // the next night is asked for
	}
	fmt.Println("tables:", n)
	fmt.Println("operations:", *nights)
}
