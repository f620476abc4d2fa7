package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
)

const wastefulSource = `package main

import "regexp"

func main() {
	for _, s := range []string{"a", "b"} {
		check(s)
	}
}

func check(s string) bool {
	return regexp.MustCompile("^a+$").MatchString(s)
}
`

// reasonsOf returns a model with CPU samples in a program whose source is what is given.
func reasonsOf(t *testing.T, source string, o Options, line int) *model.Model {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLoader(t.Context(), o)
	in := func(n int64, frames ...model.Frame) model.Sample {
		return model.Sample{Stack: l.m.Stacks.Add(frames), Values: []int64{n}}
	}
	here := model.Frame{PC: 7, Func: "main.check", File: file, Line: line}
	up := model.Frame{Func: "main.main", File: file, Line: 7}
	l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{
		in(60, model.Frame{Func: "regexp/syntax.Parse", File: "parse.go", Line: 5}, model.Frame{Func: "regexp.compile"}, model.Frame{Func: "regexp.MustCompile"}, here, up),
		in(40, model.Frame{Func: "regexp.(*Regexp).doExecute"}, model.Frame{Func: "regexp.(*Regexp).MatchString"}, here, up),
	}}
	l.joinReasons()
	return l.m
}

// TestReasons: what a hot line does needlessly is found in its source, unless that is to be
// left alone, is not here, or is another one now.
func TestReasons(t *testing.T) {
	m := reasonsOf(t, wastefulSource, Options{}, 12)
	if len(m.Reasons) != 1 {
		t.Fatalf("reasons %+v, want one", m.Reasons)
	}
	r := m.Reasons[0]
	if r.Pattern != model.RegexpPerCall || r.Func != "main.check" || r.Line != 12 || r.What != `regexp.MustCompile("^a+$")` {
		t.Errorf("found %s in %s:%d, %s, want %s in main.check:12, %s",
			r.Pattern, r.Func, r.Line, r.What, model.RegexpPerCall, `regexp.MustCompile("^a+$")`)
	}
	does := []bool{}
	for i := range m.CPU.Samples {
		does = append(does, r.Does(m.Stacks.Frames(m.CPU.Samples[i].Stack)))
	}
	if !slices.Equal(does, []bool{true, false}) {
		t.Errorf("the samples that it is about are %v, want the first", does)
	}
	for _, o := range []Options{{NoSource: true}, {Elsewhere: true}} {
		if m := reasonsOf(t, wastefulSource, o, 12); len(m.Reasons)+len(m.Run.Coverage.Notes) > 0 {
			t.Errorf("%+v: found %+v with the notes %q, want none, as no source is to be read",
				o, m.Reasons, m.Run.Coverage.Notes)
		}
	}
	for name, m := range map[string]*model.Model{
		"a line beyond the end": reasonsOf(t, wastefulSource, Options{}, 300),
		"another function":      reasonsOf(t, strings.ReplaceAll(wastefulSource, "check", "test"), Options{}, 12),
	} {
		if notes := m.Run.Coverage.Notes; len(m.Reasons) > 0 || len(notes) != 1 || !strings.Contains(notes[0], "main.go") {
			t.Errorf("%s: found %+v with the notes %q, want none, one note of main.go", name, m.Reasons, notes)
		}
	}
	if m := reasonsOf(t, "package main\n", Options{}, 12); len(m.Reasons) > 0 || len(m.Run.Coverage.Notes) != 1 {
		t.Errorf("of an empty file: found %+v with the notes %q, want none, one note", m.Reasons, m.Run.Coverage.Notes)
	}
}

// TestColdLines: what costs little is not looked at.
func TestColdLines(t *testing.T) {
	l := newLoader(t.Context(), Options{})
	hot := l.m.Stacks.Add([]model.Frame{{Func: "main.main", File: "main.go", Line: 3}})
	cold := l.m.Stacks.Add([]model.Frame{{Func: "fmt.Sprintf"}, {Func: "main.main", File: "main.go", Line: 4}})
	l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{{Stack: hot, Values: []int64{96}}, {Stack: cold, Values: []int64{4}}}}
	if calls, _ := l.hotCalls(); len(calls) != 1 || calls[0].callee != "" || calls[0].caller.Line != 3 {
		t.Errorf("hot calls %+v, want that of line 3 alone", calls)
	}
}

// TestOwnLines: of what records the program nobody asks whether it is necessary, however much of a small
// program it is.
func TestOwnLines(t *testing.T) {
	l := newLoader(t.Context(), Options{})
	own := l.m.Stacks.Add([]model.Frame{{Func: "compress/flate.NewWriter"}, {Func: "github.com/gowhy/gowhy/agent.pack", File: "agent.go", Line: 3}})
	l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{{Stack: own, Values: []int64{96}}}}
	if calls, _ := l.hotCalls(); len(calls) > 0 {
		t.Errorf("hot calls %+v, want none", calls)
	}
}

