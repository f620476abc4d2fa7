// Promlabelset groups alerts by their labels.
package main

import (
	"flag"
	"fmt"
	"sort"

	"github.com/prometheus/common/model"
)

type alert struct {
	labels model.LabelSet
	firing bool
}

func alerts(n int) (all []alert) {
	for i := range n {
		all = append(all, alert{model.LabelSet{
			model.AlertNameLabel: model.LabelValue(fmt.Sprint("Alert", i%40)),
			"cluster":            model.LabelValue([]string{"east", "west"}[i%2]),
			"instance":           model.LabelValue(fmt.Sprintf("10.0.0.%d:9100", i%50)),
			"job":                "node",
			"severity":           "critical",
		}, i%3 > 0})
	}
	return all
}

// group counts those that fire, under the text of their labels.
func group(all []alert, counts map[string]int) {
	for _, a := range all {
		if a.firing {
			counts[a.labels.String()]++
		}
	}
}

func loudest(counts map[string]int) string {
	var names []string
	for name := range counts {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool {
		return counts[names[i]] > counts[names[j]] || counts[names[i]] == counts[names[j]] && names[i] < names[j]
	})
	return names[0]
}

func main() {
	rounds := flag.Int("rounds", 800, "how often alerts are grouped")
	flag.Parse()
	all, counts := alerts(1500), map[string]int{}
	for range *rounds {
		group(all, counts)
	}
	fmt.Println("loudest:", loudest(counts))
	fmt.Printf("operations: %d\n", *rounds*len(all))
}
