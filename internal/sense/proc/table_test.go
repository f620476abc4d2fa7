//go:build linux

package proc

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("got:\n%s\nwant %s (%v):\n%s", got, path, err, want)
	}
}

// text returns a table as the golden files have it.
func text(table *Table) string {
	var b strings.Builder
	for _, r := range table.Tree(nil) {
		fmt.Fprintf(&b, "%s%d %q %c child of %d, from %v: %v + %v, wait %d, switches %d and %d, faults %d and %d, ", strings.Repeat("    ", r.Depth),
			r.ID, r.Name, r.State, r.Parent, r.Start, r.User, r.System, r.RunQueue, r.Voluntary, r.Involuntary, r.MinorFaults, r.MajorFaults)
		switch {
		case r.Thread:
			fmt.Fprintf(&b, "a thread of %d\n", r.Process)
		case r.Kernel:
			b.WriteString("of the kernel\n")
		default:
			fmt.Fprintf(&b, "%d threads, RSS %d pages, PSS %d\n", r.Threads, r.RSS/pageSize, r.PSS)
		}
	}
	return b.String()
}

// table makes one of a fixture.
func table(t *testing.T, root string, w Watch) *Table {
	t.Helper()
	table, err := newTable(filepath.Join(root, "proc"), w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

func mustUpdate(t testing.TB, table *Table) {
	t.Helper()
	if err := table.Update(); err != nil {
		t.Fatal(err)
	}
}

// Descriptors that stay open, or that do not, change nothing in what is read.
func TestTable(t *testing.T) {
	root := unpack(t, "tree")
	for name, w := range map[string]Watch{
		"all":     {},
		"threads": {Threads: true, Memory: true},
		"tree":    {PID: 9, Tree: true, Threads: true},
		"one":     {PID: 9},
	} {
		for _, keep := range []int{0, -1, 3} {
			w.Keep = keep
			table := table(t, root, w)
			for range 2 {
				mustUpdate(t, table)
				golden(t, "tree-"+name+".golden", text(table))
			}
			if kept := table.Use().Kept; keep != 0 && kept > max(0, keep) {
				t.Errorf("%d descriptors kept, want at most %d", kept, keep)
			}
		}
	}
}

// Processes and threads come and go, and numbers are used again.
func TestTableChanges(t *testing.T) {
	root := unpack(t, "tree")
	proc := filepath.Join(root, "proc")
	table := table(t, root, Watch{Threads: true})
	mustUpdate(t, table)
	steps := []struct {
		name   string
		change func()
	}{
		{"a thread ended and another came", func() {
			os.RemoveAll(filepath.Join(proc, "9/task/11"))
			write(t, filepath.Join(proc, "9/task/13/stat"), "13 (new) S 1 9 9 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 3 0 99 1000000 500 0\n")
			write(t, filepath.Join(proc, "9/task/13/schedstat"), "5 6 1\n")
			write(t, filepath.Join(proc, "9/task/13/status"), "Name:\tnew\nvoluntary_ctxt_switches:\t1\nnonvoluntary_ctxt_switches:\t0\n")
		}},
		{"a process ended, its child was given to the first", func() {
			os.RemoveAll(filepath.Join(proc, "9"))
			write(t, filepath.Join(proc, "10/stat"), "10 (dead) Z 1 9 9 0 -1 4194560 100 0 5 0 1 1 0 0 20 0 1 0 90 0 0 0\n")
		}},
		{"its number was given to another", func() {
			write(t, filepath.Join(proc, "20/stat"), "20 (reused) R 1 9 9 0 -1 4194560 7 0 0 0 0 0 0 0 20 0 1 0 500 4096 2 0\n")
			write(t, filepath.Join(proc, "20/task/20/stat"), "20 (reused) R 1 9 9 0 -1 4194560 7 0 0 0 0 0 0 0 20 0 1 0 500 4096 2 0\n")
			write(t, filepath.Join(proc, "20/task/20/schedstat"), "1000 2 3\n")
		}},
		{"a name was changed", func() {
			write(t, filepath.Join(proc, "1/stat"), "1 (renamed) S 0 1 1 0 -1 4194560 100 0 5 0 10 20 0 0 20 0 1 0 3 1000000 500 0\n")
		}},
	}
	got := text(table)
	for _, s := range steps {
		s.change()
		mustUpdate(t, table)
		got += "\n" + s.name + ":\n" + text(table)
	}
	golden(t, "changes.golden", got)
}

// cats starts processes that wait until the test ends, and returns when they do: one that
// waits for its first CPU counts as little as one at rest, but not for long.
func cats(t testing.TB, n int) (pids []int) {
	t.Helper()
	for range n {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Skip(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Skip(err)
		}
		t.Cleanup(func() { in.Close(); cmd.Wait() })
		pid := cmd.Process.Pid
		pids = append(pids, pid)
		if _, err := io.WriteString(in, "x\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, 2)); err != nil {
			t.Fatal(err)
		}
		sleeps(t, pid)
	}
	return pids
}

// sleeps waits until a process sleeps.
func sleeps(t testing.TB, pid int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Skip(err)
		}
		if strings.Contains(string(stat), ") S ") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("process %d does not sleep: %s", pid, stat)
		}
	}
}

