package rollup

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"tillreports/internal/sales"
	"tillreports/internal/schedule"
)

func TestReport(t *testing.T) {
	var want string
	for _, p := range []schedule.Policy{schedule.Allow, schedule.Forbid} {
		store := sales.NewStore(sales.Config{Shops: 5, Page: 100, Answer: time.Millisecond, Readers: 4})
		server := httptest.NewServer(store)
		r := New(NewClient(server.URL, 100))
		store.Sell(1000)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		if err := schedule.New(3*time.Millisecond, p, r.Run).Run(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		store.Sell(500)
		if err := r.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		server.Close()
		if want == "" {
			want = r.Best()
		}
		if r.Summed() != 1500 || r.Best() != want {
			t.Errorf("%v: %d sales, best shop %s; want 1500, %s", p, r.Summed(), r.Best(), want)
		}
	}
}
