// Gojqreports sums orders by a filter in the language of jq that is compiled once.
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/itchyny/gojq"
)

const filter = `[.lines[] | select(.cents > 200) | .cents * .amount] | {count: length, sum: add, largest: max}`

func order(n int) any {
	var lines []any
	for i := range 8 {
		lines = append(lines, map[string]any{"article": n + i, "cents": 100 + (n+i)*37%900, "amount": 1 + i%3})
	}
	return map[string]any{"id": n, "lines": lines}
}

func main() {
	flag.Parse()
	q, err := gojq.Parse(filter)
	if err != nil {
		log.Fatal(err)
	}
	code, err := gojq.Compile(q)
	if err != nil {
		log.Fatal(err)
	}
	pace(func(n int) error {
		v, _ := code.Run(order(n)).Next()
		if err, bad := v.(error); bad {
			return err
		}
		if m, ok := v.(map[string]any); !ok || m["count"] == 0 {
			return fmt.Errorf("order %d has no sum: %v", n, v)
		}
		return nil
	})
}
