// Cborencoder writes what sensors have measured as a stream of CBOR.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"

	"github.com/fxamacker/cbor/v2"
)

type reading struct {
	Sensor  uint32  `cbor:"1,keyasint"`
	Time    int64   `cbor:"2,keyasint"`
	Celsius float64 `cbor:"3,keyasint"`
	OK      bool    `cbor:"4,keyasint"`
}

type counter struct {
	bytes int
}

func (c *counter) Write(p []byte) (int, error) {
	c.bytes += len(p)
	return len(p), nil
}

func readings(yield func(reading) bool) {
	for i := 0; yield(reading{Sensor: uint32(i % 500), Time: 1700000000 + int64(i), Celsius: float64(i%400) / 10, OK: i%97 != 0}); i++ {
	}
}

// send writes a message.
func send(w io.Writer, message any) error {
	return cbor.NewEncoder(w).Encode(message)
}

// stream sends each reading and a mark behind it.
func stream(w io.Writer, n int) error {
	out := bufio.NewWriter(w)
	i := 0
	for r := range readings {
		if i++; i > n {
			break
		}
		if err := send(out, r); err != nil {
			return err
		}
		if err := send(out, i); err != nil {
			return err
		}
	}
	return out.Flush()
}

func main() {
	n := flag.Int("readings", 10000000, "how many are written")
	flag.Parse()
	var c counter
	if err := stream(&c, *n); err != nil {
		log.Fatal(err)
	}
	fmt.Println("bytes:", c.bytes)
	fmt.Printf("operations: %d\n", *n)
}