// TestColdAllocations: a line that takes next to no CPU is looked at for its bytes, and where a
// heap profile ends at it the reason is about those.
func TestColdAllocations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	source := "package main\n\nfunc join(words []string) (s string) {\n\tfor _, w := range words {\n\t\ts += w\n\t}\n\treturn s\n}\n"
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLoader(t.Context(), Options{})
	here := l.m.Stacks.Add([]model.Frame{{Func: "main.join", File: file, Line: 5}})
	l.m.Heap = &model.Profile{Types: []model.ValueType{{Name: "alloc_space", Unit: "bytes"}}, Samples: []model.Sample{{Stack: here, Values: []int64{1 << 20}}}}
	l.joinReasons()
	if len(l.m.Reasons) != 1 || l.m.Reasons[0].Pattern != model.ConcatLoop || !l.m.Reasons[0].Allocates(l.m.Stacks.Frames(here)) {
		t.Errorf("reasons %+v, want one of that line's allocations", l.m.Reasons)
	}
}

// TestUnwantedText: the text of a message is made needlessly where the line does nothing else,
// and is wanted where the message is written.
func TestUnwantedText(t *testing.T) {
	text := hotCall{caller: model.Frame{Func: "main.step", Line: 7}, callee: "fmt.Sprintf"}
	log, elsewhere := text, text
	log.callee, elsewhere.caller.Line = "log/slog.(*Logger).Debug", 8
	parts := map[hotCall]float64{text: 0.2, log: 0.02, elsewhere: 0.5}
	if isLogged(text, 7, 7, parts) {
		t.Error("a message that costs a tenth of its text is taken to be written")
	}
	boxes := text
	boxes.callee = pattern.Allocation
	if parts[boxes] = 0.2; isLogged(text, 7, 7, parts) {
		t.Error("what the line allocates for its text is taken for a message that is written")
	}
	if parts[log] = 0.3; !isLogged(text, 7, 7, parts) {
		t.Error("a message that costs more than its text is not taken to be written")
	}
}

// What is of elsewhere names no file of this machine, whoever asks for it: a line, a lock, a channel.
func TestElsewhere(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(wastefulSource), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, elsewhere := range []bool{false, true} {
		l := newLoader(t.Context(), Options{Elsewhere: elsewhere})
		if g := l.sourceReader().file(file); (g == nil) != elsewhere {
			t.Errorf("of elsewhere %t: the file is read: %t", elsewhere, g != nil)
		}
	}
}

// TestOtherPackages: types and functions of other packages are known: of the program's module, and of the modules
// that it asks for where these were downloaded.
func TestOtherPackages(t *testing.T) {
	root := t.TempDir()
	t.Setenv("GOMODCACHE", filepath.Join(root, "cache"))
	for name, text := range map[string]string{
		"cache/example.com/!ids@v1.2.0/key/key.go": "package key\n\ntype Key string\n",
		"shop/go.mod":           "module example.com/shop\n\ngo 1.26\n\nrequire example.com/Ids v1.2.0\n",
		"shop/domain/domain.go": "package domain\n\nimport \"example.com/Ids/key\"\n\ntype Order struct {\n\tID   key.Key\n\tName string\n}\n",
		"shop/text/text.go":     "package text\n\nimport \"strings\"\n\nfunc Plain(s string) string { return strings.ToLower(strings.TrimSpace(s)) }\n",
		"shop/store/store.go": `package store

import (
	"example.com/Ids/key"
	"example.com/shop/domain"
	"example.com/shop/text"
)

type Store struct{ orders []*domain.Order }

func (s *Store) Get(id key.Key) *domain.Order {
	for _, o := range s.orders {
		if o.ID == id {
			return o
		}
	}
	return nil
}

func (s *Store) Like(q string) (n int) {
	for _, o := range s.orders {
		if text.Plain(o.Name) == q {
			n++
		}
	}
	return n
}
`,
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := newLoader(t.Context(), Options{})
	at := func(function string, line int, below ...model.Frame) model.Sample {
		frames := append(below, model.Frame{Func: "example.com/shop/store.(*Store)." + function, File: filepath.Join(root, "shop", "store", "store.go"), Line: line})
		return model.Sample{Stack: l.m.Stacks.Add(frames), Values: []int64{50}}
	}
	l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{
		at("Get", 13), at("Like", 22, model.Frame{Func: "example.com/shop/text.Plain"}),
	}}
	l.joinReasons()
	found := map[string]model.Pattern{}
	for _, r := range l.m.Reasons {
		found[r.What] = r.Pattern
	}
	if len(found) != 2 || found["range s.orders"] != model.SearchKept || found["text.Plain(o.Name)"] != model.DerivedPerCall {
		t.Errorf("found %v, want a search of what is kept, and what is worked out of each", found)
	}
}

// A package of some hundreds of files, with their tests, is read whole: without its last files the types of what it
// declares there are unknown.
func TestLargePackage(t *testing.T) {
	dir := t.TempDir()
	for i := range 150 {
		for _, end := range []string{".go", "_test.go"} {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%03d%s", i, end)), []byte("package large\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := &reasoner{sourceReader: newSourceReader()}
	if files := r.builtFiles(dir); len(files) != 150 {
		t.Errorf("builtFiles() = %d files, want all 150", len(files))
	}
}
