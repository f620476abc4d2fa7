package model

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestHolderWay(t *testing.T) {
	low, high := 0.25, 0.4
	for _, tt := range []struct {
		name       string
		h          Holder
		words, way string
	}{
		{"a variable", Holder{Kind: HeldByVariable, Name: "main.cache", Count: 3, Path: []HolderStep{
			{Field: ".sessions", Type: "map[string]*main.Session", Use: &low}, {Field: "", Type: "main.Session", Size: 96, Use: &high}, {Field: ".raw", Size: 64},
		}}, "main.cache", "main.cache.sessions → map[string]*main.Session (25.0% in use) → main.Session.raw → 64-byte objects"},
		{"goroutines", Holder{Kind: HeldByGoroutines, Name: "main.work", Count: 2, Path: []HolderStep{
			{Field: "main.read"}, {Field: ".buf", Type: "[]byte"},
		}}, "2 goroutines in main.work", "main.work in main.read.buf → []byte"},
		{"a goroutine", Holder{Kind: HeldByGoroutines, Name: "main.work", Count: 1}, "goroutine in main.work", "main.work"},
		{"timers", Holder{Kind: HeldByTimers, Name: "main.expire", Count: 4}, "timers, over main.expire", "main.expire"},
		{"the runtime", Holder{Kind: HeldByRuntime, Name: "finalizers", Count: 4}, "finalizers", "finalizers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.h.Words(); got != tt.words {
				t.Errorf("Words() = %q, want %q", got, tt.words)
			}
			if got := tt.h.Way(); got != tt.way {
				t.Errorf("Way() = %q, want %q", got, tt.way)
			}
		})
	}
}

func TestHeldNames(t *testing.T) {
	tree := []HeldNode{
		{Parent: -1, Type: "main.cache"}, {Parent: 0, Field: ".sessions", Type: "map[string]*main.Session"}, {Parent: 1, Type: "main.Session"},
		{Parent: 2, Field: ".raw", Type: "[]byte"}, {Parent: 2, Field: ".next", Size: 48}, {Parent: 4, Field: "", Type: "T"},
		{Parent: -1, Type: "goroutine in main.wait"}, {Parent: 6, Field: "main.serve"}, {Parent: 7, Type: "[]byte"},
	}
	want := []string{"main.cache", "main.cache.sessions map[string]*main.Session", "main.Session", "main.Session.raw []byte", "main.Session.next 48-byte objects", "T",
		"goroutine in main.wait", "in main.serve", "[]byte"}
	if got := HeldNames(tree); !reflect.DeepEqual(got, want) {
		t.Errorf("HeldNames() = %q, want %q", got, want)
	}
}

func TestHolderStations(t *testing.T) {
	use := 0.5
	sum, first, second := ObjectSum{9, 900}, ObjectSum{4, 400}, ObjectSum{2, 200}
	h := Holder{Kind: HeldByVariable, Name: "main.all", ObjectSum: sum, Path: []HolderStep{
		{Field: ".list", Type: "[]T", ObjectSum: first, Use: &use, Retained: 800}, {Field: "", Type: "T", ObjectSum: second, Retained: 300},
	}}
	want := []HeldStation{{"main.all.list", sum, nil, 900, nil}, {"[]T", first, &use, 800, nil}, {"T", second, nil, 300, nil}}
	if got := h.Stations(); !reflect.DeepEqual(got, want) {
		t.Errorf("Stations() = %+v, want %+v", got, want)
	}
	if got := h.Step("", "T"); got != &h.Path[1] {
		t.Errorf("Step(\"\", T) = %+v, want the second", got)
	}
	for _, of := range []string{"[]T", "main.all"} {
		if got := h.Step("", of); got != nil {
			t.Errorf("Step(\"\", %s) = %+v, want nil", of, got)
		}
	}
}

func TestBeside(t *testing.T) {
	reached, unreached := ObjectSum{Objects: 7, Bytes: 300}, ObjectSum{Objects: 9, Bytes: 50}
	for resident, want := range map[uint64]uint64{1000: 650, 350: 0, 200: 0, 0: 0} {
		if got := (&HeapLook{Resident: resident, Reached: reached, Unreached: unreached}).Beside(); got != want {
			t.Errorf("Beside() of %d resident bytes = %d, want %d", resident, got, want)
		}
	}
}

