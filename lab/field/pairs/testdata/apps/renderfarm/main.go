// Renderfarm draws pictures of plots; who asks for one waits until it is drawn.
package main

import (
	"flag"
	"log"
	"net/http"

	"renderfarm/internal/jobs"
	"renderfarm/internal/ops"
	"renderfarm/internal/plot"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	look := flag.Duration("look", 0, "how often it is looked whether a picture is done; 0 is to be told")
	flag.Parse()
	farm := jobs.NewFarm(2, plot.Draw)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /plots/{name}", func(w http.ResponseWriter, r *http.Request) {
		job := farm.Submit(r.PathValue("name"))
		picture, err := job.Await(r.Context(), *look)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = w.Write(picture)
	})
	if err := ops.Serve(*addr, mux); err != nil {
		log.Fatal(err)
	}
}
