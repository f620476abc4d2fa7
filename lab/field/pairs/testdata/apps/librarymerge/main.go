// Librarymerge builds a union catalogue from the deliveries of libraries.
package main

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"sync"
	"time"

	"librarymerge/internal/holdings"
	"librarymerge/internal/marc"
	"librarymerge/internal/union"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	size := flag.Int("size", 350, "records of a delivery")
	keyed := flag.Bool("keyed", true, "merge in the keyed way")
	flag.Parse()

	var mu sync.Mutex
	var ops, merged, packed int
	var mark byte
	var wg sync.WaitGroup
	end := time.Now().Add(*d)
	for g := range 2 {
		rng := rand.New(rand.NewSource(int64(g)))
		var texts []string
		for lib := range 4 {
			texts = append(texts, holdings.Delivery(lib, *size, rng)...)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			var out bytes.Buffer
			var buf []byte
			z, _ := flate.NewWriter(&out, flate.DefaultCompression)
			n, kept, bytes := 0, 0, 0
			var sum [32]byte
			for time.Now().Before(end) {
				recs := make([]*marc.Record, 0, len(texts))
				for _, t := range texts {
					r, err := marc.Decode(t)
					if err != nil {
						log.Fatal(err)
					}
					recs = append(recs, r)
				}
				out.Reset()
				z.Reset(&out)
				for _, r := range union.Merge(recs, *keyed) {
					buf = r.Append(buf[:0])
					z.Write(buf)
					kept++
				}
				z.Close()
				sum = sha256.Sum256(out.Bytes())
				bytes += out.Len()
				n += len(texts)
			}
			mu.Lock()
			ops, merged, packed = ops+n, merged+kept, packed+bytes
			mark ^= sum[0]
			mu.Unlock()
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops)
	fmt.Printf("records kept: %d, packed bytes: %d, mark %02x\n", merged, packed, mark)
}
