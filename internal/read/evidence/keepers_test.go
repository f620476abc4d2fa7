package evidence

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

const keepingSource = `package main

import (
	"context"
	"time"
)

type entry struct{ text string }

type store struct {
	byKey map[string]*entry
	list  []entry
	other []string
}

func (s *store) add(k string, e *entry) { s.byKey[k] = e }

func (s *store) rename(from, to string) { s.byKey[to] = s.byKey[from] }

func (s *store) remove(k string, i int) {
	delete(s.byKey, k)
	s.list = append(s.list[:i], s.list[i+1:]...)
	s.other = append(s.other, k)
}

func (s *store) expire() {
	live := s.list[:0]
	for _, e := range s.list {
		if e.text != "" {
			live = append(live, e)
		}
	}
	s.list = live
}

func (s *store) push(e entry) { s.list = append(s.list, e) }

func (s *store) watch(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	_ = cancel
	context.AfterFunc(ctx, func() {})
	time.AfterFunc(time.Minute, func() {})
}

func (s *store) replace(from, to string, e *entry) {
	delete(s.byKey, from)
	s.byKey[to] = e
}

func (s *store) move(from, to string, e *entry) { s.byKey[to] = e }

func main() {
	s := &store{byKey: map[string]*entry{}}
	s.byKey["first"] = &entry{}
}
`

// TestKeepers: who put what is held where it stands is found in the source, by the kind of what holds it, and is nobody where
// it cannot be told, or where the source is to be left alone.
func TestKeepers(t *testing.T) {
	step := func(typ string, objects uint64) model.HolderStep {
		return model.HolderStep{Type: typ, ObjectSum: model.ObjectSum{Objects: objects}, Retained: 9 << 20}
	}
	ends := step("[]byte", 5000)
	for _, c := range []struct {
		name string
		kind string
		path []model.HolderStep
		o    Options
		want string
	}{
		{"a map", "", []model.HolderStep{step("main.store", 1), step("map[string]*main.entry", 3), step("main.entry", 5000), ends}, Options{}, "(*store).add:16 (*store).rename:18 (*store).move:50 (*store).replace:47"},
		{"a slice", "", []model.HolderStep{step("[]main.entry", 1), ends}, Options{}, "(*store).push:36 (*store).expire:30"},
		{"a map in which few things have slices of many", "", []model.HolderStep{step("map[string]*main.entry", 3), step("[]main.entry", 5), ends}, Options{}, "(*store).push:36 (*store).expire:30"},
		{"what ends the way", "", []model.HolderStep{step("map[string]*main.entry", 3)}, Options{}, ""},
		{"contexts", "", []model.HolderStep{step("map[context.canceler]struct {}", 3), step("context.timerCtx", 5000), ends}, Options{}, "(*store).watch:39"},
		{"functions of contexts", "", []model.HolderStep{step("context.afterFuncCtx", 5000), ends}, Options{}, "(*store).watch:41"},
		{"few contexts", "", []model.HolderStep{step("context.afterFuncCtx", 9), ends}, Options{}, ""},
		{"timers", model.HeldByTimers, []model.HolderStep{step("runtime.timer", 5000), ends}, Options{}, "(*store).watch:42"},
		{"the runtime", model.HeldByRuntime, []model.HolderStep{step("map[string]*main.entry", 3), ends}, Options{}, ""},
		{"a type of no program", "", []model.HolderStep{step("map[string]*other.entry", 3), ends}, Options{}, ""},
		{"no source", "", []model.HolderStep{step("[]main.entry", 1), ends}, Options{NoSource: true}, ""},
		{"another machine", "", []model.HolderStep{step("[]main.entry", 1), ends}, Options{Elsewhere: true}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := keepersOf(t, keepingSource, c.o, model.Holder{Kind: c.kind, Path: c.path}); got != c.want {
				t.Errorf("keepers %q, want %q", got, c.want)
			}
		})
	}
	many := strings.Replace(keepingSource, "s.list = append(s.list, e)", strings.Repeat("s.list = append(s.list, e); ", keptLines+1), 1)
	if got := keepersOf(t, many, Options{}, model.Holder{Path: []model.HolderStep{step("[]main.entry", 1), ends}}); got != "" {
		t.Errorf("keepers %q of as many lines that nobody knows which it is, want none", got)
	}
}

// keepersOf returns the functions and lines that put things where a holder has them, in a program of one file.
func keepersOf(t *testing.T, source string, o Options, h model.Holder) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	l := newLoader(t.Context(), o)
	stack := l.m.Stacks.Add([]model.Frame{{Func: "strings.Clone", File: "strings.go", Line: 5}, {Func: "main.(*store).add", File: file, Line: 16}})
	l.m.Heap = &model.Profile{Types: []model.ValueType{{Name: "alloc_space", Unit: "bytes"}}, Samples: []model.Sample{{Stack: stack, Values: []int64{9}}}}
	h.Bytes = 10 << 20
	l.m.Run.Holders = []*model.HeapLook{{Holders: []model.Holder{h}}}
	l.joinKeepers()
	var got []string
	for _, f := range l.m.Run.Holders[0].Holders[0].Keepers {
		if f.File != file {
			t.Errorf("%s is said to be in %s, want %s", f.Func, f.File, file)
		}
		got = append(got, strings.TrimPrefix(f.Func, "main.")+":"+strconv.Itoa(f.Line))
	}
	return strings.Join(got, " ")
}

// TestKeepersElsewhere: who puts it there need not be in a profile: packages are read that those of the profile import.
func TestKeepersElsewhere(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module app\n\ngo 1.26\n",
		"main.go":        "package main\n\nimport \"app/desk\"\n\nfunc main() { run() }\n\nfunc run() { desk.Take(\"a\") }\n",
		"desk/desk.go":   "package desk\n\nimport \"app/store\"\n\nfunc Take(k string) { store.Add(k) }\n",
		"store/store.go": "package store\n\ntype Entry struct{ text string }\n\nvar all = map[string]*Entry{}\n\nfunc Add(k string) { all[k] = &Entry{} }\n",
		"other/other.go": "package other\n\nimport \"app/store\"\n\nfunc Add(m map[string]*store.Entry) { m[\"\"] = nil }\n",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := newLoader(t.Context(), Options{})
	stack := l.m.Stacks.Add([]model.Frame{{Func: "main.run", File: filepath.Join(dir, "main.go"), Line: 7}})
	l.m.CPU = &model.Profile{Types: []model.ValueType{{Name: "cpu", Unit: "nanoseconds"}}, Samples: []model.Sample{{Stack: stack, Values: []int64{9}}}}
	h := model.Holder{ObjectSum: model.ObjectSum{Bytes: 10}, Path: []model.HolderStep{{Type: "map[string]*store.Entry", Retained: 10}, {Type: "store.Entry", ObjectSum: model.ObjectSum{Objects: 9}}}}
	l.m.Run.Holders = []*model.HeapLook{{Holders: []model.Holder{h}}}
	l.joinKeepers()
	want := []model.Frame{{Func: "app/store.Add", File: filepath.Join(dir, "store", "store.go"), Line: 7}}
	if got := l.m.Run.Holders[0].Holders[0].Keepers; !slices.Equal(got, want) {
		t.Errorf("keepers = %v, want %v", got, want)
	}
}
