package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

func countOf(list []model.Count, name string) model.Count {
	for _, c := range list {
		if c.Name == name {
			return c
		}
	}
	return model.Count{}
}

func TestPerfStat(t *testing.T) {
	m := loadFixture(t, "counted/perfstat.txt")
	if len(m.Counts) != 1 || !m.Has(model.Counted) || m.Has(model.SyscallLog) {
		t.Fatalf("counts %v; want one, and no log of all calls", m.Counts)
	}
	c := m.Counts[0]
	if c.Window.Round(10*time.Millisecond) != 2410*time.Millisecond || c.CPU < 500*time.Millisecond || c.CPU > 2*time.Second {
		t.Errorf("%s of CPU in %s; want about a second in 2.41 s", c.CPU, c.Window)
	}
	if len(c.Calls) != 3 || c.Calls[0] != (model.Count{Name: "futex", N: 2202}) || countOf(c.Calls, "fstat").N != 6 || countOf(c.Events, "cs").N != 4638 {
		t.Errorf("calls %v, events %v; want 2202 of futex first, 6 of fstat, 4638 switches", c.Calls, c.Events)
	}
	all := loadFixture(t, "counted/perfstat.txt", "counted/perfstat-default.txt", "counted/strace.txt")
	if len(all.Counts) != 3 || countOf(all.Counts[1].Events, "page-faults").N != 37358 {
		t.Errorf("three outputs are %d; want each, with 37358 page faults in the second", len(all.Counts))
	}
}

// Numbers have their thousands parted where the locale does so, and repeated runs a spread.
func TestPerfStatForms(t *testing.T) {
	text := "\n Performance counter stats for process id '28187':\n\n            40,904 syscalls:sys_enter_epoll_ctl\n     <not counted> cycles\n" +
		"   1.234.567 x\n          2,046      syscalls:sys_enter_newfstat:u   ( +-  1.2% )\n                 9 syscalls:sys_exit_read\n\n      14.298493125 +- 0.0012 seconds time elapsed  ( +-  0.01% )\n"
	c := load(t, Options{}, written(t, []byte(text))).Counts[0]
	if c.Window != 14298493125*time.Nanosecond || len(c.Calls) != 2 || c.Calls[0] != (model.Count{Name: "epoll_ctl", N: 40904}) || c.Calls[1] != (model.Count{Name: "fstat", N: 2046}) || len(c.Events) != 0 {
		t.Errorf("counts %+v; want 40,904 epoll_ctl and 2,046 fstat in 14.3 s", c)
	}
}

func TestStrace(t *testing.T) {
	c := loadFixture(t, "counted/strace.txt").Counts[0]
	futex := countOf(c.Calls, "futex")
	if futex.N != 5769 || futex.Errors != 449 || futex.Time != 987496*time.Microsecond || c.Window != 0 || c.Calls[0].Name != "sendto" || countOf(c.Calls, "total").N != 0 {
		t.Errorf("calls %+v; want 5769 of futex, 449 of them failed, and sendto first", c.Calls)
	}
}

