package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/corefile"
)

// words returns a note or a piece of memory made of words.
func words(list ...uint64) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// dead returns the core of a program that died of a fault, in two pieces of memory of which the
// second has two pages and its first alone is there.
func dead() *corefile.Core {
	page := bytes.Repeat([]byte("0123456789abcdef"), 256)
	return &corefile.Core{Machine: 62,
		Notes: []corefile.Note{
			corefile.StatusNote(7, 11, 0x401234, 0x7000, 0x7010), corefile.InfoNote(6, "server", "server -v\x1b[31m"),
			{Kind: corefile.Siginfo, Data: words(11, 1, 0x10, 0)}, {Kind: corefile.Auxv, Data: words(9, 0x401200, 25, 0x7008, 0, 0)},
			corefile.FilesNote(corefile.Mapping{Start: 0x400000, End: 0x402000, Path: "/srv/server"}, corefile.Mapping{Start: 0x9000, End: 0xa000, Page: 3, Path: "/etc/x"}),
			{Kind: 99, Data: make([]byte, 3)}, corefile.StatusNote(8, 11, 0x401300, 0x8000, 0)},
		Segments: []corefile.Segment{{Start: 0x400000, Size: 0x2000, Flags: 5, Data: page}, {Start: 0x7000, Size: 0x1000, Flags: 6, Data: append(make([]byte, 2048), page[:2048]...)},
			{Start: 0x9000, Size: 0x1000, Flags: 6, Data: make([]byte, 4096)}},
	}
}

func TestCore(t *testing.T) {
	b := dead().Bytes()
	f, err := New(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if f.Machine != elf.EM_X86_64 || f.PID != 6 || f.Name != "server" || f.Args != "server -v[31m" || f.Program != "/srv/server" || f.Entry != 0x401200 || f.Lost != 0 {
		t.Errorf("core %+v, want process 6 of /srv/server", f)
	}
	want := []Thread{{ID: 7, Signal: 11, Registers: Registers{0x401234, 0x7000, 0x7010}}, {ID: 8, Signal: 11, Registers: Registers{0x401300, 0x8000, 0}}}
	if !reflect.DeepEqual(f.Threads, want) {
		t.Errorf("threads %+v, want %+v", f.Threads, want)
	}
	if f.Death != (Death{11, 1, 0x10, 0}) || f.Death.Name() != "SIGSEGV" {
		t.Errorf("death %+v, want a fault at 0x10", f.Death)
	}
	got := make([]byte, 4096)
	for _, c := range []struct {
		at   uint64
		size int
		n    int
	}{{0x400000, 16, 16}, {0x400ff8, 16, 8}, {0x401000, 8, 0}, {0x7ff8, 16, 8}, {0, 8, 0}, {^uint64(0) - 3, 8, 0}, {0x9000, 4096, 4096}} {
		if n := f.ReadAt(got[:c.size], c.at); n != c.n {
			t.Errorf("%d bytes read at %#x, want %d", n, c.at, c.n)
		}
	}
	touched, all := f.TouchedMemory()
	if !all || len(touched) != 3 || touched[0].Path != stackName || touched[0].Bytes != 4096 || touched[1].Bytes != 0 || touched[1].Path != "/etc/x" ||
		touched[2].Bytes != 4096 || !touched[2].Executable() {
		t.Errorf("touched %+v, want a page of the stack and of the program, and none of /etc/x", touched)
	}
}

// What is cut short has what is there, and says how much is missing.
func TestCut(t *testing.T) {
	whole := dead().Bytes()
	f, err := New(bytes.NewReader(whole[:len(whole)-5000]), int64(len(whole)-5000))
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 8)
	if f.Lost != 5000 || f.ReadAt(b, 0x7000) != 8 || f.ReadAt(b, 0x9000) != 0 || f.PID != 6 {
		t.Errorf("%d bytes lost, want 5000, and what is before", f.Lost)
	}
	for n := range 300 {
		if _, err := New(bytes.NewReader(whole[:n]), int64(n)); err == nil && n < 64+56 {
			t.Errorf("no error for %d bytes", n)
		}
	}
	for machine, want := range map[uint16]error{3: ErrMachine, 183: nil} {
		c := dead()
		c.Machine = machine
		b := c.Bytes()
		if _, err := New(bytes.NewReader(b), int64(len(b))); !errors.Is(err, want) {
			t.Errorf("machine %d: error %v, want %v", machine, err, want)
		}
	}
	none := &corefile.Core{Machine: 62}
	if _, err := New(bytes.NewReader(none.Bytes()), 120); !errors.Is(err, ErrDamaged) {
		t.Errorf("a core without memory: error %v", err)
	}
}

// A hole of the file is what nobody touched.
func TestHoles(t *testing.T) {
	c := dead()
	c.Segments = append(c.Segments, corefile.Segment{Start: 0x100000, Size: 1 << 20, Flags: 6, Data: append(make([]byte, 1<<20-4096), bytes.Repeat([]byte{1}, 4096)...)})
	b := c.Bytes()
	file, err := os.Create(filepath.Join(t.TempDir(), "core"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for from := 0; from < len(b); from += 4096 {
		if p := b[from:min(len(b), from+4096)]; strings.Trim(string(p), "\x00") != "" {
			file.WriteAt(p, int64(from))
		}
	}
	f, err := New(file, int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	list, _ := f.TouchedMemory()
	if last := list[len(list)-2]; last.Start != 0x100000 || last.Bytes < 4096 || last.Bytes > 16384 {
		t.Errorf("%d bytes were touched of %+v, want a page or two", last.Bytes, last)
	}
}

// FuzzCore reads headers and notes that anybody may have written.
func FuzzCore(f *testing.F) {
	b := dead().Bytes()
	f.Add(b)
	f.Add(b[:700])
	for _, at := range []int{32, 54, 56, 64 + 8, 64 + 32, 64 + 56 + 16, 300, 340} {
		bad := bytes.Clone(b)
		copy(bad[at:], "\xff\xff\xff\xff\xff\xff\xff\x7f")
		f.Add(bad)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := New(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			return
		}
		piece := make([]byte, 64)
		for _, s := range c.Segments {
			if s.Stored > uint64(len(b)) {
				t.Fatalf("%d bytes of a segment in %d", s.Stored, len(b))
			}
			c.ReadAt(piece, s.Start)
			c.ReadAt(piece, s.End-1)
		}
		c.TouchedMemory()
	})
}
