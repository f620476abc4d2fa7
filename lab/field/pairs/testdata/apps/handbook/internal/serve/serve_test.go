package serve

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"handbook/internal/chapters"
)

// get asks a handler for its chapter, perhaps with a tag.
func get(t *testing.T, h *Handler, tag string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/handbook/one", nil)
	r.SetPathValue("chapter", "one")
	if tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTags(t *testing.T) {
	for _, kept := range []bool{false, true} {
		shelf := chapters.NewShelf()
		shelf.Put(chapters.Write("one", 3))
		h := &Handler{Shelf: shelf, Kept: kept}
		tag := get(t, h, "").Header().Get("ETag")
		if w := get(t, h, tag); tag == "" || w.Code != http.StatusNotModified {
			t.Errorf("kept %v: with its tag %q: %d, want not modified", kept, tag, w.Code)
		}
		shelf.Put(chapters.Write("one", 4))
		if w := get(t, h, tag); w.Code != http.StatusOK {
			t.Errorf("kept %v: with an old tag: %d, want the chapter", kept, w.Code)
		}
	}
}
