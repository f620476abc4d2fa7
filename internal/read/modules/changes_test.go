package modules

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// both are what hot functions are asked about.
var both = []Improvement{Time, Memory}

// TestSaid has lists of changes as people write them: which line speaks of one of the functions, of a
// version after the one in use and up to the newest.
func TestSaid(t *testing.T) {
	spot := func(dir, symbol string) Spot {
		return Spot{Module{"example.com/text/v2", "v2.1.0"}, dir, "x.go", symbol}
	}
	parse, lexer, set := spot(".", "ParseNumber"), spot("syntaxes", "scanTokens"), spot("attribute", "NewSet[...]")
	method := spot("log", "(*TextFormatter).Format.func1")
	for _, c := range []struct {
		name, text string
		spots      []Spot
		want       string
		of         []int
	}{
		{"named", "## v2.2.0\n- Performance of ParseNumber [#12](https://example.com/12)\n", []Spot{parse}, "Performance of ParseNumber #12", []int{0}},
		{"of most functions", "## v2.2.0\n- Optimize ParseNumber\n- Optimize ParseNumber and TextFormatter\n", []Spot{parse, method}, "Optimize ParseNumber and TextFormatter", []int{0, 1}},
		{"its receiver, over two lines", "# Changes\n\n## [2.3.0/0.4.0] 2026-01-02\n\n * Significantly improve\n   TextFormatter performance.\n * Other\n", []Spot{method}, "Significantly improve TextFormatter performance.", []int{0}},
		{"with type arguments", "2.2.0\n=====\n* Reduce allocations in `NewSet`.\n", []Spot{set}, "Reduce allocations in `NewSet`.", []int{0}},
		{"by the package that it begins with", "## v2.2.0\n* syntaxes: The lexer will no longer allocate an object for each token.\n", []Spot{lexer}, "syntaxes: The lexer will no longer allocate an object for each token.", []int{0}},
		{"by the package's performance", "## 2.2.0\n- Improve `example.com/text/attribute` performance. (#4743)\n", []Spot{set}, "Improve `example.com/text/attribute` performance. (#4743)", []int{0}},
		{"a heading in words", "Version 2.2.0 (2026-01-02)\n\nParseNumber is 30% faster now.\n", []Spot{parse}, "ParseNumber is 30% faster now.", []int{0}},
		{"the newest version itself", "## v2.4.0\n- ParseNumber is faster\n", []Spot{parse}, "ParseNumber is faster", []int{0}},

		{"a dated item, with its changes below", "* Mar 3, 2026 (v2.2.0)\n\t* attribute: Faster sets\n* Jan 1, 2026 (v2.1.0)\n\t* attribute: Fix\n", []Spot{set}, "attribute: Faster sets", []int{0}},
		{"a dated item, with its change behind", "* Mar 3, 2026: (v2.2.0) ParseNumber is faster\n", []Spot{parse}, "ParseNumber is faster", []int{0}},
		{"a package of a short name that it begins with", "## v2.2.0\n* log: Faster formatting\n", []Spot{spot("log", "format")}, "log: Faster formatting", []int{0}},

		{"a package of a short name in a sentence", "## v2.2.0\n* Improve performance of log.\n", []Spot{spot("log", "format")}, "", nil},
		{"a dated item of the version in use", "* Jan 1, 2026 (v2.1.0)\n\t* attribute: Faster sets\n", []Spot{set}, "", nil},
		{"of the version in use", "## v2.1.0\n- ParseNumber is faster\n", []Spot{parse}, "", nil},
		{"of an older one", "## v2.2.0\n- Fixes\n## v2.0.9\n- ParseNumber is faster\n", []Spot{parse}, "", nil},
		{"of a newer one", "## v2.5.0\n- ParseNumber is faster\n", []Spot{parse}, "", nil},
		{"no version", "- ParseNumber is faster\n", []Spot{parse}, "", nil},
		{"nothing of speed", "## v2.2.0\n- ParseNumber takes a base\n", []Spot{parse}, "", nil},
		{"another function", "## v2.2.0\n- ParseFloat is faster\n", []Spot{parse}, "", nil},
		{"a leak", "## v2.2.0\n- Fix a leak in ParseNumber, reducing memory\n", []Spot{parse}, "", nil},
		{"something new", "## v2.2.0\n- Add ParseNumber for performance\n", []Spot{parse}, "", nil},
		{"it allocates more", "## v2.2.0\n- ParseNumber allocates 4 MB at start\n", []Spot{parse}, "", nil},
		{"something in the package", "## v2.2.0\n- Improve performance of attribute filters\n", []Spot{set}, "", nil},
		{"another function of the package", "## v2.2.0\n- attribute: Optimize `attribute.Filter`\n", []Spot{set}, "", nil},
		{"a word that is a name", "## v2.2.0\n- It is faster to close\n", []Spot{spot(".", "(*Conn).close")}, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got Change
			list := findLines(c.text, "v2.1.0", "v2.4.0", c.spots, both)
			if len(list) > 0 {
				got = list[0]
			}
			if got.Said != c.want || !slices.Equal(got.Of, c.of) || len(list) > 1 {
				t.Errorf("said() = %+v; want %q of %v", list, c.want, c.of)
			}
		})
	}
}

