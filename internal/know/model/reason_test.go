package model

import (
	"slices"
	"testing"
)

// TestReasonDoes: a reason counts what is below its lines in its functions, or what a line
// does itself with the compiler's help, and of a function that calls itself the innermost.
func TestReasonDoes(t *testing.T) {
	join := Reason{Func: "main.join", File: "main.go", Line: 10, Last: 12, Through: []string{"runtime.concatstring"}}
	search := Reason{Func: "main.join", File: "main.go", Line: 10, Last: 12, Through: []string{""}}
	at := func(line int) Frame { return Frame{Func: "main.join", File: "main.go", Line: line} }
	up := Frame{Func: "main.main", File: "main.go", Line: 3}
	for name, c := range map[string]struct {
		frames       []Frame
		join, search bool
	}{
		"the line itself":        {[]Frame{at(11), up}, false, true},
		"another line":           {[]Frame{at(13), up}, false, false},
		"another file":           {[]Frame{{Func: "main.join", File: "other.go", Line: 11}, up}, false, false},
		"comparing":              {[]Frame{{Func: "memeqbody"}, at(12), up}, false, true},
		"its function":           {[]Frame{{Func: "runtime.memmove"}, {Func: "runtime.concatstrings"}, {Func: "runtime.concatstring2"}, at(10), up}, true, false},
		"another function":       {[]Frame{{Func: "strings.ToLower"}, at(10), up}, false, false},
		"the outer of two calls": {[]Frame{at(20), {Func: "runtime.concatstring2"}, at(11), up}, true, false},
		"the inner of two calls": {[]Frame{at(11), at(11), up}, false, true},
		"nothing":                {nil, false, false},
	} {
		if got := join.Does(c.frames); got != c.join {
			t.Errorf("%s: joining %v, want %v", name, got, c.join)
		}
		if got := search.Does(c.frames); got != c.search {
			t.Errorf("%s: searching %v, want %v", name, got, c.search)
		}
	}
	if other := search; !search.Same(&other) || search.Same(&Reason{Func: "main.join", File: "main.go", Line: 10, Last: 13}) {
		t.Error("reasons are not told from each other")
	}
}

// TestWithoutTypes: type arguments go, wherever they are in a name.
func TestWithoutTypes(t *testing.T) {
	for name, want := range map[string]string{
		"main.f":                              "main.f",
		"slices.Contains[go.shape.[]int,int]": "slices.Contains",
		"a/b.(*Writer[go.shape.struct { X []int }]).Close":             "a/b.(*Writer).Close",
		"a/b.New[go.shape.int].makeWrite[go.shape.map[int]bool].func3": "a/b.New.makeWrite.func3",
	} {
		if got := WithoutTypes(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestAllocates: beside the line itself a profile of the heap has what the line calls.
func TestAllocates(t *testing.T) {
	r := Reason{Func: "main.f", File: "f.go", Line: 3, Last: 4, Alone: true, Through: []string{"runtime.concatstring", "strings.Repeat"}}
	at, up := Frame{Func: "main.f", File: "f.go", Line: 3}, Frame{Func: "main.main", File: "f.go", Line: 9}
	for _, tt := range []struct {
		name   string
		frames []Frame
		want   bool
	}{
		{"the line itself", []Frame{at, up}, true},
		{"what it calls", []Frame{{Func: "strings.Repeat"}, at, up}, true},
		{"something else that it calls", []Frame{{Func: "strings.ToUpper"}, at, up}, false},
		{"another line", []Frame{up}, false},
		{"nothing", nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := r.Allocates(tt.frames); got != tt.want {
				t.Errorf("Allocates(%s) = %v, want %v", tt.name, got, tt.want)
			}
		})
	}
}

func TestOfDebugging(t *testing.T) {
	for name, want := range map[string]bool{"log/slog.(*Logger).Debug": true, "Debugf": true,
		"go.uber.org/zap.(*SugaredLogger).Debugw": true, "log/slog.DebugContext": true,
		"log/slog.(*Logger).Info": false, "main.Debug.f": false, "main.NoDebug": false, "": false} {
		if got := OfDebugging(name); got != want {
			t.Errorf("OfDebugging(%s) = %v, want %v", name, got, want)
		}
	}
}

func TestSettersOf(t *testing.T) {
	first, second, other := Frame{Func: "main.main", Line: 3}, Frame{Func: "main.tune", Line: 9}, Frame{Func: "main.init", Line: 1}
	m := &Model{Setters: []Setter{{"GOGC", first}, {"GOMEMLIMIT", other}, {"GOGC", second}}}
	if got, want := m.SettersOf("GOGC"), []Frame{first, second}; !slices.Equal(got, want) {
		t.Errorf("SettersOf(GOGC) = %v, want %v", got, want)
	}
	if got := m.SettersOf("GOMAXPROCS"); got != nil {
		t.Errorf("SettersOf(GOMAXPROCS) = %v, want nil", got)
	}
}
