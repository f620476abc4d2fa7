package rules

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// The programs of testdata/live run as processes of their own and are recorded
// as gowhy records a service: what is asked of their recordings is what the
// system alone can tell. Each says its address when it is at work.

// outside are rules about what is not the program's doing. The machine of a
// test is not its own, so that they may speak at any time.
var outside = []string{"neighbour", "starved", "throttled"}

// A subject is a program of testdata/live and what must be said of it.
type subject struct {
	program string
	build   []string // flags and environment (KEY=value) of go build
	env     []string
	quota   float64 // cores by control group; 0 for none
	beside  int     // busy neighbours
	window  time.Duration
	// needs is evidence without which the case says nothing.
	needs []model.Source
	// want is what must be found, any of several words; "" that nothing may be.
	want string
	// also are rules that speak truly of a well program, and whose look-alike it
	// is not.
	also string
	// remarks are rules that may remark on a well program: what costs is there, and no reason.
	remarks string
	// idle is how many cores of the machine must be idle for the finding to be
	// true: who gets less than his quota from a full machine does not use it up.
	idle float64
}

var subjects = map[string]subject{
	"lines written one by one":       {program: "lines", needs: []model.Source{model.SyscallLog, model.KernelCPU}, want: "smallio"},
	"bytes read one by one":          {program: "bytes", needs: []model.Source{model.SyscallLog, model.KernelCPU}, want: "smallio"},
	"a file opened for each reading": {program: "reopen", needs: []model.Source{model.SyscallLog}, want: "reopen"},
	"a broadcast to hundreds":        {program: "broadcast", env: []string{"GOMAXPROCS=8"}, want: "broadcastclose herdwakeup"},
	"goroutines bound to threads":    {program: "locked", window: 2 * time.Second, needs: []model.Source{model.SyscallLog, model.KernelCPU}, want: "futexstorm"},
	"answers that come too late":     {program: "leak", build: []string{"GOEXPERIMENT=goroutineleakprofile"}, needs: []model.Source{model.Leak}, want: "leakedgoroutines"},
	"subscriptions that never end":   {program: "growth", window: 3500 * time.Millisecond, want: "goroutinegrowth"},
	"memory that is mapped and kept": {program: "mapped", window: 12 * time.Second, needs: []model.Source{model.ProcFS}, want: "nativememory"},
	"a burst that leaves few":        {program: "burst", window: 5 * time.Second, want: "fragmentation"},
	"one P for four workers":         {program: "compute", env: []string{"GOMAXPROCS=1"}, needs: []model.Source{model.ProcFS}, want: "fewprocs", idle: 0.3},
	"half a core of quota":           {program: "compute", env: []string{"GOMAXPROCS=2"}, quota: 0.5, needs: []model.Source{model.ProcFS}, want: "throttled", idle: 0.1},
	"eight Ps on half a core":        {program: "compute", env: []string{"GOMAXPROCS=8"}, quota: 0.5, needs: []model.Source{model.ProcFS}, want: "overquota", idle: 0.1},
	"busy neighbours":                {program: "compute", beside: 2 * runtime.NumCPU(), needs: []model.Source{model.ProcFS}, want: "neighbour"},
	"no optimization":                {program: "rest", build: []string{"-gcflags=-N -l"}, needs: []model.Source{model.BuildInfo}, want: "wrongbuild"},

	"well: lines through a buffer":        {program: "buffered"},
	"well: a file kept open":              {program: "kept"},
	"well: hand-overs through a channel":  {program: "handover", env: []string{"GOMAXPROCS=8"}, also: "idlespin"},
	"well: a web server":                  {program: "web", remarks: "allocchurn"},
	"well: a pool that is started once":   {program: "pool"},
	"well: as many workers as Ps compute": {program: "compute"},
	"well: one worker on one P":           {program: "single", env: []string{"GOMAXPROCS=1"}},
	"well: a burst that is copied":        {program: "copied", window: 5 * time.Second, remarks: "allocchurn hotfunction growingslices boxedargs"},
	"well: no leak to be found":           {program: "pool", build: []string{"GOEXPERIMENT=goroutineleakprofile"}},
}

func TestLiveProcesses(t *testing.T) {
	attempt.Only(t, "records programs that run and judges what is said of them")
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	built := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(subjects)) {
		s := subjects[name]
		t.Run(name, func(t *testing.T) {
			key := strings.Join(s.build, " ")
			if built[key] == "" {
				built[key] = buildLive(t, s.build)
			}
			quiet(t, func() error { return s.examine(t, built[key]) })
		})
	}
}

// buildLive compiles the programs, in a folder that outlives the case.
func buildLive(t *testing.T, flags []string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "live")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "live")
	args, env := []string{"build", "-o", out}, os.Environ()
	for _, f := range flags {
		if strings.HasPrefix(f, "-") {
			args = append(args, f)
		} else {
			env = append(env, f)
		}
	}
	cmd := exec.Command("go", append(args, "./testdata/live")...)
	cmd.Env = env
	said, err := cmd.CombinedOutput()
	if err != nil {
		os.RemoveAll(dir)
		t.Skipf("go build %v: %v\n%s", flags, err, said)
	}
	cleanups = append(cleanups, func() { os.RemoveAll(dir) })
	return out
}

