// Claimintake takes, decides and books insurance claims.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"claimintake/internal/claim"
	"claimintake/internal/intake"
	"claimintake/internal/ledger"
	"claimintake/internal/wire"
)

const bundle = 4

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 2000, "claims per second")
	compact := flag.Bool("compact", true, "use the compact pipeline")
	flag.Parse()

	book := ledger.New(!*compact)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go wire.Serve(ln, intake.New(book, !*compact))

	bundles := samples(100)
	var ops, size atomic.Int64
	var wg sync.WaitGroup
	const agents = 10
	end := time.Now().Add(*d)
	gap := time.Second * agents * bundle / time.Duration(*rate)
	for a := range agents {
		conn, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			log.Fatal(err)
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer conn.Close()
			in := bufio.NewReader(conn)
			next := time.Now().Add(gap * time.Duration(a) / agents)
			for i := a; next.Before(end); i += agents {
				time.Sleep(time.Until(next))
				next = next.Add(gap)
				if _, err := conn.Write(bundles[i%len(bundles)]); err != nil {
					log.Fatal(err)
				}
				for range bundle {
					line, err := in.ReadSlice('\n')
					if err != nil || bytes.Contains(line, []byte(`"error"`)) {
						log.Fatalf("refused: %s %v", line, err)
					}
					size.Add(int64(len(line)))
					ops.Add(1)
				}
			}
		}()
	}
	wg.Wait()
	fmt.Println("operations:", ops.Load())
	fmt.Println("bytes answered:", size.Load())
}

func samples(n int) [][]byte {
	rng := rand.New(rand.NewSource(2))
	pick := func(s ...string) string { return s[rng.Intn(len(s))] }
	party := func() claim.Party {
		return claim.Party{Name: "Robin Example", Street: fmt.Sprint("Main street ", rng.Intn(300)), City: pick("Basel", "Graz", "Lyon", "Ulm"),
			Country: pick("AT", "CH", "DE", "FR", "IT"), Phone: fmt.Sprint("0049", rng.Intn(1e8))}
	}
	out := make([][]byte, n)
	for i := range n * bundle {
		c := claim.Claim{Policy: fmt.Sprint(10000000 + rng.Intn(1e7)), Kind: pick("motor", "home", "travel", "liability"), Happened: "2026-02-03",
			Insured: party(), Other: party(), Remarks: "Called by phone, photos were sent"}
		for range 8 + rng.Intn(14) {
			c.Positions = append(c.Positions, claim.Position{Code: fmt.Sprint("P", rng.Intn(9000)), Text: "Repair of damaged part with labour",
				Quantity: 1 + rng.Intn(4), Cents: rng.Intn(90000), Vat: 19})
		}
		b, _ := json.Marshal(c)
		out[i/bundle] = append(append(out[i/bundle], b...), '\n')
	}
	return out
}