// TestSaidOfBoth has a line of time and one of memory, which are two changes.
func TestSaidOfBoth(t *testing.T) {
	spots := []Spot{{Module{"example.com/text", "v2.1.0"}, ".", "x.go", "ParseNumber"}}
	list := findLines("## v2.3.0\n- ParseNumber no longer allocates\n## v2.2.0\n- ParseNumber is faster\n", "v2.1.0", "v2.4.0", spots, both)
	want := []string{"ParseNumber is faster time v2.2.0", "ParseNumber no longer allocates memory v2.3.0"}
	var got []string
	for _, c := range list {
		got = append(got, fmt.Sprint(c.Said, " ", c.About, " ", c.Since))
	}
	if !slices.Equal(got, want) {
		t.Errorf("said() = %q, want %q", got, want)
	}
}

// TestSaidOfLeaks tells what was mended from what gives something away, and from tests.
func TestSaidOfLeaks(t *testing.T) {
	spots := []Spot{{Module{"example.com/text", "v2.1.0"}, "pool", "x.go", "(*Deadline).Run"}}
	for text, want := range map[string]string{
		"Fix a goroutine leak in `Deadline.Run()`":     "Fix a goroutine leak in `Deadline.Run()`",
		"[BUGFIX] Deadline no longer leaks its timers": "[BUGFIX] Deadline no longer leaks its timers",
		"pool: stop leaking connections":               "pool: stop leaking connections",
		"Deadline is faster":                           "",
		"Fix a goroutine leak in `Server.Run()`":       "",
		"Test Deadline for leaks":                      "",
		"Deadline no longer leaks credentials":         "",
		"Fix leaks":                                    "",
	} {
		t.Run(text, func(t *testing.T) {
			got := ""
			for _, c := range findLines("## v2.3.0\n- "+text+"\n", "v2.1.0", "v2.4.0", spots, []Improvement{Leak}) {
				got += c.Said
			}
			if got != want {
				t.Errorf("said() = %q, want %q", got, want)
			}
		})
	}
}

// TestFind has versions of a module in a cache, as the go command keeps them.
func TestFind(t *testing.T) {
	const slow, fast = "package store\n\nfunc FillAll() { for range 2 {\n} }\n", "package store\n\nfunc FillAll() {}\n"
	const changes = "## v1.10.0\n- FillAll is faster\n"
	for _, c := range []struct {
		name  string
		files map[string]string // in the cache
		want  string            // the newer version, and the file that says so
	}{
		{"newer", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0/store/s.go": fast, "!iter@v1.10.0/CHANGELOG.md": changes}, "v1.10.0 CHANGELOG.md"},
		{"the latest of all", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0/store/s.go": slow, "!iter@v1.11.0/store/s.go": fast, "!iter@v1.11.0/History.txt": changes}, "v1.11.0 History.txt"},
		{"formatted otherwise", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0/store/s.go": "package store\n\nfunc FillAll() {\n\tfor range 2 {\n\t}\n}\n", "!iter@v1.10.0/CHANGELOG.md": changes}, ""},
		{"older", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.8.0/store/s.go": fast, "!iter@v1.8.0/CHANGELOG.md": changes}, ""},
		{"before its release", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0-rc.1/store/s.go": fast, "!iter@v1.10.0-rc.1/CHANGELOG.md": changes}, ""},
		{"another module", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iterator@v1.10.0/store/s.go": fast, "!iterator@v1.10.0/CHANGELOG.md": changes}, ""},
		{"the README's section", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0/store/s.go": fast, "!iter@v1.10.0/README.md": "# Iter\n\n## Changelog\n\n" + changes + "\n## Usage\n"}, "v1.10.0 README.md"},
		{"the README's example", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0/store/s.go": fast, "!iter@v1.10.0/README.md": "# Changes\n\nSee below.\n\n# Usage\n\n" + changes}, ""},
		{"no list", map[string]string{"!iter@v1.9.0/store/s.go": slow, "!iter@v1.10.0/store/s.go": fast, "!iter@v1.10.0/README.md": changes}, ""},
		{"no cache", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			write(t, filepath.Join(cache, "example.com"), c.files)
			f := Finder{Caches: []string{filepath.Join(cache, "nowhere"), cache}}
			got := ""
			for _, found := range f.Find([]Spot{{Module{"example.com/Iter", "v1.9.0"}, "store", "s.go", "FillAll"}}, both...) {
				got += found.Version + " " + found.In
			}
			if got != c.want {
				t.Errorf("Find() = %q, want %q", got, c.want)
			}
		})
	}
	if list := (&Finder{}).Find(nil, both...); list != nil {
		t.Errorf("Find(nil) = %+v, want nothing", list)
	}
}

// FuzzSaid reads any list of changes.
func FuzzSaid(f *testing.F) {
	f.Add("## v2.2.0\n- Performance of ParseNumber [#12](https://example.com/12)\n", "ParseNumber", "text")
	f.Add("2.2.0\n* [BUG] x: y\n\n\n\tz", "(*T[...]).M", "a/b-c+d")
	f.Fuzz(func(t *testing.T, text, symbol, dir string) {
		for _, c := range findLines(text, "v2.1.0", "v2.4.0", []Spot{{Module{"example.com/x", "v2.1.0"}, dir, "x.go", symbol}}, []Improvement{Time, Memory, Leak}) {
			if len(c.Of) == 0 || len([]rune(c.Said)) > maxSaid {
				t.Errorf("said() has %q of %d functions, want %d runes at most, of some", c.Said, len(c.Of), maxSaid)
			}
		}
	})
}
