// Servicecatalog tells proxies where the instances of services are, as these come and go.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"time"

	"servicecatalog/internal/catalog"
	"servicecatalog/internal/cluster"
	"servicecatalog/internal/mesh"
)

func main() {
	services := flag.Int("services", 500, "services of the cluster")
	proxies := flag.Int("proxies", 2000, "proxies that watch a service each")
	rate := flag.Int("rate", 200, "changes of instances in each second")
	scope := flag.String("watch", "catalog", "what a watch is on: catalog or service")
	runs := flag.Duration("for", 6*time.Second, "how long the cluster runs")
	flag.Parse()

	s, err := catalog.ParseScope(*scope)
	if err != nil {
		log.Fatal(err)
	}
	c := catalog.New(s)
	nodes := cluster.New(c, *services, 8)
	ctx, cancel := context.WithTimeout(context.Background(), *runs)
	defer cancel()
	m := mesh.Start(ctx, c, nodes.Services(), *proxies)
	changes := nodes.Run(ctx, *rate)
	m.Wait()
	log.Printf("%d changes, %d routes", changes, m.Routes())
	fmt.Printf("operations: %d\n", m.Updates())
}
