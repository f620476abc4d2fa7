// Gojqregexp sorts events of a gateway by filters in the language of jq.
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/itchyny/gojq"
)

var filters = []string{
	`select(.path | test("^/api/v[0-9]+/"))`,
	`.path |= sub("/[0-9]+"; "/ID")`,
	`if .agent | test("(?:bot|crawler|spider)"; "i") then .robot = true else . end`,
}

func compile(text string) *gojq.Code {
	q, err := gojq.Parse(text)
	if err != nil {
		log.Fatal(err)
	}
	c, err := gojq.Compile(q)
	if err != nil {
		log.Fatal(err)
	}
	return c
}

// event makes the event of a number up.
func event(i int) any {
	agents := []any{"Mozilla/5.0 (X11; Linux x86_64)", "friendly-bot/2.1", "curl/8.5.0"}
	return map[string]any{"path": fmt.Sprintf("/api/v%d/orders/%d/lines", i%3, i), "agent": agents[i%3], "ms": i % 90}
}

// pass sends an event through all filters; nil is dropped.
func pass(codes []*gojq.Code, v any) (any, error) {
	for _, c := range codes {
		next, ok := c.Run(v).Next()
		if !ok {
			return nil, nil
		}
		if err, bad := next.(error); bad {
			return nil, err
		}
		v = next
	}
	return v, nil
}

func main() {
	events := flag.Int("events", 40000, "events to sort")
	flag.Parse()
	var codes []*gojq.Code
	for _, f := range filters {
		codes = append(codes, compile(f))
	}
	paths, robots := map[string]int{}, 0
	for i := range *events {
		v, err := pass(codes, event(i))
		if err != nil {
			log.Fatal(err)
		}
		if m, ok := v.(map[string]any); ok {
			paths[m["path"].(string)]++
			if m["robot"] == true {
				robots++
			}
		}
	}
	fmt.Println("paths:", len(paths), "robots:", robots)
	fmt.Printf("operations: %d\n", *events)
}
