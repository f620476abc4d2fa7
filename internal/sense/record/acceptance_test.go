package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// The acceptance tests record programs of testdata/acceptance as a user would
// and hold what the model then says against what the programs and other tools
// say of the same time. They are not for a machine whose CPUs others use: see
// package attempt.

// accepted are the programs that are recorded, built once for all tests.
type accepted struct {
	dir   string
	plain string // has nothing to ask but what its kind serves
	agent string // has the agent
	gowhy string // the command itself
}

func buildAccepted(t *testing.T) *accepted {
	t.Helper()
	attempt.Only(t, "records programs and compares what is said of them with other clocks")
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	// Open to other users, unlike t.TempDir.
	dir, err := os.MkdirTemp("", "gowhy-acceptance-")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	a := &accepted{dir, filepath.Join(dir, "plain"), filepath.Join(dir, "agent"), filepath.Join(dir, "gowhy")}
	for _, args := range [][]string{
		{"-o", a.plain, "./testdata/acceptance"},
		{"-o", a.agent, "-tags", "agent", "./testdata/acceptance"},
		{"-o", a.gowhy, "../../../cmd/gowhy"},
	} {
		if out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("go build %q: %v\n%s", args, err, out)
		}
	}
	return a
}

// A running program of testdata/acceptance.
type subject struct {
	pid  int
	said string // its first line
	uses string // the file of its own CPU times
	cmd  *exec.Cmd
}

func (s *subject) end() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

func startSubject(t *testing.T, binary, kind string) *subject {
	t.Helper()
	s := &subject{uses: filepath.Join(t.TempDir(), "uses")}
	s.cmd = exec.Command(binary, kind, s.uses)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.end)
	s.pid = s.cmd.Process.Pid
	if s.said, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	s.said = strings.TrimSpace(s.said)
	return s
}

// recordFor records a target and loads the recording.
func recordFor(t *testing.T, target Target, o Options) (*Result, *recording.Manifest, *model.Model) {
	t.Helper()
	o.unwatched = time.Millisecond
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "run.gowhy")
	}
	res, err := Run(t.Context(), target, o)
	if err != nil || !res.Written {
		t.Fatalf("Run() = %+v, %v; want a recording", res, err)
	}
	rec, err := recording.Open(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Close()
	return res, rec.Manifest, load(t, evidence.Options{}, o.Out)
}

// uses is what a program itself says of its CPU time.
type uses struct {
	at  []time.Time
	cpu []time.Duration
}

func readUses(t *testing.T, path string) *uses {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	u := &uses{}
	for line := range bytes.Lines(text) {
		var wall, cpu int64
		if _, err := fmt.Sscan(string(line), &wall, &cpu); err != nil {
			break // the last line of a program that was ended
		}
		u.at = append(u.at, time.Unix(0, wall))
		u.cpu = append(u.cpu, time.Duration(cpu))
	}
	if len(u.at) < 10 {
		t.Fatalf("the program wrote its CPU time %d times, want 10 or more", len(u.at))
	}
	return u
}

// startedAt adds that nothing was used before a program was started.
func (u *uses) startedAt(at time.Time) {
	if at.Before(u.at[0]) {
		u.at, u.cpu = slices.Insert(u.at, 0, at), slices.Insert(u.cpu, 0, 0)
	}
}

// until returns the CPU time used until a moment, by a straight line between two lines.
func (u *uses) until(at time.Time) time.Duration {
	i, _ := slices.BinarySearchFunc(u.at, at, time.Time.Compare)
	switch {
	case i == 0:
		return u.cpu[0]
	case i == len(u.at):
		return u.cpu[i-1]
	}
	share := at.Sub(u.at[i-1]).Seconds() / u.at[i].Sub(u.at[i-1]).Seconds()
	return u.cpu[i-1] + time.Duration(share*float64(u.cpu[i]-u.cpu[i-1]))
}

func (u *uses) between(from, to time.Time) time.Duration { return u.until(to) - u.until(from) }

// unsure returns how far until may be off: what was used between the two lines that a
// moment lies between. On a machine that has better things to do they are far apart.
func (u *uses) unsure(at time.Time) time.Duration {
	i, _ := slices.BinarySearchFunc(u.at, at, time.Time.Compare)
	if i == 0 || i == len(u.at) {
		return 0
	}
	return u.cpu[i] - u.cpu[i-1]
}

