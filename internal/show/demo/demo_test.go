package demo

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/ground/problem"
)

// Each case does its work, fixed or not, and leaves nothing behind.
func TestRun(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	for _, c := range Cases() {
		c.work = 40
		for _, v := range []Variant{{}, {Fixed: true}, {Workers: 3}} {
			var out strings.Builder
			if err := Run(t.Context(), c, v, &out); err != nil {
				t.Errorf("Run(%s, %+v) = %v, want nil", c.Name, v, err)
			}
			if text := out.String(); !strings.HasPrefix(text, "40 "+c.unit+" in ") || !strings.HasSuffix(text, "\noperations: 40\n") {
				t.Errorf("Run(%s, %+v) writes %q, want 40 %s first, operations: 40 last", c.Name, v, text, c.unit)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := Run(ctx, c, Variant{}, &strings.Builder{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, cancelled: %v", c.Name, err)
		}
	}
	if left, _ := os.ReadDir(tmp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What is fixed computes the same.
func TestPrices(t *testing.T) {
	sums := func(add func(*priceMap, uint64)) (sum uint64) {
		m := &priceMap{sums: map[uint64]uint64{}}
		for order := range uint64(50) {
			add(m, order)
		}
		for _, s := range m.sums {
			sum += s
		}
		return sum
	}
	if a, b := sums((*priceMap).addComputing), sums((*priceMap).add); a != b || a == 0 {
		t.Errorf("%d as it is, %d fixed", a, b)
	}
}

// A job that cannot be done is an error, and ends.
func TestFailure(t *testing.T) {
	c, _ := Find("healthy")
	p := &program{work: 100, dir: t.TempDir() + "/nosuch"}
	if err := c.run(t.Context(), p); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	if _, ok := Find("nosuch"); ok {
		t.Error("found")
	}
	seen := map[string]bool{}
	for _, c := range Cases() {
		if got, ok := Find(c.Name); !ok || got.Story != c.Story || c.Story == "" || seen[c.Name] {
			t.Errorf("Find(%s) = %+v, want a name of its own and a story", c.Name, got)
		}
		if (c.Fix == "") != (c.Name == "healthy") {
			t.Errorf("%s is fixed by %q", c.Name, c.Fix)
		}
		seen[c.Name] = true
	}
}

// What is built needs the go command, and nothing that the user has set for other modules.
func TestBuild(t *testing.T) {
	c, _ := Find("count")
	t.Run("elsewhere", func(t *testing.T) {
		t.Setenv("GOWORK", "/nosuch/go.work")
		t.Setenv("GOFLAGS", "-mod=vendor")
		undo := OwnModule()
		dir := t.TempDir()
		command, err := c.Build(t.Context(), dir)
		if err != nil || !strings.HasPrefix(command[0], dir) {
			t.Errorf("%q, %v", command, err)
		}
		undo()
		if os.Getenv("GOWORK") != "/nosuch/go.work" || os.Getenv("GOFLAGS") != "-mod=vendor" {
			t.Error("the user's own variables did not come back")
		}
	})
	t.Run("without go", func(t *testing.T) {
		t.Setenv("PATH", "")
		if _, err := c.Build(t.Context(), t.TempDir()); !problem.Is(err, problem.Absence) {
			t.Error(err)
		}
	})
}

// The last of the sizes is what was recorded, whose costs are known.
func TestSizes(t *testing.T) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if c.NeedsBuild() && (!slices.IsSorted(c.Sizes) || c.Sizes[len(c.Sizes)-1] != c.work) {
				t.Errorf("%d of %d", c.Sizes, c.work)
			}
		})
	}
}
