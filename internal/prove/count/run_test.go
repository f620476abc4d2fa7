package count

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

// The program looks each of n numbers up in those before it. It profiles itself, and with
// -serve it ends when somebody interrupts it.
const program1 = `package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync"
	"time"
)

type store struct{ list []int }

func (s *store) find(x int) bool {
	for _, v := range s.list {
		if v == x {
			return true
		}
	}
	return false
}

func fill(s *store, n int) {
	for i := range n {
		if !s.find(i) {
			s.list = append(s.list, i)
		}
	}
}

func main() {
	n := flag.Int("n", 1000, "numbers")
	profile := flag.String("profile", "", "file")
	serve := flag.Bool("serve", false, "wait for an interrupt")
	twice := flag.Bool("twice", false, "in two goroutines")
	deaf := flag.Bool("deaf", false, "and let it end the program")
	flag.Parse()
	if *profile != "" {
		f, _ := os.Create(*profile)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	s := &store{}
	var other sync.WaitGroup
	if *twice {
		other.Add(1)
		go func() {
			defer other.Done()
			fill(&store{}, *n)
		}()
	}
	fill(s, *n)
	other.Wait()
	fmt.Println(len(s.list))
	if *deaf {
		time.Sleep(time.Hour)
	}
	if *serve {
		c := make(chan os.Signal, 1)
		signal.Notify(c, os.Interrupt)
		<-c
	}
}
`

const bench1 = `package main

import "testing"

func BenchmarkFind(b *testing.B) {
	s := &store{}
	fill(s, 100)
	b.ResetTimer()
	for range b.N {
		s.find(-1)
	}
}
`

// module writes the program, builds it and profiles it.
func module(t *testing.T) (dir string, m *model.Model) {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go command")
	}
	dir = t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/shop\n\ngo 1.24\n", "cmd/app/main.go": program1, "cmd/app/main_test.go": bench1} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
	}
	run("go", "build", "-buildvcs=false", "-o", "app", "./cmd/app")
	run("./app", "-n=50000", "-profile", "cpu.pprof")
	m, err := evidence.Load(t.Context(), []string{filepath.Join(dir, "cpu.pprof")}, evidence.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return dir, m
}

type quiet struct{}

func (quiet) Step(string, ...any) {}
func (quiet) Log(string)          {}
func (quiet) Clear()              {}

// named returns a function of a report.
func named(t *testing.T, r *Report, name string) *Function {
	t.Helper()
	var names []string
	for i := range r.Functions {
		if r.Functions[i].Name == name {
			return &r.Functions[i]
		}
		names = append(names, r.Functions[i].Name)
	}
	t.Fatalf("the functions are %q, want %s among them", names, name)
	return nil
}