func live(t testing.TB, w Watch) *Table {
	t.Helper()
	table, err := NewTable(w)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { table.Close() })
	return table
}

// settle updates until the processes have started and rest; others on the
// machine may not, so it does not wait for ever.
func settle(t testing.TB, table *Table) {
	t.Helper()
	for calls, same, round := int64(0), 0, 0; same < 5 && round < 100; round++ {
		was := table.Use().Calls
		mustUpdate(t, table)
		if now := table.Use().Calls - was; now == calls {
			same++
		} else {
			calls, same = now, 0
		}
		time.Sleep(time.Millisecond)
	}
}

// A process at rest is read with one system call for each of its files when
// they are kept open, and three when they are not.
func TestCalls(t *testing.T) {
	pid := cats(t, 1)[0]
	for _, test := range []struct {
		watch Watch
		want  int64
	}{
		{Watch{PID: pid}, 1},
		{Watch{PID: pid, Threads: true}, 2},
		{Watch{PID: pid, Threads: true, Files: true}, 3},
		{Watch{PID: pid, Keep: -1}, 3},
		{Watch{PID: pid, Threads: true, Keep: -1}, 6},
	} {
		table := live(t, test.watch)
		settle(t, table)
		was := table.Use()
		mustUpdate(t, table)
		now := table.Use()
		if got := now.Calls - was.Calls; got != test.want || (now.Opened == was.Opened) != (test.watch.Keep == 0) {
			t.Errorf("%+v: %d calls, want %d; %d files opened", test.watch, got, test.want, now.Opened-was.Opened)
		}
		if kept := now.Kept; test.watch.Keep == 0 && kept == 0 {
			t.Error("nothing is kept")
		}
	}
}

