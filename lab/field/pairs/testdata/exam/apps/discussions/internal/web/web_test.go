package web

import (
	"net/http/httptest"
	"testing"

	"discussions/internal/forum"
)

func TestVersionsAgree(t *testing.T) {
	store := forum.NewStore()
	store.Seed("trams", 60)
	var pages []string
	for _, schema := range []int{1, 2} {
		api, err := New(store, schema)
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		api.Routes().ServeHTTP(w, httptest.NewRequest("GET", "/articles/trams/discussion", nil))
		if w.Code != 200 || w.Body.Len() < 5000 {
			t.Fatalf("status %d, %d bytes", w.Code, w.Body.Len())
		}
		pages = append(pages, w.Body.String())
	}
	if pages[0] != pages[1] {
		t.Errorf("the versions differ:\n%s\n%s", pages[0], pages[1])
	}
}
