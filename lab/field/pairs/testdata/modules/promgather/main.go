// Promgather is a service whose tenants have metrics of their own, which Prometheus
// reads over HTTP.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type tenant struct {
	name   string
	calls  prometheus.Counter
	failed prometheus.Counter
}

func register(registry *prometheus.Registry, i int) *tenant {
	name := fmt.Sprintf("tenant%d", i)
	counter := func(what string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{
			Name: "calls_" + what, Help: "Calls.", ConstLabels: prometheus.Labels{"tenant": name},
		})
		registry.MustRegister(c)
		return c
	}
	return &tenant{name, counter("all"), counter("failed")}
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	n := flag.Int("tenants", 500, "how many tenants there are")
	flag.Parse()
	registry := prometheus.NewRegistry()
	tenants := map[string]*tenant{}
	for i := range *n {
		t := register(registry, i)
		tenants[t.name] = t
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/call", func(w http.ResponseWriter, r *http.Request) {
		t, ok := tenants[r.FormValue("tenant")]
		if !ok {
			http.Error(w, "no such tenant", http.StatusNotFound)
			return
		}
		t.calls.Inc()
		fmt.Fprintln(w, "done")
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, mux))
}