// What is read is what another way of reading says.
func TestLiveTable(t *testing.T) {
	pids := cats(t, 5)
	table := live(t, Watch{PID: os.Getpid(), Tree: true, Threads: true, Memory: true, Files: true})
	settle(t, table)
	rows := table.Tree(nil)
	for round := 0; rows[0].PSS < 0 && round < 1000; round++ { // in turn, and seldom
		time.Sleep(time.Millisecond)
		mustUpdate(t, table)
		rows = table.Tree(rows[:0])
	}
	if rows[0].ID != os.Getpid() || rows[0].Depth != 0 || rows[0].Thread {
		t.Fatalf("the table begins with %+v, want this process", rows[0])
	}
	threads, queue := 0, time.Duration(0)
	for _, r := range rows {
		if r.Thread && r.Process == os.Getpid() {
			threads++
			queue += r.RunQueue
		}
	}
	if me := rows[0]; threads != me.Threads || queue > me.RunQueue || me.Voluntary <= 0 || me.FDs < 3 || me.PSS <= 0 || uint64(me.PSS) > me.RSS*2 {
		t.Errorf("%d threads, waited %v: %+v; want as many as it has, no longer than it, switches, 3 files or more, a PSS", threads, queue, me)
	}
	for _, pid := range pids {
		i := slices.IndexFunc(rows, func(r Task) bool { return r.ID == pid && !r.Thread })
		if i < 0 {
			t.Fatalf("%d is missing", pid)
		}
		r := rows[i]
		if r.Name != "cat" || r.Parent != os.Getpid() || r.Depth != 1 || r.Threads != 1 || r.State != 'S' || r.FDs < 3 || r.RSS == 0 {
			t.Errorf("row %+v, want a sleeping cat with one thread, our child", r)
		}
		p, err := Open(pid)
		if err != nil {
			t.Fatal(err)
		}
		s, err := p.Sample(true)
		p.Close()
		if c := s.Process; err != nil || c.Voluntary != r.Voluntary || c.Involuntary != r.Involuntary || c.RunQueue != r.RunQueue || c.FDs != r.FDs || c.User+c.System != r.User+r.System {
			t.Errorf("row %+v, want the counters of a sample, %+v", r, c)
		}
	}
}

// The exact CPU time is no less than what the kernel's ticks say, and no more
// than a tick beyond.
func TestLiveCPU(t *testing.T) {
	table := live(t, Watch{PID: os.Getpid(), Threads: true})
	for range 3 {
		for end := time.Now().Add(15 * time.Millisecond); time.Now().Before(end); {
		}
		mustUpdate(t, table)
		total, _, _, ok := cpuClocks(os.Getpid())
		r := table.Tree(nil)[0]
		if got := r.User + r.System; !ok || got > total || got < total-40*time.Millisecond {
			t.Errorf("%v of CPU, want %v by the clock or up to 40ms less", got, total)
		}
	}
}

func TestTableGone(t *testing.T) {
	table := live(t, Watch{PID: 1 << 30})
	if err := table.Update(); !errors.Is(err, ErrGone) {
		t.Errorf("Update(): error %v, want %v", err, ErrGone)
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Skip(err)
	}
	table = live(t, Watch{PID: cmd.Process.Pid, Tree: true, Threads: true, Files: true, Memory: true})
	mustUpdate(t, table)
	in.Close()
	for deadline := time.Now().Add(10 * time.Second); table.Tree(nil)[0].State != 'Z'; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no zombie")
		}
		mustUpdate(t, table)
	}
	cmd.Wait()
	if err := table.Update(); !errors.Is(err, ErrGone) || len(table.Tree(nil)) != 0 {
		t.Errorf("Update() after the end: error %v, rows %v; want %v and none", err, table.Tree(nil), ErrGone)
	}
	if kept := table.Use().Kept; kept > 1+len(processesHere(t)) {
		t.Errorf("%d descriptors of ended processes are kept, want at most %d", kept, 1+len(processesHere(t)))
	}
	table.Close()
	if err := table.Update(); err == nil || table.Use().Kept != 0 {
		t.Errorf("Update() after Close() = %v, with %d descriptors kept, want an error, 0", err, table.Use().Kept)
	}
}

func processesHere(t *testing.T) []int {
	pids, err := Processes("/proc")
	if err != nil {
		t.Fatal(err)
	}
	return pids
}

