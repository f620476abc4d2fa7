package screen

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gdamore/tcell/v2"

	"github.com/gowhy/gowhy/internal/watch/live"
)

var update = flag.Bool("update", false, "write the golden files anew")

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// machine returns a frame with a sick program, a well one, one that may not be looked
// into and one whose name is an attack.
func machine() *live.Frame {
	sick := live.Process{PID: 4711, Parent: 1, Name: "shop", User: "www", State: "S", Up: 3 * time.Hour, Threads: 12, RSS: 120 << 20,
		CPU: live.CPU{User: 1.2, System: 0.3}, Program: "example.com/shop/v2", Version: "v2.3.1", Go: "go1.26.3", Args: []string{"shop", "-listen", ":80"},
		Counters: &live.Counters{Waiting: 0.4, Wait: 75 * time.Microsecond, Voluntary: 5000, Involuntary: 300, Reads: 1200, Writes: 900, FDs: 80, CPUs: 2, Quota: 1.5, Throttled: 0.25},
		Memory:   &live.Memory{PSS: 97 << 20, Swap: 4 << 20, Age: 8 * time.Second},
		Runtime:  &live.Runtime{Procs: 8, BusyProcs: 7, HeapLive: 64 << 20, HeapGoal: 128 << 20, GCs: 12, GCShare: 0.18},
		Goroutines: &live.Goroutines{Total: 20420, Running: 2, Runnable: 18, Syscall: 1, Waiting: 20399, Growth: 1200, Groups: []live.Group{
			{Function: "main.(*Server).serve", State: "waiting", Reason: "chan receive", Count: 20000, Oldest: 10 * time.Minute, Growth: 1200, Creator: "main.accept:40", At: "main.(*Server).serve:52",
				Labels: []live.LabelGroup{{Text: "route=/orders zone=b", Count: 19000}, {Text: "route=/\x1b[31mred", Count: 700}, {Text: "route=/users", Count: 5}}, LabelSets: 9},
			{Function: "main.work", State: "running", Count: 2},
		}},
		Verdict: &live.Verdict{Line: "Goroutines pile up: main.accept server.go:40", Judged: 4, At: noon.Add(-3 * time.Second), Unchecked: []string{"hotmutex", "starved"},
			Findings: []live.Finding{{Rule: "unboundedspawn", Title: "Goroutines pile up", Where: "main.accept server.go:40", Summary: "They come faster than they go: 1,200 more a minute.",
				Gain: "at most 12% less CPU", Confidence: "high", Since: noon.Add(-time.Minute), Last: noon}},
			Activity: live.Activity{Time: 10 * time.Second, CPU: []live.Spot{{Function: "runtime.mallocgc", Under: "main.work", Cores: 0.5}, {Function: "copy_user", Kernel: true, Cores: 0.1}},
				Calls: []live.Calls{{Name: "read", Rate: 1200}, {Name: "futex", Rate: 15000}}}}}
	well := live.Process{PID: 4712, Parent: 4711, Name: "worker", User: "www", State: "S", Up: time.Minute, Threads: 5, RSS: 20 << 20, CPU: live.CPU{User: 0.02},
		Program: "example.com/worker", Go: "go1.26.3", Goroutines: &live.Goroutines{Total: 9, Waiting: 9}, Verdict: &live.Verdict{Line: "nothing found without a trace"}}
	closed := live.Process{PID: 5, Name: "db", User: "db", Up: 49 * time.Hour, Threads: 3, RSS: 1 << 20, Program: "example.com/db", Go: "go1.22.1",
		Memory:     &live.Memory{Why: "another user's program", How: "sudo gowhy top 5"},
		Goroutines: &live.Goroutines{Why: "another user's program", How: "sudo gowhy top 5"}}
	evil := live.Process{PID: 666, Name: "evil", User: "\x1b]0;title\x07", Program: "x/\x1b[2J\x1b[31mevil", Go: "go1.26", Args: []string{"\x1b[2J", "\u202e"},
		Verdict: &live.Verdict{Line: "\x1b[31mred\x1b[0m"}}
	return &live.Frame{Time: noon, Machine: live.Machine{CPUs: 2, Busy: 1.6, Load: 2.5, Memory: 8 << 30, Available: 6 << 30, CPUPressure: 0.3, Processes: 90, Programs: 4, Closed: 2},
		Processes: []live.Process{sick, well, closed, evil}, Cost: live.Cost{Share: 0.006, Budget: 0.02, Every: time.Second}}
}

