package catalog

import (
	"context"
	"errors"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	for _, scope := range []Scope{Catalog, Service} {
		s := New(scope)
		s.Register("mail", Instance{ID: "a", Healthy: true})
		v, err := s.Watch(context.Background(), "mail", 0)
		if err != nil || len(v.Instances) != 1 {
			t.Fatalf("%v, %v", v, err)
		}
		go s.Register("shop", Instance{ID: "b"})
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		if _, err := s.Watch(ctx, "mail", v.Index); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want a deadline", err)
		}
		cancel()
		go s.Register("mail", Instance{ID: "a"})
		if v, err = s.Watch(context.Background(), "mail", v.Index); err != nil || v.Instances[0].Healthy {
			t.Errorf("%v, %v", v, err)
		}
	}
}
