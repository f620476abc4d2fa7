package symbols

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// ownImage returns the image of this test.
func ownImage(t testing.TB) ([]byte, *Image) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("an ELF file is wanted")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	im, err := OpenImage(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if im.lines == nil {
		t.Fatal("no table of functions")
	}
	return b, im
}

// TestLineTable compares with what others make of the same table: the runtime
// of this process tells all frames of an address, debug/gosym the outermost
// function.
func TestLineTable(t *testing.T) {
	b, im := ownImage(t)
	if im.lines.readInline == nil {
		t.Fatal("no inline trees")
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.Section(".gopclntab").Data()
	if err != nil {
		t.Fatal(err)
	}
	reference, err := gosym.NewTable(nil, gosym.NewLineTable(data, im.lines.text))
	if err != nil {
		t.Fatal(err)
	}
	entry := func(i uint64) uint64 {
		return im.lines.text + uint64(binary.LittleEndian.Uint32(im.lines.funcs[i*8:]))
	}
	compared, inlined := 0, 0
	// The runtime takes the name at offset 0, of the first function, for none.
	for i := uint64(1); i < im.lines.n; i++ {
		size := entry(i+1) - entry(i)
		for _, offset := range []uint64{1, size / 3, size / 2, size * 2 / 3} {
			pc := entry(i) + offset
			places := im.lines.lookup(pc)
			if len(places) == 0 || places[0].Line == 0 { // between functions
				continue
			}
			want := runtimePlaces(uintptr(pc))
			if n := len(want); n < len(places) && slices.Equal(places[:n], want) && strings.HasPrefix(places[n].Func, "reflect.") {
				continue // written as a wrapper by hand
			}
			outer := reference.PCToFunc(pc)
			file, _, _ := reference.PCToLine(entry(i))
			named := outer != nil && shownName(outer.Name) == places[len(places)-1].Func
			if !slices.Equal(places, want) || !named && !isWrapper(Place{Func: outer.Name, File: file}) {
				t.Fatalf("%#x:\n got %v\nwant %v in %v", pc, places, want, outer)
			}
			compared++
			if len(places) > 1 {
				inlined++
			}
		}
	}
	t.Logf("%d places, %d with inlined functions", compared, inlined)
	if compared < 5000 || inlined < 500 {
		t.Errorf("only %d places compared, %d with inlined functions", compared, inlined)
	}
}

// TestFrame asks for the frame of this call, which has a variable whose address is taken and one
// that is needed afterwards; of an address in every function the words are within the frame.
func TestFrame(t *testing.T) {
	_, im := ownImage(t)
	kept, taken := new(int), [4]*int{new(int)}
	pc := callerPC(&taken)
	f, ok := im.Frame(uint64(pc))
	used := 0
	for i := range f.Locals.N {
		if f.Locals.Used(i) {
			used++
		}
	}
	if !ok || used == 0 || !slices.ContainsFunc(f.Objects, func(o StackObject) bool { return o.Size == 32 && o.At < 0 }) {
		t.Errorf("Frame() of this call = %+v, %v, %d locals in use, "+
			"want some in use, an object of 32 bytes below 0, true", f, ok, used)
	}
	runtime.KeepAlive(kept)
	known := 0
	for i := range im.lines.n {
		entry := im.lines.text + uint64(binary.LittleEndian.Uint32(im.lines.funcs[i*8:]))
		f, ok := im.Frame(entry + 60)
		if ok {
			known++
		}
		if ok && (f.Size%8 != 0 || uint64(8*f.Locals.N) > f.Size) {
			t.Errorf("%#x: %d words in a frame of %d bytes", entry, f.Locals.N, f.Size)
		}
	}
	if known < 1000 {
		t.Errorf("of %d functions the frames are known, of %d", known, im.lines.n)
	}
}

// callerPC returns where it returns to.
//
//go:noinline
func callerPC(of *[4]*int) uintptr {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	of[1] = of[0]
	return pc[0]
}

// runtimePlaces returns what the runtime says of an address. It tells outer frames
// only where a further address follows.
func runtimePlaces(pc uintptr) (places []Place) {
	frames := runtime.CallersFrames([]uintptr{pc + 1, 1})
	for {
		fr, more := frames.Next()
		places = append(places, Place{Func: fr.Function, File: fr.File, Line: fr.Line})
		if !more {
			return places
		}
	}
}

// TestStripped finds names and inlined functions in a program without symbols,
// at a fixed place and at any.
func TestStripped(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "main.go")
	const program = `package main

import "os"

//go:noinline
func outer(n int) int { return inner(n) + len(os.Args) }

func inner(n int) int { return n * n % 7 }

func main() { os.Exit(outer(len(os.Args))) }
`
	if err := os.WriteFile(src, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"exe", "pie"} {
		exe := filepath.Join(dir, mode)
		cmd := exec.Command("go", "build", "-ldflags=-s -w", "-buildmode="+mode, "-o", exe, src)
		cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GO111MODULE=off", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("go build: %v\n%s", err, out)
		}
		f, err := os.Open(exe)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		im, err := OpenImage(f)
		if err != nil || im.lines == nil {
			t.Fatalf("%s: %v, no lines", mode, err)
		}
		if len(im.functions()) != 0 {
			t.Errorf("%s: %d symbols in a stripped program, want 0", mode, len(im.functions()))
		}
		found := map[string]bool{}
		var chains [][]string
		for _, p := range im.loads {
			if p.Flags&elf.PF_X == 0 {
				continue
			}
			for pc := p.Vaddr; pc < p.Vaddr+p.Filesz; pc++ {
				var names []string
				for _, p := range im.lines.lookup(pc) {
					names = append(names, p.Func)
				}
				if len(names) > 1 && names[1] == "main.outer" {
					chains = append(chains, names)
				}
				for _, n := range names {
					found[n] = true
				}
			}
		}
		for _, name := range []string{"main.main", "main.outer", "runtime.main", "main.inner"} {
			if !found[name] {
				t.Errorf("%s: no %s", mode, name)
			}
		}
		if len(chains) == 0 || !slices.Contains(chains[0], "main.inner") {
			t.Errorf("%s: inner is not inlined in outer: %v", mode, chains)
		}
	}
}

