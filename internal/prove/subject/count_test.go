package subject

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

func countOf(t *testing.T, s *Subject) (map[diagnosis.Metric]float64, []string, *model.Model) {
	t.Helper()
	sample, m, err := s.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sample.Values, sample.Warnings, m
}

// near reports whether a counter is exact to 0.2%.
func near(got, want float64) bool { return math.Abs(got/want-1) < 0.002 }

func warned(warnings []string, words string) bool {
	return strings.Contains(strings.Join(warnings, "\n"), words)
}

func TestCount(t *testing.T) {
	const n = 2_000_000
	p := Program{Command: []string{program(t), "-finish", "-allocs", fmt.Sprint(n)}}
	v, warnings, m := countOf(t, subjectOf(t, Spec{Program: p, Ops: n}))
	if !near(v[diagnosis.AllocsOp], 1) || !near(v[diagnosis.BytesOp], 64) {
		t.Errorf("%v allocations of %v bytes, want 1 of 64; %q", v[diagnosis.AllocsOp], v[diagnosis.BytesOp], warnings)
	}
	if v[diagnosis.GCPerOp]*n < 5 || v[diagnosis.LiveHeap] <= 0 || v[diagnosis.Faults] <= 0 {
		t.Errorf("values %v", v)
	}
	if _, ok := v[diagnosis.Elapsed]; ok {
		t.Error("a counted run is not to be timed")
	}
	if m == nil || m.Metrics == nil {
		t.Error("no model")
	}
	if os.Geteuid() == 0 && !warned(warnings, "system calls are not counted") && v[diagnosis.Syscalls] <= 0 {
		t.Errorf("no system calls: %v", v)
	}
}

// The settings and the directory are the counted run's, too.
func TestCountProgram(t *testing.T) {
	dir := t.TempDir()
	p := Program{Command: []string{"./p", "-finish", "-env", "GOGC"}, Env: []string{"GOGC=77"}, Dir: dir}
	if err := os.Symlink(program(t), dir+"/p"); err != nil {
		t.Fatal(err)
	}
	s := subjectOf(t, Spec{Program: p})
	_, _, m := countOf(t, s)
	if got := m.Metrics.Series["/gc/gogc:percent"]; len(got) == 0 || got[0].Value != 77 {
		t.Errorf("GOGC %v", got)
	}
}

// Without its last words a program's counters are not exact, and so absent.
func TestCountCut(t *testing.T) {
	v, warnings, _ := countOf(t, runs(t, "-allocs", "1000000", "-sleep", "50ms"))
	if _, ok := v[diagnosis.AllocsOp]; ok || !warned(warnings, "agent.Finish") {
		t.Errorf("values %v, warnings %q", v, warnings)
	}
}

func TestCountFails(t *testing.T) {
	_, _, err := runs(t, "-finish", "-exit", "5").Count(t.Context())
	checkProblem(t, err, "exit code 5", "this is why it failed")
}

func TestCountServer(t *testing.T) {
	const requests, each = 500, 2000
	for _, flags := range [][]string{nil, {"-pprof"}, {"-hidden"}} { // the last is asked at its agent's socket
		t.Run(strings.Join(flags, ""), func(t *testing.T) {
			spec := server(t, requests, "/work", append(flags, "-per", fmt.Sprint(each))...)
			sample, m, err := subjectOf(t, spec).Count(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			v := sample.Values
			// A request of net/http is some dozens of allocations itself.
			if per := v[diagnosis.AllocsOp]; per < each || per > each+100 {
				t.Errorf("%v allocations a request, want %d and some; %q", per, each, sample.Warnings)
			}
			if per := v[diagnosis.BytesOp]; per < each*64 || per > each*64+10_000 {
				t.Errorf("%v bytes a request", per)
			}
			if sample.Ops != requests || v[diagnosis.Switches] <= 0 || v[diagnosis.GCPerOp] <= 0 {
				t.Errorf("%v operations, %v switches and %v collections in each, want %d, and some of both",
					sample.Ops, v[diagnosis.Switches], v[diagnosis.GCPerOp], requests)
			}
			if os.Geteuid() == 0 && m.Syscalls != nil && !(v[diagnosis.Syscalls] > 1 && v[diagnosis.Syscalls] < 50) {
				t.Errorf("%v system calls a request", v[diagnosis.Syscalls])
			}
			noneLeft(t, spec.Program.Command[2])
		})
	}
}
