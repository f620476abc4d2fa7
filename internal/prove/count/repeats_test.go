package count

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/prove/subject"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
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

func mixed(v any, n int) [32]byte { return work([]byte{1}, n) }

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
		if i < 3000 {
			mixed(i%2, 300)
		} else {
			mixed(func() {}, 300)
		}
	}
}
`

func TestRepeats(t *testing.T) {
	dir := sourceOf(t, "asking", asking)
	err := attempt.Repeat(t, func() error { // for samples tell what is hot
		s := Setup{Command: []string{"./app", "cpu.pprof"}, Dir: dir, Limit: time.Minute}
		r, err := s.Run(t.Context(), quiet{})
		if err != nil {
			return err
		}
		for name, want := range map[string]*Repeats{
			"main.(*keys).derive": {6000, 3}, "main.(*counter).next": {6000, 6000}, "main.through": nil, "main.shared": nil, "main.mixed": nil, "main.nothing": nil,
		} {
			i := slices.IndexFunc(r.Functions, func(f Function) bool { return f.Name == name })
			if i < 0 {
				return fmt.Errorf("no %s among %d functions; notes %q", name, len(r.Functions), r.Notes)
			}
			if got := r.Functions[i].Repeats; got == nil != (want == nil) || got != nil && *got != *want {
				return fmt.Errorf("%s repeats %+v, want %+v; notes %q", name, got, want, r.Notes)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "gowhy*")); len(left) > 0 {
		t.Errorf("left in the program's tree: %q", left)
	}
}

// A server derives a key for each question; -deaf ends without a word, -client asks.
const serving = `package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
)

func derive(name string, rounds int) (sum [32]byte) {
	b := []byte(name)
	for range rounds {
		sum = sha256.Sum256(b)
		b = sum[:]
	}
	return sum
}

func main() {
	what, addr, profile := os.Args[1], os.Args[2], os.Args[3]
	if what == "-client" {
		for range 400 {
			r, err := http.Get("http://" + addr + "/key?name=a")
			if err != nil {
				panic(err)
			}
			r.Body.Close()
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if what == "-deaf" {
		stop()
	}
	if profile != "" {
		f, _ := os.Create(profile)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	http.HandleFunc("/key", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "%x", derive(r.FormValue("name"), 20_000)) })
	http.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	go http.ListenAndServe(addr, nil)
	<-ctx.Done()
	if what == "-deaf" {
		select {}
	}
}
`

// What a server's functions are called with a load tells, whether or not its counters are written.
func TestRepeatsUnderLoad(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a server's port is looked up in /proc")
	}
	dir := sourceOf(t, "serving", serving)
	app := filepath.Join(dir, "app")
	addr := freeAddr(t)
	s := Setup{Command: []string{app, "-serve", addr, ""}, Dir: dir, Limit: time.Minute, Load: []string{app, "-client", addr, ""}, Ready: "http://" + addr + "/"}
	s.Model = servedProfile(t, &s)
	for _, how := range []string{"-serve", "-deaf"} {
		t.Run(how, func(t *testing.T) {
			s.Command[1] = how
			r, err := s.Run(t.Context(), quiet{})
			if err != nil {
				t.Fatal(err)
			}
			f := named(t, r, "main.derive")
			if f.Repeats == nil || *f.Repeats != (Repeats{400, 1}) || f.Line != 14 {
				t.Errorf("derive at line %d repeats %+v, want 400 calls with the same at line 14; notes %q", f.Line, f.Repeats, r.Notes)
			}
			if counted := len(f.Calls) > 0; counted != (how == "-serve") || counted && f.Calls[0] != 400 {
				t.Errorf("calls = %v, want 400 only of a server that returns from main; notes %q", f.Calls, r.Notes)
			}
		})
	}
}

// servedProfile returns what a server's profile says of its load.
func servedProfile(t *testing.T, s *Setup) *model.Model {
	t.Helper()
	file := filepath.Join(s.Dir, "cpu.pprof")
	p := subject.Program{Command: slices.Concat(s.Command[:len(s.Command)-1], []string{file}), Dir: s.Dir}
	if _, err := s.runCopy(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	m, err := evidence.Load(t.Context(), []string{file}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// sourceOf returns the directory of a module with one file, built.
func sourceOf(t *testing.T, name, source string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	dir := t.TempDir()
	for file, text := range map[string]string{"go.mod": "module example.com/" + name + "\n\ngo 1.24\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-buildvcs=false", "-gcflags=-l", "-o", "app", ".")
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
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

func (l *list[T]) at(i int) (x int) { return i }

func sent(c chan int, n int) int { return n }
`
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	text, list, pkg := lookedAt(file, []*Function{{Name: "x.org/a.both"}, {Name: "x.org/a.failing"}, {Name: "x.org/a.list.size"}, {Name: "x.org/a.(*list[...]).at"}, {Name: "x.org/a.sent"}}, 5)
	want := strings.NewReplacer("error) { // with", "error) { gowhySees(5, nil, a, b); // with", "(x int) {", "(x int) { gowhySees(6, l, i);").Replace(source)
	if text != want || len(list) != 2 || pkg != "a" {
		t.Errorf("lookedAt() = %d functions of %s:\n%s\nwant\n%s", len(list), pkg, text, want)
	}
}