// TestHostileImages damages this test's own file.
func TestHostileImages(t *testing.T) {
	b, im := ownImage(t)
	look := func(b []byte) {
		im, err := OpenImage(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, p := range im.loads {
			for i := range uint64(64) {
				im.Lookup(p.Vaddr + p.Memsz/64*i)
			}
		}
	}
	// Cut the file, and damage the start of the table of functions.
	for _, n := range []int{0, 1, 63, 64, 65, 1000, 4096, len(b) / 4, len(b) / 2, len(b) - 100} {
		look(b[:n])
	}
	at := bytes.Index(b, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0})
	if at < 0 {
		t.Fatal("no table")
	}
	saved := b[at]
	for _, old := range []byte{0xf0, 0xfa, 0xfb} { // the headers of older formats
		b[at] = old
		look(b)
	}
	b[at] = saved
	for i := 8; i < pcHeaderSize; i += 8 {
		word := bytes.Clone(b[at+i : at+i+8])
		for _, bad := range []byte{0xff, 0x00, 0x7f} {
			for k := range 8 {
				b[at+i+k] = bad
			}
			look(b)
		}
		copy(b[at+i:], word)
	}
	if len(im.Lookup(0)) != 0 || len(im.Lookup(^uint64(0))) != 0 {
		t.Error("a function at no address")
	}
}

