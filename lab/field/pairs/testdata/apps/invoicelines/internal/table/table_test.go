package table

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"invoicelines/internal/account"
)

func TestTable(t *testing.T) {
	var texts []string
	for _, every := range []int{0, 1} {
		r := httptest.NewRequest(http.MethodGet, "/accounts/7", nil)
		r.SetPathValue("account", "7")
		w := httptest.NewRecorder()
		Handler{Lines: account.Generate(5), FlushEvery: every}.ServeHTTP(w, r)
		texts = append(texts, w.Body.String())
	}
	if texts[0] != texts[1] || strings.Count(texts[0], "\n") != 5 {
		t.Errorf("the tables are\n%s\nand\n%s", texts[0], texts[1])
	}
}
