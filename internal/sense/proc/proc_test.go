package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// unpack writes a fixture's files, each behind a line "-- path --", and
// returns the directory.
func unpack(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	files := map[string]*strings.Builder{}
	var file *strings.Builder
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(line, "-- "); ok {
			file = new(strings.Builder)
			files[strings.TrimSuffix(strings.TrimSpace(path), " --")] = file
		} else if file != nil {
			file.WriteString(line)
		}
	}
	for path, text := range files {
		write(t, filepath.Join(root, path), text.String())
	}
	return root
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const second = time.Second

func TestSample(t *testing.T) {
	linux(t)
	page := uint64(os.Getpagesize())
	for _, test := range []struct {
		name string
		pid  int
		want Sample
	}{
		{"linux-6.18-hybrid", 41, Sample{
			Process: Counters{User: 12410 * time.Millisecond, System: 52990 * time.Millisecond, MinorFaults: 132337, MajorFaults: 12,
				Voluntary: 800, Involuntary: 190, RunQueue: 26915000, Slices: 990, Threads: 13, FDs: -1, RSS: 20200 << 10, Swap: 128 << 10,
				ReadCalls: 10, WriteCalls: 7, ReadBytes: 6976, WriteBytes: 5120},
			Machine: Machine{CPUs: 2, Busy: 13161130 * time.Millisecond, Idle: 30728430 * time.Millisecond, IOWait: 36070 * time.Millisecond,
				Steal: 36490 * time.Millisecond, CPUStall: 2773211312 * time.Microsecond, IOStall: 42951575 * time.Microsecond,
				Load: 1.55, Memory: 24684100 << 10, Available: 24102768 << 10},
			Limits: Limits{CPUs: 2, Memory: 512 << 20},
			// The machine's own root group counts no one's CPU time.
			Group: &Group{Usage: -1, Memory: 192 << 20},
			Threads: []Thread{
				{ID: 41, Name: "server", User: 200 * time.Millisecond, System: 100 * time.Millisecond, RunQueue: 26913999, Voluntary: 740, Involuntary: 188},
				{ID: 43, Name: "a (b) c", User: 41000, RunQueue: 1001, Voluntary: 60, Involuntary: 2},
			}}},
		{"linux-5.15-v2", 7, Sample{
			Process: Counters{User: 2500 * time.Millisecond, System: 500 * time.Millisecond, MinorFaults: 500, MajorFaults: 3, Voluntary: 5, Involuntary: 6,
				RunQueue: 17, Slices: 11, Threads: 9, FDs: -1, RSS: 4 << 20, ReadCalls: -1, WriteCalls: -1, ReadBytes: -1, WriteBytes: -1},
			Machine: Machine{CPUs: 2, Busy: 15300 * time.Millisecond, Idle: 80 * second, IOWait: second, CPUStall: -1, MemoryStall: -1, IOStall: -1,
				Load: 0.07, Memory: 2 << 20, Available: 1 << 20},
			Limits:  Limits{CPUs: 2, Quota: 1.5, Period: 100 * time.Millisecond, Memory: 256 << 20},
			Group:   &Group{Usage: 5 * second, Periods: 120, Throttled: 30, ThrottledTime: 2500 * time.Millisecond, Memory: 32 << 20},
			Threads: []Thread{{ID: 7, Name: "api", User: 2500833334, System: 500166666, RunQueue: 17, Voluntary: 5, Involuntary: 6}}}},
		{"linux-5.15-v2-inside", 1, Sample{
			Process: Counters{User: 2500 * time.Millisecond, System: 500 * time.Millisecond, MinorFaults: 500, MajorFaults: 3,
				Threads: 9, FDs: -1, RSS: 1000 * page, ReadCalls: -1, WriteCalls: -1, ReadBytes: -1, WriteBytes: -1},
			Machine: Machine{CPUs: 1, Busy: 15300 * time.Millisecond, Idle: 80 * second, IOWait: second, Steal: 50 * time.Millisecond, CPUStall: -1, MemoryStall: -1, IOStall: -1},
			Limits:  Limits{CPUs: 1},
			Group:   &Group{Usage: 700 * time.Microsecond, Memory: 5 << 20}}},
		{"linux-3.10-v1", 12, Sample{
			Process: Counters{User: second, System: 2 * second, MinorFaults: 42, MajorFaults: 1, Voluntary: 11, Involuntary: 3,
				Threads: 30, FDs: -1, RSS: 8 << 20, ReadCalls: -1, WriteCalls: -1, ReadBytes: -1, WriteBytes: -1},
			Machine: Machine{CPUs: 1, Busy: 1900 * time.Millisecond, Idle: 400 * time.Millisecond, IOWait: 500 * time.Millisecond,
				Steal: 800 * time.Millisecond, CPUStall: -1, MemoryStall: -1, IOStall: -1, Load: 12.5, Memory: 24684100 << 10},
			Limits:  Limits{CPUs: 1, Quota: 0.5, Period: 100 * time.Millisecond, Memory: 1 << 30},
			Group:   &Group{Usage: 77000000007, Periods: 1000, Throttled: 250, ThrottledTime: 12000000001, Memory: 4 << 20},
			Threads: []Thread{{ID: 12, Name: "java", User: second, System: 2 * second, Voluntary: 11, Involuntary: 3}}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p, err := open(unpack(t, test.name), test.pid, false)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			got, err := p.Sample(true)
			if err != nil || got.Time.IsZero() {
				t.Fatalf("Sample() at %v, %v; want a time", got.Time, err)
			}
			got.Time, got.Machine.Time = time.Time{}, time.Time{}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v %+v\nwant %+v %+v", got, got.Group, test.want, test.want.Group)
			}
		})
	}
}

