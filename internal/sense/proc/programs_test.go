package proc

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestListening(t *testing.T) {
	// 4 is a child of 3, whose name is made to mislead; 9 is a stranger.
	proc := t.TempDir()
	socket := func(pid, fd, inode string) {
		dir := filepath.Join(proc, pid, "fd")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("socket:["+inode+"]", filepath.Join(dir, fd)); err != nil {
			t.Fatal(err)
		}
	}
	rest := " 3 3 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0\n"
	write(t, filepath.Join(proc, "3/stat"), "3 (a) R 77 (b) S 1"+rest)
	write(t, filepath.Join(proc, "4/stat"), "4 (child) S 3"+rest)
	write(t, filepath.Join(proc, "9/stat"), "9 (other) S 1"+rest)
	socket("3", "5", "100")
	socket("4", "5", "101")
	socket("4", "6", "102")
	socket("4", "7", "103")
	socket("9", "5", "104")
	head := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	line := func(addr, state, inode string) string {
		return "   0: " + addr + " 00000000:0000 " + state + " 00000000:00000000 00:00000000 00000000     0        0 " + inode + " 1 0000 100 0 0 10 0\n"
	}
	for _, pid := range []string{"3", "4", "self"} {
		write(t, filepath.Join(proc, pid, "net/tcp"), head+line("0100007F:17AC", "0A", "100")+line("0100007F:9999", "01", "101")+line("0100007F:1111", "0A", "104"))
		write(t, filepath.Join(proc, pid, "net/tcp6"), head+line("00000000000000000000000000000000:1F90", "0A", "102")+line("00000000000000000000000001000000:1F91", "0A", "103"))
	}
	got, err := listening(proc, 3)
	if want := []string{"127.0.0.1:6060", "[::1]:8081", "localhost:8080"}; !slices.Equal(got, want) || err != nil {
		t.Errorf("listening(3) = %q, %v; want %q", got, err, want)
	}
	for port, want := range map[uint16][]int{6060: {3}, 8080: {4}, 8081: {4}, 4369: {9}, 80: nil, 39321: nil} {
		if got, err := owners(proc, port); !slices.Equal(got, want) || err != nil {
			t.Errorf("at %d: %d, %v; want %d", port, got, err, want)
		}
	}
	if got, err := listening(proc, 12345); len(got) > 0 || err != nil {
		t.Errorf("listening(12345) = %q, %v; want none", got, err)
	}
	if _, err := listening(filepath.Join(proc, "none"), 3); err == nil {
		t.Error("no /proc: no error")
	}
}

// This test's own process is a Go program that listens.
func TestPrograms(t *testing.T) {
	linux(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	list, err := Programs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(p Program) bool { return p.PID == os.Getpid() })
	if i < 0 {
		t.Fatal("we are not among them")
	}
	p := list[i]
	if p.Err != nil || p.Build == nil || !strings.HasPrefix(p.Build.GoVersion, "go1.") || p.Threads < 1 || p.RSS == 0 || len(p.Args) != len(os.Args) {
		t.Errorf("program %+v, want this one: Go, threads, memory, %d arguments", p, len(os.Args))
	}
	if !slices.Contains(p.Listening, l.Addr().String()) {
		t.Errorf("listens at %q, not at %q", p.Listening, l.Addr())
	}
	if pids, err := Owners(uint16(l.Addr().(*net.TCPAddr).Port)); !slices.Contains(pids, os.Getpid()) || err != nil {
		t.Errorf("at %s listen %d, %v; want %d among them", l.Addr(), pids, err, os.Getpid())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := Programs(ctx); !errors.Is(err, context.Canceled) || len(list) > 0 {
		t.Errorf("Programs() when cancelled = %d, %v; want none, %v", len(list), err, context.Canceled)
	}
}

// A process without a program is a thread of the kernel; a file that is not
// Go's is nothing to list.
func TestOtherPrograms(t *testing.T) {
	linux(t)
	proc := t.TempDir()
	write(t, filepath.Join(proc, "2/stat"), "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0\n")
	write(t, filepath.Join(proc, "3/stat"), "3 (sh) S 0 0 0 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 0 0 0 0\n")
	write(t, filepath.Join(proc, "sh"), "#!not a program")
	if err := os.Symlink(filepath.Join(proc, "sh"), filepath.Join(proc, "3/exe")); err != nil {
		t.Fatal(err)
	}
	if list, err := programs(t.Context(), proc); len(list) > 0 || err != nil {
		t.Errorf("programs() = %+v, %v; want none of what is not Go", list, err)
	}
	// To other users than root both look alike.
	s := Finder{proc: proc}
	for pid, want := range map[int]bool{2: false, 3: true, 4: false} {
		p := Program{PID: pid, Err: fs.ErrPermission}
		if got := s.describe(&p, filepath.Join(proc, strconv.Itoa(pid))); got != want {
			t.Errorf("describe(process %d) = %v, want %v", pid, got, want)
		}
	}
}

// What may not be looked into is listed all the same, and it is said.
func TestOthersPrograms(t *testing.T) {
	linux(t)
	if os.Geteuid() == 0 {
		t.Skip("root may look into everything")
	}
	list, err := Programs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(p Program) bool { return p.PID == 1 })
	if i < 0 || list[i].Err != fs.ErrPermission || list[i].Build != nil || len(list[i].Args) == 0 {
		t.Errorf("the first process, another user's, is number %d in %+v, want it with arguments, no build, %v",
			i, list, fs.ErrPermission)
	}
}

func dialed(s string) (string, bool) {
	at, ok := address(s)
	if !ok {
		return "", false
	}
	return dialable(at), true
}

func TestDialable(t *testing.T) {
	for in, want := range map[string]string{
		"0100007F:17AC": "127.0.0.1:6060", "00000000:0050": "127.0.0.1:80", "00000000000000000000000000000000:1F90": "localhost:8080",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80", "B80D0120000000000000000001000000:0050": "[2001:db8::1]:80",
		"0100007F": "", "0100:0050": "", "0100007F:10000": "", "xx00007F:0050": "",
	} {
		if got, ok := dialed(in); got != want || ok != (want != "") {
			t.Errorf("dialed(%s) = %q, %v; want %q", in, got, ok, want)
		}
	}
}

func TestAddress(t *testing.T) {
	for s, want := range map[string]string{
		"0100007F:1F90":                         "127.0.0.1:8080",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80",
		"00000000000000000000000001000000:0050": "[::1]:80",
		"00000000:0035":                         "0.0.0.0:53",
	} {
		if got, ok := address(s); !ok || got.String() != want {
			t.Errorf("address(%s) = %v, want %s", s, got, want)
		}
	}
	for _, s := range []string{"", ":", "zz:10", "0100007F", "0100007F:12345", "01:10", "010000:10"} {
		if got, ok := address(s); ok {
			t.Errorf("address(%q) = %v, want none", s, got)
		}
	}
}

func FuzzDialable(f *testing.F) {
	f.Add("0100007F:17AC")
	f.Add("00000000000000000000000000000000:1F90")
	f.Add("0000000000000000FFFF00000100007F:0050")
	f.Add(":")
	f.Fuzz(func(t *testing.T, s string) {
		a, ok := dialed(s)
		if !ok {
			return
		}
		if _, _, err := net.SplitHostPort(a); err != nil {
			t.Errorf("%q gives %q: %v", s, a, err)
		}
	})
}
