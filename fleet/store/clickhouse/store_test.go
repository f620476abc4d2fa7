package clickhouse

import (
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// The engine conforms on one server and on two.
func TestConforms(t *testing.T) {
	for name, servers := range map[string]int{"one server": 1, "two servers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := func(t *testing.T) store.Store { return mustOpen(t, options(t, servers)) }
			reopen := func(t *testing.T, s store.Store) store.Store {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				return mustOpen(t, s.(*Store).options)
			}
			storetest.Run(t, open)
			storetest.RunReopen(t, open, reopen)
		})
	}
}
