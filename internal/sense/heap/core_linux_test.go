package heap

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/testing/attempt"
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
		look := lookAtCore(t, bytes.NewReader(b), int64(len(b)), exe)
		want, got := live.Holders[0], look.Holders[0]
		if got.Name != want.Name || got.Way() != want.Way() || got.ObjectSum != want.ObjectSum || look.Reached != live.Reached {
			t.Errorf("%s: the core has %+v first and %+v in all, want %+v and %+v", does, got, look.Reached, want, live.Reached)
		}
		if got.Bytes < 38<<20 || want.Kind == model.HeldByRuntime {
			t.Errorf("%s: %d bytes by %s", does, got.Bytes, want.Kind)
		}
	}
}

// TestArm64 reads cores of programs of arm64.
func TestArm64(t *testing.T) {
	attempt.Only(t, "downloads toolchains, and runs what they build in an emulator")
	if _, err := exec.LookPath(corefile.Emulator); err != nil {
		t.Skip(err)
	}
	for _, toolchain := range []string{"local", "go1.22.12", "go1.24.11", "go1.27.4"} {
		t.Run(toolchain, func(t *testing.T) {
			exe := build(t, toolchain+" arm64", "program")
			for _, c := range holding {
				t.Run(c.does, func(t *testing.T) {
					got := &lookAtArm64(t, exe, c.does).Holders[0]
					if got.Kind != c.kind || got.Name != c.name || got.Bytes < 38<<20 || !strings.Contains(got.Way(), c.way) {
						t.Errorf("first is %s %q with %d MiB by %q, want %s %q by %q", got.Kind, got.Name, got.Bytes>>20, got.Way(), c.kind, c.name, c.way)
					}
				})
			}
		})
	}
}

// lookAtArm64 runs a program until it is ready, and reads the core of its crash.
func lookAtArm64(t *testing.T, exe, does string) *model.HeapLook {
	t.Helper()
	path, err := corefile.Arm64(t.Context(), t.TempDir(), exe, does)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return lookAtCore(t, file, info.Size(), exe)
}

func lookAtCore(t *testing.T, from io.ReaderAt, size int64, exe string) *model.HeapLook {
	t.Helper()
	f, err := core.New(from, size)
	if err != nil {
		t.Fatal(err)
	}
	r, err := goroutines.OpenCore(f, exe)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	look, err := Of(t.Context(), r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return look
}
