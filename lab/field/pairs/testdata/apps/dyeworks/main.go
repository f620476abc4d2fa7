// Command dyeworks finds recipes for the colours that weavers order.
package main

import (
	"flag"
	"fmt"
	"time"

	"dyeworks/internal/admission"
	"dyeworks/internal/mixing"
	"dyeworks/internal/orders"
	"dyeworks/internal/recipe"
)

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 4000, "orders per second")
	period := flag.Duration("period", 200*time.Millisecond, "period of the gate")
	flag.Parse()

	s := &mixing.Service{
		Book: recipe.NewBook(1500),
		Gate: admission.NewGate(400<<20, *period),
	}
	res := orders.Send(s, *rate, 16, *d)
	fmt.Printf("operations: %d\n", res.Done.Load())
	fmt.Printf("failed %d, refused %d, %d KB of doses\n", res.Failed.Load(), s.Gate.Refused(), res.Bytes.Load()>>10)
}
