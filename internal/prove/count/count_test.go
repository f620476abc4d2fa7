package count

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/coverage"
)

func TestParseGo(t *testing.T) {
	for _, c := range []struct {
		words string
		test  bool
		want  goWords
	}{
		{"./cmd/app -n 1000 -- -x", false, goWords{packages: []string{"./cmd/app"}, args: []string{"-n", "1000", "--", "-x"}}},
		{"-tags integration -race . a b", false, goWords{flags: []string{"-tags=integration"}, packages: []string{"."}, args: []string{"a", "b"}}},
		{"main.go more.go -v", false, goWords{packages: []string{"main.go", "more.go"}, args: []string{"-v"}}},
		{"-C sub -ldflags=-s .", false, goWords{dir: "sub", flags: []string{"-ldflags=-s"}, packages: []string{"."}}},
		{"-run ^$ -bench Parse ./parser", true, goWords{packages: []string{"./parser"}, args: []string{"-test.run=^$", "-test.bench=Parse"}}},
		{"./parser -bench=. -benchmem -count 1 -cpuprofile c.out", true, goWords{packages: []string{"./parser"}, args: []string{"-test.bench=.", "-test.benchmem", "-test.count=1"}}},
		{"-bench . -args -bench x ./y", true, goWords{args: []string{"-test.bench=.", "-bench", "x", "./y"}}},
		{"-test.bench=. -own 3", true, goWords{args: []string{"-test.bench=.", "-own", "3"}}},
	} {
		g := parseGo(strings.Fields(c.words), c.test)
		g.afterwards, g.own = false, false
		if !reflect.DeepEqual(g, c.want) {
			t.Errorf("%s: %+v, want %+v", c.words, g, c.want)
		}
	}
}

func TestKnob(t *testing.T) {
	for _, bad := range []string{"", "n", "-=1,2", "-n=", "-n=1", "-n=1,0", "-n=1,x", "-n=2,2", "---n=1,2", "-n=1,2,3,4,5,6,7,8,9", "-n=1,inf"} {
		if k, err := ParseKnob(bad); !problem.Is(err, problem.Misuse) {
			t.Errorf("ParseKnob(%q) = %v, %v", bad, k, err)
		}
	}
	for _, c := range []struct{ knob, args, want, env string }{
		{"-n=1,2", "-n 1000 -x", "-n 2 -x", ""},
		{"--n=1,2", "-n=1000 -x", "-n=2 -x", ""},
		{"-n=1,2", "-x file", "-n=2 -x file", ""},
		{"SIZE=1,2", "-x", "-x", "SIZE=2"},
	} {
		k, err := ParseKnob(c.knob)
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Fields(c.args)
		with, env := k.apply(args, k.last())
		if strings.Join(with, " ") != c.want || strings.Join(env, " ") != c.env || strings.Join(args, " ") != c.args {
			t.Errorf("%s in %q: %q, %q", c.knob, c.args, with, env)
		}
	}
}

func TestSuggest(t *testing.T) {
	for args, want := range map[string]string{
		"-guests 8000 -sort-slice": "--vary -guests=2000,4000,8000", "--n=100": "--vary --n=25,50,100", "-n 3 x": "", "1000": "",
		"-test.count=100 -months 40": "--vary -months=10,20,40",
	} {
		if got := Suggest(strings.Fields(args)); got != want {
			t.Errorf("Suggest(%q) = %q, want %q", args, got, want)
		}
	}
}

func TestRounds(t *testing.T) {
	if args := strings.Fields("-test.bench . -test.benchtime 2s"); !benchmarks(args) || fixedRounds(args) || !fixedRounds(withRounds(args, 7)) {
		t.Error(args, withRounds(args, 7))
	}
	if args := []string{"-test.benchtime=100x"}; benchmarks(args) || !fixedRounds(args) {
		t.Error(args)
	}
}

// A program that does not count in main writes nothing at its end.
func TestHotPackages(t *testing.T) {
	if got := hotPackages(new(model.Model), "example.com/app"); !slices.Equal(got, []string{"example.com/app"}) {
		t.Errorf("%v", got)
	}
	if got := hotPackages(nil, "example.com/app"); got != nil {
		t.Errorf("%v", got)
	}
}

