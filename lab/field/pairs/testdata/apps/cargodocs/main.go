// Command cargodocs files the manifests of container ships with the customs
// office and announces them to the port.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"cargodocs/internal/customs"
	"cargodocs/internal/filing"
	"cargodocs/internal/manifest"
	"cargodocs/internal/office"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to file")
	clerks := flag.Int("clerks", 5, "filing clerks")
	v2 := flag.Bool("v2", true, "second version of the request stamps")
	flag.Parse()

	url, err := office.Listen()
	if err != nil {
		log.Fatal(err)
	}

	base := &http.Transport{MaxIdleConnsPerHost: 32}
	signer := customs.NewSigner([]byte("IT-GOA-0091"), base)
	signer.V2 = *v2
	svc := filing.New(
		customs.NewClient(url, &http.Client{Transport: signer, Timeout: 10 * time.Second}),
		customs.NewPort(url, &http.Client{Transport: base, Timeout: 10 * time.Second}),
	)

	ctx, cancel := context.WithTimeout(context.Background(), *dur)
	defer cancel()
	var wg sync.WaitGroup
	for c := range *clerks {
		wg.Go(func() {
			src := manifest.NewSource(uint64(c + 1))
			for ctx.Err() == nil {
				if err := svc.File(context.Background(), src.Next()); err != nil {
					fmt.Fprintln(os.Stderr, "filing:", err)
					return
				}
			}
		})
	}
	wg.Wait()
	n, boxes, value, spent := svc.Summary()
	fmt.Printf("operations: %d\n", n)
	fmt.Printf("containers %d, dutiable value %.0f EUR, mean time %v\n", boxes, value, (spent / time.Duration(max(n, 1))).Round(10*time.Microsecond))
}
