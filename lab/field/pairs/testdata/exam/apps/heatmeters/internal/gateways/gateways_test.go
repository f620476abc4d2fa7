package gateways

import (
	"testing"
	"time"

	"heatmeters/internal/httpd"
	"heatmeters/internal/readings"
)

func TestReadingsArrive(t *testing.T) {
	var totals []float64
	for _, keep := range []time.Duration{0, time.Minute} {
		book := readings.NewBook(20)
		server, err := httpd.Start(httpd.Config{Addr: "127.0.0.1:0", Read: 100 * time.Millisecond, Keep: keep, HeaderLimit: 8 << 10}, httpd.Routes(book))
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(server.URL, server.Roots, 3).Send(200*time.Millisecond, 500*time.Millisecond)
		if err != nil || n == 0 {
			t.Fatal(n, err)
		}
		server.Close()
		totals = append(totals, book.Total())
	}
	if d := totals[0] - totals[1]; d > 1e-9 || d < -1e-9 {
		t.Error(totals)
	}
}
