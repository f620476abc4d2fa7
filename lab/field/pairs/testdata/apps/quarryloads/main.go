// Command quarryloads adds up the weighbridge tickets of a quarry.
package main

import (
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"quarryloads/internal/ledger"
	"quarryloads/internal/recfile"
	"quarryloads/internal/weigh"
)

func write(name string, n int) error {
	w, err := recfile.Create(name)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(8, 16))
	for i := range n {
		if err := w.Append(weigh.Encode(weigh.Draw(r, i))); err != nil {
			return err
		}
	}
	return w.Close()
}

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	n := flag.Int("tickets", 20000, "tickets in the file")
	v2 := flag.Bool("v2", true, "second version of the ledger")
	flag.Parse()

	dir, err := os.MkdirTemp("", "quarry")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "tickets.rec")
	if err := write(name, *n); err != nil {
		log.Fatal(err)
	}
	ops := 0
	var last *ledger.Ledger
	for end := time.Now().Add(*dur); time.Now().Before(end); {
		if last, err = ledger.Load(name, *v2); err != nil {
			log.Fatal(err)
		}
		ops += last.Tickets
	}
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("granite 8/16: %.1f t, days: %d, overloaded: %d\n", last.Tonnes["granite 8/16"], len(last.ByDay), last.Overload)
}
