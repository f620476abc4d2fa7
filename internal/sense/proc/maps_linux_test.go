package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// someMaps has a mapping of each kind, of 4, 8, 16, … KiB resident.
const someMaps = `00400000-00500000 r-xp 00000000 fe:00 11   /srv/api server
Size: 1024 kB
Rss:                   4 kB
Pss:                   2 kB
VmFlags: rd ex mr mw me
00500000-00510000 rw-p 00100000 fe:00 11   /srv/api server
Rss:                   8 kB
Pss:                   8 kB
00510000-00540000 rw-p 00000000 00:00 0
Rss:                  16 kB
Pss:                  16 kB
01000000-01100000 rw-p 00000000 00:00 0    [heap]
Rss:                  32 kB
Pss:                  32 kB
c000000000-c004000000 rw-p 00000000 00:00 0
Rss:                  64 kB
Pss:                  64 kB
Swap:                 12 kB
AnonHugePages:      2048 kB
7f0000000000-7f0000100000 rw-p 00000000 00:00 0
Rss:                 128 kB
Pss:                 128 kB
7f0000200000-7f0000300000 r--p 00000000 fe:00 12   /lib/libc.so.6
Rss:                 256 kB
Pss:                  16 kB
7f0000300000-7f0000400000 r-xp 00000000 fe:00 12   /lib/libc.so.6
Rss:                 512 kB
Pss:                  32 kB
7f0001000000-7f0001100000 r--s 00000000 fe:00 13   /data/index
Rss:                1024 kB
Pss:                1024 kB
7f0002000000-7f0002100000 rw-s 00000000 00:01 14   /memfd:pool (deleted)
Rss:                2048 kB
Pss:                1024 kB
7ffc00000000-7ffc00100000 rw-p 00000000 00:00 0    [stack]
Rss:                4096 kB
Pss:                4096 kB
7ffc00200000-7ffc00202000 r-xp 00000000 00:00 0    [vdso]
Rss:                8192 kB
Pss:                   0 kB
`

func TestParseMaps(t *testing.T) {
	for name, heap := range map[string][]Range{"arenas": {{0xc000000000, 0xc004000000}}, "preferred": nil} {
		m, err := parseMaps(strings.NewReader(someMaps), "/srv/api server", heap)
		if err != nil {
			t.Fatal(err)
		}
		got := []uint64{m.Program.RSS, m.Anonymous.RSS, m.Heap.RSS, m.Libraries.RSS, m.Files.RSS, m.Shared.RSS, m.Stack.RSS, m.Kernel.RSS}
		for i, want := range []uint64{4 + 8 + 16, 32 + 128, 64, 256 + 512, 1024, 2048, 4096, 8192} {
			if got[i] != want<<10 {
				t.Errorf("%s: kind %d has %d KiB, want %d", name, i, got[i]>>10, want)
			}
		}
		if m.Heap.Swap != 12<<10 || m.Heap.Huge != 2<<20 || m.Libraries.PSS != 48<<10 || m.Mappings != 12 || m.Arenas != (heap != nil) {
			t.Errorf("%s: heap swap %d, huge %d, libraries PSS %d, %d mappings, arenas %v, want %d, %d, %d, 12, %v",
				name, m.Heap.Swap, m.Heap.Huge, m.Libraries.PSS, m.Mappings, m.Arenas, 12<<10, 2<<20, 48<<10,
				heap != nil)
		}
		largest := []Mapped{{"/memfd:pool (deleted)", 1, 2 << 20, 2 << 20}, {"/data/index", 1, 1 << 20, 1 << 20}}
		if !slices.Equal(m.Largest, largest) {
			t.Errorf("%s: largest %+v, want %+v", name, m.Largest, largest)
		}
		if sum := m.Total(); sum.RSS != (1<<14-4)<<10 {
			t.Errorf("%s: %d KiB in all, want %d", name, sum.RSS>>10, 1<<14-4)
		}
	}
	// A heap elsewhere is found by its addresses alone.
	m, _ := parseMaps(strings.NewReader(someMaps), "", []Range{{0x7f0000000000, 0x7f0004000000}})
	if m.Heap.RSS != 128<<10 || m.Anonymous.RSS != (16+32+64)<<10 {
		t.Errorf("heap %d KiB, others %d; want 128 and 112", m.Heap.RSS>>10, m.Anonymous.RSS>>10)
	}
	if _, err := parseMaps(strings.NewReader(""), "", nil); !errors.Is(err, ErrGone) {
		t.Errorf("a process without memory: %v, want that it is gone", err)
	}
}

// TestReadMaps compares with what the kernel adds up for this process.
func TestReadMaps(t *testing.T) {
	const size = 8 << 20
	file := filepath.Join(t.TempDir(), "mapped")
	if err := os.WriteFile(file, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Munmap(text)
	m, err := ReadMaps(os.Getpid(), nil)
	if err != nil {
		t.Fatal(err)
	}
	rollup, err := os.ReadFile("/proc/self/smaps_rollup")
	if err != nil {
		t.Skip(err)
	}
	want, _ := rollupBytes(rollup, "Rss")
	got := m.Total().RSS
	if apart := max(got, want) - min(got, want); apart > want/20 { // this test allocates between the two
		t.Errorf("%d bytes resident, and the kernel says %d", got, want)
	}
	if m.Files.RSS < size || m.Files.RSS > 2*size || m.Program.RSS == 0 {
		t.Errorf("%+v, want %d bytes of files", m, size)
	}
	if _, err := ReadMaps(1<<22+1, nil); !errors.Is(err, ErrGone) {
		t.Errorf("of no process: %v", err)
	}
}

// FuzzMaps: whatever the file says, the kinds add up to what its lines have.
func FuzzMaps(f *testing.F) {
	f.Add(someMaps)
	f.Add("0-1 rw-p 0 0 0\nRss: 18446744073709551615 kB\n")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := parseMaps(strings.NewReader(text), "/srv/api server", []Range{{0xc000000000, 0xc004000000}})
		if m == nil {
			if err == nil {
				t.Error("neither maps nor an error")
			}
			return
		}
		if sum := m.Total(); m.Mappings == 0 || sum.RSS < m.Heap.RSS && sum.RSS < m.Anonymous.RSS {
			t.Errorf("parseMaps(%q) has %d mappings of %d bytes, heap %d, anonymous %d, want some, not less than both",
				text, m.Mappings, sum.RSS, m.Heap.RSS, m.Anonymous.RSS)
		}
	})
}
