// Command quarryweigh prices the weighings of quarries.
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"quarryweigh/internal/bridge"
	"quarryweigh/internal/tariff"
	"quarryweigh/internal/traffic"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second edition of the tariff cache")
	flag.Parse()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	svc := &bridge.Service{
		Tariffs: tariff.NewStore(20, 5),
		Cache:   tariff.NewCache(512, *v2),
		Key:     []byte("weighbridge-seal"),
	}
	mux := http.NewServeMux()
	mux.Handle("POST /weighings", svc)
	go http.Serve(ln, mux)
	ops, slips := traffic.Run("http://"+ln.Addr().String(), 8, 200, *d)
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("slips printed: %d\n", slips)
}
