package plant

import (
	"sync"
	"testing"

	"tickerplant/internal/quote"
)

type last map[int]int

func (last) Name() string       { return "last" }
func (l last) On(q quote.Quote) { l[q.Symbol] = q.Seq }
func (last) Summary() string    { return "" }

func TestLastOfEachSymbol(t *testing.T) {
	for _, d := range []Delivery{Every, Latest} {
		p, err := New(d)
		if err != nil {
			t.Fatal(err)
		}
		desks := []last{{}, {}}
		var wg sync.WaitGroup
		for _, l := range desks {
			s := p.Subscribe(l.Name())
			wg.Go(func() { Serve(s, l) })
		}
		feed := make(chan quote.Quote, 100)
		for i := range 100 {
			feed <- quote.Quote{Symbol: i % 7, Seq: i}
		}
		close(feed)
		p.Run(feed)
		wg.Wait()
		for _, l := range desks {
			if len(l) != 7 || l[1] != 99 || l[2] != 93 {
				t.Errorf("%s: %v", d, l)
			}
		}
	}
}
