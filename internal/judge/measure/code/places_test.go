package code

import (
	"slices"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

func TestLibraryOf(t *testing.T) {
	for function, want := range map[string]string{
		"google.golang.org/grpc/internal/transport.dial":             "google.golang.org/grpc",
		"google.golang.org/grpc.NewClient":                           "google.golang.org/grpc",
		"google.golang.org/grpc.(*ClientConn).Invoke":                "google.golang.org/grpc",
		"github.com/redis/go-redis/v9.NewClient":                     "github.com/redis/go-redis",
		"github.com/redis/go-redis/v9/internal/pool.(*ConnPool).Get": "github.com/redis/go-redis",
		"go.mongodb.org/mongo-driver/mongo.Connect":                  "go.mongodb.org/mongo-driver",
		"golang.org/x/net/http2.(*Transport).RoundTrip":              "golang.org/x/net/http2",
		"net/http.(*Client).Do":                                      "",
		"main.main.func1":                                            "",
	} {
		if got := libraryOf(function); got != want {
			t.Errorf("libraryOf(%s) = %q, want %q", function, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for function, want := range map[string]string{
		"main.serve": "main.serve",
		"github.com/acme/zones/store.(*Table).Get":     "store.(*Table).Get",
		"example.com/a.Map[go.shape.string,io/fs.Dir]": "a.Map[go.shape.string,io/fs.Dir]",
	} {
		if got := Short(function); got != want {
			t.Errorf("Short(%s) = %q, want %q", function, got, want)
		}
	}
}

// A list of places has none twice and none that is not known.
func TestPlaces(t *testing.T) {
	a, b := diagnosis.Place{Function: "main.a", Line: 1}, diagnosis.Place{Function: "main.b", Line: 2}
	if got, want := Places(diagnosis.Place{}, b, a, b), []diagnosis.Place{b, a}; !slices.Equal(got, want) {
		t.Errorf("Places() = %v, want %v", got, want)
	}
}

// The line of a library is the user's, and the one that calls it the program's: of package main or
// of the program's module.
func TestProgramPlace(t *testing.T) {
	m := &model.Model{Build: &model.Build{Module: "example.com/shop"}}
	p := &diagnosis.Pass{Meter: fact.Meter{Model: m}}
	stack := func(functions ...string) model.Stack {
		var frames []model.Frame
		for i, f := range functions {
			frames = append(frames, model.Frame{Func: f, File: "f.go", Line: i + 1})
		}
		return m.Stacks.Add(frames)
	}
	for _, c := range []struct {
		stack         model.Stack
		user, program string
	}{
		{stack("runtime.gopark", "github.com/redis/go-redis/v9.read", "example.com/shop/cart.load", "main.main"), "github.com/redis/go-redis/v9.read", "example.com/shop/cart.load"},
		{stack("net.(*conn).Read", "main.serve"), "main.serve", "main.serve"},
		{stack("net.(*conn).Read", "example.com/shopping.read"), "example.com/shopping.read", ""},
		{stack("runtime.gopark"), "", ""},
	} {
		if got := UserPlace(p, c.stack); got.Function != c.user {
			t.Errorf("UserPlace() of %s = %q, want %q", StackText(m, c.stack), got.Function, c.user)
		}
		if got := ProgramPlace(p, c.stack); got.Function != c.program {
			t.Errorf("ProgramPlace() of %s = %q, want %q", StackText(m, c.stack), got.Function, c.program)
		}
		both := WithProgram(p, UserPlace(p, c.stack), c.stack)
		want := Places(UserPlace(p, c.stack), ProgramPlace(p, c.stack))
		if !slices.Equal(both, want) {
			t.Errorf("WithProgram() of %s = %v, want %v", StackText(m, c.stack), both, want)
		}
	}
}

// What dials in a goroutine of its own was made by a line of the program that stands in another
// stack: the one seen most.
func TestMakerOf(t *testing.T) {
	m := &model.Model{}
	p := &diagnosis.Pass{Meter: fact.Meter{Model: m}}
	add := func(line int, functions ...string) {
		var frames []model.Frame
		for _, f := range functions {
			frames = append(frames, model.Frame{Func: f, File: "f.go", Line: line})
		}
		m.Stacks.Add(frames)
	}
	const dial = "google.golang.org/grpc/internal/transport.dial"
	add(1, dial, "runtime.goexit")
	add(2, "google.golang.org/grpc.NewClient", "main.open")
	add(3, "syscall.connect", "google.golang.org/grpc.NewClient", "main.often", "main.main")
	add(3, "runtime.mallocgc", "google.golang.org/grpc.NewClient", "main.often", "main.main")
	add(4, "google.golang.org/grpc.(*ClientConn).Invoke", "main.ask")
	add(4, "runtime.mallocgc", "google.golang.org/grpc.(*ClientConn).Invoke", "main.ask")
	add(4, "runtime.gopark", "google.golang.org/grpc.(*ClientConn).Invoke", "main.ask")
	for function, want := range map[string]string{dial: "main.often", "main.open": "", "net.Dial": ""} {
		if got := MakerOf(p, diagnosis.Place{Function: function}); got.Function != want {
			t.Errorf("MakerOf(%s) = %q, want %q", function, got.Function, want)
		}
	}
}

// A program, a handler and a goroutine begin where the library calls the program; who is called
// by it is one that can be left out.
func TestBegins(t *testing.T) {
	m := &model.Model{}
	for _, s := range [][]string{
		{"runtime.memmove", "main.encode", "main.main", "runtime.main"},
		{"main.encode", "main.save", "main.handle", "net/http.HandlerFunc.ServeHTTP", "net/http.(*conn).serve"},
		{"main.walk", "main.walk", "main.walk", "main.main"},
		{"main.save", "main.handle", "net/http.HandlerFunc.ServeHTTP"},
	} {
		var frames []model.Frame
		for _, f := range s {
			frames = append(frames, model.Frame{Func: f})
		}
		m.Stacks.Add(frames)
	}
	for function, want := range map[string]bool{
		"main.main": true, "main.handle": true, "main.encode": false, "main.save": false, "main.walk": false, "main.none": false,
	} {
		if got := Begins(m, function); got != want {
			t.Errorf("Begins(%s) = %v, want %v", function, got, want)
		}
	}
}
