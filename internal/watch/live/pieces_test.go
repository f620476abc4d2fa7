package live

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/know/model"
)

// piece returns a recording of ten seconds that says nothing but how long they were.
func piece(t *testing.T, dir string, pid, n int) *Piece {
	t.Helper()
	from := time.Unix(int64(10*n), 0)
	p := &Piece{PID: pid, From: from, To: from.Add(10 * time.Second), file: filepath.Join(dir, fmt.Sprintf("%d-%d.gowhy", pid, n))}
	w, err := recording.Create(p.file)
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf(`{"kind":"gowhy syscalls","schema":1,"begin":%q,"end":%q,"calls":[{"name":"read","count":1,"time_ns":1}]}`, p.From.Format(time.RFC3339), p.To.Format(time.RFC3339))
	if err := w.Add(recording.SyscallsMember, []byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(recording.Manifest{Start: p.From, End: p.To}); err != nil {
		t.Fatal(err)
	}
	p.trees = []*flame.Tree{{Kind: "kernel", Unit: "nanoseconds", Total: 5, Funcs: []flame.Func{{Name: "main.work"}},
		Parent: []int32{-1, 0}, Func: []int32{-1, 0}, Line: []int32{0, 1}, Self: []int64{0, 5}, Sum: []int64{5, 5}, Ratio: 1}}
	return p
}

// Pieces are kept for 15 minutes, pictures and recordings are made of those that meet
// a window, and what is let go of is gone from the disk.
func TestPieces(t *testing.T) {
	dir := t.TempDir()
	w := &Watch{judge: &judge{}}
	for n := range 100 {
		w.judge.add(piece(t, dir, 1, n))
	}
	w.judge.add(piece(t, dir, 2, 99))
	if list := w.Pieces(1, time.Time{}, time.Time{}); len(list) != 91 || !list[0].From.Equal(time.Unix(90, 0)) {
		t.Errorf("%d pieces are kept, want those of the last 15 minutes", len(list))
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.gowhy")); len(left) != 92 {
		t.Errorf("%d files are left, want 92", len(left))
	}
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	w.judge.pieces[1].memory, w.judge.pieces[2].memory = &model.MemoryAccount{RSS: 1}, &model.MemoryAccount{RSS: 2}
	if a, when := w.Memory(1, at(95), at(125)); a == nil || a.RSS != 2 || !when.Equal(w.judge.pieces[2].To) {
		t.Errorf("Memory() of 30 seconds = %+v at %v, want RSS 2 at %v", a, when, w.judge.pieces[2].To)
	}
	if a, _ := w.Memory(1, at(905), at(925)); a != nil {
		t.Errorf("Memory() of pieces without memory = %+v, want nil", a)
	}
	if tree, kinds, pieces := w.Flame(1, "", at(905), at(925)); len(pieces) != 3 || tree == nil || tree.Total != 15 || len(kinds) != 1 || kinds[0].Total != 15 {
		t.Errorf("Flame() of 20 seconds = tree %+v, kinds %v, %d pieces, want 15 in all, one kind with 15, 3",
			tree, kinds, len(pieces))
	}
	if tree, kinds, _ := w.Flame(1, "offcpu", at(905), at(925)); tree != nil || len(kinds) != 1 {
		t.Errorf("Flame() of what nobody measured = tree %+v, kinds %v, want no tree, one kind", tree, kinds)
	}
	if tree, _, pieces := w.Flame(1, "", at(5), at(6)); tree != nil || len(pieces) != 0 {
		t.Error("there is a picture of a time that nobody remembers")
	}
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	kept := func(name string, keep func(to string) error) (seconds float64) {
		path := filepath.Join(out, name)
		if err := keep(path); err != nil {
			t.Fatal(err)
		}
		r, err := recording.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		return r.Manifest.End.Sub(r.Manifest.Start).Seconds()
	}
	if got := kept("window", func(to string) error { return w.KeepWindow(1, at(905), at(925), to) }); got != 30 {
		t.Errorf("a kept window is of %v s, want the 30 of its pieces", got)
	}
	if got := kept("last", func(to string) error { return w.Keep(1, to) }); got != 30 {
		t.Errorf("what is kept without a window is of %v s, want 30", got)
	}
	if err := w.Keep(3, filepath.Join(out, "none")); !errors.Is(err, errNothing) {
		t.Errorf("to keep what nobody recorded: %v, want %v", err, errNothing)
	}
}

// However large pieces are, the disk is not filled.
func TestLargePieces(t *testing.T) {
	dir := t.TempDir()
	j := &judge{}
	for n := range 10 {
		p := piece(t, dir, 1, n)
		if err := os.Truncate(p.file, keptBytes/3); err != nil { // a file with a hole
			t.Fatal(err)
		}
		j.add(p)
	}
	if len(j.pieces) != 3 {
		t.Errorf("%d pieces of a third of what may be are kept", len(j.pieces))
	}
	first := j.pieces[0].file
	j.files.RLock() // as who keeps them
	j.add(piece(t, dir, 1, 10))
	if _, err := os.Stat(first); err != nil {
		t.Error("a piece that is read is let go: ", err)
	}
	j.files.RUnlock()
	j.add(piece(t, dir, 1, 11))
	if _, err := os.Stat(first); err == nil {
		t.Error("a piece that was read stays")
	}
}

func TestFileName(t *testing.T) {
	t.Chdir(t.TempDir())
	at := time.Date(2026, 3, 1, 12, 0, 5, 0, time.UTC)
	p := &Process{Name: "shop", Program: "example.com/x/..\x1b[2J/$(evil) name"}
	first := FileName(p, at)
	if first != "__evil__name-20260301-120005.gowhy" {
		t.Errorf("FileName() = %q", first)
	}
	if err := os.WriteFile(first, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if second := FileName(p, at); second != "__evil__name-20260301-120005-2.gowhy" {
		t.Errorf("the next FileName() = %q, want another", second)
	}
	if got := FileName(&Process{Name: "main", Program: "command-line-arguments"}, at); got != "main-20260301-120005.gowhy" {
		t.Errorf("FileName() of go run = %q", got)
	}
}

// A program that begins anew is watched under its new number.
func TestRestart(t *testing.T) {
	first := child(t, waiting)
	w, err := New(Options{PIDs: []int{first.Process.Pid}})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Refresh(); err != nil {
		t.Fatal(err)
	}
	first.Process.Kill()
	first.Wait()
	second := start(t, first.Path).Process.Pid
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		f, err := w.Refresh()
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Processes) == 1 {
			if p := f.Processes[0]; p.PID != second || p.Was != first.Process.Pid || p.Restarts != 1 {
				t.Errorf("after a restart there is %d, which was %d, restarted %d times; want %d, %d, 1", p.PID, p.Was, p.Restarts, second, first.Process.Pid)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody notices the restart")
		}
	}
}

// What a killed gowhy left behind is removed by the next one; what is in use stays.
func TestSweep(t *testing.T) {
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("there is no /proc")
	}
	temp := t.TempDir()
	left, used, other := fmt.Sprintf("%s%d-x", dirPrefix, 1<<30), fmt.Sprintf("%s%d-x", dirPrefix, os.Getpid()), dirPrefix+"mine"
	for _, d := range []string{left, used, other} {
		if err := os.MkdirAll(filepath.Join(temp, d, "1-1.gowhy.unfinished"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(temp)
	for d, want := range map[string]bool{left: false, used: true, other: true} {
		if _, err := os.Stat(filepath.Join(temp, d)); err == nil != want {
			t.Errorf("%s is there: %v, want %v", d, err == nil, want)
		}
	}
}