// A made source gives the same frame, and remembers what it was told.
type made struct {
	mu       sync.Mutex
	frame    *live.Frame
	attended []int
	traced   bool
	all      bool
	threads  int
	kept     string
	came     chan bool // told of frames, where somebody waits for them
}

func (m *made) Refresh() (*live.Frame, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case m.came <- true:
	default:
	}
	f := *m.frame
	return &f, nil
}

func (m *made) Attend(pid int, trace bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.attended, m.traced = append(m.attended, pid), trace
}

func (m *made) Keep(_ int, to string) error {
	m.kept = to
	return nil
}

func (m *made) ShowAll(all bool) { m.all = all }

func (m *made) ShowThreads(pid int) { m.threads = pid }

// drawn is a view on a screen that is only simulated.
type drawn struct {
	t *testing.T
	s tcell.SimulationScreen
	v *view
	m *made
}

func draw(t *testing.T, width, height int, o Options) *drawn {
	t.Helper()
	s := tcell.NewSimulationScreen("UTF-8")
	if err := s.Init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Fini)
	s.SetSize(width, height)
	m := &made{frame: machine()}
	d := &drawn{t, s, newView(m, o), m}
	d.v.take(m.frame)
	return d
}

// text returns what is on the screen.
func (d *drawn) text() string {
	d.v.draw(d.s)
	d.s.Show()
	cells, w, h := d.s.GetContents()
	var b strings.Builder
	for y := range h {
		var l strings.Builder
		for x := range w {
			c := cells[y*w+x]
			if len(c.Runes) == 0 {
				l.WriteByte(' ')
				continue
			}
			l.WriteString(string(c.Runes))
		}
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

func (d *drawn) press(keys ...string) {
	for _, k := range keys {
		d.v.key(keyOf(k))
	}
}

func keyOf(name string) *tcell.EventKey {
	for k, n := range tcell.KeyNames {
		if n == name {
			return tcell.NewEventKey(k, 0, 0)
		}
	}
	return tcell.NewEventKey(tcell.KeyRune, []rune(name)[0], 0)
}

func (d *drawn) wants(what ...string) {
	d.t.Helper()
	text := d.text()
	for _, w := range what {
		if !strings.Contains(text, w) {
			d.t.Errorf("%q is not on the screen:\n%s", w, text)
		}
	}
}

// TestGolden draws each view at both sizes.
func TestGolden(t *testing.T) {
	t.Setenv("TZ", "UTC")
	old := time.Local
	time.Local = time.UTC
	defer func() { time.Local = old }()
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		for name, keys := range map[string][]string{
			"list": nil, "program": {"Enter"}, "tree": {"t"}, "help": {"F1"}, "columns": {"F2"}, "closed": {"N", "Home", "Enter"},
		} {
			d := draw(t, size[0], size[1], Options{Every: time.Second})
			d.text() // keys act on what is seen
			d.press(keys...)
			file := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, size[0]))
			got := d.text()
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s:\n%s\nwant\n%s", file, got, want)
			}
		}
	}
}

// TestNothingEscapes looks for control characters of names on the screen and in lines.
func TestNothingEscapes(t *testing.T) {
	d := draw(t, 200, 60, Options{})
	plain := Plain(machine(), 200, false) + Plain(machine(), 80, true)
	for _, text := range []string{d.text(), plain} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("a name's control characters are on the screen:\n%q", text)
		}
	}
	d.press("/", "e", "v", "i", "l", "Enter", "Enter")
	if text := d.text(); strings.ContainsAny(text, "\x1b\x07\u202e") {
		t.Errorf("a name's control characters are on the screen:\n%q", text)
	}
}

