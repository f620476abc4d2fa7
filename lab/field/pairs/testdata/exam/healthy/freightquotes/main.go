// Freightquotes tells what carriers ask for a parcel, the cheapest first.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// A lane is a way between two ports.
type lane struct{ from, to string }

// A tariff is what a carrier asks on a lane.
type tariff struct {
	carrier     string
	base, perKg int // cents
	least, most int // kg
	days        int
}

// A quote is the answer for one parcel.
type quote struct {
	Carrier string `json:"carrier"`
	Cents   int    `json:"cents"`
	Days    int    `json:"days"`
}

type desk struct {
	tariffs map[lane][]tariff
	buffers sync.Pool
}

func newDesk() *desk {
	d := &desk{tariffs: map[lane][]tariff{}, buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }}}
	ports, rnd := []string{"BSL", "RTM", "HAM", "ANR", "GOA"}, rand.New(rand.NewPCG(3, 5))
	for _, from := range ports {
		for _, to := range ports {
			list := make([]tariff, 120)
			for i := range list {
				least := rnd.IntN(40)
				list[i] = tariff{carrier: fmt.Sprintf("carrier %03d", i), base: 500 + rnd.IntN(3000),
					perKg: 20 + rnd.IntN(200), least: least, most: least + 10 + rnd.IntN(200), days: 1 + rnd.IntN(9)}
			}
			d.tariffs[lane{from, to}] = list
		}
	}
	return d
}

// best returns the cheapest quotes, and nil for a lane that nobody serves.
func (d *desk) best(l lane, kg, most int) []quote {
	list, ok := d.tariffs[l]
	if !ok {
		return nil
	}
	out := make([]quote, 0, most)
	for i := range list {
		t := &list[i]
		if kg < t.least || kg > t.most {
			continue
		}
		q := quote{t.carrier, t.base + kg*t.perKg, t.days}
		if len(out) == most {
			if cheaper(q, out[most-1]) >= 0 {
				continue
			}
			out = out[:most-1]
		}
		at, _ := slices.BinarySearchFunc(out, q, cheaper)
		out = slices.Insert(out, at, q)
	}
	return out
}

func cheaper(a, b quote) int { return cmp.Or(a.Cents-b.Cents, a.Days-b.Days) }

func (d *desk) quotes(w http.ResponseWriter, r *http.Request) {
	kg, err := strconv.Atoi(r.PathValue("kg"))
	if err != nil || kg <= 0 {
		http.Error(w, "how heavy?", http.StatusBadRequest)
		return
	}
	quotes := d.best(lane{r.PathValue("from"), r.PathValue("to")}, kg, 12)
	if quotes == nil {
		http.NotFound(w, r)
		return
	}
	buf := d.buffers.Get().(*bytes.Buffer)
	defer d.buffers.Put(buf)
	buf.Reset()
	if err := json.NewEncoder(buf).Encode(quotes); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(buf.Len()))
	_, _ = w.Write(buf.Bytes())
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quotes/{from}/{to}/{kg}", newDesk().quotes)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	fmt.Println("listening on", l.Addr())
	select {
	case <-ctx.Done():
	case err := <-served:
		log.Fatal(err)
	}
	late, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := srv.Shutdown(late); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		log.Print(err)
	}
}
