package rules

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// loops are programs of testdata/live about loops: what they draw, build, ask
// and try again.
var loops = map[string]subject{
	"a source of random numbers for each number": {program: "freshrand", window: 2 * time.Second, want: "freshrand"},
	"a generator under a mutex":                  {program: "ownrand", window: 2 * time.Second, want: "lockedrand"},
	"names turned round by +=":                   {program: "concat", window: 2 * time.Second, needs: []model.Source{model.Heap}, want: "stringbuilding"},
	"a select with default":                      {program: "polls", window: 2 * time.Second, want: "spinloop"},
	"a receive from a closed channel":            {program: "closed", window: 2 * time.Second, want: "spinloop"},
	"nobody listens":                             {program: "refused", window: 2 * time.Second, needs: []model.Source{model.SyscallLog}, want: "hotretry"},
	"no such file":                               {program: "absent", window: 2 * time.Second, needs: []model.Source{model.SyscallLog}, want: "hotretry"},
	"time.After with the timers of old":          {program: "timeouts", env: []string{"GODEBUG=asynctimerchan=1"}, needs: []model.Source{model.Heap}, want: "oldtimers"},

	"well: names turned round in a buffer":     {program: "appended", window: 2 * time.Second},
	"well: math/rand's functions":              {program: "sharedrand", window: 2 * time.Second},
	"well: a worker that may be stopped":       {program: "asks", window: 2 * time.Second},
	"well: nobody listens, and a client waits": {program: "patient", window: 2 * time.Second},
}

func TestLiveLoops(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	built := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(loops)) {
		s := loops[name]
		t.Run(name, func(t *testing.T) {
			key := strings.Join(s.build, " ")
			if built[key] == "" {
				built[key] = buildLive(t, s.build)
			}
			quiet(t, func() error { return s.examineLoop(t, built[key]) })
		})
	}
}

// examineLoop runs the program, records it and looks at the diagnosis. A
// machine that others fill leaves too few samples to take shares from: what is
// not said then is no fault.
func (s *subject) examineLoop(t *testing.T, binary string) error {
	p, err := startLive(t, binary, s.program, s.env...)
	if err != nil {
		return err
	}
	defer p.end()
	m, err := s.record(t, p)
	if err != nil {
		return err
	}
	for _, need := range s.needs {
		if !m.Has(need) {
			t.Skipf("no evidence of %s could be had", need)
		}
	}
	checkSound(t, s.program, m)
	d := diagnosis.Run(m, All, diagnosis.Options{})
	for _, o := range d.Obsolete {
		t.Log(o)
	}
	if s.want == "" {
		return silence(slices.DeleteFunc(d.Findings, func(f diagnosis.Finding) bool { return slices.Contains(outside, f.Rule) }))
	}
	logFinding(t, d.Findings, s.want)
	if named(d.Findings, s.want) {
		return nil
	}
	if cpu, ok := cpu.UseOf(&diagnosis.Pass{Meter: fact.Meter{Model: m}}); !ok || cpu.Cores() < spinCores {
		t.Skip("others left the program too little CPU")
	}
	return fmt.Errorf("%s is not found, but: %q, fine: %q", s.want, summaries(d.Findings), d.Fine)
}

// TestLiveObsolete: what old advice warns of is there, and the report says that
// it is harmless.
func TestLiveObsolete(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	binary := buildLive(t, nil)
	for rule, program := range map[string]string{"oldtimers": "timeouts", "lockedrand": "sharedrand"} {
		t.Run(rule, func(t *testing.T) {
			quiet(t, func() error {
				p, err := startLive(t, binary, program)
				if err != nil {
					return err
				}
				defer p.end()
				s := subject{window: 2 * time.Second}
				m, err := s.record(t, p)
				if err != nil {
					return err
				}
				d := diagnosis.Run(m, All, diagnosis.Options{})
				if slices.ContainsFunc(d.Obsolete, func(o diagnosis.Obsolete) bool { return o.Rule == rule }) && !named(d.Findings, rule) {
					return nil
				}
				if _, ok := cpu.UseOf(&diagnosis.Pass{Meter: fact.Meter{Model: m}}); !ok && rule == "lockedrand" {
					t.Skip("others left the program too little CPU")
				}
				return fmt.Errorf("obsolete: %v, found: %q", d.Obsolete, summaries(d.Findings))
			})
		})
	}
}
