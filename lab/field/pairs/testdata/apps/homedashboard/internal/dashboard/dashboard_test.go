package dashboard

import (
	"net/http/httptest"
	"reflect"
	"testing"

	"homedashboard/internal/controller"
)

func TestCollect(t *testing.T) {
	s := httptest.NewServer(controller.Handler("doors", 0))
	defer s.Close()
	b := Board{Client: s.Client(), Sources: []Source{{"doors", s.URL}, {"gone", "http://127.0.0.1:1"}}}
	one := b.collect(t.Context())
	b.Together = true
	if both := b.collect(t.Context()); !one[0].OK || one[1].Error == "" || !reflect.DeepEqual(one, both) {
		t.Errorf("one after the other %v, together %v", one, both)
	}
}
