package kernel

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// ownImage is the image of this test.
func ownImage(t testing.TB) ([]byte, *image) {
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
	im, err := openImage(bytes.NewReader(b))
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
			if len(places) == 0 || places[0].line == 0 { // between functions
				continue
			}
			want := runtimePlaces(uintptr(pc))
			if n := len(want); n < len(places) && slices.Equal(places[:n], want) && strings.HasPrefix(places[n].fn, "reflect.") {
				continue // written as a wrapper by hand
			}
			outer := reference.PCToFunc(pc)
			file, _, _ := reference.PCToLine(entry(i))
			named := outer != nil && shownName(outer.Name) == places[len(places)-1].fn
			if !slices.Equal(places, want) || !named && !isWrapper(place{fn: outer.Name, file: file}) {
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

// runtimePlaces is what the runtime says of an address. It tells outer frames
// only where a further address follows.
func runtimePlaces(pc uintptr) (places []place) {
	frames := runtime.CallersFrames([]uintptr{pc + 1, 1})
	for {
		fr, more := frames.Next()
		places = append(places, place{fn: fr.Function, file: fr.File, line: fr.Line})
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
		im, err := openImage(f)
		if err != nil || im.lines == nil {
			t.Fatalf("%s: %v, no lines", mode, err)
		}
		if len(im.funcs) != 0 {
			t.Errorf("%s: %d symbols in a stripped program, want 0", mode, len(im.funcs))
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
					names = append(names, p.fn)
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
		im, err := openImage(bytes.NewReader(b))
		if err != nil {
			return
		}
		for _, p := range im.loads {
			for i := range uint64(64) {
				im.lookup(p.Vaddr + p.Memsz/64*i)
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
	if len(im.lookup(0)) != 0 || len(im.lookup(^uint64(0))) != 0 {
		t.Error("a function at no address")
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
			table.frameless(pc + i)
		}
		table.lookup(table.text)
	})
}

func FuzzImage(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	f.Add(append([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00\x01\x00\x00\x00"), make([]byte, 100)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := openImage(bytes.NewReader(b))
		if err != nil {
			return
		}
		im.lookup(0x401000)
		im.address(0x1000)
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

const kallsymsText = `0000000000000000 A fixed_percpu_data
ffffffff81000000 T _stext
ffffffff81000100 t __do_sys_read
ffffffff81000100 T __x64_sys_read
ffffffff81000200 D data
ffffffff81000300 T vfs_read
ffffffffc0000000 t helper	[module]
ffffffff81000280 t late
`

func TestNameKernel(t *testing.T) {
	got, err := nameKernel(strings.NewReader(kallsymsText), []uint64{
		0xffffffff81000350, 0xffffffff81000000, 0xffffffff81000101, 0xffffffff81000250, 0xffffffff81000290, 0xffffffffc0000010, 0x1000, 0xffffffff81000101,
	})
	want := map[uint64]string{
		0x1000:             "",
		0xffffffff81000000: "_stext", 0xffffffff81000101: "__do_sys_read", 0xffffffff81000250: "__do_sys_read",
		0xffffffff81000290: "late", 0xffffffff81000350: "vfs_read", 0xffffffffc0000010: "helper",
	}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("nameKernel() = %v, %v; want %v", got, err, want)
	}
	hidden := strings.ReplaceAll("ffffffff81000000 T _stext\n", "ffffffff81000000", "0000000000000000")
	if got, err := nameKernel(strings.NewReader(hidden), []uint64{1}); got != nil || err != nil {
		t.Errorf("nameKernel() of hidden addresses = %v, %v; want nil", got, err)
	}
}

func FuzzNameKernel(f *testing.F) {
	f.Add(kallsymsText, uint64(0xffffffff81000101), uint64(0x10))
	f.Fuzz(func(t *testing.T, text string, a, b uint64) {
		names, err := nameKernel(strings.NewReader(text), []uint64{a, b})
		if err == nil && names != nil && len(names) != len(map[uint64]bool{a: true, b: true}) {
			t.Errorf("nameKernel(%#x, %#x) = %v, want a name for each", a, b, names)
		}
	})
}

func TestInKernel(t *testing.T) {
	for _, c := range []struct{ stack, want string }{
		{"vfs_read ksys_read do_syscall_64 entry_SYSCALL_64_after_hwframe", "read"},
		{"clear_page exc_page_fault asm_exc_page_fault rep_movs vfs_read __x64_sys_pread64 do_syscall_64", "pread64"},
		{"clear_page exc_page_fault asm_exc_page_fault", "page fault"},
		{"schedule irqentry_exit_to_user_mode asm_sysvec_apic_timer_interrupt", "interrupt"},
		{"cp_new_stat __do_sys_newfstat __x64_sys_newfstat do_syscall_64", "fstat"},
		{"futex_wait do_futex __arm64_sys_futex invoke_syscall el0_svc el0t_64_sync", "futex"},
		{"do_syscall_64 entry_SYSCALL_64_after_hwframe", "system call"},
		{"sysvec_reschedule_ipi asm_sysvec_reschedule_ipi do_syscall_64", "system call"},
		{"handle_mm_fault do_page_fault do_mem_abort el0_da el0t_64_sync_handler", "page fault"},
		{"ret_from_fork", ""},
		{"", ""},
	} {
		if got := inKernel(strings.Fields(c.stack)); got != c.want {
			t.Errorf("inKernel(%s) = %q, want %q", c.stack, got, c.want)
		}
	}
}
