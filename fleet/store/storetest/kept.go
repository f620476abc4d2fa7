package storetest

import (
	"context"
	"runtime"
	"slices"
	"testing"

	"github.com/gowhy/gowhy/fleet/memory"
)

// MeasureMemory asks a question that memory is granted for. It returns how many bytes the answer keeps
// alive and how many it took of what was granted: the median of several times, because others,
// connections for one, keep something meanwhile, or let go of it.
func MeasureMemory(t *testing.T, ask func(context.Context) (any, error)) (kept, took int64) {
	t.Helper()
	var grown []int64
	for range 5 {
		granted, err := memory.NewPool("questions", 1<<30, 0).Take(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		ctx := memory.With(t.Context(), granted)
		before := alive()
		answer, err := ask(ctx)
		if err != nil {
			t.Fatal(err)
		}
		grown, took = append(grown, alive()-before), memory.Held(ctx)
		runtime.KeepAlive(answer)
	}
	slices.Sort(grown)
	return grown[len(grown)/2], took
}

// alive returns the bytes in use; what pools keep is gone after two collections.
func alive() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
