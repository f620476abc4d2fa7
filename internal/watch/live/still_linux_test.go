package live

import (
	"io"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// restWord has this test be a program that does nothing until its input ends.
const restWord = "GOWHY_TEST_REST"

func TestMain(m *testing.M) {
	if os.Getenv(restWord) == "" {
		os.Exit(m.Run())
	}
	wait := make(chan int)
	for range 7 {
		go func() { <-wait }()
	}
	os.Stdout.WriteString("ready\n")
	io.Copy(io.Discard, os.Stdin)
}

func resting(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), restWord+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	if _, err := out.Read(make([]byte, 6)); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// TestStill says of a program that did not run what a look into it would, without one.
func TestStill(t *testing.T) {
	pid := resting(t)
	p := &target{pid: pid, atOnce: true, stacks: true}
	defer p.close()
	var looked, still Process
	begin := time.Now()
	p.read(&Process{}, begin, 1, false)
	p.read(&Process{}, begin.Add(time.Second), 1, false)
	p.read(&looked, begin.Add(2*time.Second), 1, false)
	if looked.Goroutines == nil || looked.Goroutines.Why != "" {
		t.Skipf("its goroutines cannot be read: %+v", looked.Goroutines)
	}
	p.counted = p.before // switches are read less often where looks follow each other at once
	found, switches := p.snapshot, p.before.Process.Voluntary
	p.read(&still, begin.Add(2*time.Second+time.Microsecond), 1, true)
	if p.snapshot != found {
		t.Error("the goroutines of a program that did not run were read again")
	}
	for n := range looked.Goroutines.Groups { // what time alone changes
		g, is := &looked.Goroutines.Groups[n], &still.Goroutines.Groups[n]
		if is.Oldest <= g.Oldest {
			t.Errorf("%s is so for %v, and was for %v before", g.Function, is.Oldest, g.Oldest)
		}
		is.Oldest = g.Oldest
	}
	if !reflect.DeepEqual(still.Goroutines, looked.Goroutines) {
		t.Errorf("the goroutines of a program that did not run are\n%+v, want as before\n%+v",
			still.Goroutines, looked.Goroutines)
	}
	if looked.Runtime != nil && (still.Runtime == nil || still.Runtime.Procs != looked.Runtime.Procs || still.Runtime.GCs != 0) {
		t.Errorf("the runtime of a program that did not run is %+v, want no collections, the Ps of %+v",
			still.Runtime, looked.Runtime)
	}
	c := still.Counters
	if c.FDs != looked.Counters.FDs || c.Voluntary > 0 || c.Reads > 0 || c.Waiting > 0 || still.CPU != (CPU{}) {
		t.Errorf("a program that did not run: %d descriptors, %v switches, %v reads, %v waiting, CPU %v, "+
			"want %d, nothing else", c.FDs, c.Voluntary, c.Reads, c.Waiting, still.CPU, looked.Counters.FDs)
	}
	if d := p.before.Time.Sub(p.looked); d.Abs() > time.Minute || p.before.Process.Voluntary != switches {
		t.Errorf("the sample is %v off, and has %d switches of %d", d, p.before.Process.Voluntary, switches)
	}
	// It is read where its threads are wanted, its memory has changed, its switches were not
	// read since it ran, or others may keep it from running.
	for name, change := range map[string]func(){
		"threads": func() { p.threads = true }, "memory": func() { p.rss++ }, "quota": func() { p.counters.Quota = 1 },
		"switches": func() { p.counted.Time = p.before.Time.Add(-time.Second) },
	} {
		p.counted, p.threads, p.counters.Quota, p.rss = p.before, false, 0, 0
		change()
		was := p.counters
		if p.read(&Process{}, time.Now(), 1, true); p.counters == was {
			t.Errorf("%s: its counters are not read", name)
		}
	}
	// One that ran, and whose goroutines were not read since, is looked into.
	p.counted, p.threads, p.counters.Quota, p.rss, p.fresh = p.before, false, 0, 0, false
	if p.read(&Process{}, time.Now().Add(time.Hour), 1, true); p.snapshot == found {
		t.Error("goroutines that were not read since the program ran are taken for new")
	}
}

// TestRefreshStill has a watch notice by itself that a program does not run.
func TestRefreshStill(t *testing.T) {
	pid := resting(t)
	w, err := New(Options{PIDs: []int{pid}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	still := func(t proc.Task) bool { return t.ID == pid && t.Still }
	for deadline := time.Now().Add(time.Minute); ; {
		f, err := w.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		g := f.Processes[0].Goroutines
		if g != nil && g.Why != "" {
			t.Skipf("its goroutines cannot be read: %s", g.Why)
		}
		if g != nil && slices.ContainsFunc(w.tasks, still) {
			if g.Total != 8 {
				t.Errorf("%d goroutines, want 8", g.Total)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("a program that waits for its input is never still")
		}
	}
}

func TestAfter(t *testing.T) {
	s := &goroutines.Snapshot{Time: time.Unix(100, 0), Count: 3, Groups: []goroutines.Group{{Count: 3, Oldest: 5 * time.Second, Ages: [12]int{3, 1, 1}}}}
	g := s.After(3 * time.Second).Groups[0]
	// One was so for 4 s at least and is for 7 s, of all it is known for 3 s and that
	// they were so for 1 s before.
	if g.Oldest != 8*time.Second || g.Ages != [12]int{3, 3, 3} {
		t.Errorf("after 3 s the oldest is so for %v, by age %v", g.Oldest, g.Ages)
	}
	if s.Groups[0].Oldest != 5*time.Second || s.Groups[0].Ages != [12]int{3, 1, 1} {
		t.Errorf("After() makes the snapshot oldest %v, by age %v, want 5s, [3 1 1] as before",
			s.Groups[0].Oldest, s.Groups[0].Ages)
	}
}