// Lines of inittrace are found in a log, and of several starts the last are kept.
func TestInittrace(t *testing.T) {
	m := loadFixture(t, "counted/inittrace.txt")
	if len(m.Counts) != 1 || len(m.Counts[0].Inits) != 145 || !m.Has(model.Counted) {
		t.Fatalf("counts %+v; want one, of 145 packages", m.Counts)
	}
	if first := m.Counts[0].Inits[2]; first.Package != "runtime" || first.At != 89*time.Microsecond || first.Took != 39*time.Microsecond {
		t.Errorf("the third package is %+v; want the runtime's own at 0.089 ms, 0.039 ms long", first)
	}
	text := "2026-01-02 app: begins\ninit main @9.5 ms, 2.5 ms clock, 4096 bytes, 12 allocs\ngc 1 @0.011s 2%: 0.1+1+0.1 ms clock, 0.2+0/1/0+0.2 ms cpu, 4->4->1 MB, 5 MB goal, 0 MB stacks, 0 MB globals, 2 P\n" +
		`{"log":"init runtime @0.1 ms, 0.03 ms clock, 0 bytes, 0 allocs\n","stream":"stderr"}` + "\nthe init of main took 3 ms clock, 4 bytes, 1 allocs\n" +
		"app-1  | init main @12 ms, 7 ms clock, 64 bytes, 2 allocs\r\n"
	m = load(t, Options{}, written(t, []byte(text)))
	want := []model.Init{{Package: "runtime", At: 100 * time.Microsecond, Took: 30 * time.Microsecond},
		{Package: "main", At: 12 * time.Millisecond, Took: 7 * time.Millisecond, Bytes: 64, Allocs: 2}}
	if len(m.Counts) != 1 || !slices.Equal(m.Counts[0].Inits, want) || len(m.GCLog) != 1 {
		t.Errorf("packages %+v, %d collections; want %+v and one", m.Counts[0].Inits, len(m.GCLog), want)
	}
	if notes := strings.Join(m.Run.Coverage.Notes, "\n"); !strings.Contains(notes, "2 starts of a program") {
		t.Errorf("notes %q; want the two starts", notes)
	}
}

func TestPerfReport(t *testing.T) {
	for _, name := range []string{"counted/perfreport.txt", "counted/perfreport-calls.txt", "counted/perfreport-self.txt"} {
		m := loadFixture(t, name)
		if len(m.Tables) != 1 || m.Tables[0].Source != model.CPU || m.Tables[0].Total != 1224448888 {
			t.Errorf("%s: tables %+v; want one of 1.22 s of CPU time", name, m.Tables)
			continue
		}
		table := m.Tables[0]
		want, share := "main.(*server).handle", 0.6252
		if name == "counted/perfreport-self.txt" {
			want, share = "runtime.memmove", 0.0736
		}
		f := table.Most(func(f string) bool { return f == want })
		if f == nil || table.Share(f.Cum) < share-1e-6 || table.Share(f.Cum) > share+1e-6 {
			t.Errorf("%s: %s is %+v; want %.4f of the total", name, want, f, share)
		}
	}
	if loadFixture(t, "counted/perfreport.txt").Tables[0].Most(func(f string) bool { return f == "runtime.morestack" }) == nil {
		t.Error("assembly keeps its mark; want the name that the linker leaves out")
	}
	// Another event's count is no time, and one without its sum has shares only.
	text := "# Samples: 2K of event 'cycles:u'\n# Event count (approx.): 5000\n# Overhead  Command  Shared Object  Symbol\n    50.00%  a  a  [.] main.f\n\n# Samples: 1K of event 'faults'\n# Overhead  Command  Shared Object  Symbol\n    10.00%  a  a  [k] do_fault\n"
	m := load(t, Options{}, written(t, []byte(text)))
	if len(m.Tables) != 2 || m.Tables[0].Type != (model.ValueType{Name: "cycles:u", Unit: "count"}) || m.Tables[1].Share(m.Tables[1].Functions[0].Cum) != 0.1 {
		t.Errorf("tables %+v; want one of each event", m.Tables)
	}
}

func FuzzCounted(f *testing.F) {
	names, err := filepath.Glob("testdata/counted/*.txt")
	if err != nil || len(names) == 0 {
		f.Fatalf("fixtures: %v, %v", names, err)
	}
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b[:min(len(b), 4<<10)])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, read := range []func(*loader, source) error{(*loader).readPerfStat, (*loader).readStrace, (*loader).readPerfReport} {
			l := newLoader(t.Context(), Options{})
			if read(l, source{name: "x", r: bytes.NewReader(b)}) != nil {
				continue
			}
			m, err := l.finish()
			if err != nil {
				continue
			}
			for _, c := range m.Counts {
				for _, e := range append(c.Calls, c.Events...) {
					if e.N < 0 || e.Errors < 0 || e.Time < 0 {
						t.Fatalf("%q: %v times, %d errors, %v, want none below 0", e.Name, e.N, e.Errors, e.Time)
					}
				}
			}
		}
	})
}