// Each number of a program whose numbers are known is counted, by a recording, by the go
// command and by a benchmark.
func TestRun(t *testing.T) {
	dir, m := module(t)
	knob, err := ParseKnob("-n=100,200,400")
	if err != nil {
		t.Fatal(err)
	}
	setup := Setup{Command: []string{"./app", "-n=100"}, Dir: dir, Model: m, Vary: knob, Limit: time.Minute}
	r, err := setup.Run(t.Context(), quiet{})
	if err != nil {
		t.Fatal(err)
	}
	f := named(t, r, "main.(*store).find")
	if len(f.Calls) != 3 || f.Calls[0] != 100 || f.Calls[2] != 400 || f.Growth.Faster || f.Self < 0.8 || f.Caller.Function != "main.fill" {
		t.Errorf("%s has %v calls that grow by %+v, self %v, caller %+v, "+
			"want 3 of 100 to 400, not faster, 0.8 or more, main.fill", f.Name, f.Calls, f.Growth, f.Self, f.Caller)
	}
	if p := f.Pieces[1]; p.Rounds[0] != 4950 || p.Rounds[2] != 79_800 || p.Entries[2] != 400 || p.Early[2] != 0 || !p.Growth.Faster || p.PerRound == nil || p.Line != 16 {
		t.Errorf("the loop in line %d has rounds %v that grow by %+v, entries %v, early %v, a time of each %v, "+
			"want line 16, 4950 to 79800, faster, 400 and 0 in the last, true",
			p.Line, p.Rounds, p.Growth, p.Entries, p.Early, p.PerRound != nil)
	}
	if f := named(t, r, "main.fill"); f.Calls[0] != 1 || f.Pieces[1].Rounds[1] != 200 || f.Pieces[1].Growth.Faster {
		t.Errorf("main.fill has %v calls, rounds %v that grow by %+v, want 1 first, 200 in the second, not faster",
			f.Calls, f.Pieces[1].Rounds, f.Pieces[1].Growth)
	}
	if len(r.Notes) != 0 || setup.atomic {
		t.Error(r.Notes, setup.atomic)
	}

	t.Run("goroutines", func(t *testing.T) {
		s := Setup{Command: []string{"./app", "-n=5000", "-twice"}, Dir: dir, Limit: time.Minute}
		r, err := s.Run(t.Context(), quiet{})
		if err != nil || !s.atomic {
			t.Fatal(err, s.atomic)
		}
		for _, f := range r.Functions { // without a profile the package's name is its import path
			if strings.HasSuffix(f.Name, "find") && (f.Calls[0] != 10_000 || f.Pieces[1].Rounds[0] != 5000*4999) {
				t.Errorf("%s has %v calls and %v rounds, want %d and %d",
					f.Name, f.Calls, f.Pieces[1].Rounds, 10_000, 5000*4999)
			}
		}
	})

	t.Run("benchmark", func(t *testing.T) {
		s := Setup{Command: strings.Fields("go test -run ^$ -bench Find -benchtime 50x ./cmd/app"), Dir: dir, Model: m, Limit: time.Minute}
		r, err := s.Run(t.Context(), quiet{})
		if err != nil {
			t.Fatal(err)
		}
		// A benchmark makes one round first, and fills the store both times.
		if f := named(t, r, "main.(*store).find"); f.Calls[0] != 251 || f.Pieces[1].Rounds[0] != 2*4950+51*100 {
			t.Errorf("%s has %v calls and %v rounds, want %d and %d",
				f.Name, f.Calls, f.Pieces[1].Rounds, 251, 2*4950+51*100)
		}
	})

	t.Run("ended", func(t *testing.T) {
		s := Setup{Command: []string{"./app", "-n=100", "-serve"}, Dir: dir, Model: m, Limit: time.Minute, End: 3 * time.Second}
		r, err := s.Run(t.Context(), quiet{})
		if err != nil {
			t.Errorf("Run() of what a signal ends: %v", err)
		} else if p := named(t, r, "main.(*store).find").Pieces[1]; !r.Partial || p.PerRound != nil {
			t.Errorf("Run() of what a signal ends is partial %v, has the time of a round %v, want true, false",
				r.Partial, p.PerRound != nil)
		}
		s.Command = []string{"./app", "-n=100", "-deaf"}
		if _, err := s.Run(t.Context(), quiet{}); !problem.Is(err, problem.Absence) || !strings.Contains(err.Error(), "without writing its counters: the interrupt ended it") {
			t.Error(err)
		}
	})

	t.Run("changed", func(t *testing.T) {
		file := filepath.Join(dir, "cmd/app/main.go")
		other := strings.Replace(program1, "type store", "func other() {\n\n\n\n\n\n}\n\ntype store", 1)
		if err := os.WriteFile(file, []byte(other), 0o644); err != nil {
			t.Fatal(err)
		}
		s := Setup{Command: []string{"./app", "-n=100"}, Dir: dir, Model: m, Limit: time.Minute}
		r, err := s.Run(t.Context(), quiet{})
		if err != nil {
			t.Errorf("Run() of another source: %v", err)
		} else if len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "main.go is not what was recorded") {
			t.Errorf("Run() of another source has the notes %q, want one: main.go is not what was recorded", r.Notes)
		}
		if err := os.WriteFile(file, []byte(program1+"x"), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), quiet{}); err == nil || !strings.Contains(err.Error(), "does not build:\n    ") {
			t.Error(err)
		}
	})
}