// TestDamage looks for functions in this test's own table, ever more of it being
// overwritten, and in tables of values without end.
func TestDamage(t *testing.T) {
	b, im := ownImage(t)
	s := im.file.Section(".gopclntab")
	if s == nil {
		t.Skip("no section of its own")
	}
	table := b[s.Offset : s.Offset+s.Size]
	began, lookups := attempt.CPU(), 0
	look := func() {
		im, err := OpenImage(bytes.NewReader(b))
		if err != nil || im.lines == nil {
			return
		}
		n := im.lines.n
		for i := range uint64(500) {
			pc := im.lines.text + uint64(binary.LittleEndian.Uint32(im.lines.funcs[n*i/500*8:])) + i%40
			im.Lookup(pc)
			im.Entry(pc)
			lookups++
			if i%50 == 0 {
				im.Callee(pc)
			}
		}
		im.Code("runtime.allgadd")
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		for range len(table) / 1000 {
			table[pcHeaderSize+r.IntN(len(table)-pcHeaderSize)] = byte(r.Uint32())
		}
		look()
	}
	for _, fill := range []byte{0x02, 0x01, 0x7f, 0x80, 0xff} { // in 02 02 02 … no value ends the table
		at := s.Offset + binary.LittleEndian.Uint64(table[8+8*6:])
		end := s.Offset + binary.LittleEndian.Uint64(table[8+8*7:])
		for i := range b[at:end] {
			b[at:end][i] = fill
		}
		look()
	}
	if took := attempt.CPU() - began; lookups < 10_000 || took > 20*time.Second {
		t.Errorf("%d lookups in %v of CPU, want 10000 in less than 20s", lookups, took)
	}
}

func FuzzLineTable(f *testing.F) {
	header := make([]byte, 200)
	copy(header, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8, 1})
	for i := 4; i < 9; i++ {
		header[8*i] = byte(72 + 8*(i-4))
	}
	f.Add(header, uint64(0x1000), uint64(0x1010))
	header[0] = 0xf0
	f.Add(bytes.Clone(header), uint64(0), uint64(5))
	f.Fuzz(func(t *testing.T, b []byte, text, pc uint64) {
		table, err := newLineTable(b, text)
		if err != nil {
			return
		}
		table.readInline = func(to []byte, offset uint32) bool { return copy(to, b[min(len(b), int(offset)):]) == len(to) }
		for i := range uint64(8) {
			table.lookup(pc + i)
			table.pushed(pc + i)
			table.frame(pc + i)
		}
		table.lookup(table.text)
	})
}

func FuzzImage(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add(append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00\x01\x00\x00\x00"), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := OpenImage(bytes.NewReader(b))
		if err != nil {
			return
		}
		im.Lookup(0x401000)
		im.Address(0x1000)
	})
}

func TestParseMaps(t *testing.T) {
	const text = `00400000-0047d000 r--p 00000000 fe:00 123                                /bin/program
00401000-0047d000 r-xp 00001000 fe:00 123                                /bin/program
7f0000000000-7f0000001000 r-xp 00002000 fe:00 9 /lib/with a space.so (deleted)
7ffd40000000-7ffd40002000 r-xp 00000000 00:00 0                          [vdso]
c000000000-c000400000 rw-p 00000000 00:00 0
00500000-00400000 r-xp 00000000 fe:00 123 /backwards
nonsense
`
	got, err := parseMaps(strings.NewReader(text))
	want := []mapping{
		{0x401000, 0x47d000, 0x1000, "/bin/program"},
		{0x7f0000000000, 0x7f0000001000, 0x2000, "/lib/with a space.so (deleted)"},
		{0x7ffd40000000, 0x7ffd40002000, 0, "[vdso]"},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("parseMaps() = %v, %v; want %v", got, err, want)
	}
}

func FuzzParseMaps(f *testing.F) {
	f.Add("00401000-0047d000 r-xp 00001000 fe:00 123 /bin/program\n")
	f.Add("7ffd40000000-7ffd40002000 r-xp 00000000 00:00 0                          [vdso]\n\n-  x")
	f.Fuzz(func(t *testing.T, s string) {
		maps, err := parseMaps(strings.NewReader(s))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range maps {
			if m.start >= m.end {
				t.Errorf("mapping %+v, want it to end after it starts", m)
			}
		}
	})
}