// What is opened alone has all but the machine, and as many CPUs.
func TestAlone(t *testing.T) {
	linux(t)
	root := unpack(t, "linux-6.18-hybrid")
	var samples [2]Sample
	for i, alone := range []bool{false, true} {
		p, err := open(root, 41, alone)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if samples[i], err = p.Sample(true); err != nil {
			t.Fatal(err)
		}
		samples[i].Time = time.Time{}
	}
	with, alone := samples[0], samples[1]
	if alone.Machine != (Machine{}) || with.Machine.CPUs == 0 || alone.Limits.CPUs == 0 {
		t.Errorf("alone it has the machine %+v and %d CPUs, else the machine %+v, want none, some CPUs, one with CPUs",
			alone.Machine, alone.Limits.CPUs, with.Machine)
	}
	if with.Machine = (Machine{}); !reflect.DeepEqual(with, alone) {
		t.Errorf("alone it has\n%+v, want as else\n%+v", alone, with)
	}
}

// Processes of one group have its files open once, until the last of them is closed.
func TestGroupsShared(t *testing.T) {
	linux(t)
	root := unpack(t, "linux-6.18-hybrid")
	var list []*Process
	for range 3 {
		p, err := open(root, 41, true)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	for _, p := range list {
		if p.groups != list[0].groups {
			t.Error("two processes of one group read it apart")
		}
		s, err := p.Sample(false)
		if err != nil || s.Group == nil {
			t.Errorf("Sample once others are closed: %+v, %v, want counters of the group", s.Group, err)
		}
		p.Close()
	}
	if _, open := sharedGroups.open[list[0].groups.key]; open {
		t.Error("the group is open after the last process was closed")
	}
}

// The share of memory is read at once, and again after ten seconds; what cannot be read
// has its reason.
func TestWeigh(t *testing.T) {
	linux(t)
	root := unpack(t, "linux-6.18-hybrid")
	p, err := open(root, 41, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	file := filepath.Join(root, "proc/41/smaps_rollup")
	rollup := func(pss, swap int) {
		write(t, file, fmt.Sprintf("5629ade10000-7ffc9f176000 ---p 00000000 00:00 0   [rollup]\nRss:  99 kB\nPss:  %d kB\nPss_Anon:  9 kB\nSwap:  8 kB\nSwapPss:  %d kB\n", pss, swap))
	}
	now := time.Now()
	for _, step := range []struct {
		name      string
		after     time.Duration
		pss, swap int // in the file, 0 for no file
		want      Weight
		err       error
	}{
		{"no file", 0, 0, 0, Weight{}, ErrUnweighed},
		{"not asked again so soon", 5 * time.Second, 400, 7, Weight{}, ErrUnweighed},
		{"read", time.Minute, 400, 7, Weight{now.Add(time.Minute), 400 << 10, 7 << 10}, nil},
		{"as it was", time.Minute + 9*time.Second, 500, 8, Weight{now.Add(time.Minute), 400 << 10, 7 << 10}, nil},
		{"anew", 2 * time.Minute, 500, 0, Weight{now.Add(2 * time.Minute), 500 << 10, 0}, nil},
	} {
		if step.pss > 0 {
			rollup(step.pss, step.swap)
		}
		if got, err := p.Weigh(now.Add(step.after)); got != step.want || !errors.Is(err, step.err) {
			t.Errorf("%s: Weigh() = %+v, %v, want %+v, %v", step.name, got, err, step.want, step.err)
		}
	}
	write(t, file, "nonsense")
	if _, err := p.Weigh(now.Add(time.Hour)); !errors.Is(err, ErrUnweighed) {
		t.Errorf("Weigh() of nonsense = %v, want ErrUnweighed", err)
	}
	if err := os.RemoveAll(filepath.Join(root, "proc/41")); err != nil {
		t.Fatal(err)
	}
	p.stat.Close()
	if _, err := p.Weigh(now.Add(2 * time.Hour)); !errors.Is(err, ErrGone) {
		t.Errorf("Weigh() of a process that has ended = %v, want ErrGone", err)
	}
	for took, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 50 * time.Millisecond: 10 * time.Second, time.Second: 200 * time.Second} {
		if got := weighAgain(took); got != want {
			t.Errorf("weighAgain(%v) = %v, want %v", took, got, want)
		}
	}
}

func linux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
}

