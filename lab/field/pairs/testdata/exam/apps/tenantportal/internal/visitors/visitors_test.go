package visitors

import (
	"net/http/httptest"
	"slices"
	"testing"

	"tenantportal/internal/portal"
	"tenantportal/internal/session"
	"tenantportal/internal/upstream"
)

func TestPagesAgree(t *testing.T) {
	office := httptest.NewServer(upstream.Office())
	defer office.Close()
	var pages [][]string
	for _, mode := range []string{"request", "value"} {
		m, err := session.Middleware(session.NewStore(), mode)
		if err != nil {
			t.Fatal(err)
		}
		app := portal.New(upstream.NewClient(office.URL))
		front := httptest.NewServer(app.Routes(m))
		defer front.Close()
		client := Browser(9)
		v := New(front.URL, app.Panels())
		for _, flat := range []string{"f001", "f002"} {
			page, err := v.Page(client, flat)
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, page)
		}
	}
	if !slices.Equal(pages[0], pages[2]) || !slices.Equal(pages[1], pages[3]) {
		t.Error(pages)
	}
}