// Of a list that was cut nobody knows what was left out: it is no growth from nothing.
func TestSince(t *testing.T) {
	bytes := func(n uint64) ObjectSum { return ObjectSum{Objects: 1, Bytes: n} }
	look := func(at int64, holders []Holder, types []HeldType) *HeapLook {
		return &HeapLook{Time: time.Unix(at, 0), Holders: holders, Types: types}
	}
	before := func() *HeapLook {
		return look(100, []Holder{
			{Kind: HeldByVariable, Name: "main.a", ObjectSum: bytes(500)}, {Kind: HeldByGoroutines, Name: "main.b", ObjectSum: bytes(60)},
			{Kind: HeldByGoroutines, Name: "main.b", ObjectSum: bytes(40)}, {Kind: HeldByVariable, Name: "main.b", ObjectSum: bytes(7)},
		}, []HeldType{{Name: "T", ObjectSum: bytes(30)}, {Name: "U", ObjectSum: bytes(90)}})
	}
	pointer := func(n int64) *int64 { return &n }
	now := func() *HeapLook {
		return look(107, []Holder{
			{Kind: HeldByVariable, Name: "main.a", ObjectSum: bytes(450), Grew: pointer(9999)},
			{Kind: HeldByVariable, Name: "main.new", ObjectSum: bytes(150), Grew: pointer(9999)},
			{Kind: HeldByGoroutines, Name: "main.b", ObjectSum: bytes(300)},
			{Kind: HeldByVariable, Name: "main.b", ObjectSum: bytes(167)},
		}, []HeldType{{Name: "U", ObjectSum: bytes(100)}, {Name: "T", ObjectSum: bytes(10)}, {Name: "V", ObjectSum: bytes(1)}})
	}
	grew := func(l *HeapLook) (holders, types []string) {
		say := func(name string, by *int64) string {
			if by == nil {
				return name + " ?"
			}
			return fmt.Sprintf("%s %+d", name, *by)
		}
		for _, h := range l.Holders {
			holders = append(holders, say(h.Name, h.Grew))
		}
		for _, ty := range l.Types {
			types = append(types, say(ty.Name, ty.Grew))
		}
		return holders, types
	}
	long := before()
	for len(long.Holders) < MaxHolders {
		long.Holders = append(long.Holders, Holder{Kind: HeldByRuntime, Name: "x"})
	}
	for len(long.Types) < MaxHeldTypes {
		long.Types = append(long.Types, HeldType{Name: "x"})
	}
	short := look(100, long.Holders[:499], long.Types[:49])
	for _, tt := range []struct {
		name           string
		before         *HeapLook
		holders, types string
	}{
		{"all of them", before(), "main.b +200, main.b +160, main.new +150, main.a -50", "U +10, T -20, V +1"},
		{"lists that may be cut", long, "main.b +200, main.b +160, main.new ?, main.a -50", "U +10, T -20, V ?"},
		{"lists that are not full", short, "main.b +200, main.b +160, main.new +150, main.a -50", "U +10, T -20, V +1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := now()
			l.Since(tt.before)
			holders, types := grew(l)
			if got := strings.Join(holders, ", "); got != tt.holders {
				t.Errorf("Since(…) has holders that grew by %s, want %s", got, tt.holders)
			}
			if got := strings.Join(types, ", "); got != tt.types {
				t.Errorf("Since(…) has types that grew by %s, want %s", got, tt.types)
			}
			if l.Over != 7*time.Second {
				t.Errorf("Since(…) is over %v, want 7s", l.Over)
			}
		})
	}
	if len(long.Holders) != 500 || len(long.Types) != 50 {
		t.Errorf("a look keeps %d holders and %d types, want 500 and 50", len(long.Holders), len(long.Types))
	}
}

// TestContexts: contexts keep what a holder has where they are on the way, or as many as objects that nothing is known of.
func TestContexts(t *testing.T) {
	step := func(typ string, objects uint64) HolderStep {
		return HolderStep{Type: typ, ObjectSum: ObjectSum{Objects: objects}, Retained: 8 << 20}
	}
	types := func(name string, objects uint64) []HeldType {
		return []HeldType{{Name: name, ObjectSum: ObjectSum{Objects: objects}}}
	}
	for _, c := range []struct {
		name  string
		path  []HolderStep
		types []HeldType
		want  string
	}{
		{"on the way", []HolderStep{step("map[context.canceler]struct {}", 2), step("context.timerCtx", 100)}, nil, "context.timerCtx"},
		{"few", []HolderStep{step("context.timerCtx", 99)}, nil, ""},
		{"one for each", []HolderStep{step("", 1), step("", 1000)}, types("context.afterFuncCtx", 900), "context.afterFuncCtx"},
		{"one for some", []HolderStep{step("", 1000)}, types("context.afterFuncCtx", 899), ""},
		{"more than there are objects", []HolderStep{step("", 1000)}, types("context.afterFuncCtx", 1101), ""},
		{"other objects", []HolderStep{step("main.entry", 1000)}, types("context.afterFuncCtx", 1000), ""},
		{"of no context", []HolderStep{step("", 1000)}, types("main.entry", 1000), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := HeapLook{Types: c.types}
			if got := l.Contexts(&Holder{ObjectSum: ObjectSum{Bytes: 10 << 20}, Path: c.path}); got != c.want {
				t.Errorf("Contexts() = %q, want %q", got, c.want)
			}
		})
	}
}
