// Zstdreaders unpacks messages that were packed with zstd and counts their words.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

func pack(n int) []byte {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		log.Fatal(err)
	}
	for i := range n {
		fmt.Fprintf(w, "the %d. word of a message that says little\n", i)
	}
	w.Close()
	return b.Bytes()
}

func words(packed io.Reader) (int, error) {
	r, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return 0, err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return 0, err
	}
	return len(strings.Fields(string(text))), nil
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long messages come")
	flag.Parse()
	packed := pack(20)
	n, sum := 0, 0
	tick := time.NewTicker(10 * time.Millisecond)
	for end := time.Now().Add(*length); time.Now().Before(end); n++ {
		<-tick.C
		w, err := words(bytes.NewReader(packed))
		if err != nil {
			log.Fatal(err)
		}
		sum += w
	}
	fmt.Println("words:", sum)
	fmt.Println("operations:", n)
}
