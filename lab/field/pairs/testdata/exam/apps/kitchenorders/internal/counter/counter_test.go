package counter

import (
	"context"
	"net/http/httptest"
	"testing"

	"kitchenorders/internal/kitchen"
	"kitchenorders/internal/menu"
)

func TestSame(t *testing.T) {
	var bodies []string
	for _, s := range []kitchen.Strike{kitchen.Closing, kitchen.Serving} {
		day, end := context.WithCancel(context.Background())
		h := New(menu.Generate(60), kitchen.Open(day, 2, s))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/order?dishes=4", nil))
		bodies = append(bodies, w.Body.String())
		end()
	}
	if bodies[0] != bodies[1] || len(bodies[0]) < 40 {
		t.Error(bodies)
	}
}
