package subject

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

// A fakeProc is a /proc of these processes: number, parent, group, start and
// the inodes of open sockets.
type fakeProcess struct {
	pid, parent, group, start int
	name                      string
	sockets                   []string
}

func fakeProc(t *testing.T, tables map[string]string, list ...fakeProcess) string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range tables {
		write("self/net/"+name, "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"+text)
	}
	for _, p := range list {
		dir := fmt.Sprint(p.pid)
		write(dir+"/stat", fmt.Sprintf("%d (%s) S %d %d 1 0 -1 4194304 1 0 0 0 5 6 0 0 20 0 3 0 %d 1000 200 0 0\n", p.pid, p.name, p.parent, p.group, p.start))
		write(dir+"/comm", p.name+"\n")
		if err := os.MkdirAll(filepath.Join(root, dir, "fd"), 0o755); err != nil {
			t.Fatal(err)
		}
		for i, s := range p.sockets {
			if err := os.Symlink("socket:["+s+"]", filepath.Join(root, dir, "fd", fmt.Sprint(i+3))); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

func TestFamily(t *testing.T) {
	root := fakeProc(t, nil,
		fakeProcess{pid: 10, parent: 1, group: 10, start: 100, name: "sh) S (x"},
		fakeProcess{pid: 11, parent: 10, group: 10, start: 101, name: "app"},
		fakeProcess{pid: 12, parent: 11, group: 12, start: 102, name: "own group"},
		fakeProcess{pid: 13, parent: 1, group: 10, start: 103, name: "daemon"},
		fakeProcess{pid: 14, parent: 13, group: 14, start: 104, name: "its child"},
		fakeProcess{pid: 15, parent: 1, group: 15, start: 105, name: "stranger"},
	)
	got := readFamily(root, 10)
	slices.SortFunc(got, func(a, b member) int { return a.pid - b.pid })
	if want := (family{{10, 100}, {11, 101}, {12, 102}, {13, 103}, {14, 104}}); !slices.Equal(got, want) {
		t.Errorf("family %v, want %v", got, want)
	}
}

// A number that was given to another process does not join two accounts.
func TestNumberUsedAgain(t *testing.T) {
	before := map[member]proc.Counters{
		{10, 100}: {User: 5 * time.Second, MinorFaults: 100, Voluntary: 10},
		{11, 101}: {User: 9 * time.Second},
	}
	after := map[member]proc.Counters{
		{10, 100}: {User: 6 * time.Second, System: time.Second, MinorFaults: 130, MajorFaults: 1, Voluntary: 12, Involuntary: 5},
		{11, 101}: {User: 9 * time.Second}, // ended: as last seen
		{11, 900}: {User: time.Second, Voluntary: 3, RunQueue: time.Millisecond},
	}
	got := difference(before, after)
	if want := (counters{cpu: 3 * time.Second, faults: 31, switches: 10, runQueue: time.Millisecond}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A line of the kernel's tables.
func line(at, state, inode string) string {
	return fmt.Sprintf("   0: %s 00000000:0000 %s 00000000:00000000 00:00000000 00000000  1000        0 %s 1 0000000000000000 100 0 0 10 0\n", at, state, inode)
}

func TestClaims(t *testing.T) {
	tables := map[string]string{
		"tcp": line("0100007F:1F90", "0A", "501") + // 127.0.0.1:8080 of the program
			line("0100007F:1F90", "0A", "502") + // the same of a stranger
			line("0200007F:1F90", "0A", "503") + // 127.0.0.2:8080: another address
			line("0100007F:2000", "0A", "504") + // another port
			line("0100007F:1F90", "01", "505"), // a connection
		"tcp6": line("00000000000000000000000000000000:1F90", "0A", "506"), // [::]:8080 of nobody that is shown
		"udp":  line("00000000:0035", "07", "507") + line("0100007F:0035", "07", "508"),
	}
	root := fakeProc(t, tables,
		fakeProcess{pid: 10, parent: 1, group: 10, start: 1, name: "sh"},
		fakeProcess{pid: 11, parent: 10, group: 10, start: 2, name: "app", sockets: []string{"501", "507"}},
		fakeProcess{pid: 20, parent: 1, group: 20, start: 3, name: "old\x1b", sockets: []string{"502", "503", "504", "505", "508"}},
	)
	own, foreign := claims(root, readFamily(root, 10), nil)
	if len(own) != 2 || own[0].Inode != "501" || own[1].Inode != "507" {
		t.Errorf("own %v", own)
	}
	var got []string
	for _, c := range foreign {
		got = append(got, fmt.Sprintf("%s %d %s", c.Network, c.pid, c.Inode))
	}
	if want := []string{"tcp 20 502", "tcp 0 506", "udp 20 508"}; !slices.Equal(got, want) {
		t.Errorf("foreign %q, want %q", got, want)
	}
	target := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8192")}
	checkProblem(t, checkFree(root, target), "port 8192 is held by process 20 (old·): it would be measured instead")
	if err := checkFree(root, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:9999")}); err != nil {
		t.Error(err)
	}
	p := checkProblem(t, checkFree(root, []netip.AddrPort{netip.MustParseAddrPort("10.0.0.1:8080")}), "another user's process")
	if !strings.Contains(p.Hint, "ss ") {
		t.Errorf("hint %q", p.Hint)
	}
	program := Program{Command: []string{"./app"}}
	checkProblem(t, checkOwn(root, 10, program, target), "process 20", "./app did not start")
	checkProblem(t, checkOwn(root, 10, program, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:8080")}), "shared with process 20")
}

func TestLocal(t *testing.T) {
	for _, c := range []struct{ host, port, want string }{
		{"127.0.0.1", "8080", "127.0.0.1:8080"},
		{"localhost", "http", "127.0.0.1:80 [::1]:80"},
		{"", "1", "127.0.0.1:1 [::1]:1"},
		{"0.0.0.0", "1", "0.0.0.0:1"},
		{"192.0.2.7", "80", ""}, // kept for documentation, so nobody's
		{"127.0.0.1", "nothing", ""},
	} {
		var got []string
		for _, a := range local(c.host, c.port) {
			got = append(got, a.String())
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s: %q, want %q", c.host, c.port, got, c.want)
		}
	}
}

func TestParsePeak(t *testing.T) {
	for text, want := range map[string]uint64{
		"Name:\tx\nVmPeak:\t 9 kB\nVmHWM:\t   12345 kB\nVmRSS:\t 1 kB\n": 12345 << 10,
		"Name:\tx\nState:\tZ\n": 0, "\nVmHWM:": 0, "\nVmHWM:\n1": 0, "\nVmHWM: -4 kB\n": 0,
	} {
		if got := parsePeak([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestConditions(t *testing.T) {
	at := func(s float64, busy, steal, stall, self, waited time.Duration) moment {
		return moment{proc.Machine{Time: time.Unix(0, int64(s*1e9)), CPUs: 4, Busy: busy, Steal: steal, CPUStall: stall}, self, waited}
	}
	a := at(100, 50*time.Second, time.Second, 7*time.Second, time.Second, time.Minute)
	b := at(110, 70*time.Second, 1410*time.Millisecond, 9*time.Second, 2*time.Second, 65*time.Second)
	got := conditions(a, b, 10*time.Second, 0.25)
	// 20 s were used: 5 by programs that ended, 10 by one that runs, 1 by us, and
	// two ticks are forgiven; of 40 s.
	if want := 3.98 / 40; got.Others != want {
		t.Errorf("others %v, want %v", got.Others, want)
	}
	if got.Steal != 0.4/40 || got.Pressure != 0.2 || got.RunQueue != 0.25 {
		t.Errorf("steal %v, pressure %v, run queue %v, want %v, 0.2, 0.25",
			got.Steal, got.Pressure, got.RunQueue, 0.4/40)
	}
	b.machine.CPUStall = -1
	if got := conditions(a, b, time.Minute, -1); got.Others != 0 || got.Pressure != -1 || got.RunQueue != -1 {
		t.Errorf("of a minute: others %v, pressure %v, run queue %v, want 0, -1, -1",
			got.Others, got.Pressure, got.RunQueue)
	}
	if got := conditions(a, a, 0, -1); got != unmeasured {
		t.Errorf("conditions() of no time = %+v, want %+v", got, unmeasured)
	}
}

// A run that is too short for the machine's counters is judged with those
// before it.
func TestPast(t *testing.T) {
	kept := past.list
	defer func() { past.list = kept }()
	past.list = nil
	start := time.Unix(1000, 0)
	for i := range pastRuns + 20 {
		remember(moment{machine: proc.Machine{Time: start.Add(time.Duration(i) * 40 * time.Millisecond)}})
	}
	last := start.Add((pastRuns + 20) * 40 * time.Millisecond)
	m, ok := before(last)
	if age := last.Sub(m.machine.Time); !ok || age < shortRun || age > shortRun+40*time.Millisecond {
		t.Errorf("%v before, %v", age, ok)
	}
	if len(past.list) != pastRuns {
		t.Errorf("%d are kept", len(past.list))
	}
	if _, ok := before(last.Add(time.Hour)); ok {
		t.Error("what was an hour ago counts")
	}
	if _, ok := before(start); ok {
		t.Error("what comes later counts")
	}
}
