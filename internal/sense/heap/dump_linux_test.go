package heap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/heapdump"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// leastSame is the share of the programs whose dumps must have the same holder first, leastWays that by
// the same way: of large objects the type is not in a dump, which are the buckets of maps before Go 1.24.
const leastSame, leastWays = 0.9, 0.8

// A dump has the same holders as the process that wrote it.
func TestDump(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	for _, toolchain := range []string{"local", "go1.22.12", "go1.24.11", "go1.27.4"} {
		t.Run(toolchain, func(t *testing.T) {
			if toolchain != "local" {
				attempt.Only(t, "downloads a toolchain")
			}
			exe := build(t, toolchain, "program")
			same, ways := 0, 0
			for _, c := range holding {
				t.Run(c.does, func(t *testing.T) {
					path := filepath.Join(t.TempDir(), "heap.dump")
					pid := start(t, exe, c.does, path)
					path = written(t, path)
					live, err := Read(t.Context(), pid, Options{})
					if err != nil {
						t.Fatal(err)
					}
					look := readDump(t, path, exe)
					want, got := live.Holders[0], look.Holders[0]
					if got.Kind == want.Kind && got.Name == want.Name {
						same++
					} else {
						t.Logf("first is %s %q by %q, of the process %s %q by %q", got.Kind, got.Name, got.Way(), want.Kind, want.Name, want.Way())
					}
					if got.Way() == want.Way() {
						ways++
					} else {
						t.Logf("by %q, of the process by %q", got.Way(), want.Way())
					}
					if apart := math.Abs(float64(look.Reached.Bytes)/float64(live.Reached.Bytes) - 1); apart > 0.02 {
						t.Errorf("%d bytes are reached, of the process %d", look.Reached.Bytes, live.Reached.Bytes)
					}
					if t.Failed() || testing.Verbose() {
						describe(t, look)
					}
				})
			}
			if all := float64(len(holding)); float64(same) < leastSame*all || float64(ways) < leastWays*all {
				t.Errorf("%d of %g have the same holder first and %d the same way", same, all, ways)
			}
		})
	}
}

// written waits for a dump, and returns where it is.
func written(t *testing.T, path string) string {
	t.Helper()
	for range 600 {
		if _, err := os.Stat(path + ".whole"); err == nil {
			return path + ".whole"
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("no dump was written in 30 s")
	return ""
}

// readDump reads a dump, with the program's file where one is given.
func readDump(t *testing.T, path, exe string) *model.HeapLook {
	t.Helper()
	look, err := lookAtDump(t.Context(), path, exe, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return look
}

func lookAtDump(ctx context.Context, path, exe string, o Options) (*model.HeapLook, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	info, err := r.Stat()
	if err != nil {
		return nil, err
	}
	f, err := heapdump.Open(r, info.Size(), Budget, nil)
	if err != nil {
		return nil, err
	}
	var p *heapdump.Program
	if exe != "" {
		if p, err = f.OpenProgram(exe); err != nil {
			return nil, fmt.Errorf("the program: %w", err)
		}
		defer p.Close()
	}
	return ReadDump(ctx, f, p, o)
}

// TestDumpAlone reads a dump without the program's file: goroutines have their names, variables none.
func TestDumpAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", "program")
	for does, want := range map[string]string{"map": "variable at 0x", "stack": "main.park, started as main.main.gowrap1 (sleep)", "local": "main.main (syscall)"} {
		path := filepath.Join(t.TempDir(), "heap.dump")
		start(t, exe, does, path)
		look := readDump(t, written(t, path), "")
		if got := look.Holders[0]; !strings.Contains(got.Name, want) || got.Bytes < 38<<20 || !look.Nameless {
			t.Errorf("%s: first is %q with %d bytes, want %q", does, got.Name, got.Bytes, want)
			describe(t, look)
		}
	}
}

// TestDumpElsewhere reads a program that is loaded anywhere: the addresses in the descriptions of its types are
// not those of its file.
func TestDumpElsewhere(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	exe := build(t, "local", "program", "-buildmode=pie")
	path := filepath.Join(t.TempDir(), "heap.dump")
	start(t, exe, "interface", path)
	look := readDump(t, written(t, path), exe)
	if got, want := look.Holders[0].Way(), "main.values → []interface {} → main.Session.raw → []byte"; got != want {
		t.Errorf("first is %q, want %q", got, want)
	}
}

// A file that did not write the dump is refused: another build, and what is no program.
func TestDumpOfAnother(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	exe := build(t, "local", "program")
	path := filepath.Join(t.TempDir(), "heap.dump")
	start(t, exe, "map", path)
	path = written(t, path)
	if _, err := lookAtDump(t.Context(), path, build(t, "local", "cleanups"), Options{}); !errors.Is(err, heapdump.ErrProgram) {
		t.Errorf("with another program: %v, want %v", err, heapdump.ErrProgram)
	}
	if _, err := lookAtDump(t.Context(), path, path, Options{}); err == nil {
		t.Error("with itself as the program: no error")
	}
}
