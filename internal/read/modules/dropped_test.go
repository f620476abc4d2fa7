package modules

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestDropped has two versions of a module, in the first of which store.Fill comes to the inner function.
func TestDropped(t *testing.T) {
	const (
		used    = "package store\n\nimport \"regexp\"\n\nfunc Fill(s string) bool { return match(s) }\n\nfunc match(s string) bool { return regexp.MustCompile(s).MatchString(s) }\n"
		hoisted = "package store\n\nimport \"regexp\"\n\nvar re = regexp.MustCompile(`a+`)\n\nfunc Fill(s string) bool { return re.MatchString(s) }\n\nfunc match(string) bool { return false }\n"
	)
	var (
		fill    = Spot{Module{"example.com/Iter", "v1.0.0"}, "store", "s.go", "Fill"}
		match   = Spot{fill.Module, "store", "s.go", "match"}
		compile = Spot{Symbol: "MustCompile"}
	)
	over := func(file, text string) map[string]string { return map[string]string{file: text} }
	for _, c := range []struct {
		name  string
		newer map[string]string // what is in v1.1.0 in place of, and beside, hoisted
		inner Spot
		want  string
	}{
		{"made once, in a variable", nil, compile, "v1.1.0"},
		{"of another package, whose methods go on", nil, Spot{Symbol: "(*Regexp).MatchString"}, ""},
		{"a function of the module", nil, match, "v1.1.0"},
		{"a literal in it", nil, Spot{match.Module, "store", "s.go", "match.func1"}, "v1.1.0"},
		{"what it never came to", nil, Spot{Symbol: "ReadAll"}, ""},
		{"still, behind another", over("store/s.go", "package store\n\nimport \"regexp\"\n\nfunc Fill(s string) bool { return again(s) }\n\nfunc again(s string) bool { return regexp.MustCompile(s).MatchString(s) }\n"), compile, ""},
		{"still, in another package of the module", map[string]string{
			"store/s.go":   "package store\n\nimport \"example.com/Iter/pattern\"\n\nfunc Fill(s string) bool { return pattern.Match(s) }\n",
			"pattern/p.go": "package pattern\n\nimport \"regexp\"\n\nfunc Match(s string) bool { return regexp.MustCompile(s).MatchString(s) }\n"}, compile, ""},
		{"in the module's root, which does not", map[string]string{
			"store/s.go": "package store\n\nimport \"example.com/Iter\"\n\nfunc Fill(s string) bool { return iter.Match(s) }\n",
			"i.go":       "package iter\n\nfunc Match(s string) bool { return s == \"\" }\n"}, compile, "v1.1.0"},
		{"in the module's root, which does", map[string]string{
			"store/s.go": "package store\n\nimport \"example.com/Iter\"\n\nfunc Fill(s string) bool { return iter.Match(s) }\n",
			"i.go":       "package iter\n\nimport \"regexp\"\n\nfunc Match(s string) bool { return regexp.MustCompile(s).MatchString(s) }\n"}, compile, ""},
		{"by a table of functions", over("store/s.go", "package store\n\nimport \"regexp\"\n\nvar all = []func(string) bool{again}\n\nfunc Fill(s string) bool { return all[0](s) }\n\nfunc again(s string) bool { return regexp.MustCompile(s) != nil }\n"), compile, ""},
		{"by a literal in a variable", over("store/s.go", "package store\n\nimport \"regexp\"\n\nvar again = func(s string) bool { return regexp.MustCompile(s) != nil }\n\nfunc Fill(s string) bool { return again(s) }\n"), compile, ""},
		{"by a method that a sort calls", over("store/s.go", "package store\n\nimport (\n\t\"regexp\"\n\t\"sort\"\n)\n\ntype by []string\n\nfunc (b by) Len() int { return 2 }\nfunc (b by) Swap(i, j int) {}\nfunc (b by) Less(i, j int) bool { return regexp.MustCompile(b[i]) != nil }\n\nfunc Fill(s string) bool { sort.Sort(by{s}); return true }\n"), compile, ""},
		{"by a module that may do it now", over("store/s.go", "package store\n\nimport \"example.org/match\"\n\nfunc Fill(s string) bool { return match.Text(s) }\n"), compile, ""},
		{"under nearly the same name", over("store/s.go", "package store\n\nfunc Fill(s string) bool { return Match(s) }\n\nfunc Match(s string) bool { return s == \"\" }\n\nfunc match(s string) bool { return Match(s) }\n"), match, ""},
		{"by a sister in the library", over("store/s.go", "package store\n\nimport \"regexp\"\n\nfunc Fill(s string) bool { return regexp.MustCompilePOSIX(s).MatchString(s) }\n"), compile, ""},
		{"by a longer name of another module", over("store/s.go", "package store\n\nfunc Fill(s string) bool { return MatchStringLimit(s) }\n\nfunc MatchStringLimit(s string) bool { return true }\n"),
			Spot{Module{"example.org/m", "v1.0.0"}, ".", "m.go", "MatchString"}, "v1.1.0"},
		{"the function is gone", over("store/s.go", "package store\n"), compile, ""},
		{"the inner one is gone", over("store/s.go", "package store\n\nfunc Fill(s string) bool { return true }\n"), match, ""},
		{"the same", over("store/s.go", used), compile, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			cache := t.TempDir()
			files := map[string]string{"!iter@v1.0.0/store/s.go": used, "!iter@v1.1.0/store/s.go": hoisted}
			for name, text := range c.newer {
				files["!iter@v1.1.0/"+name] = text
			}
			write(t, filepath.Join(cache, "example.com"), files)
			f := Finder{Caches: []string{filepath.Join(cache, "nowhere"), cache}}
			if got := f.Dropped(Descent{Outer: fill, Through: []Spot{match}, Inner: c.inner}); got != c.want {
				t.Errorf("Dropped() = %q, want %q", got, c.want)
			}
		})
	}
}

