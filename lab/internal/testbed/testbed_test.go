package testbed

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The tests' own program is built from this: a server that answers, ends with
// an interrupt, and fails when it is told to; and a load for it.
const program = `package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"sync/atomic"
	"time"
)

func main() {
	switch os.Args[1] {
	case "fail":
		fmt.Fprintln(os.Stderr, "no such luck")
		os.Exit(7)
	case "work":
		for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); {
		}
		fmt.Println("operations: 12")
	case "stay":
		if err := exec.Command(os.Args[0], "sleep", os.Args[2]).Start(); err != nil {
			panic(err)
		}
		time.Sleep(time.Minute)
	case "sleep":
		os.WriteFile(os.Args[2], fmt.Append(nil, os.Getpid()), 0o600)
		time.Sleep(time.Minute)
	case "ask":
		resp, err := http.Get(os.Args[2])
		if err != nil {
			panic(err)
		}
		io.Copy(os.Stdout, resp.Body)
	case "serve":
		var asked atomic.Int64
		interrupt := make(chan os.Signal, 1)
		signal.Notify(interrupt, os.Interrupt)
		go http.ListenAndServe(os.Args[2], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" { // and not who looks for profiles here
				asked.Add(1)
			}
		}))
		fmt.Println("starting")
		time.Sleep(50 * time.Millisecond)
		fmt.Println("ready", os.Args[2])
		<-interrupt
		fmt.Println("operations:", asked.Load())
	}
}
`