// cleanups are run when all tests are over.
var cleanups []func()

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range cleanups {
		f()
	}
	os.Exit(code)
}

// examine runs the program, records it and looks at the diagnosis.
func (s *subject) examine(t *testing.T, binary string) error {
	p, err := startLive(t, binary, s.program, s.env...)
	if err != nil {
		return err
	}
	defer p.end()
	if s.quota > 0 {
		remove := quota(t, p.cmd.Process.Pid, s.quota)
		defer remove()
		defer p.end() // before its group can be removed
	}
	for range s.beside {
		other, err := startLive(t, binary, "single")
		if err != nil {
			return err
		}
		defer other.end()
	}
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
	pass := &diagnosis.Pass{Meter: fact.Meter{Model: m}}
	if s.want == "fewprocs" {
		used := useOfPs(pass, cpu.KnownProcs(pass))
		ready, _ := measureReady(pass)
		t.Logf("%s of the Ps used, %s ready for %s of the time", used.Text, ready.mean.Text, ready.part.Text)
	}
	if idle, _ := idleCores(pass); s.idle > idle.Value {
		t.Skipf("only %s of the machine were idle", idle.Text)
	}
	d := diagnosis.Run(m, All, diagnosis.Options{})
	if s.want != "" {
		if !slices.ContainsFunc(strings.Fields(s.want), func(rule string) bool { return named(d.Findings, rule) }) {
			return fmt.Errorf("%s is not found, but: %q, fine: %q, unchecked: %v", s.want, summaries(d.Findings), d.Fine, d.Unchecked)
		}
		logFinding(t, d.Findings, s.want)
		return nil
	}
	return silence(slices.DeleteFunc(d.Findings, func(f diagnosis.Finding) bool {
		return slices.Contains(outside, f.Rule) || f.Remark && slices.Contains(strings.Fields(s.remarks), f.Rule) || slices.Contains(strings.Fields(s.also), f.Rule)
	}))
}

// logFinding shows the figures that a threshold is to be compared with.
func logFinding(t *testing.T, found []diagnosis.Finding, rule string) {
	for _, f := range found {
		if f.Rule == rule {
			t.Log(f.Summary)
			for _, e := range f.Evidence {
				t.Logf("%s: %.4g %s", e.Name, e.Value, e.Unit)
			}
			for _, w := range f.Where {
				t.Logf("%s %s:%d", w.Function, filepath.Base(w.File), w.Line)
			}
		}
		logFinding(t, f.Symptoms, rule)
	}
}

func (s *subject) record(t *testing.T, p *live) (*model.Model, error) {
	out := filepath.Join(t.TempDir(), "live.gowhy")
	window := s.window
	if window == 0 {
		window = 1200 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(t.Context(), window+30*time.Second)
	defer cancel()
	r, err := record.Run(ctx, record.Target{PID: p.cmd.Process.Pid, URL: p.url}, record.Options{Out: out, Duration: window})
	if err != nil {
		return nil, err
	}
	for _, refused := range r.Refused {
		t.Logf("%s is not recorded: %s; %s", refused.Member, refused.Why, refused.How)
	}
	return evidence.Load(ctx, []string{out}, evidence.Options{})
}

// A live is a running program of testdata/live.
type live struct {
	cmd   *exec.Cmd
	url   string
	ended bool
}

func startLive(t *testing.T, binary, program string, env ...string) (*live, error) {
	t.Helper()
	cmd := exec.Command(binary, program)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &live{cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.end()
		return nil, fmt.Errorf("%s said nothing: %w", program, err)
	}
	p.url = strings.TrimSpace(line)
	return p, nil
}

func (p *live) end() {
	if !p.ended {
		p.ended = true
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// quota puts a process into a control group of its own with so many cores, and
// returns what removes the group once the process is gone. It skips the test
// where that is not permitted.
func quota(t *testing.T, pid int, cores float64) (remove func()) {
	t.Helper()
	const period = 100_000 // µs
	name := "gowhy-rules-" + strconv.Itoa(pid)
	write := func(dir string, files ...string) error {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		var errs []error
		for i := 0; i < len(files); i += 2 {
			errs = append(errs, os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644))
		}
		if err := errors.Join(errs...); err != nil {
			os.Remove(dir)
			return err
		}
		return nil
	}
	micros := strconv.Itoa(int(cores * period))
	for dir, files := range map[string][]string{
		"/sys/fs/cgroup/cpu/" + name: {"cpu.cfs_period_us", strconv.Itoa(period), "cpu.cfs_quota_us", micros, "cgroup.procs", strconv.Itoa(pid)},
		"/sys/fs/cgroup/" + name:     {"cpu.max", micros + " " + strconv.Itoa(period), "cgroup.procs", strconv.Itoa(pid)},
	} {
		if _, err := os.Stat(filepath.Join(filepath.Dir(dir), "cgroup.procs")); err != nil {
			continue
		}
		err := write(dir, files...)
		if err == nil {
			return func() {
				// The kernel takes a moment to see the last process gone.
				for range 100 {
					if err = os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
						return
					}
					time.Sleep(10 * time.Millisecond)
				}
				t.Errorf("a control group is left over: %v", err)
			}
		}
		t.Log(err)
	}
	t.Skip("no control group can be made")
	return nil
}