// checkAccount holds the account against the program's own words: within 2%
// over the account's window, and the counters that it is made from over all of the
// time in which they were read, which is nearly the whole recording.
func checkAccount(t *testing.T, m *model.Model, man *recording.Manifest, u *uses) (*model.CPUAccount, error) {
	t.Helper()
	a := m.CPUAccount()
	if a == nil || !a.Known || a.Total <= 0 {
		t.Fatalf("account %+v, want one of CPU time that is known", a)
	}
	checkSums(t, a)
	coverage, ok := a.Covered()
	if a.Believed != "" && (!ok || coverage <= 0) {
		return a, fmt.Errorf("Covered() of what %q tells = %v, %v, want more than 0, true", a.Believed, coverage, ok)
	}
	u.startedAt(man.Start)
	from := m.Run.Start.Add(a.From)
	first, last, ok := m.Process.Window()
	if !ok {
		t.Fatal("no counters of the process")
	}
	for _, w := range []struct {
		what     string
		from, to time.Time
		total    time.Duration
	}{
		{"the account's window", from, from.Add(a.Window), a.Total},
		{"the counters' time", m.Run.Start.Add(first.At), m.Run.Start.Add(last.At), last.User + last.System - first.User - first.System},
	} {
		want := u.between(w.from, w.to)
		t.Logf("%s: %v by the account, %v by the program (%+.2f%%), coverage %.2f, believed %s", w.what, w.total, want, 100*(w.total.Seconds()/want.Seconds()-1), coverage, a.Believed)
		if off := (w.total - want).Abs(); off > want/50+u.unsure(w.from)+u.unsure(w.to) {
			return a, fmt.Errorf("%s from %v to %v has %v, want about the %v of its program (as it wrote from %v to %v)", w.what, w.from, w.to, w.total, want, u.at[0], u.at[len(u.at)-1])
		}
	}
	if length := man.End.Sub(man.Start); a.Window < length*9/10 || last.At-first.At < length*9/10 {
		return a, fmt.Errorf("the account is of %v, and the counters of %v, want nine tenths or more of %v", a.Window, last.At-first.At, length)
	}
	return a, nil
}

// checkSums checks that parts add up, and pieces to no more than their part.
func checkSums(t *testing.T, a *model.CPUAccount) {
	t.Helper()
	var sum time.Duration
	for _, p := range a.Parts {
		sum += p.Time
		var by time.Duration
		for _, n := range p.By {
			by += n.Time
		}
		if p.Time <= 0 || by > p.Time {
			t.Errorf("%s has %v, want some, and at least its pieces' %v", p.Part, p.Time, by)
		}
	}
	if d := (sum - a.Total).Abs(); d > time.Duration(len(a.Parts)) {
		t.Errorf("the parts have %v, want %v as the account", sum, a.Total)
	}
}

func TestAcceptance(t *testing.T) {
	a := buildAccepted(t)
	t.Run("url", a.url)
	t.Run("pid", a.pid)
	t.Run("command", a.command)
	t.Run("wakes", a.wakes)
	t.Run("cut", a.cut)
	t.Run("perf", a.perf)
	t.Run("nobody", a.nobody)
}

