package web

import (
	"net/http/httptest"
	"strings"
	"testing"

	"donations/internal/export"
	"donations/internal/ledger"
)

func TestLooksAgree(t *testing.T) {
	books := ledger.New()
	books.Fill("mill", 500)
	var looks []string
	for _, from := range []string{"list", "rows"} {
		api, err := New(export.New(books), from, 20)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		api.Routes().ServeHTTP(w, httptest.NewRequest("GET", "/campaigns/mill/look", nil))
		looks = append(looks, w.Body.String())
	}
	if looks[0] != looks[1] || !strings.Contains(looks[0], `"gifts":500`) {
		t.Errorf("%s\n%s", looks[0], looks[1])
	}
}