// A number that is really used again, which root can ask for.
func TestNumberUsedAgain(t *testing.T) {
	next, err := os.OpenFile("/proc/sys/kernel/ns_last_pid", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer next.Close()
	start := func() (*exec.Cmd, io.Closer) {
		cmd := exec.Command("cat")
		in, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Skip(err)
		}
		return cmd, in
	}
	first, in := start()
	pid := first.Process.Pid
	for _, keep := range []int{0, -1} {
		table := live(t, Watch{PID: pid, Threads: true, Keep: keep})
		mustUpdate(t, table)
		before := table.Tree(nil)[0]
		in.Close()
		first.Wait()
		time.Sleep(15 * time.Millisecond) // starts are told apart by ticks
		for range 100 {
			// Others start processes too, and may be faster.
			if _, err := next.WriteAt([]byte(strconv.Itoa(pid-1)), 0); err != nil {
				t.Skip(err)
			}
			if first, in = start(); first.Process.Pid == pid {
				break
			}
			in.Close()
			first.Wait()
		}
		if first.Process.Pid != pid {
			t.Skip("others took the number")
		}
		mustUpdate(t, table)
		rows := table.Tree(nil)
		if len(rows) != 2 || rows[0].ID != pid || rows[0].Start == before.Start || rows[1].Start != rows[0].Start {
			t.Errorf("keep %d: rows %+v, want another process of the number in 2 rows, not %+v", keep, rows, before)
		}
	}
	in.Close()
	first.Wait()
}

// Another user sees what everybody may see, and is told what he may not.
func TestOtherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for ever: the thread ends with this goroutine
		const nobody = 65534
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody); errno != 0 {
			t.Errorf("becoming nobody: %v", errno)
			return
		}
		table, err := NewTable(Watch{PID: 1, Threads: true, Files: true, Memory: true})
		if err != nil {
			t.Error(err)
			return
		}
		defer table.Close()
		for range 3 {
			if err := table.Update(); errors.Is(err, ErrGone) {
				return // hidden whole, by how /proc is mounted
			} else if err != nil {
				t.Error(err)
			}
		}
		was := table.Use().Opened
		table.Update()
		r := table.Tree(nil)[0]
		if r.FDs != -1 || r.PSS != -1 || r.Name == "" || r.Threads < 1 || r.Voluntary < 0 {
			t.Errorf("row %+v, want no files and no memory, which others may not see", r)
		}
		if table.Use().Opened != was {
			t.Error("asks again for what was refused")
		}
	}()
	<-done
}

// More files than descriptors: as many stay open as there may be.
func TestBudget(t *testing.T) {
	pids := cats(t, 10)
	table := live(t, Watch{PID: os.Getpid(), Tree: true, Keep: 5})
	for range 3 {
		table.Wake() // those that sleep too
		mustUpdate(t, table)
	}
	if u := table.Use(); u.Kept != 5 {
		t.Errorf("use %+v, want 5 kept", u)
	}
	if n := len(table.Tree(nil)); n <= len(pids) {
		t.Errorf("%d rows, want more than %d", n, len(pids))
	}
}

// When the process has no descriptor left, the table gives up its own.
func TestNoDescriptors(t *testing.T) {
	pids := cats(t, 12)
	var was unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &was); err != nil {
		t.Skip(err)
	}
	table := live(t, Watch{PID: os.Getpid(), Tree: true, Threads: true, Files: true, Keep: 10_000})
	few := was
	few.Cur = 64
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Skip(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &was)
	for range 3 {
		mustUpdate(t, table)
		found := 0
		for _, r := range table.Tree(nil) {
			if !r.Thread && slices.Contains(pids, r.ID) && r.FDs >= 3 && r.Voluntary >= 0 {
				found++
			}
		}
		if found != len(pids) {
			t.Errorf("%d processes found, want %d", found, len(pids))
		}
	}
	f, err := os.Open(os.DevNull) // and others get one
	if err != nil {
		t.Errorf("Open(%s) with %d descriptors kept = %v, want nil", os.DevNull, table.Use().Kept, err)
	}
	f.Close()
}

