package heap

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/testing/corefile"
)

// A core has the same holders as the process that it is of, which is stopped.
func TestCore(t *testing.T) {
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("builds a program, and writes a core of amd64")
	}
	exe := build(t, "local", "program")
	for _, does := range []string{"map", "stack", "timer"} {
		pid := start(t, exe, does)
		if err := corefile.Stop(pid); err != nil {
			t.Fatal(err)
		}
		live, err := Read(t.Context(), pid, Options{})
		if err != nil {
			t.Fatal(err)
		}
		made, err := corefile.Of(pid)
		if err != nil {
			t.Skip(err)
		}
		b := made.Bytes()
		f, err := core.New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		r, err := goroutines.OpenCore(f, exe)
		if err != nil {
			t.Fatal(err)
		}
		look, err := Of(t.Context(), r, Options{})
		r.Close()
		if err != nil {
			t.Fatal(err)
		}
		want, got := live.Holders[0], look.Holders[0]
		if got.Name != want.Name || got.Way() != want.Way() || got.ObjectSum != want.ObjectSum || look.Reached != live.Reached {
			t.Errorf("%s: the core has %+v first and %+v in all, want %+v and %+v", does, got, look.Reached, want, live.Reached)
		}
		if got.Bytes < 38<<20 || want.Kind == model.HeldByRuntime {
			t.Errorf("%s: %d bytes by %s", does, got.Bytes, want.Kind)
		}
	}
}
