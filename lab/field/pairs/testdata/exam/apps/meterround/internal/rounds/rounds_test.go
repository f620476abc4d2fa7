package rounds

import (
	"net"
	"testing"

	"meterround/internal/headend"
	"meterround/internal/link"
	"meterround/internal/patience"
)

func TestRead(t *testing.T) {
	var sums []Sum
	for _, detail := range []string{"text", "chain"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go headend.NewStation().Serve(l)
		r := Round{Lines: 4, Patience: patience.Default(), Dial: func() (*headend.Client, error) {
			line, err := link.Dial(l.Addr().String())
			if err != nil {
				return nil, err
			}
			return headend.NewClient(line, detail)
		}}
		sum, err := r.Read(90)
		if err != nil || sum.Read != 80 || sum.Gone != 10 {
			t.Errorf("%s: %+v, %v", detail, sum, err)
		}
		sums = append(sums, sum)
		l.Close()
	}
	if sums[0] != sums[1] {
		t.Error(sums)
	}
}
