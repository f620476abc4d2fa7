// Hpackmarks reads recorded heads of requests, for a tool that shows what went over the
// connections of an HTTP/2 proxy.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"strings"
	"time"

	"golang.org/x/net/http2/hpack"
)

// piece is as large as the frames of the proxy.
const piece = 256

// recorded is the head of a request, as it went over a connection.
func recorded(i, mark int) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for _, f := range []hpack.HeaderField{
		{Name: ":method", Value: "GET"},
		{Name: ":scheme", Value: "https"},
		{Name: ":path", Value: fmt.Sprintf("/articles/%d", i)},
		{Name: "user-agent", Value: "reader/3.1"},
		{Name: "x-" + strings.Repeat("mark-", mark/5), Value: strings.Repeat("m4rk=", mark/5)},
		{Name: "accept", Value: "text/html"},
	} {
		if err := e.WriteField(f); err != nil {
			log.Fatal(err)
		}
	}
	return b.Bytes()
}

// head reads one, frame by frame.
func head(frames []byte) (fields []hpack.HeaderField, err error) {
	d := hpack.NewDecoder(4096, func(f hpack.HeaderField) { fields = append(fields, f) })
	for len(frames) > 0 {
		n := min(piece, len(frames))
		if _, err := d.Write(frames[:n]); err != nil {
			return nil, err
		}
		frames = frames[n:]
	}
	return fields, d.Close()
}

func main() {
	heads := flag.Int("heads", 150, "how many heads are read")
	flag.Parse()
	size := 0
	for i := range *heads {
		mark := 200
		if i%3 == 0 {
			mark = 60_000
		}
		fields, err := head(recorded(i, mark))
		if err != nil {
			log.Fatal(err)
		}
		for _, f := range fields {
			size += len(f.Name) + len(f.Value)
		}
		time.Sleep(10 * time.Millisecond) // the next one was recorded a little later
	}
	fmt.Println("bytes:", size)
	fmt.Println("operations:", *heads)
}