// One test at a time runs what is below it, but for its subtests.
func TestTestOf(t *testing.T) {
	for name, c := range map[string]struct {
		frames []string // the innermost first
		want   string
	}{
		"test":         {[]string{"app.find", "app.TestFind", "testing.tRunner", "runtime.goexit"}, "app.TestFind"},
		"subtest":      {[]string{"app.find", "app.TestFind.func1", "testing.tRunner"}, ""},
		"named":        {[]string{"app.find", "app.findAll", "testing.tRunner"}, ""},
		"suite":        {[]string{"app.find", "app.(*suite).TestFind", "testing.tRunner"}, ""},
		"other":        {[]string{"app.find", "app.TestFind.func1", "runtime.goexit"}, ""},
		"cut short":    {[]string{"app.find", "app.TestFind"}, ""},
		"runner alone": {[]string{"testing.tRunner"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var frames []model.Frame
			for _, f := range c.frames {
				frames = append(frames, model.Frame{Func: f})
			}
			if got := testOf(frames); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// A sample that the compiler put into what it inlined does not make a file another one.
func TestStale(t *testing.T) {
	for name, c := range map[string]struct {
		joined, astray int
		want           bool
	}{
		"all fit":    {joined: 100},
		"one strays": {joined: 99, astray: 1},
		"some do":    {joined: 90, astray: 10, want: true},
		"none fits":  {astray: 1, want: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := &join{joined: map[string]int{"a.go": c.joined}, astray: map[string]int{"a.go": c.astray}}
			if got := len(j.stale()) > 0; got != c.want {
				t.Errorf("stale: %v, want %v", got, c.want)
			}
		})
	}
}

// counts returns those of a function of the size.
func counts(sizes []float64, of func(n float64) float64) (*Report, []uint64) {
	r := &Report{}
	var list []uint64
	for _, n := range sizes {
		r.Runs = append(r.Runs, Execution{Size: n})
		list = append(list, uint64(of(n)))
	}
	return r, list
}

// What grows with the input, with n·log n, or with a part that is the same for all is never
// said to grow faster; what grows with a power of 1.8 and more always.
func TestGrowth(t *testing.T) {
	sizes := [][]float64{{1000, 2000, 4000}, {10, 20, 40}, {70, 140, 280}, {100, 1000, 10000, 100000}, {50, 100}, {1, 2, 4, 8}}
	for _, s := range sizes {
		for name, of := range map[string]func(float64) float64{
			"constant": func(float64) float64 { return 12345 }, "n": func(n float64) float64 { return 1e6 * n },
			"n log n": func(n float64) float64 { return 1e6 * n * math.Log2(n+1) }, "n log n by doubling": func(n float64) float64 { return 1e6 * n * (1 + math.Log2(n)) },
			"n with a part": func(n float64) float64 { return 1e6 * (n + 5000) },
			"square root":   func(n float64) float64 { return 1e6 * math.Sqrt(n) },
		} {
			r, list := counts(s, of)
			if g := growth(r, list); g == nil || g.Faster {
				t.Errorf("%s at %v: growth() = %+v, want one that is not faster", name, s, g)
			}
		}
		// Begun late: a straight line, though the exponent is above 1.
		r, list := counts(s, func(n float64) float64 { return 1e6 * (n - 0.7*s[0]) })
		if g := growth(r, list); len(s) > 2 && (g == nil || g.Faster) {
			t.Errorf("a line that begins late at %v: growth() = %+v, want one that is not faster", s, g)
		}
	}
	for _, s := range sizes[:4] {
		for _, b := range []float64{1.8, 2, 3} {
			r, list := counts(s, func(n float64) float64 { return 100 * math.Pow(n, b) })
			if g := growth(r, list); g == nil || !g.Faster || math.Abs(g.Exponent-b) > 0.01 {
				t.Errorf("n^%g at %v: growth() = %+v, want it faster, with exponent %g", b, s, g, b)
			}
		}
		r, list := counts(s, func(n float64) float64 { return n * (n - 1) / 2 })
		if g := growth(r, list); g == nil || !g.Faster {
			t.Errorf("pairs at %v: growth() = %+v, want it faster", s, g)
		}
	}
	if r, list := counts([]float64{0, 0}, func(float64) float64 { return 1 }); growth(r, list) != nil {
		t.Error("runs without a size have a growth")
	}
	if r, list := counts([]float64{1, 2}, func(n float64) float64 { return n - 1 }); growth(r, list) != nil {
		t.Error("a count of 0 has a growth")
	}
}

func TestSquares(t *testing.T) {
	outer := []enclosingLoop{{Loop: &coverage.Loop{Entries: 1, Rounds: 3}}, {Loop: &coverage.Loop{Entries: 10, Rounds: 10_000}}}
	for _, c := range []struct {
		l    coverage.Loop
		want bool
	}{
		{coverage.Loop{Entries: 10_000, Rounds: 4_995_000, Bounded: true}, true},
		{coverage.Loop{Entries: 10_000, Rounds: 10_000_000, Bounded: true}, false}, // a table
		{coverage.Loop{Entries: 10_000, Rounds: 5_000_000}, false},                 // its end depends on something else
		{coverage.Loop{Entries: 10_000, Rounds: 100_000, Bounded: true}, false},
		{coverage.Loop{Entries: 10, Rounds: 15, Bounded: true}, false}, // half of three
	} {
		if got := squares(&c.l, outer); got != c.want {
			t.Errorf("squares(%+v) = %v, want %v", c.l, got, c.want)
		}
	}
	if squares(&coverage.Loop{Entries: 1000, Rounds: 500_000, Bounded: true}, nil) {
		t.Error("a loop that nothing calls")
	}
	if w := within(outer, 80_000); w == nil || w.Rounds != 10_000 || w.Each != 8 || within(outer, 20) != nil {
		t.Errorf("within(80000) = %+v, within(20) = %+v, want 10000 rounds, 8 each, and nil", w, within(outer, 20))
	}
}

func TestIsLiteral(t *testing.T) {
	for name, want := range map[string]bool{
		"find": false, "(*store).find": false, "find.func1": true, "find.func1.2": true, "find-range1": false, "find.func2-range1": true,
		"init.func1": true, "glob..func3": true, "func1": true, "function": false, "T.func": false,
	} {
		parts := strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".()*", r) })
		if got := isLiteral(parts); got != want {
			t.Errorf("isLiteral(%s) = %v", name, got)
		}
	}
}