func TestKeys(t *testing.T) {
	d := draw(t, 120, 30, Options{Every: time.Second})
	d.text()
	d.press("F4", "w", "o", "r", "k", "e", "r", "Enter")
	if d.wants("worker"); len(d.v.rows) != 1 {
		t.Errorf("the filter leaves %d processes, want 1", len(d.v.rows))
	}
	d.press("F4")
	d.v.key(tcell.NewEventKey(tcell.KeyCtrlU, 0, 0))
	d.press("Enter")
	d.press("M")
	if d.text(); d.v.rows[0].PID != 4711 {
		t.Errorf("by memory %d is first, want 4711", d.v.rows[0].PID)
	}
	d.press("I")
	if d.v.rows[0].PID == 4711 {
		t.Error("I does not turn the order round")
	}
	d.press("I", "Home", "Enter")
	d.wants("Goroutines pile up", "main.(*Server).serve", "chan receive", "10m00", "+1200", "since ")
	if n := len(d.m.attended); n == 0 || d.m.attended[n-1] != 4711 {
		t.Errorf("Enter attends %v, want 4711", d.m.attended)
	}
	d.press("t")
	if !d.m.traced {
		t.Error("t takes no trace")
	}
	d.press("d")
	d.wants("CHANGE")
	d.press("r")
	if !strings.HasPrefix(d.m.kept, "shop-") {
		t.Errorf("r keeps %q", d.m.kept)
	}
	d.press("F9")
	d.wants("End process 4711 (shop)?", "y: SIGTERM", "9: SIGKILL", "3: SIGQUIT")
	d.press("n")
	if d.v.question != nil || d.v.quit {
		t.Error("n does not close the question alone")
	}
	d.press(" ")
	d.wants("frozen")
	d.press(" ", "Esc")
	if d.v.open != 0 {
		t.Error("Esc does not go back")
	}
	d.press("a")
	if !d.m.all {
		t.Error("a does not show all")
	}
	d.press("F2", " ", "Down", " ", "x")
	if _, told := d.v.chosen["PID"]; told || !d.v.chosen["USER"] {
		t.Errorf("chosen columns: %v, want the user's alone", d.v.chosen)
	}
	d.wants("USER")
	if d.press("q"); !d.v.quit {
		t.Error("q does not quit")
	}
}

// TestWaits says what is known of waiting for a CPU.
func TestWaits(t *testing.T) {
	for want, c := range map[string]live.Counters{
		" 40.0%  for a CPU, 1.25 ms each time":                               {Waiting: 0.4, Wait: 1250 * time.Microsecond},
		"  0.0%  for a CPU; none got one":                                    {Waiting: 0, Wait: -1},
		"     -  for a CPU: this kernel does not count it; see gowhy doctor": {Waiting: -1, Wait: -1},
	} {
		if got := waitsOf(&c); got != want {
			t.Errorf("waitsOf(%+v) = %q, want %q", c, got, want)
		}
	}
	d := draw(t, 200, 60, Options{Every: time.Second})
	d.v.chosen["LAG"] = true
	d.wants("    LAG ", " 75.0 µs ")
}

// TestNarrow leaves processes out by filter and user, and Esc brings them back.
func TestNarrow(t *testing.T) {
	d := draw(t, 80, 24, Options{Every: time.Second})
	d.press("u", "w", "w", "w", "Enter")
	if d.wants("user www"); len(d.v.rows) != 2 {
		t.Errorf("user www has %d processes, want 2", len(d.v.rows))
	}
	d.press("F4", "n", "o", "n", "e", "Enter")
	d.wants("no process matches the filter none, user www; Esc shows all")
	d.press("Esc")
	if d.wants("F10Quit"); len(d.v.rows) != 4 || d.v.quit {
		t.Errorf("Esc leaves %d processes, want 4", len(d.v.rows))
	}
	d.press("Esc")
	if d.wants("q or F10 quits"); d.v.quit {
		t.Error("Esc quits")
	}
}

