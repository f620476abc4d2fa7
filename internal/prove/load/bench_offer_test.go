package load

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// What an operation costs the generator: of its own, and with HTTP beside
// net/http's client against the same server, which does as little as it can
// and whose CPU time, the same in both, is included.

func BenchmarkOffer(b *testing.B) {
	f := &fake{limits: Limits{Connections: 8, Depth: 1}, serve: func(int64) error { return nil }}
	for _, test := range []struct {
		name string
		o    Options
	}{
		{"closed", Options{Closed: true}},
		{"open-1M", Options{Rate: 1e6}},
		{"open-20k", Options{Rate: 20e3}}, // the pace wakes up for each
		{"open-2k", Options{Rate: 2e3}},
	} {
		b.Run(test.name, func(b *testing.B) {
			o := test.o
			o.Protocol, o.Count, o.Connections = f, int64(b.N), 2
			measureCPU(b, func() {
				if r, err := Offer(b.Context(), o); err != nil || r.Ops != int64(b.N) {
					b.Fatalf("Offer(%s) = %+v, %v; want %d operations", test.name, r, err, b.N)
				}
			})
		})
	}
}

func BenchmarkHTTP(b *testing.B) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Sat, 21 Nov 2026 20:00:00 GMT\r\nContent-Length: 6\r\n\r\nhello\n"
	url := leanServer(b, answer)
	const connections = 4
	b.Run("gowhy", func(b *testing.B) {
		o := Options{Protocol: protocol(b, Request{URL: url}), Closed: true, Count: int64(b.N), Connections: connections}
		measureCPU(b, func() {
			if r, err := Offer(b.Context(), o); err != nil || r.Failed > 0 {
				b.Fatalf("Offer() = %+v, %v; want no failure", r, err)
			}
		})
	})
	b.Run("net-http", func(b *testing.B) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
		defer client.CloseIdleConnections()
		measureCPU(b, func() {
			var all sync.WaitGroup
			for i := range connections {
				all.Go(func() {
					for range (b.N + i) / connections {
						get(b, client, url)
					}
				})
			}
			all.Wait()
		})
	})
}

func get(b *testing.B, client *http.Client, url string) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, nil)
	if err != nil {
		b.Error(err)
		return
	}
	r, err := client.Do(req)
	if err != nil {
		b.Error(err)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body)
	r.Body.Close()
}

// measureCPU reports the CPU time of an operation, of the server's in this
// process too.
func measureCPU(b *testing.B, do func()) {
	b.ReportAllocs()
	before, _ := ownCPU()
	b.ResetTimer()
	do()
	b.StopTimer()
	after, _ := ownCPU()
	b.ReportMetric(float64(after-before)/float64(b.N)/float64(time.Microsecond), "cpu-µs/op")
}

// leanServer answers whatever ends with an empty line.
func leanServer(b *testing.B, answer string) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for {
					line, err := r.ReadSlice('\n')
					if err != nil {
						return
					}
					if len(line) > 2 {
						continue
					}
					if _, err := io.WriteString(c, answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	return "http://" + strings.TrimPrefix(l.Addr().String(), "http://")
}
