package quotes

import (
	"net"
	"testing"
	"time"

	"partsquotes/internal/pool"
	"partsquotes/internal/shelf"
)

func TestOpen(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go shelf.NewServer().Serve(l)
	var sums []Sum
	for _, recycle := range []string{"strict", "read"} {
		client, err := shelf.NewClient(pool.New(l.Addr().String(), 16), recycle)
		if err != nil {
			t.Fatal(err)
		}
		desk := NewDesk(client)
		if err := desk.Prepare(); err != nil {
			t.Fatal(err)
		}
		sum, err := desk.Open(1000, 200*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	if sums[0] != sums[1] || sums[0].Quotes != 200 || sums[0].Shelved != 100 {
		t.Error(sums)
	}
}
