// Tenantfiles serves the logos of tenants, each of which may replace those of its
// region and of the house.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// A finder knows which file is a tenant's logo.
type finder struct {
	dir   string
	good  time.Duration // how long an answer is good
	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	file string
	at   time.Time
}

// search looks through the places where a logo may be.
func (f *finder) search(tenant string) (string, error) {
	for _, place := range []string{tenant, "region-" + tenant[:1], "house"} {
		for _, size := range []string{"large", "medium", "small"} {
			for _, kind := range []string{"svg", "png", "webp", "jpg"} {
				name := filepath.Join(f.dir, place, size+"."+kind)
				if _, err := os.Stat(name); err == nil {
					return name, nil
				}
			}
		}
	}
	return "", fmt.Errorf("%s has no logo", tenant)
}

func (f *finder) logo(tenant string) (string, error) {
	f.mu.Lock()
	a, ok := f.known[tenant]
	f.mu.Unlock()
	if ok && time.Since(a.at) < f.good {
		return a.file, nil
	}
	file, err := f.search(tenant)
	if err == nil && f.good > 0 {
		f.mu.Lock()
		f.known[tenant] = answer{file, time.Now()}
		f.mu.Unlock()
	}
	return file, err
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	dir := flag.String("dir", ".", "where logos are")
	good := flag.Duration("good", time.Minute, "how long to believe that a logo is where it was")
	flag.Parse()
	house := filepath.Join(*dir, "house")
	if err := os.MkdirAll(house, 0o755); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(house, "small.jpg"), make([]byte, 2000), 0o600); err != nil {
		log.Fatal(err)
	}
	f := &finder{dir: *dir, good: *good, known: map[string]answer{}}
	http.HandleFunc("GET /logo/{tenant}", func(w http.ResponseWriter, r *http.Request) {
		name, err := f.logo(r.PathValue("tenant"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		http.ServeFile(w, r, name)
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
