// wardscans takes scanned pages from branch offices and files them.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"wardscans/internal/scanner"
	"wardscans/internal/scans"
	"wardscans/internal/uploads"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the upload handler")
	rate := flag.Int("rate", 360, "pages per second")
	flag.Parse()

	base, quit := context.WithCancel(context.Background())
	defer quit()
	archive := scans.NewArchive(20000)
	h := uploads.NewHandler(base, archive, uploads.Options{V2: *v2, Limit: 64 << 10})
	mux := http.NewServeMux()
	mux.Handle("POST /pages/{office}", h)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go srv.Serve(ln)

	res := scanner.Run("http://"+ln.Addr().String(), *rate, *dur)
	quit()
	if err := srv.Close(); err != nil {
		log.Print(err)
	}
	fmt.Printf("operations: %d\n", res.Done)
	fmt.Printf("filed: %d, duplicates: %d, refused: %d\n", archive.Len(), h.Duplicates(), res.Refused)
	fmt.Printf("mean answer: %v\n", res.Mean().Round(10*time.Microsecond))
}
