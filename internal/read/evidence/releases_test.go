package evidence

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/modules"
)

// TestReleases has a module cache with a newer version, which takes less for a function of some
// stacks: it counts where that is hot.
func TestReleases(t *testing.T) {
	for _, c := range []struct {
		name  string
		opts  Options
		count int64 // of a hundred samples
		funcs []string
		note  string
	}{
		{"hot", Options{}, 60, []string{"example.com/text/number.Parse"}, ""},
		{"cold", Options{}, 4, nil, ""},
		{"no source", Options{NoSource: true}, 60, nil, ""},
		{"of another machine", Options{Elsewhere: true}, 60, nil, ""},
		{"asked for", Options{Newest: func(context.Context, modules.Module) error { return nil }}, 60, []string{"example.com/text/number.Parse"}, ""},
		{"asked for in vain", Options{Newest: func(_ context.Context, m modules.Module) error { return errors.New("no " + m.Path) }}, 60,
			[]string{"example.com/text/number.Parse"}, "no example.com/text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			t.Setenv("GOMODCACHE", cache)
			for name, text := range map[string]string{
				"text@v1.2.0/number/parse.go": "package number\n\nfunc Parse() { for range 9 {\n} }\n\nfunc Other() {}\n",
				"text@v1.3.0/number/parse.go": "package number\n\nfunc Parse() {}\n\nfunc Other() {}\n",
				"text@v1.3.0/CHANGELOG.md":    "## 1.3.0\n- Improved performance of Parse\n- Parse: fix a goroutine leak\n",
			} {
				file := filepath.Join(cache, "example.com", name)
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			l := newLoader(t.Context(), c.opts)
			at := func(function string) model.Frame {
				return model.Frame{Func: "example.com/text/number." + function, File: filepath.Join(cache, "example.com/text@v1.2.0/number/parse.go"), Line: 3}
			}
			l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{
				{Stack: l.m.Stacks.Add([]model.Frame{at("Parse"), {Func: "main.main", File: "main.go", Line: 4}}), Values: []int64{c.count, c.count}},
				{Stack: l.m.Stacks.Add([]model.Frame{at("Other"), {Func: "main.main", File: "main.go", Line: 5}}), Values: []int64{100 - c.count, 100 - c.count}},
			}}
			l.joinReleases()
			var funcs []string
			for _, r := range l.m.Releases {
				funcs = append(funcs, r.Funcs...)
				if r.Module != "example.com/text" || r.Used != "v1.2.0" || r.Version != "v1.3.0" || r.In != "CHANGELOG.md" || r.Said != "Improved performance of Parse" {
					t.Errorf("release of %s %s: %s in %s says %q, "+
						"want of example.com/text v1.2.0: v1.3.0 in CHANGELOG.md, Improved performance of Parse",
						r.Module, r.Used, r.Version, r.In, r.Said)
				}
			}
			if notes := strings.Join(l.m.Run.Coverage.Notes, " "); !slices.Equal(funcs, c.funcs) || notes != c.note {
				t.Errorf("releases speak of %q, notes %q; want %q and %q", funcs, notes, c.funcs, c.note)
			}
		})
	}
}

// TestReleasesOfLeaks has goroutines that wait in a function of which a newer version says that it leaks no longer.
func TestReleasesOfLeaks(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("GOMODCACHE", cache)
	for name, text := range map[string]string{
		"text@v1.2.0/number/parse.go": "package number\n\nfunc Await() { select {} }\n",
		"text@v1.3.0/number/parse.go": "package number\n\nfunc Await() {}\n",
		"text@v1.3.0/CHANGELOG.md":    "## 1.3.0\n- number: Await leaked a goroutine\n- number: Await is faster\n",
	} {
		file := filepath.Join(cache, "example.com", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	l := newLoader(t.Context(), Options{})
	frame := model.Frame{Func: "example.com/text/number.Await", File: filepath.Join(cache, "example.com/text@v1.2.0/number/parse.go"), Line: 3}
	l.m.Goroutines.End = &model.Profile{Types: []model.ValueType{{Name: "goroutine", Unit: "count"}}, Samples: []model.Sample{
		{Stack: l.m.Stacks.Add([]model.Frame{frame}), Values: []int64{90}},
	}}
	l.joinReleases()
	if n := len(l.m.Releases); n != 1 || l.m.Releases[0].About != model.AboutLeak || l.m.Releases[0].Said != "number: Await leaked a goroutine" {
		t.Errorf("releases %+v, want that of the leak", l.m.Releases)
	}
}
