// Loassign makes the settings of each tenant of a service, out of those of all and their own.
package main

import (
	"flag"
	"fmt"

	"github.com/samber/lo"
)

type settings = map[string]string

func common(n int) settings {
	s := settings{}
	for i := range n {
		s[fmt.Sprintf("feature.%d.enabled", i)] = "false"
	}
	return s
}

func special(tenant, n int) settings {
	s := settings{"tenant.name": fmt.Sprint("tenant ", tenant)}
	for i := range n {
		s[fmt.Sprintf("tenant.%d.limit.%d", tenant, i)] = fmt.Sprint(i * tenant)
	}
	return s
}

// effective are the settings of a tenant: the later ones win.
func effective(all, region, own settings) settings {
	return lo.Assign(all, region, own)
}

func main() {
	rounds := flag.Int("rounds", 60, "how often all settings are made")
	flag.Parse()
	all, region := common(3000), special(0, 500)
	tenants := lo.Times(50, func(i int) settings { return special(i+1, 200) })
	n, enabled := 0, 0
	for range *rounds {
		for _, own := range tenants {
			s := effective(all, region, own)
			if s["feature.7.enabled"] == "true" {
				enabled++
			}
			n++
		}
	}
	fmt.Println("enabled:", enabled)
	fmt.Printf("operations: %d\n", n)
}
