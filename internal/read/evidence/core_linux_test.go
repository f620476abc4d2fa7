package evidence

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/testing/corefile"
)

// cored builds the program of testdata/cored.
func cored(t *testing.T, flags ...string) string {
	t.Helper()
	if testing.Short() || runtime.GOARCH != "amd64" {
		t.Skip("builds a program, and writes cores of amd64")
	}
	exe := filepath.Join(t.TempDir(), "cored")
	if out, err := exec.Command("go", append(append([]string{"build", "-o", exe}, flags...), "./testdata/cored")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return exe
}

// coreOf runs a program until it says that it is ready, or for a while, and makes its core.
func coreOf(t *testing.T, exe string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(exe, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	if len(args) == 0 {
		bufio.NewReader(stdout).ReadString('\n')
	} else {
		time.Sleep(50 * time.Millisecond)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if c, err := corefile.Of(cmd.Process.Pid); err == nil {
			return c.Bytes()
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Skip("its memory may not be read")
	return nil
}

// checkCored checks what is known of testdata/cored.
func checkCored(t *testing.T, m *model.Model) {
	t.Helper()
	if !m.Has(model.GoroutineProfile) || m.Moment == nil {
		t.Fatalf("no goroutines: %q", m.Run.Coverage.Notes)
	}
	waiting, labelled := int64(0), int64(0)
	for _, g := range m.Moment.Goroutines {
		if g.State == "sync.Mutex.Lock" {
			waiting += g.Count
		}
	}
	for _, s := range m.Goroutines.End.Samples {
		if s.Labels["route"] == "/orders" {
			labelled += s.Values[0]
		}
	}
	if waiting != 40 || labelled != 40 {
		t.Errorf("%d wait for the lock and %d have the label, want 40: %+v", waiting, labelled, m.Moment.Goroutines)
	}
	if len(m.Moment.Locks) != 1 || !strings.HasSuffix(m.Moment.Locks[0].Name, "main.mu") {
		t.Errorf("locks %+v, want main.mu", m.Moment.Locks)
	}
	a := m.MemoryAccount()
	if a == nil || !a.Core {
		t.Fatalf("MemoryAccount() = %+v, want one of a core", a)
	}
	var sum uint64
	for _, p := range a.Parts {
		sum += p.Bytes
		if p.Name == model.AlivePart && (p.Bytes < 31<<20 || p.Bytes > 36<<20) {
			t.Errorf("%s is %d bytes, want 32 MiB", p.Name, p.Bytes)
		}
	}
	if sum != a.Counted || a.Counted < 32<<20 || a.Counted > 80<<20 {
		t.Errorf("the parts are %d bytes, counted %d, want as many, 32 MiB to 80 MiB: %+v", sum, a.Counted, a.Parts)
	}
	if m.Limits != nil || m.Machine != nil {
		t.Errorf("limits %+v and machine %+v, want nil, as no core has them", m.Limits, m.Machine)
	}
}

// A core is read wherever its program is found, packed or not.
func TestCoreFile(t *testing.T) {
	exe := cored(t)
	b := coreOf(t, exe)
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	z.Write(b)
	z.Close()
	dir := files(t, map[string][]byte{"core.1": b, "core.zst": packed.Bytes(), "core.gz": gzipped(b)})
	for _, name := range []string{"core.1", "core.zst", "core.gz"} {
		m := load(t, Options{}, filepath.Join(dir, name))
		checkCored(t, m)
		if len(m.Run.Coverage.Notes) > 0 || m.Run.PID == 0 || m.Build == nil || m.Run.Go != runtime.Version() || m.Run.Death != nil {
			t.Errorf("%s: run %+v, build %+v; want no notes, and a program that lives on", name, m.Run, m.Build)
		}
	}
	for _, name := range []string{"core.1", "core.zst", "core.gz"} {
		if r, done, err := OpenCore(t.Context(), []string{filepath.Join(dir, name)}); err != nil || r == nil {
			t.Errorf("OpenCore(%s) = %v, %v, want its memory", name, r, err)
		} else {
			done()
		}
	}
	for name, b := range map[string][]byte{"text.gz": gzipped([]byte("text")), "cut.gz": gzipped(b)[:len(gzipped(b))/2]} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, paths := range [][]string{{filepath.Join(dir, "text.gz")}, {filepath.Join(dir, "core.1"), filepath.Join(dir, "core.gz")}, {exe}} {
		if r, _, err := OpenCore(t.Context(), paths); err != nil || r != nil {
			t.Errorf("OpenCore(%q) = %v, %v, want that it is no core", paths, r, err)
		}
	}
	if r, _, err := OpenCore(t.Context(), []string{filepath.Join(dir, "cut.gz")}); err == nil || r != nil {
		t.Errorf("OpenCore(cut.gz) = %v, %v, want an error", r, err)
	}
	elsewhere := filepath.Join(t.TempDir(), "other-name")
	if err := os.Rename(exe, elsewhere); err != nil {
		t.Fatal(err)
	}
	refuse(t, "whose file is not on this machine", "to the directory of the core, then gowhy", filepath.Join(dir, "core.1"))
	checkCored(t, load(t, Options{}, filepath.Join(dir, "core.1"), elsewhere))
	checkCored(t, load(t, Options{}, elsewhere, filepath.Join(dir, "core.1")))
	refuse(t, "is a program", "gowhy record", elsewhere)
	if err := os.Rename(elsewhere, filepath.Join(dir, "cored")); err != nil {
		t.Fatal(err)
	}
	checkCored(t, load(t, Options{}, filepath.Join(dir, "core.1")))
	if err := os.Rename(cored(t, "-ldflags=-X=main.x=1"), filepath.Join(dir, "cored")); err != nil {
		t.Fatal(err)
	}
	refuse(t, "is not the file that ran", "to the directory of the core", filepath.Join(dir, "core.1"))
	if sh, err := exec.LookPath("sh"); err == nil {
		refuse(t, "is not the file that ran", "to the directory of the core", filepath.Join(dir, "core.1"), sh)
	}
}

// refuse checks the error of what cannot be read.
func refuse(t *testing.T, what, hint string, paths ...string) {
	t.Helper()
	var p *problem.Error
	_, err := Load(t.Context(), paths, Options{})
	if !errors.As(err, &p) || p.Kind != problem.Absence || !strings.Contains(p.What, what) || !strings.Contains(p.Hint, hint) {
		t.Errorf("error %v, %+v; want %q with the hint %q", err, p, what, hint)
	}
}

// A core that is cut has what is there, and says how much is missing.
func TestCutCore(t *testing.T) {
	b := coreOf(t, cored(t))
	for _, part := range []float64{0.98, 0.5, 0.1, 0.01, 0.0005} {
		n := int(part * float64(len(b)))
		m := load(t, Options{}, filepath.Join(files(t, map[string][]byte{"core": b[:n]}), "core"))
		if m.Process == nil || m.Process.Maps == nil || m.Run.PID == 0 {
			t.Errorf("%g of a core: process %+v, PID %d, want one with maps, and its PID", part, m.Process, m.Run.PID)
		}
		if notes := strings.Join(m.Run.Coverage.Notes, "\n"); !strings.Contains(notes, "is cut short") {
			t.Errorf("%g of a core: notes %q", part, notes)
		}
	}
}

// A core of a program that is not Go's says so.
func TestForeignCore(t *testing.T) {
	sleep, err := exec.LookPath("sleep")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no sleep, or no amd64")
	}
	dir := files(t, map[string][]byte{"core": coreOf(t, sleep, "100")})
	refuse(t, "which is no Go program", "gdb ", filepath.Join(dir, "core"))
}

// TestDeadProgram has the kernel write a core.
func TestDeadProgram(t *testing.T) {
	pattern, _ := os.ReadFile("/proc/sys/kernel/core_pattern")
	if name := strings.TrimSpace(string(pattern)); name == "" || strings.ContainsAny(name[:1], "|/") {
		t.Skip("wants a core in the working directory")
	}
	exe, dir := cored(t), t.TempDir()
	cmd := exec.Command("sh", "-c", `ulimit -c unlimited; exec "$0" dies`, exe)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTRACEBACK=crash")
	out, _ := cmd.CombinedOutput()
	list, _ := filepath.Glob(dir + "/*")
	if len(list) != 1 {
		t.Skipf("no core: %v: %s", list, out)
	}
	m := load(t, Options{}, list[0])
	checkCored(t, m)
	const want = "died of SIGABRT: panic: assignment to entry in nil map, in main.assigns (main.go:30)"
	if d := m.Run.Death; d == nil || d.String() != want {
		t.Errorf("it %v, want %q", d, want)
	}
	if !m.Has(model.Heap) || m.LiveHeap.End == nil {
		t.Errorf("no profile of the heap, which the program kept: %q", m.Run.Coverage.Notes)
	}
}
