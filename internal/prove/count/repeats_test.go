package count

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What is asked with few things derives a key for each question; other functions are called with
// something new each time, with what cannot be compared, or answer nothing.
const asking = `package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/pprof"
)

type user struct {
	name string
	tags []string
	next *user
}

type keys struct{ salt []byte }

func work(b []byte, n int) (sum [32]byte) {
	for range n {
		sum = sha256.Sum256(b)
		b = sum[:]
	}
	return sum
}

func (k *keys) derive(ctx context.Context, u *user, rounds int) ([32]byte, error) {
	return work(append(k.salt, u.name...), rounds), ctx.Err()
}

type counter struct{ n int }

func (c *counter) next(step int) [32]byte { c.n += step; return work([]byte{byte(c.n)}, 300) }

func through(f func() int, n int) [32]byte { return work([]byte{byte(f())}, n) }

func shared(m map[string]int, n int) [32]byte { return work([]byte{byte(len(m))}, n) }

func nothing(n int) { work([]byte{1}, n) }

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	defer pprof.StopCPUProfile()
	k, c := &keys{[]byte("salt")}, &counter{}
	for i := range 6000 {
		u := &user{fmt.Sprint("u", i%3), []string{"a"}, &user{name: "x"}}
		k.derive(context.Background(), u, 300)
		c.next(1)
		through(func() int { return i }, 300)
		shared(map[string]int{"a": i}, 300)
		nothing(300)
	}
}
`

func TestRepeats(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/asking\n\ngo 1.24\n", "main.go": asking} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-gcflags=-l", "-o", "app", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := Setup{Command: []string{"./app", "cpu.pprof"}, Dir: dir, Limit: time.Minute}
	r, err := s.Run(t.Context(), quiet{})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]*Repeats{
		"main.(*keys).derive": {6000, 3}, "main.(*counter).next": {6000, 6000}, "main.through": nil, "main.shared": nil, "main.nothing": nil,
	} {
		f := named(t, r, name)
		if got := f.Repeats; got == nil != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s repeats %+v, want %+v; notes %q", name, got, want, r.Notes)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "gowhy*")); len(left) > 0 {
		t.Errorf("left in the program's tree: %q", left)
	}
}

// Lines stay where they are, and only functions are looked at of which calls can be compared.
func TestLookedAt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	const source = `package a

func both(a, _ string, b ...int) (int, error) { // with two
	return len(a) + len(b), nil
}

func failing(a string) error { return nil }

func (list) size() int { return 1 }

func (l *list) at(i int) (x int) { return i }

func sent(c chan int, n int) int { return n }
`
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	text, list, pkg := lookedAt(file, []*Function{{Line: 3}, {Line: 7}, {Line: 9}, {Line: 11}, {Line: 13}}, 5)
	want := strings.NewReplacer("error) { // with", "error) { gowhySees(5, nil, a, b); // with", "(x int) {", "(x int) { gowhySees(6, l, i);").Replace(source)
	if text != want || len(list) != 2 || pkg != "a" {
		t.Errorf("lookedAt() = %d functions of %s:\n%s\nwant\n%s", len(list), pkg, text, want)
	}
}
