package notes

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"paymentproxy/internal/bank"
)

func TestWrap(t *testing.T) {
	for _, eager := range []bool{false, true} {
		k := Keeper{Eager: eager}
		h := k.Wrap(bank.Handler{Limit: 100})
		for _, body := range []string{`{"cents":5}`, `{"cents":500}`} {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/pay", strings.NewReader(body)))
		}
		if k.n != 1 || !strings.HasSuffix(k.last[0], `{"cents":500}`) {
			t.Errorf("eager %v: %d notes, the first %q", eager, k.n, k.last[0])
		}
	}
}
