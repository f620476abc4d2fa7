// Msgpacktelemetry encodes and decodes the telemetry of engines with msgpack.
package main

import (
	"bytes"
	"flag"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

type sample struct {
	Engine string    `msgpack:"e"`
	Turns  int       `msgpack:"t"`
	Heat   []float32 `msgpack:"h"`
}

func main() {
	flag.Parse()
	var buffer bytes.Buffer
	enc, dec := msgpack.NewEncoder(&buffer), msgpack.NewDecoder(&buffer)
	in := sample{Engine: "port-3", Heat: make([]float32, 24)}
	var out sample
	pace(func(n int) error {
		buffer.Reset()
		in.Turns = n % 4000
		for i := range in.Heat {
			in.Heat[i] = float32(n+i) / 7
		}
		if err := enc.Encode(&in); err != nil {
			return err
		}
		dec.Reset(&buffer)
		if err := dec.Decode(&out); err != nil {
			return err
		}
		if out.Turns != in.Turns {
			return fmt.Errorf("%d turns became %d", in.Turns, out.Turns)
		}
		return nil
	})
}