func testProgram(t *testing.T) (*Bed, string) {
	t.Helper()
	src := t.TempDir()
	for name, text := range map[string]string{"main.go": program, "go.mod": "module tried\n\ngo 1.26.0\n"} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOWORK", "off")
	bed, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	path, err := bed.Build(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	return bed, path
}

func TestBuild(t *testing.T) {
	bed, first := testProgram(t)
	if info, err := os.Stat(first); err != nil || !strings.HasPrefix(first, bed.Dir()) {
		t.Fatalf("Build() at %s: %v, %v; want a program in %s", first, info, err, bed.Dir())
	}
	broken := t.TempDir()
	if err := os.WriteFile(filepath.Join(broken, "main.go"), []byte("package main\nfunc main() { nothing() }"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second one is not told another story
		if _, err := bed.Build(t.Context(), broken); err == nil || !strings.Contains(err.Error(), "go build") {
			t.Errorf("Build() of a broken program: error %v, want one of go build", err)
		}
	}
}

func TestRun(t *testing.T) {
	_, path := testProgram(t)
	f, err := Run(t.Context(), path, "work")
	if err != nil || Operations(f.Stdout) != 12 || f.Took < 200*time.Millisecond || f.State.UserTime() == 0 {
		t.Errorf("Run(work) = %+v, %v; want 12 operations in 200ms or more", f, err)
	}
	f, err = Run(t.Context(), path, "fail")
	if err == nil || f.ExitCode != 7 || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("Run(fail) = %+v, %v; want exit code 7 and no such luck", f, err)
	}
	if _, err := Run(t.Context(), filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("what is not there runs")
	}
}

// A program that does not end is ended in time, with what it started.
func TestNothingIsLeft(t *testing.T) {
	_, path := testProgram(t)
	note := filepath.Join(t.TempDir(), "pid")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if b, err := os.ReadFile(note); err == nil && len(b) > 0 {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if _, err := Run(ctx, path, "stay", note); err == nil {
		t.Error("it is said to have ended well")
	}
	pid, err := os.ReadFile(note)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
		stat, err := os.ReadFile(filepath.Join("/proc", string(pid), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("process %s is left", pid)
}

func TestRecord(t *testing.T) {
	if testing.Short() {
		t.Skip("builds gowhy and records programs")
	}
	bed, path := testProgram(t)
	t.Setenv("GOWORK", "") // gowhy itself is built as the checkout has it
	serve := Job{Program: path, Args: []string{"serve", "127.0.0.1:{port}"}, Ready: "ready ", Time: 300 * time.Millisecond}

	t.Run("to its end", func(t *testing.T) {
		r, err := bed.Record(t.Context(), Job{Program: path, Args: []string{"work"}})
		if err != nil || r.Operations != 12 || r.Size == 0 || r.Took < 200*time.Millisecond {
			t.Fatalf("Record() = %+v, %v; want 12 operations in 200ms or more", r, err)
		}
		if _, err := os.Stat(r.Path); err != nil {
			t.Error(err)
		}
	})
	t.Run("for a time", func(t *testing.T) {
		r, err := bed.Record(t.Context(), serve)
		if err != nil || !strings.Contains(r.Stdout, "operations: ") || r.Took < serve.Time {
			t.Errorf("Record() for a time = %+v, %v; want operations in %v or more", r, err, serve.Time)
		}
	})
	t.Run("under load", func(t *testing.T) {
		job := serve
		job.Load = []string{"{gowhy}", "load", "http://127.0.0.1:{port}/", "--rate", "100"}
		r, err := bed.Record(t.Context(), job)
		if err != nil || r.Operations < 10 {
			t.Fatalf("Record() under load = %+v, %v; want 10 operations or more", r, err)
		}
		var d struct{ Unchecked []struct{ What string } }
		if took, err := bed.Answer(t.Context(), &d, "diagnose", "--format", "json", r.Path); err != nil || took == 0 {
			t.Errorf("Answer(diagnose) took %v, %v; want some time", took, err)
		}
	})
	t.Run("another's load", func(t *testing.T) {
		job := serve
		job.Load = []string{"{case}", "ask", "http://127.0.0.1:{port}/"}
		if r, err := bed.Record(t.Context(), job); err != nil || r.Operations != 1 {
			t.Errorf("Record() under another's load = %+v, %v; want 1 operation", r, err)
		}
	})
	for name, c := range map[string]struct {
		job  Job
		says string
	}{
		"it fails":       {Job{Program: path, Args: []string{"fail"}}, "no such luck"},
		"never ready":    {Job{Program: path, Args: []string{"work"}, Ready: "ready", Load: []string{"{case}", "work"}}, "before it was ready"},
		"a failing load": {Job{Program: path, Args: serve.Args, Ready: "ready ", Time: time.Second, Load: []string{"{case}", "fail"}}, "no such luck"},
		"too long":       {Job{Program: path, Args: serve.Args, Limit: 300 * time.Millisecond}, "too long"},
		"no neighbour":   {Job{Program: path, Args: []string{"work"}, Beside: []string{"/none/such"}}, "cannot start"},
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := bed.Record(t.Context(), c.job); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("Record() = %+v, %v; want %q", r, err, c.says)
			}
		})
	}
}

func TestLoadCommand(t *testing.T) {
	room := &Room{Program: "/p", Gowhy: "/g", Dir: "/d", Port: 77}
	for name, c := range map[string]struct{ given, want string }{
		"told how long":   {"{gowhy} load http://h:{port}/", "/g load http://h:77/ -o /d/load.json -d 2s"},
		"knows how long":  {"{gowhy} load -d 1s http://h/", "/g load -d 1s http://h/ -o /d/load.json"},
		"knows how many":  {"{gowhy} load --count=5 http://h/", "/g load --count=5 http://h/ -o /d/load.json"},
		"before --":       {"{gowhy} load --rate 5 -- {case} -n 3", "/g load --rate 5 -o /d/load.json -d 2s -- /p -n 3"},
		"another's":       {"{case} -flood {dir}", "/p -flood /d"},
		"gowhy, not load": {"{gowhy} version", "/g version"},
	} {
		r := run{job: Job{Load: strings.Fields(c.given), Time: 2 * time.Second}, room: room}
		if got := strings.Join(r.loadCommand(), " "); got != c.want {
			t.Errorf("%s: loadCommand() = %q, want %q", name, got, c.want)
		}
	}
}

func TestComparison(t *testing.T) {
	room := &Room{Program: "/p", Gowhy: "/g", Dir: "/d", Port: 77}
	c := Comparison{Program: "/p", A: []string{"-at", "{port}"}, B: []string{"-at", "{port}", "two words"}, Flags: []string{"--pairs", "6"}}
	want := []string{"verify", "--json", "--a", "/p -at 77", "--b", "/p -at 77 'two words'", "--pairs", "6"}
	if got := c.arguments(room); !slices.Equal(got, want) {
		t.Errorf("arguments() = %q, want %q", got, want)
	}
	c.Load, c.Ready, c.Time = []string{"{gowhy}", "load", "http://h:{port}/"}, "ready", time.Second
	want = append(want, "--load", "/g load http://h:77/ -o /d/load.json -d 1s --json", "--ready", "log:ready")
	if got := c.arguments(room); !slices.Equal(got, want) {
		t.Errorf("arguments() under load = %q, want %q", got, want)
	}
}

// A gowhy that is there is not built.
func TestGivenGowhy(t *testing.T) {
	bed, path := testProgram(t)
	t.Setenv(Variable, path)
	if got, err := bed.Gowhy(t.Context()); err != nil || got != path {
		t.Errorf("Gowhy() = %q, %v; want %s", got, err, path)
	}
}

func TestRoom(t *testing.T) {
	bed, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	a, err := bed.room("/p", "/g")
	if err != nil {
		t.Fatal(err)
	}
	b, err := bed.room("/p", "/g")
	if err != nil || a.Dir == b.Dir || a.Port == 0 {
		t.Errorf("rooms %+v and %+v, %v; want two directories and a port", a, b, err)
	}
	if left, err := os.ReadDir(a.Dir); err != nil || len(left) > 0 {
		t.Errorf("a new room holds %v, %v; want nothing", left, err)
	}
	if err := bed.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(bed.Dir()); err == nil {
		t.Error("the bed is left")
	}
}

// A line is seen whatever pieces it comes in, and only at a line's beginning.
func TestReadyLine(t *testing.T) {
	var o output
	o.await("ready")
	for i, c := range []struct {
		text  string
		ready bool
	}{{"not ready\nrea", false}, {"d", false}, {"y at 1", false}, {"\nready\n", true}, {"more", true}} {
		if n, err := o.Write([]byte(c.text)); n != len(c.text) || err != nil {
			t.Fatalf("Write() = %d, %v; want %d", n, err, len(c.text))
		}
		seen := false
		select {
		case <-o.ready:
			seen = true
		default:
		}
		if seen != c.ready {
			t.Errorf("after piece %d: %v", i, seen)
		}
	}
}

// What cannot be kept is left out, and the program does not notice.
func TestLongOutput(t *testing.T) {
	var o output
	o.await("end")
	piece := []byte(strings.Repeat("x", 1<<20) + "\n")
	for range 20 {
		if n, err := o.Write(piece); n != len(piece) || err != nil {
			t.Fatalf("Write() = %d, %v; want %d", n, err, len(piece))
		}
	}
	if n := len(o.String()); n != maxOutput {
		t.Errorf("%d bytes are kept, want %d", n, maxOutput)
	}
	if got := tail(strings.Repeat("a", 5000) + "end"); len(got) > tailSize+10 || !strings.HasSuffix(got, "end") {
		t.Errorf("tail() has %d bytes, want at most %d with the end", len(got), tailSize+10)
	}
}

func TestOperations(t *testing.T) {
	for text, want := range map[string]float64{
		"": 0, "operations: 5": 5, "a\noperations: 5\nb\noperations: 7 \n": 7, "operations: many\n": 0, "12 operations: 3": 0,
	} {
		if got := Operations(text); got != want {
			t.Errorf("Operations(%q) = %v, want %v", text, got, want)
		}
	}
}
