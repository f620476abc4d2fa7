// Zstdlogs compresses blocks of a log with the zstd of klauspost/compress as they fill, and checks that they can be
// read.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/klauspost/compress/zstd"
)

const block = 256 << 10

// lines fills a block with the lines of a server.
func lines(seed int) []byte {
	b := make([]byte, 0, block+200)
	for i := seed; len(b) < block; i++ {
		b = fmt.Appendf(b, "2026-03-%02dT%02d:%02d:%02dZ info request path=/items/%d status=%d took=%dus bytes=%d\n",
			1+i%28, i%24, i%60, i*7%60, i*2654435761%100000, 200+i%5, i*i%90000, i*31%65536)
	}
	return b
}

func main() {
	rate := flag.Int("rate", 10, "blocks a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		log.Fatal(err)
	}
	defer encoder.Close()
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		log.Fatal(err)
	}
	defer decoder.Close()
	var blocks [][]byte
	for n := range 16 {
		blocks = append(blocks, lines(n*100003))
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	packed, plain := make([]byte, 0, block), make([]byte, 0, 2*block)
	size := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("bytes: %d\noperations: %d\n", size, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		text := blocks[n%len(blocks)]
		packed = encoder.EncodeAll(text, packed[:0])
		if plain, err = decoder.DecodeAll(packed, plain[:0]); err != nil || !bytes.Equal(plain, text) {
			log.Fatal("a block cannot be read: ", err)
		}
		size += len(packed)
	}
}
