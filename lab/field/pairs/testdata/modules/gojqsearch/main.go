// Gojqsearch finds the first reading of sensors that is out of bounds, in the language of jq.
package main

import (
	"flag"
	"fmt"
	"log"

	"github.com/itchyny/gojq"
)

const search = `[range(4)] | map(. as $s | first(range($n) | select((. * 7919 + $s * 31) % 1000003 == 17)))`

// bounds are the first readings that are out of bounds, of four sensors.
func bounds(code *gojq.Code, readings int) ([]any, error) {
	v, _ := code.Run(nil, readings).Next()
	if err, bad := v.(error); bad {
		return nil, err
	}
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("%v is no list", v)
	}
	return list, nil
}

func main() {
	readings := flag.Int("readings", 2_000_000, "readings of a sensor")
	flag.Parse()
	q, err := gojq.Parse(search)
	if err != nil {
		log.Fatal(err)
	}
	code, err := gojq.Compile(q, gojq.WithVariables([]string{"$n"}))
	if err != nil {
		log.Fatal(err)
	}
	found, err := bounds(code, *readings)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("found:", found)
	fmt.Printf("operations: %d\n", len(found))
}
