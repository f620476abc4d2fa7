package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/lab/internal/truth"
)

// Every control does something, says so, and leaves no file behind.
func TestControls(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, c := range controls {
		t.Run(c.name, func(t *testing.T) {
			// Some have to be set up first, which takes as long as the machine likes.
			length := 100 * time.Millisecond
			for {
				var out strings.Builder
				if err := run([]string{"-control", c.name, "-for", length.String()}, &out, io.Discard); err != nil {
					t.Fatal(err)
				}
				head, operations, ok := strings.Cut(out.String(), "\noperations: ")
				var n int64
				if _, err := fmt.Sscan(operations, &n); !ok || err != nil {
					t.Fatalf("printed %q, want operations", &out)
				}
				if !strings.HasPrefix(head, c.name+": ") {
					t.Errorf("printed %q first, want %s", head, c.name)
				}
				if n > 0 {
					break
				}
				if length *= 3; length > 20*time.Second {
					t.Fatalf("printed %q, want operations", &out)
				}
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %d files behind (%v)", len(left), err)
			}
		})
	}
}

// The truth has a run for each control but the hog, which is beside one.
func TestTruth(t *testing.T) {
	c, err := truth.Read(truth.File)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Illnesses) > 0 {
		t.Error("a control is called ill")
	}
	for _, p := range controls {
		if r := c.Run(p.name); p.name != "hog" && (r == nil || len(r.Args) < 2 || r.Args[1] != p.name) {
			t.Errorf("Run(%s) = %+v, want a run that has it as the second argument", p.name, r)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, args := range [][]string{{}, {"-control", "nobody"}, {"-control", "cpu", "-for", "soon"}, {"-nothing"}, {"-control", "idlewake", "-for", "1ms", "-trace", t.TempDir()}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is no mistake", args)
		}
	}
	if err := run([]string{"-h"}, io.Discard, io.Discard); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("help: error %v, want %v", err, flag.ErrHelp)
	}
}

func TestPrimes(t *testing.T) {
	base := smallPrimes(1 << 10)
	for _, c := range []struct {
		from, size, want int64
	}{{0, 1000, 168}, {0, 100_000, 9592}, {100_000, 900_000, 78498 - 9592}} {
		if n := sieve(make([]bool, c.size), base, c.from); n != c.want {
			t.Errorf("%d primes in %d from %d, want %d", n, c.size, c.from, c.want)
		}
	}
}

// Arrivals follow the clock.
func TestArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var next int64
		n := arrivals(ctx, 1000, func(at int64) {
			if at != next {
				t.Fatalf("%d comes after %d", at, next-1)
			}
			next++
			if at == 300 {
				time.Sleep(200 * time.Millisecond) // what is late is made up for
			}
		})
		if n != next || math.Abs(float64(n)-1000) > 5 {
			t.Errorf("%d arrived in a second, want 1000 in order, or 5 more or fewer", n)
		}
	})
}

// A session that nobody uses expires once, and comes back.
func TestSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, expired := make([]session, 2), new(atomic.Int64)
		for range 2 {
			for i := range all {
				all[i].use(expired)
			}
			time.Sleep(sessionIdle / 2)
		}
		time.Sleep(2 * sessionIdle)
		synctest.Wait()
		if n := expired.Load(); n != 2 {
			t.Errorf("%d expired, want 2", n)
		}
		all[0].use(expired)
		all[0].end()
		time.Sleep(2 * sessionIdle)
		if n := expired.Load(); n != 2 {
			t.Errorf("%d expired, want 2 still", n)
		}
	})
}

// Text is read back as it was written, whatever its size.
func TestDigest(t *testing.T) {
	name := filepath.Join(t.TempDir(), "file")
	text := make([]byte, 10_000)
	fill(text, 1)
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := digest(&got, name, make([]byte, 999)); err != nil || got.String() != string(text) {
		t.Errorf("digest() = %d bytes, %v; want the %d of the file", got.Len(), err, len(text))
	}
	if err := digest(&got, name+"missing", nil); err == nil {
		t.Error("a missing file is no error")
	}
}