// Any number of goroutines may update one table, and read it.
func TestConcurrentUpdates(t *testing.T) {
	cats(t, 3)
	table := live(t, Watch{PID: os.Getpid(), Tree: true, Threads: true, Memory: true, Files: true})
	var working sync.WaitGroup
	for range 8 {
		working.Go(func() {
			var rows []Task
			for range 10 {
				if err := table.Update(); err != nil {
					t.Error(err)
				}
				if rows = table.Tree(rows[:0]); len(rows) < 4 {
					t.Errorf("%d rows, want 4 or more", len(rows))
				}
				table.Use()
			}
		})
	}
	working.Wait()
}

// In a steady state nothing is allocated. Threads that the runtime starts meanwhile, on a
// busy machine, are no steady state: one of some measures has to find it.
func TestTableAllocs(t *testing.T) {
	pid := cats(t, 10)[0]
	var rows []Task
	for name, w := range map[string]Watch{
		"kept":   {PID: os.Getpid(), Tree: true, Threads: true, Files: true, Memory: true},
		"opened": {PID: os.Getpid(), Tree: true, Threads: true, Files: true, Keep: -1},
		"one":    {PID: pid, Threads: true},
	} {
		table := live(t, w)
		settle(t, table)
		least := math.Inf(1)
		for range 10 {
			least = min(least, testing.AllocsPerRun(20, func() {
				mustUpdate(t, table)
				rows = table.Tree(rows[:0])
			}))
			if least == 0 {
				break
			}
		}
		if least != 0 {
			t.Errorf("%s: %v allocations for each update at the least, want 0", name, least)
		}
	}
}

func BenchmarkUpdate(b *testing.B) {
	cats(b, 100)
	for _, bench := range []struct {
		name  string
		watch Watch
	}{
		{"kept", Watch{PID: os.Getpid(), Tree: true}},
		{"opened", Watch{PID: os.Getpid(), Tree: true, Keep: -1}},
		{"kept/threads", Watch{PID: os.Getpid(), Tree: true, Threads: true}},
		{"opened/threads", Watch{PID: os.Getpid(), Tree: true, Threads: true, Keep: -1}},
		{"kept/everything", Watch{PID: os.Getpid(), Tree: true, Threads: true, Files: true, Memory: true}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			table := live(b, bench.watch)
			mustUpdate(b, table)
			rows := table.Tree(nil)
			was := table.Use().Calls
			b.ReportAllocs()
			for b.Loop() {
				mustUpdate(b, table)
				rows = table.Tree(rows[:0])
			}
			b.ReportMetric(float64(table.Use().Calls-was)/float64(b.N), "syscalls/op")
			b.ReportMetric(float64(len(rows)), "rows")
		})
	}
}

func FuzzNumbered(f *testing.F) {
	record := func(name string) []byte {
		b := make([]byte, 18, 64)
		b = append(append(b, 4), name...)
		b = append(b, 0)
		for len(b)%8 != 0 {
			b = append(b, 0)
		}
		b[16] = byte(len(b))
		return b
	}
	f.Add(slices.Concat(record("."), record(".."), record("1"), record("4194304"), record("12x"), record("self")))
	f.Add(record("99999999999999999999"))
	f.Add(record("")[:19])
	f.Fuzz(func(t *testing.T, b []byte) {
		ids := numbered(b, nil)
		if len(ids) > len(b)/19 {
			t.Errorf("numbered() found %d in %d bytes, want at most one in 19", len(ids), len(b))
		}
		for _, id := range ids {
			if id < 0 {
				t.Errorf("numbered() found %d, want nothing below 0", id)
			}
		}
	})
}

