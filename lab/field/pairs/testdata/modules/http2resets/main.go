// Http2resets serves reports over HTTP/2 without TLS to a client that loses its
// patience: it asks for reports and takes most of its questions back at once.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// report takes the time of a database.
func report(w http.ResponseWriter, r *http.Request) {
	rows := make([]byte, 16<<10)
	time.Sleep(time.Second)
	for i := range rows {
		rows[i] = 'a' + byte(i%26)
	}
	w.Write(rows)
}

func serve(l net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("/report", report)
	server := &http2.Server{}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go server.ServeConn(c, &http2.ServeConnOpts{Handler: mux})
	}
}

// ask opens a connection and asks at a rate until the server or the time ends it.
func ask(addr string, end time.Time) (n int, err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if _, err := c.Write([]byte(http2.ClientPreface)); err != nil {
		return 0, err
	}
	var out bytes.Buffer
	f := http2.NewFramer(&out, c)
	f.WriteSettings()
	go func() {
		for {
			if _, err := f.ReadFrame(); err != nil {
				c.Close()
				return
			}
		}
	}()
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for id := uint32(1); time.Now().Before(end); {
		<-tick.C
		for range 40 {
			block.Reset()
			for _, h := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", addr}, {":path", "/report"}} {
				enc.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]})
			}
			f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndStream: true, EndHeaders: true})
			f.WriteRSTStream(id, http2.ErrCodeCancel)
			id += 2
			n++
		}
		if _, err := out.WriteTo(c); err != nil {
			return n, nil // the server has had enough
		}
	}
	return n, nil
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long it asks")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go serve(l)
	n := 0
	for end := time.Now().Add(*length); time.Now().Before(end); {
		asked, err := ask(l.Addr().String(), end)
		if err != nil {
			log.Fatal(err)
		}
		n += asked
	}
	fmt.Println("operations:", n)
}
