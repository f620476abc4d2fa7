package symbols

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// waitWord has this test be a program that waits until its input ends.
const waitWord = "GOWHY_TEST_WAIT"

func TestMain(m *testing.M) {
	if os.Getenv(waitWord) != "" {
		io.Copy(io.Discard, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// waiting starts a program that waits, and waits until its file is mapped.
func waiting(t *testing.T, exe string) (pid int) {
	t.Helper()
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), waitWord+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	for end := time.Now().Add(10 * time.Second); ; {
		maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", cmd.Process.Pid))
		if err != nil || time.Now().After(end) {
			t.Fatalf("its file is not mapped, %v", err)
		}
		if bytes.Contains(maps, []byte(exe)) {
			return cmd.Process.Pid
		}
	}
}

// put writes this test's own program to a path, in the place of what is there.
func put(t *testing.T, to string, tail string) {
	t.Helper()
	b, _ := ownImage(t)
	if err := os.WriteFile(to+".new", append(b, tail...), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(to+".new", to); err != nil {
		t.Fatal(err)
	}
}

func program(t *testing.T, m *Process) *Image {
	t.Helper()
	im, _, err := m.Program()
	if err != nil {
		t.Fatal(err)
	}
	return im
}

// TestShared holds that there is one image of a file, however many processes run
// it, that it is gone with the last who closes it, and that a file in another's place
// is another.
func TestShared(t *testing.T) {
	exe := filepath.Join(t.TempDir(), "program")
	put(t, exe, "")
	one, two := waiting(t, exe), waiting(t, exe)
	a, b := Open(one), Open(two)
	im := program(t, a)
	if program(t, b) != im {
		t.Error("two processes of one file have two images")
	}
	if n := openOf(t, exe); n != 0 {
		t.Errorf("%d descriptors of a file that is mapped, want none", n)
	}

	put(t, exe, "newer")
	c, d := Open(waiting(t, exe)), Open(one)
	if program(t, c) == im {
		t.Error("a file that replaced another has its image")
	}
	if program(t, d) != im {
		t.Error("a file that was replaced has another image than before")
	}

	const name = "github.com/gowhy/gowhy/internal/sense/symbols.waiting"
	_, at := im.Code(name)
	for _, m := range []*Process{a, d} {
		m.Close()
		if got := b.Frames(at, true); at == 0 || got[0].Func != name {
			t.Errorf("at %#x is %+v once another has closed its file, want %s", at, got, name)
		}
	}
	held := b.Share()
	b.Close()
	if got := held.Frames(at, true); got[0].Func != name {
		t.Errorf("at %#x is %+v for who shares a process, want %s", at, got, name)
	}
	held.Close()
	if got := held.Frames(at, true); len(got) != 1 || got[0] != (Place{}) {
		t.Errorf("after the last close is %+v, want one without a name", got)
	}
	c.Close()
	if maps := ownMaps(t); strings.Contains(maps, exe) {
		t.Errorf("after the last close a file is mapped:\n%s", maps)
	}
}

// openOf counts the descriptors of a file.
func openOf(t *testing.T, path string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range all {
		if to, _ := os.Readlink(fd); to == path {
			n++
		}
	}
	return n
}

func ownMaps(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestCutFile holds that a mapped file that somebody cuts has no functions any more,
// and ends nobody.
func TestCutFile(t *testing.T) {
	_, own := ownImage(t)
	_, at := own.Code("main.main")
	path := filepath.Join(t.TempDir(), "program")
	put(t, path, "")
	f := openFile(path)
	defer f.release()
	im := f.read()
	if got := im.Lookup(at); len(got) == 0 || got[0].Func != "main.main" {
		t.Fatalf("at %#x is %+v, want main.main", at, got)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if got := im.Lookup(at); got != nil {
		t.Errorf("at %#x is %+v in a file that is empty, want nothing", at, got)
	}
	if _, name, ok := im.Entry(at); ok {
		t.Errorf("at %#x begins %q in a file that is empty", at, name)
	}
	if got := im.Variables("runtime.allgs"); len(got) != 0 {
		t.Errorf("variables %v in a file that is empty", got)
	}
	if d, err := im.DWARF(); err == nil {
		t.Errorf("DWARF %v in a file that is empty", d)
	}
	if code, _ := im.Code("main.main"); code != nil {
		t.Error("code in a file that is empty")
	}
	if _, ok := im.Callee(at); ok {
		t.Error("a callee in a file that is empty")
	}
	if im.GoVersion() != "" || im.pushed(at) != -1 || im.Read(make([]byte, 8), at) {
		t.Error("something is in a file that is empty")
	}
	if again := openFile(path); again == nil || again.read() != nil {
		t.Error("an empty file has an image")
	} else {
		again.release()
	}
}

// TestRest holds that what was looked at of a file is given back, and there again.
func TestRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	put(t, path, "")
	f := openFile(path)
	defer f.release()
	im := f.read()
	_, at := im.Code("main.main")
	for range 2 {
		if got := im.Lookup(at); len(got) == 0 || got[0].Func != "main.main" {
			t.Fatalf("at %#x is %+v, want main.main", at, got)
		}
		if resident(t, path) == 0 {
			t.Error("nothing is resident of a file that was looked at")
		}
		im.rested.Store(0)
		im.Rest()
		if n := resident(t, path); n != 0 {
			t.Errorf("%d kB are resident of a file that rests", n)
		}
	}
	im.Lookup(at)
	if im.Rest(); resident(t, path) == 0 {
		t.Error("it rests again at once")
	}
}

// resident returns how much of a mapped file is in this process's memory, in kB.
func resident(t *testing.T, path string) (kB int) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	_, rest, ok := strings.Cut(string(b), path+"\n")
	_, rest, ok2 := strings.Cut(rest, "\nRss:")
	if !ok || !ok2 {
		t.Fatalf("%s is not mapped", path)
	}
	kB, err = strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kB
}