// TestDense has twenty programs that are idle on a screen of 24 lines, and a second line
// only for those of which there is more to say.
func TestDense(t *testing.T) {
	d := draw(t, 80, 24, Options{Every: time.Second})
	d.m.frame.Processes = nil
	for i := range 20 {
		d.m.frame.Processes = append(d.m.frame.Processes, live.Process{PID: 100 + i, Name: fmt.Sprintf("idler%d", i), Program: fmt.Sprintf("x/idler%d", i), Go: "go1.26",
			Goroutines: &live.Goroutines{Total: 3}, Verdict: &live.Verdict{Line: live.Idle}})
	}
	d.v.take(d.m.frame)
	d.wants("idler0  idle", "idler19  idle")
	text := Plain(d.m.frame, 80, false)
	if n := strings.Count(text, "\n"); n != 22 || !strings.Contains(text, "idler19  idle") {
		t.Errorf("%d lines of 20 programs:\n%s", n, text)
	}
	leak := &d.m.frame.Processes[0]
	leak.Goroutines.Growth = leakGrowth
	if quiet(leak) || !quiet(&d.m.frame.Processes[1]) {
		t.Error("what leaks has nothing to say, or what is idle has")
	}
}

// TestChosenColumns has what the user chooses in sight, however narrow the terminal is.
func TestChosenColumns(t *testing.T) {
	d := draw(t, 80, 24, Options{Every: time.Second})
	d.text()
	d.press("F2", "End")
	d.wants("PROGRAM  name") // the last of more columns than lines
	for i, c := range listColumns {
		if c.head == "FDS" {
			d.v.at = i
		}
	}
	d.press(" ", "x")
	d.wants("  FDS ")
	d.press("F6", "Home", "Down", "Enter")
	if d.wants(" USER "); listColumns[d.v.sort].head != "USER" {
		t.Errorf("sorted by %s, want USER", listColumns[d.v.sort].head)
	}
	d.press(">")
	d.wants("sorted by CPU in use")
}

// TestFollow has the bar stay at the top until it is moved, and then with its process.
func TestFollow(t *testing.T) {
	d := draw(t, 80, 24, Options{Every: time.Second})
	turned := func() {
		f := machine()
		f.Processes[1].CPU.User = 5 // the worker comes first
		d.v.take(f)
	}
	if turned(); d.v.selected != 4712 {
		t.Errorf("the bar is on %d, want the first, 4712", d.v.selected)
	}
	d.v.take(machine())
	d.press("Down")
	if turned(); d.v.selected != 4712 || d.v.index() != 0 {
		t.Errorf("the bar is on %d, want 4712, on which it was put", d.v.selected)
	}
}

// TestMessages stay until a key when they must be read, and are shown whole.
func TestMessages(t *testing.T) {
	address := "http://localhost:8001/" + strings.Repeat("x", 30) + "#end"
	d := draw(t, 60, 24, Options{Every: time.Second, Page: func(int) (string, error) { return address, nil }})
	d.text()
	d.press("w")
	d.wants("the live page is at", address)
	d.press("Down")
	d.wants("F1Help")
	d = draw(t, 60, 24, Options{Every: time.Second})
	d.text()
	d.press("w")
	d.wants("there is no live page here")
}

func TestPeaks(t *testing.T) {
	var s series
	for i := range pastLength + 7 {
		s.add(float64(i % 10))
	}
	cells := s.peaks(20)
	for i, x := range cells[:len(cells)-1] { // each is of more than ten points, but for the last
		if x != 9 {
			t.Errorf("cell %d is %v, want the peak, 9", i, x)
		}
	}
	if len(cells) != 20 {
		t.Errorf("%d cells, want 20", len(cells))
	}
	var level series
	for range 3 * pastLength {
		level.add(4)
	}
	level.add(7)
	if got := level.peaks(4); !slices.Equal(got[len(got)-2:], []float64{4, 7}) || len(level.runs) != 2 {
		t.Errorf("cells %v of a figure that stayed the same, kept as %v", got, level.runs)
	}
	if (&series{}).peaks(5) != nil {
		t.Error("nothing has peaks")
	}
}

