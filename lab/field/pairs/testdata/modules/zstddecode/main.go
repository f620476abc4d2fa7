// Zstddecode searches logs that are kept compressed.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"math/rand"

	"github.com/klauspost/compress/zstd"
)

// day is the compressed log of a day.
func day(seed int64, lines int) ([]byte, error) {
	random := rand.New(rand.NewSource(seed))
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out)
	if err != nil {
		return nil, err
	}
	levels := []string{"INFO", "WARN", "ERROR", "DEBUG"}
	for i := range lines {
		fmt.Fprintf(w, "2024-03-%02d 12:%02d:%02d %s request %08x from 10.%d.%d.%d took %d ms\n", seed%28+1, i/60%60, i%60,
			levels[random.Intn(4)], random.Uint32(), random.Intn(256), random.Intn(256), random.Intn(256), random.Intn(5000))
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func search(compressed []byte, word string) (n int, err error) {
	r, err := zstd.NewReader(bytes.NewReader(compressed), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(word)) {
			n++
		}
	}
	return n, lines.Err()
}

func main() {
	days := flag.Int("days", 120, "how many are searched")
	flag.Parse()
	logs := make([][]byte, 4)
	for i := range logs {
		var err error
		if logs[i], err = day(int64(i), 100000); err != nil {
			log.Fatal(err)
		}
	}
	found := 0
	for i := range *days {
		n, err := search(logs[i%len(logs)], "ERROR")
		if err != nil {
			log.Fatal(err)
		}
		found += n
	}
	fmt.Println("found:", found)
	fmt.Printf("operations: %d\n", *days)
}
