package model

import (
	"testing"
)

// What recording does in a program is not the program's, wherever it was
// called from.
func TestOfRecording(t *testing.T) {
	work := Frame{Func: "main.work", File: "main.go", Line: 4}
	for leaf, want := range map[string]bool{
		"github.com/gowhy/gowhy/agent.snapshot":      true,
		"github.com/gowhy/gowhy/agent.(*conn).serve": true,
		"net/http/pprof.Index":                       true,
		"github.com/other/gowhy/agent.snapshot":      false,
		"runtime/pprof.StartCPUProfile":              false, // the program's own idea
		"net/http.(*conn).serve":                     false,
	} {
		frames := []Frame{{Func: "bytes.growSlice", Line: 9}, {Func: leaf, File: "f.go", Line: 7}, work}
		if got := OfRecording(frames); got != want {
			t.Errorf("OfRecording(%s) = %v, want %v", leaf, got, want)
		}
		if place, ok := UserFrame(frames); ok == want {
			t.Errorf("UserFrame(%s) = %v, found: %v, want %v", leaf, place, ok, !want)
		}
	}
}

func TestIsStd(t *testing.T) {
	std := []string{
		"runtime.gopark", "net/http.(*conn).serve", "internal/poll.(*FD).Read", "sync.(*Mutex).Lock",
		"slices.SortFunc[go.shape.[]main.T,go.shape.struct { x/y.Z }]", "vendor/golang.org/x/net/dns/dnsmessage.(*Parser).Start",
		"maps.Keys[...]", "context.WithDeadlineCause.func2", "encoding/json.(*decodeState).object",
	}
	user := []string{
		"main.main", "main.(*T).f.func1", "main.f[go.shape.int]", "main_test.TestX", "github.com/a/b.F",
		"example.com/m.(*R[go.shape.string]).next-fm", "gopkg.in/yaml%2ev3.Unmarshal", "app/queue.Run",
		"golang.org/x/net/http2.(*Framer).ReadFrame",
	}
	for _, f := range std {
		if !IsStd(f) {
			t.Errorf("%s is the library's", f)
		}
	}
	for _, f := range user {
		if IsStd(f) {
			t.Errorf("%s is a user's", f)
		}
	}
	if got := packagePath("gopkg.in/yaml%2ev3.Unmarshal"); got != "gopkg.in/yaml.v3" {
		t.Errorf("packagePath(gopkg.in/yaml%%2ev3.Unmarshal) = %q, want gopkg.in/yaml.v3", got)
	}
}