func TestMouse(t *testing.T) {
	d := draw(t, 80, 24, Options{Every: time.Second})
	lines := strings.Split(d.text(), "\n")
	for y, l := range lines {
		if strings.Contains(l, "worker") {
			d.v.mouse(tcell.NewEventMouse(20, y, tcell.Button1, 0))
			d.text()
			d.v.mouse(tcell.NewEventMouse(20, y, tcell.Button1, 0))
		}
	}
	if d.v.open != 4712 {
		t.Errorf("two clicks open %d, want 4712", d.v.open)
	}
	d.v.enter(0)
	d.text()
	x := strings.Index(lines[2], "RSS")
	d.v.mouse(tcell.NewEventMouse(x, 2, tcell.Button1, 0))
	if listColumns[d.v.sort].head != "RSS" {
		t.Errorf("a click on RSS sorts by %s", listColumns[d.v.sort].head)
	}
}

// TestRestart follows a program that ends and is started again.
func TestRestart(t *testing.T) {
	d := draw(t, 100, 30, Options{Open: 4711})
	f := machine()
	f.Time = noon.Add(time.Second)
	f.Processes[0].PID, f.Processes[0].Up = 4800, time.Second/2
	d.v.take(f)
	if d.v.open != 4800 {
		t.Errorf("open is %d, want 4800", d.v.open)
	}
	gone := machine()
	gone.Processes = gone.Processes[1:]
	d = draw(t, 100, 30, Options{Open: 4711})
	d.v.take(gone)
	d.wants("process 4711 has ended")
}

// TestSizes draws into terminals of any size, one cell included.
func TestSizes(t *testing.T) {
	for w := 1; w < 130; w += 7 {
		for h := 1; h < 40; h += 5 {
			for _, keys := range [][]string{nil, {"Enter"}, {"F1"}, {"F2"}, {"F9"}} {
				d := draw(t, w, h, Options{Plain: w%2 == 0})
				d.press(keys...)
				d.text()
			}
		}
	}
}

// TestRun runs the loop: a frame comes, the terminal changes its size, a key ends it.
func TestRun(t *testing.T) {
	s := tcell.NewSimulationScreen("UTF-8")
	done, m := make(chan error), &made{frame: machine(), came: make(chan bool, 1)}
	go func() {
		done <- Run(context.Background(), m, Options{Screen: s, Every: 10 * time.Millisecond})
	}()
	<-m.came
	<-m.came // the first was drawn
	s.SetSize(60, 20)
	s.PostEvent(tcell.NewEventResize(60, 20))
	s.InjectKey(tcell.KeyEnter, 0, 0)
	s.InjectKey(tcell.KeyF10, 0, 0)
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("F10 does not end it")
	}
}

// H shows the threads of the program that is looked at, and of no other.
func TestThreads(t *testing.T) {
	d := draw(t, 120, 60, Options{Every: time.Second, Open: 4711})
	d.m.frame.Processes[0].Tasks = []live.Task{{ID: 4713, Name: "shop\x1b[2J", CPU: live.CPU{User: 0.5, System: 0.25}, Waiting: 0.1, Switches: 1200}}
	d.v.take(d.m.frame)
	if strings.Contains(d.text(), "Threads, of one CPU") {
		t.Error("threads are shown unasked")
	}
	d.press("H")
	d.wants("Threads, of one CPU", "4713    75.0   25.0   10.0    1200  shop")
	if d.m.threads != 4711 {
		t.Errorf("threads of %d are read, want 4711's", d.m.threads)
	}
	d.press("Esc")
	if d.m.threads != 0 {
		t.Errorf("threads of %d are read for the list", d.m.threads)
	}
}