func TestCountable(t *testing.T) {
	var got []string
	for _, p := range []string{"", "runtime", "internal/bytealg", "runtime/metrics", "sync/atomic", "sync", "sort",
		"encoding/json", "example.com/internal/x", "app", "testing", "vendor/golang.org/x/net"} {
		if countable(p) {
			got = append(got, p)
		}
	}
	if want := []string{"sync", "sort", "encoding/json", "example.com/internal/x", "app"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A counter begins again where the time that is not known to be spent elsewhere is enough for it.
func TestWraps(t *testing.T) {
	for _, c := range []struct {
		name    string
		cpu     float64 // sampled, in seconds
		self    float64 // of the busiest
		partial bool
		want    []bool
	}{
		{"most of it elsewhere", 3.5, 0.3, false, []bool{false, false}},
		{"all of it in one", 3.5, 0.9, false, []bool{false, true}},
		{"not sampled", 0, 0, false, []bool{false, true}},
		{"not to its end", 3.5, 0.3, true, []bool{false, true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &Report{CPU: c.cpu * 1e9, Runs: []Execution{{CPU: time.Second}, {CPU: 4 * time.Second}}, Base: 1, Partial: c.partial, Functions: []Function{{Self: 0.2}, {Self: c.self}}}
			r.wraps(2 * time.Second)
			for i, want := range c.want {
				if r.Runs[i].Wraps != want {
					t.Errorf("run %d wraps: %v, want %v", i, r.Runs[i].Wraps, want)
				}
			}
		})
	}
}

// No counter can begin again at once, nor may one that did go unsaid for minutes.
func TestWrapAfter(t *testing.T) {
	if d := wrapAfter(false); d < 500*time.Millisecond || d > 30*time.Second {
		t.Errorf("2^32 additions take %v", d)
	}
}