// What ended threads had stays in the sums, and a thread that did nothing is
// not read again.
func TestThreadsEnd(t *testing.T) {
	linux(t)
	root := unpack(t, "linux-6.18-hybrid")
	p, err := open(root, 41, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer p.borrow()()
	task := filepath.Join(root, "proc/41/task")
	p.switches.sum()
	before := p.switches.last
	write(t, filepath.Join(task, "41/status"), "voluntary_ctxt_switches:\t9999\n") // unseen: its schedstat is the same
	if err := os.RemoveAll(filepath.Join(task, "43")); err != nil {
		t.Fatal(err)
	}
	p.switches.sum()
	if p.switches.last != before {
		t.Errorf("the switches after a thread ended are %+v, want %+v as before", p.switches.last, before)
	}
	write(t, filepath.Join(task, "41/schedstat"), "300000001 26914000 929\n")
	write(t, filepath.Join(task, "43/schedstat"), "5 6 1\n") // its number was given to a new one
	write(t, filepath.Join(task, "43/status"), "voluntary_ctxt_switches:\t1\n")
	p.switches.sum()
	if want := (count{before.runQueue + 1 + 6, before.slices + 1 + 1, 9999 + 60 + 1, 188 + 2}); p.switches.last != want {
		t.Errorf("sum of the switches = %+v, want %+v", p.switches.last, want)
	}
}

// The largest machines have more CPUs than fit into the first reading.
func TestManyCPUs(t *testing.T) {
	root := t.TempDir()
	var text strings.Builder
	text.WriteString("cpu  1 2 3 4 5 6 7 8 0 0\n")
	for n := range 4000 {
		fmt.Fprintf(&text, "cpu%d 1000000 2000000 3000000 4000000 5000000 6 7 8 0 0\n", n)
	}
	write(t, filepath.Join(root, "proc/stat"), text.String()+"intr 1 2 3\nctxt 9\n")
	m := openMachine(root)
	defer m.close()
	if s := m.read(time.Now(), make([]byte, 4096)); s.CPUs != 4000 || s.Busy != (1+2+3+6+7)*tick || m.usable("0-1,3999,4000") != 3 {
		t.Errorf("machine %+v, %d usable; want 4000 CPUs, %v busy, 3 usable", s, m.usable("0-1,3999,4000"), (1+2+3+6+7)*tick)
	}
}

func TestPaced(t *testing.T) {
	now := time.Now()
	reads := 0
	read := func() int {
		reads++
		for range 500_000 { // more than 10 µs of CPU on any machine
			sum = sum*31 + 7
		}
		return reads
	}
	var p cachedValue[int]
	p.get(now, read)
	if got := p.get(now.Add(time.Millisecond), read); got != 1 {
		t.Errorf("read again after a tenth of the time")
	}
	if got := p.get(now.Add(time.Hour), read); got != 2 {
		t.Errorf("not read again after an hour")
	}
	synctest.Test(t, func(t *testing.T) {
		now := time.Now()
		var starved cachedValue[int]
		starved.get(now, func() int { time.Sleep(20 * time.Second); return 1 })
		if got := starved.get(now.Add(time.Minute), func() int { return 2 }); got != 2 {
			t.Errorf("a reading that waited 20 s for a CPU counts a minute later: got %d, want 2", got)
		}
	})
}

var sum int // so that work is not thrown away

func TestUnreadMachine(t *testing.T) {
	m := openMachine("testdata/nowhere")
	if s := m.read(time.Now(), make([]byte, 4096)); s != (Machine{}) {
		t.Errorf("without /proc/stat the machine is %+v; want no reading, not even a time", s)
	}
}

func TestSplit(t *testing.T) {
	var s split
	step := func(total, user, system, wantUser, wantSystem time.Duration) {
		t.Helper()
		if u, y := s.scale(total, user, system); u != wantUser || y != wantSystem {
			t.Errorf("%d by %d:%d is %d and %d, want %d and %d", total, user, system, u, y, wantUser, wantSystem)
		}
	}
	step(1000, 3, 1, 750, 250)
	step(1001, 3, 5, 750, 251)    // user time does not go back
	step(1002, 9000, 1, 751, 251) // nor does system time
	step(900, 1, 1, 751, 251)     // nor does the total
	s = split{}
	step(77, 0, 0, 77, 0) // no tick has found it yet
	step(1<<62, 1<<61, 1<<61, 1<<61, 1<<61)
}

// Of this very process, by every way there is.
func TestLive(t *testing.T) {
	linux(t)
	p, err := Open(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	first, err := p.Sample(true)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
	}
	last, err := p.Sample(true)
	if err != nil {
		t.Fatal(err)
	}
	a, b := first.Process, last.Process
	if b.User+b.System <= a.User+a.System || b.User < a.User || b.System < a.System || b.Voluntary < a.Voluntary || b.RunQueue < a.RunQueue {
		t.Errorf("counters went from %+v to %+v, want CPU time to rise and none to fall", a, b)
	}
	if b.FDs < 3 || b.Threads < 1 || b.RSS < 1<<20 || b.ReadCalls <= 0 || last.Machine.CPUs < 1 || last.Limits.CPUs < 1 || len(last.Threads) < 1 {
		t.Errorf("sample %+v, want what any process has: 3 files, a thread, 1 MiB, reads, CPUs", last)
	}
	var threads time.Duration
	for _, th := range last.Threads {
		threads += th.User + th.System
	}
	if all := b.User + b.System; threads > all+10*time.Millisecond || threads < all/2 {
		t.Errorf("threads used %v, want about the %v of the process", threads, all)
	}
	if !last.Time.After(first.Time) {
		t.Error("no time passed")
	}
}

func TestGone(t *testing.T) {
	linux(t)
	if _, err := Open(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("Open(1<<30): error %v, want %v", err, ErrGone)
	}
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	p, err := Open(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	stdin.Close()
	for deadline := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(deadline); {
		_, err = p.Sample(false)
	}
	if !errors.Is(err, ErrGone) { // a zombie, as nobody waited yet
		t.Errorf("Sample() of a zombie: error %v, want %v", err, ErrGone)
	}
	cmd.Wait()
	if _, err := p.Sample(true); !errors.Is(err, ErrGone) {
		t.Errorf("Sample() after the end: error %v, want %v", err, ErrGone)
	}
}

// A main thread may end before the others; its process goes on.
func TestZombie(t *testing.T) {
	for s, want := range map[statLine]bool{{state: 'Z', threads: 1}: true, {state: 'X'}: true, {state: 'Z', threads: 2}: false, {state: 'S', threads: 1}: false} {
		if s.zombie() != want {
			t.Errorf("zombie() of %c with %d threads = %v, want %v", s.state, s.threads, !want, want)
		}
	}
}

// A sample with threads is of now, whatever pace was kept before; a kernel
// without scheduler statistics does not hide that a thread ran.
func TestNothingIsRepeated(t *testing.T) {
	linux(t)
	root := unpack(t, "linux-3.10-v1")
	p, err := open(root, 12, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	write(t, filepath.Join(root, "proc/12/task/12/schedstat"), "0 0 0\n")
	if _, err := p.Sample(true); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "proc/12/task/12/status"), "voluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n")
	write(t, filepath.Join(root, "proc/loadavg"), "3.50 2.10 2.64 3/201 15144\n")
	write(t, filepath.Join(root, "sys/fs/cgroup/memory/memory.limit_in_bytes"), "4096\n")
	s, err := p.Sample(true)
	if err != nil || s.Process.Voluntary != 12 || s.Machine.Load != 3.5 || s.Limits.Memory != 4096 {
		t.Errorf("sample %+v, %v; want 12 voluntary switches, a load of 3.5 and a limit of 4096 bytes", s, err)
	}
}

// Version 1 alone: the machine's own root counts what all processes use, which
// is no group's.
func TestRootOfVersion1(t *testing.T) {
	linux(t)
	root := unpack(t, "linux-3.10-v1")
	write(t, filepath.Join(root, "proc/12/cgroup"), "7:memory:/\n")
	write(t, filepath.Join(root, "proc/self/mountinfo"), "121 110 0:21 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n")
	write(t, filepath.Join(root, "sys/fs/cgroup/memory/memory.limit_in_bytes"), "9223372036854771712\n")
	p, err := open(root, 12, false)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if s, err := p.Sample(false); err != nil || s.Group != nil || s.Limits.Memory != 0 {
		t.Errorf("limits %+v, group %+v, %v; want no limit of memory and no group", s.Limits, s.Group, err)
	}
}

// On a mixed system a controller is where /proc/PID/cgroup says, in the
// hierarchy of that version.
func TestMixedVersions(t *testing.T) {
	mounts := parseMounts([]byte("1 0 0:1 / /v1/memory rw - cgroup cgroup rw,memory\n2 0 0:2 / /v2 rw - cgroup2 cgroup2 rw\n3 0 0:3 / /v1/cpu rw - cgroup cgroup rw,cpu\n"))
	for controller, want := range map[string]string{"memory": "/v2/a", "cpu": "/v1/cpu/b"} {
		h := findHierarchy(mounts, []byte("4:cpu:/b\n0::/a\n"), controller)
		if len(h.dirs) != 2 || h.dirs[0] != want || h.v2 != strings.HasPrefix(want, "/v2") {
			t.Errorf("hierarchy of %s = %+v, want 2 levels from %s", controller, h, want)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, test := range []struct {
		root, group string
		want        []string
	}{
		{"/", "/a/b", []string{"/c/a/b", "/c/a", "/c"}},
		{"/", "/", []string{"/c"}},
		{"/docker/x", "/docker/x", []string{"/c"}},
		{"/docker/x", "/docker/xy", nil},
		{"/docker/x", "/", nil},
		{"/..", "/../other", []string{"/c/other", "/c"}},
		{"/", "/../other", nil},
		{"/", "relative", nil},
		{"/", "/a (deleted)", []string{"/c/a", "/c"}},
		{"/", strings.Repeat("/x", 100), nil},
	} {
		got := levels(mount{point: "/c", root: test.root}, test.group)
		if len(got) == maxLevels && test.want == nil {
			continue
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%q under %q is %q, want %q", test.group, test.root, got, test.want)
		}
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{`/a\040b`: "/a b", `\134`: `\`, `a\9`: `a\9`, `\04`: `\04`, "": ""} {
		if got := unescape(in); got != want {
			t.Errorf("%q is %q, want %q", in, got, want)
		}
	}
}

func TestParseCPUs(t *testing.T) {
	for list, want := range map[string][]int{"0-2,5": {0, 1, 2, 5}, "": nil, "7": {7}, "x,1-y,3-1,2": {2}, "8190-99999999999999999999": nil, "8190-9000": {8190, 8191}} {
		var got []int
		parseCPUs(list, func(n int) { got = append(got, n) })
		if !slices.Equal(got, want) {
			t.Errorf("%q is %v, want %v", list, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.txt")
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		for part := range strings.SplitSeq(string(text), "\n-- ") {
			_, body, _ := strings.Cut(part, "\n")
			f.Add([]byte(body))
		}
	}
	f.Add([]byte("1 ("))
	f.Add([]byte(")("))
	f.Add([]byte("some avg10= total=99999999999999999999"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if st, err := parseStat(text); err == nil && (st.user < 0 || st.system < 0 || st.minor < 0 || st.threads < 0) {
			t.Errorf("parseStat() = %+v, want nothing below 0", st)
		}
		var c Counters
		parseIO(text, &c)
		var m Machine
		parseMachineStat(text, &m)
		var g Group
		parseCPUStat(string(text), &g)
		if c.ReadBytes < 0 || m.Busy < 0 || g.Usage < 0 {
			t.Errorf("counters %+v, machine %+v, group %+v; want nothing below 0", c, m, g)
		}
		parseStatus(text)
		parseSchedstat(text)
		if v, i, ok := parseSwitches(text); ok && (v < 0 || i < 0) {
			t.Errorf("parseSwitches() = %d, %d; want nothing below 0", v, i)
		}
		if pss, ok := rollupBytes(text, "Pss"); !ok && pss != 0 {
			t.Errorf("rolledUp() = %d, false; want 0", pss)
		}
		parseLoad(text)
		parseMeminfo(text)
		parsePressure(text)
		for _, controller := range []string{"cpu", "memory"} {
			if h := findHierarchy(parseMounts(text), text, controller); len(h.dirs) > maxLevels {
				t.Errorf("findHierarchy() has %d levels, want at most %d", len(h.dirs), maxLevels)
			}
		}
		for _, s := range listeners(text, "tcp") {
			if s.At.Port() == 0 || !s.At.IsValid() {
				t.Errorf("a socket that listens at %v", s.At)
			}
		}
	})
}

// TestFileLimit reads the soft limit, which is the one that counts.
func TestFileLimit(t *testing.T) {
	const head = "Limit                     Soft Limit           Hard Limit           Units     \nMax processes             100                  100                  processes \n"
	for line, want := range map[string]uint64{
		"Max open files            1024                 524288               files     \n": 1024,
		"Max open files            unlimited            unlimited            files     \n": 0,
		"": 0, "Max open files ": 0,
	} {
		if got := parseFileLimit(head + line); got != want {
			t.Errorf("%q: %d, want %d", line, got, want)
		}
	}
}
