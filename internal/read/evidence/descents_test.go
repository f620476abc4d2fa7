package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// inText returns a frame of a function of example.com/text v1.2.0 in a module cache.
func inText(cache, function string) model.Frame {
	return model.Frame{Func: "example.com/text." + function, File: filepath.Join(cache, "example.com/text@v1.2.0/text.go"), Line: 7}
}

// TestDescentsOf has stacks, leaf first, all of whose functions have enough of a profile.
func TestDescentsOf(t *testing.T) {
	in := func(function string) model.Frame { return inText("/m", function) }
	std := func(function string) model.Frame {
		return model.Frame{Func: function, File: "/usr/local/go/src/x.go", Line: 9}
	}
	other := model.Frame{Func: "example.org/hash.Sum", File: "/m/example.org/hash@v0.1.0/hash.go", Line: 3}
	program := model.Frame{Func: "main.main", File: "/src/main.go", Line: 1}
	for _, c := range []struct {
		name   string
		frames []model.Frame
		want   []string // outer > through > inner
	}{
		{"a call of the library", []model.Frame{std("regexp.Compile"), in("match"), in("Fill"), program}, []string{"Fill > match > match", "Fill > match > Compile", "match >  > Compile"}},
		{"deeper in the library, only its door", []model.Frame{std("regexp/syntax.Parse"), std("regexp.Compile"), in("Fill"), program}, []string{"Fill >  > Compile"}},
		{"the runtime", []model.Frame{std("runtime.mallocgc"), in("Fill"), program}, nil},
		{"another module", []model.Frame{other, in("Fill"), program}, []string{"Fill >  > Sum"}},
		{"what the program gave it", []model.Frame{std("fmt.Sprint"), program, in("Fill"), program}, nil},
		{"a recursion", []model.Frame{std("fmt.Sprint"), in("walk"), in("visit"), in("walk"), program}, []string{"walk > visit > visit", "visit >  > walk", "walk > visit > Sprint", "visit >  > Sprint"}},
		{"no module", []model.Frame{std("fmt.Sprint"), program}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			parts := map[model.Frame]float64{}
			for _, f := range c.frames {
				parts[model.Frame{Func: f.Func, File: f.File}] = descentPart
			}
			var got []string
			for _, d := range descentsOf(c.frames, parts) {
				asked := d.Descent()
				var through []string
				for _, s := range asked.Through {
					through = append(through, s.Symbol)
				}
				got = append(got, fmt.Sprintf("%s > %s > %s", asked.Outer.Symbol, strings.Join(through, " "), asked.Inner.Symbol))
				if own := asked.Inner.Module == asked.Outer.Module; own != strings.HasPrefix(d.descent.inner.Func, "example.com/text.") {
					t.Errorf("%s: of the module = %t", got[len(got)-1], own)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("descentsOf() = %q, want %q", got, c.want)
			}
		})
	}
}

// TestDropped has a module cache with a newer version, in which a function of the stacks does without what it
// calls here.
func TestDropped(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	for version, text := range map[string]string{
		"v1.2.0": "package text\n\nimport \"regexp\"\n\nfunc Fill[T any](s string) { match(s) }\n\nfunc match(s string) { regexp.MustCompile(s) }\n",
		"v1.3.0": "package text\n\nfunc Fill[T any](s string) {}\n",
	} {
		file := filepath.Join(cache, "example.com/text@"+version, "text.go")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name      string
		cpu, heap int64 // of a hundred
		want      []string
	}{
		{"of the CPU", 10, 0, []string{"time example.com/text v1.2.0 v1.3.0 example.com/text.Fill[...] regexp.MustCompile"}},
		{"of the bytes", 0, 10, []string{"memory example.com/text v1.2.0 v1.3.0 example.com/text.Fill[...] regexp.MustCompile"}},
		{"cold", 9, 9, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLoader(t.Context(), Options{})
			program := model.Frame{Func: "main.main", File: "main.go", Line: 4}
			compile := model.Frame{Func: "regexp.MustCompile", File: "/usr/local/go/src/regexp/regexp.go", Line: 3}
			stack := l.m.Stacks.Add([]model.Frame{compile, inText(cache, "match"), inText(cache, "Fill[go.shape.int]"), program})
			rest := l.m.Stacks.Add([]model.Frame{program})
			samples := func(n int64) []model.Sample {
				return []model.Sample{{Stack: stack, Values: []int64{n, n}}, {Stack: rest, Values: []int64{100 - n, 100 - n}}}
			}
			l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Samples: samples(c.cpu)}
			l.m.Heap = &model.Profile{Types: []model.ValueType{{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"}}, Samples: samples(c.heap)}
			l.joinReleases()
			var got []string
			for _, r := range l.m.Releases {
				got = append(got, strings.Join([]string{string(r.About), r.Module, r.Used, r.Version, strings.Join(r.Funcs, " "), r.Without}, " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("releases = %q, want %q", got, c.want)
			}
		})
	}
}