// What is left alone costs nothing in between, and its end is seen at once.
func TestTableRest(t *testing.T) {
	sleep := exec.Command("sleep", "3600")
	if err := sleep.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { sleep.Process.Kill(); sleep.Wait() }()
	asked := 0
	const rest = 9
	table, err := NewTable(Watch{Rest: func(task *Task) int {
		if task.ID == sleep.Process.Pid {
			asked++
		}
		return rest
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	update := func() (calls int64, here bool) {
		before := table.Use().Calls
		if err := table.Update(); err != nil {
			t.Fatal(err)
		}
		here = slices.ContainsFunc(table.Tree(nil), func(task Task) bool { return task.ID == sleep.Process.Pid })
		return table.Use().Calls - before, here
	}
	first, _ := update()
	for range rest {
		if calls, here := update(); !here || calls >= first {
			t.Errorf("%d calls and %v, want less than the %d of the first time, and the process", calls, here, first)
		}
	}
	if asked != 1 {
		t.Errorf("a process was read %d times in %d updates, want once", asked, rest+1)
	}
	if update(); asked != 2 {
		t.Errorf("a process was read %d times in %d updates, want twice", asked, rest+2)
	}
	table.Wake()
	if update(); asked != 3 {
		t.Errorf("after Wake a process was read %d times, want three", asked)
	}
	sleep.Process.Kill()
	sleep.Wait()
	if _, here := update(); here {
		t.Error("a process that ended is there")
	}
}

// One that does not run is not read, until it runs.
func TestStill(t *testing.T) {
	sh := exec.Command("sh", "-c", "while read line; do i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo done; done")
	in, err := sh.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { in.Close(); sh.Wait() }()
	work := func() {
		fmt.Fprintln(in)
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	work()
	table := live(t, Watch{})
	read := func() (Task, uint64) {
		mustUpdate(t, table)
		if p := table.byID[sh.Process.Pid]; p != nil {
			return p.row(&table.watch), p.fresh
		}
		t.Fatal("it is not there")
		return Task{}, 0
	}
	for begin := time.Now(); table.byID[sh.Process.Pid] == nil || table.byID[sh.Process.Pid].stat.state != 'S'; mustUpdate(t, table) {
		if time.Since(begin) > 10*time.Second {
			t.Skip("it does not come to rest")
		}
	}
	read()
	before, _ := read()
	reads := 0
	for range 5 {
		if _, at := read(); at == table.files.round {
			reads++
		}
	}
	if reads > 1 { // now and then it is, in any case
		t.Errorf("it was read %d times in 5 updates though it slept", reads)
	}
	work()
	after, at := read()
	if after.User+after.System <= before.User+before.System || at != table.files.round {
		t.Errorf("after it ran: CPU %v, read in round %d of %d, want more than %v, in the last",
			after.User+after.System, at, table.files.round, before.User+before.System)
	}
}

// A process whose parent has ended is soon the child of another.
func TestStillChild(t *testing.T) {
	sh := exec.Command("sh", "-c", "sleep 3600 & echo $!; wait")
	out, err := sh.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := sh.Start(); err != nil {
		t.Skip(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(child, syscall.SIGKILL)
	table := live(t, Watch{})
	for range 3 {
		mustUpdate(t, table)
	}
	if p := table.byID[child]; p == nil || p.stat.parent != sh.Process.Pid {
		t.Fatalf("the child is %+v, want one with the parent %d", p, sh.Process.Pid)
	}
	sh.Process.Kill()
	sh.Process.Wait()
	for range 2 {
		mustUpdate(t, table)
	}
	if p := table.byID[child]; p == nil || p.stat.parent == sh.Process.Pid {
		t.Errorf("the child of one that ended is %+v, want one without the parent %d", p, sh.Process.Pid)
	}
}

func TestBirths(t *testing.T) {
	for text, want := range map[string]births{
		"0.20 0.18 0.12 1/80 11206\n": {true, 80, 11206},
		"0.20 0.18 0.12 1/80 0\n":     {false, 80, 0},
		"0.20 0.18 0.12 80 11206\n":   {false, 0, 11206},
		"0.20":                        {},
		"":                            {},
	} {
		if got := parseBirths([]byte(text)); got != want {
			t.Errorf("parseBirths(%q) = %+v, want %+v", text, got, want)
		}
	}
}
