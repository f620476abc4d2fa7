package form

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"contactforms/internal/inbox"
)

func TestHandler(t *testing.T) {
	for body, want := range map[string]int{
		`{"From":"ada","Text":"hello"}`: http.StatusOK, `{"From":"ada"}`: http.StatusBadRequest,
		"no form": http.StatusBadRequest, `{"Text":"` + strings.Repeat("long ", 100) + `"}`: http.StatusRequestEntityTooLarge,
	} {
		for _, room := range []int{0, 1 << 10} {
			h := Handler{Inbox: inbox.New(2), Room: room, Limit: 200}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
			if w.Code != want {
				t.Errorf("room %d, %.40s: %d, want %d", room, body, w.Code, want)
			}
		}
	}
}