// A server under load that has net/http/pprof.
func (a *accepted) url(t *testing.T) {
	err := attempt.Repeat(t, func() error {
		s := startSubject(t, a.plain, "server")
		out := filepath.Join(t.TempDir(), "run.gowhy")
		_, man, m := recordFor(t, Target{URL: s.said}, Options{Out: out, Duration: 2 * time.Second})
		s.end()
		if man.PID != s.pid || !m.Has(model.Trace) || !m.Has(model.CPU) {
			t.Errorf("recorded PID %d, trace %v, CPU %v, want %d, true, true",
				man.PID, m.Has(model.Trace), m.Has(model.CPU), s.pid)
		}
		a.diagnosed(t, out)
		_, err := checkAccount(t, m, man, readUses(t, s.uses))
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A process that cannot be asked for anything.
func (a *accepted) pid(t *testing.T) {
	err := attempt.Repeat(t, func() error {
		s := startSubject(t, a.plain, "worker")
		out := filepath.Join(t.TempDir(), "run.gowhy")
		res, man, m := recordFor(t, Target{PID: s.pid}, Options{Out: out, Duration: 2 * time.Second})
		s.end()
		if why := refused(res, "endpoint"); !strings.Contains(why, "listens nowhere") || m.Has(model.Trace) {
			t.Errorf("the endpoint is refused for %q, trace %v, want listens nowhere, false", why, m.Has(model.Trace))
		}
		a.diagnosed(t, out)
		_, err := checkAccount(t, m, man, readUses(t, s.uses))
		return errors.Join(err, checkMoments(t, m))
	})
	if err != nil {
		t.Error(err)
	}
}

// A command with the agent and no server.
func (a *accepted) command(t *testing.T) {
	err := attempt.Repeat(t, func() error {
		out, uses := filepath.Join(t.TempDir(), "run.gowhy"), filepath.Join(t.TempDir(), "uses")
		_, man, m := recordFor(t, Target{Command: []string{a.agent, "worker", uses}}, Options{Out: out, Duration: 2 * time.Second})
		for _, s := range []model.Source{model.Trace, model.CPU, model.Heap, model.LiveHeap, model.Block, model.Mutex, model.GoroutineProfile, model.ThreadCreate, model.MetricsLog, model.BuildInfo, model.ProcFS} {
			if !m.Has(s) {
				t.Errorf("no %s, want it; refused %+v", s, man.Refused)
			}
		}
		a.diagnosed(t, out)
		checkMembers(t, out)
		_, err := checkAccount(t, m, man, readUses(t, uses))
		return errors.Join(err, checkMoments(t, m))
	})
	if err != nil {
		t.Error(err)
	}
}

// checkMoments checks that each of the kernel's samples has its time, in the
// window or beside it: the kernel is watched from before to after it.
func checkMoments(t *testing.T, m *model.Model) error {
	t.Helper()
	if !m.Has(model.KernelCPU) {
		return nil // not permitted
	}
	all := int64(0)
	for _, s := range m.Kernel.CPU.Samples {
		all += s.Values[0]
	}
	if n := int64(len(m.Kernel.Moments)); n == 0 || n+m.Kernel.MomentsLost != all {
		t.Errorf("%d of %d samples have a time, want all but %d", n, all, m.Kernel.MomentsLost)
	}
	outside := 0
	for _, x := range m.Kernel.Moments {
		if x.At < -time.Second || x.At > m.Run.Duration+time.Second {
			t.Fatalf("a sample at %v, want it in a run of %v", x.At, m.Run.Duration)
		}
		if x.At < 0 || x.At > m.Run.Duration {
			outside++
		}
	}
	if outside > len(m.Kernel.Moments)/4 {
		return fmt.Errorf("%d of %d samples are outside of the window of %v, want at most a quarter", outside, len(m.Kernel.Moments), m.Run.Duration)
	}
	return nil
}

// diagnosed runs the command itself on a recording.
func (a *accepted) diagnosed(t *testing.T, out string) {
	t.Helper()
	for _, args := range [][]string{{"diagnose", "-v", out}, {"ledger", "--by", "cpu", out}} {
		text, err := exec.Command(a.gowhy, args...).CombinedOutput()
		if err != nil || !bytes.Contains(bytes.ToLower(text), []byte("coverage")) {
			t.Errorf("gowhy %s: %v\n%s\nwant coverage", args[0], err, text)
		}
	}
}

// A program that wakes often to do nearly nothing: the profile's timers miss
// most of it, which is said, and the kernel's samples show it.
func (a *accepted) wakes(t *testing.T) {
	if err := attempt.Repeat(t, func() error { return a.wakesOften(t) }); err != nil {
		t.Error(err)
	}
}

func (a *accepted) wakesOften(t *testing.T) error {
	out, uses := filepath.Join(t.TempDir(), "run.gowhy"), filepath.Join(t.TempDir(), "uses")
	// The trace of a hundred thousand wake-ups a second would be most of the work.
	o := Options{Out: out, Duration: 3 * time.Second, Without: []string{"trace"}}
	_, man, m := recordFor(t, Target{Command: []string{a.agent, "wake", uses}}, o)
	if !m.Has(model.KernelCPU) || m.Kernel.UserOnly {
		t.Skip("the kernel's own samples are not permitted here")
	}
	account, err := checkAccount(t, m, man, readUses(t, uses))
	if err != nil {
		return err
	}
	if account.Total < time.Second {
		t.Skipf("it used no more than %v", account.Total)
	}
	profile, kernel := account.Coverage[model.CPU], account.Coverage[model.KernelCPU]
	t.Logf("the profile covers %.2f, the kernel's samples %.2f: %s", profile, kernel, account.Why)
	if profile >= 0.9 || profile <= 0 || kernel <= profile || account.Believed != model.KernelCPU {
		return fmt.Errorf("the profile covers %.2f, the kernel's samples %.2f, believed is %s; want less than 0.9, more, %s", profile, kernel, account.Believed, model.KernelCPU)
	}
	if !strings.Contains(account.Why, "timers of a profile") {
		return fmt.Errorf("why: %q, want the timers of a profile", account.Why)
	}
	scheduler := account.Part(model.Scheduling)
	i := slices.IndexFunc(scheduler.By, func(n model.CPUName) bool { return n.Name == "futex" })
	if account.Share(model.Scheduling) < 0.5 || i < 0 || scheduler.By[i].Time < account.Total/4 {
		return fmt.Errorf("parts %+v, want half or more in scheduling, a quarter or more in futex", account.Parts)
	}
	return nil
}

const acceptNobodyEnv = "GOWHY_TEST_ACCEPT_NOBODY"

// Another user than root records a program of its own: less, and it is said.
func (a *accepted) nobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	const id = 65534
	home, binary := filepath.Join(a.dir, "home"), filepath.Join(a.dir, "evidence.test")
	if err := errors.Join(os.WriteFile(binary, text, 0o755), os.Mkdir(home, 0o700), os.Chown(home, id, id)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^TestAcceptanceAsNobody$", "-test.v")
	cmd.Dir = home
	// The file of retries is root's; what this test says of them is in its output.
	cmd.Env = append(os.Environ(), acceptNobodyEnv+"="+a.agent, "TMPDIR="+home, "HOME="+home, "GOWHY_RETRIES=")
	cmd.SysProcAttr = asUser(id)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}

func TestAcceptanceAsNobody(t *testing.T) {
	program := os.Getenv(acceptNobodyEnv)
	if program == "" {
		t.Skip("is run by TestAcceptance as another user")
	}
	t.Run("command", func(t *testing.T) {
		err := attempt.Repeat(t, func() error {
			uses := filepath.Join(t.TempDir(), "uses")
			res, man, m := recordFor(t, Target{Command: []string{program, "worker", uses}}, Options{Duration: 1500 * time.Millisecond})
			checkRefused(t, res)
			for _, s := range []model.Source{model.Trace, model.CPU, model.ProcFS, model.BuildInfo, model.MetricsLog} {
				if !m.Has(s) {
					t.Errorf("no %s, want it; refused %+v", s, res.Refused)
				}
			}
			_, err := checkAccount(t, m, man, readUses(t, uses))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("process", func(t *testing.T) {
		err := attempt.Repeat(t, func() error {
			running := startSubject(t, program, "worker")
			res, man, m := recordFor(t, Target{PID: running.pid}, Options{Duration: 1500 * time.Millisecond})
			running.end()
			checkRefused(t, res)
			_, err := checkAccount(t, m, man, readUses(t, running.uses))
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// checkRefused checks that all that is missing is said, with a way to have it.
func checkRefused(t *testing.T, res *Result) {
	t.Helper()
	for _, r := range res.Refused {
		t.Logf("%s: %s; %s", r.Member, r.Why, r.How)
		if r.Why == "" || r.How == "" {
			t.Errorf("%s is refused for %q, with the help %q, want a reason and help", r.Member, r.Why, r.How)
		}
	}
	there := func(member string) bool {
		return slices.ContainsFunc(res.Members, func(m recording.Member) bool { return m.Name == member })
	}
	for _, member := range []string{recording.ProcMember, recording.KernelMember, recording.OffCPUMember, recording.SyscallsMember, recording.BuildMember} {
		if !there(member) && refused(res, member) == "" {
			t.Errorf("%s is missing, and nothing says why", member)
		}
	}
	if len(res.Refused) == 0 {
		t.Error("nothing was refused: is this user one with all rights?")
	}
}