// TestDroppedFollows goes from the packages of a descent, which need not import each other: the outer function
// calls the inner one by an interface.
func TestDroppedFollows(t *testing.T) {
	cache := t.TempDir()
	const outer, inner = "package store\n\ntype Codec interface{ Encode() }\n\nfunc Fill(c Codec) { c.Encode() }\n", "package text\n\nimport \"fmt\"\n\ntype T int\n\nfunc (t T) Encode() { fmt.Sprintln(t) }\n"
	files := map[string]string{}
	for _, v := range []string{"v1.0.0", "v1.1.0"} {
		files["iter@"+v+"/store/s.go"], files["iter@"+v+"/text/t.go"] = outer, inner
	}
	write(t, filepath.Join(cache, "example.com"), files)
	m := Module{"example.com/iter", "v1.0.0"}
	d := Descent{Outer: Spot{m, "store", "s.go", "Fill"}, Inner: Spot{Symbol: "Sprintln"}}
	f := Finder{Caches: []string{cache}}
	if got := f.Dropped(d); got != "" {
		t.Errorf("Dropped() = %q where nothing leads there by name", got)
	}
	d.Through = []Spot{{m, "text", "t.go", "T.Encode"}}
	if got := f.Dropped(d); got != "" {
		t.Errorf("Dropped() = %q of two equal versions", got)
	}
	write(t, filepath.Join(cache, "example.com"), map[string]string{"iter@v1.2.0/store/s.go": outer, "iter@v1.2.0/text/t.go": "package text\n\ntype T int\n\nfunc (t T) Encode() {}\n"})
	if got := (&Finder{Caches: []string{cache}}).Dropped(d); got != "v1.2.0" {
		t.Errorf("Dropped() = %q, want %q", got, "v1.2.0")
	}
}

// TestFollowedIsBounded leaves a version with too many packages alone.
func TestFollowedIsBounded(t *testing.T) {
	f := Finder{packages: Packages{}}
	dirs := make([]string, 0, maxFolders+1)
	for i := range cap(dirs) {
		dirs = append(dirs, string(rune('a'+i)))
	}
	if _, ok := f.followed(t.TempDir(), "example.com/iter", dirs[:maxFolders]); !ok {
		t.Errorf("followed(%d packages) was refused", maxFolders)
	}
	if _, ok := f.followed(t.TempDir(), "example.com/iter", dirs); ok {
		t.Errorf("followed(%d packages) was not refused", len(dirs))
	}
}

// write makes files below a directory.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(files[name]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
