package proc

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Maps is what a process's memory is mapped from, and how much of it is resident: the sums
// of /proc/PID/smaps by kind. They add up to the process's resident memory.
type Maps struct {
	// Arenas says that Heap was told from other anonymous memory by the addresses that the
	// runtime has for its heap; else it is at addresses that the runtime prefers.
	Arenas bool `json:"arenas,omitempty"`

	// Core says that a core file tells it, which has no pages of files that nobody wrote to.
	Core bool `json:"core,omitempty"`

	Heap      Resident `json:"heap"`                // of the Go heap's arenas
	Anonymous Resident `json:"anonymous"`           // private memory outside of them, malloc's included
	Stack     Resident `json:"stack"`               // of the main thread
	Program   Resident `json:"program"`             // text and data of the executable
	Libraries Resident `json:"libraries,omitzero"`  // of other files of which something may be executed
	Files     Resident `json:"files,omitzero"`      // other mapped files
	Shared    Resident `json:"shared,omitzero"`     // shared memory without a file on a disk
	Kernel    Resident `json:"kernel_pages"`        // what the kernel maps into each process
	Mappings  int      `json:"mappings"`            // how many there are
	Cut       bool     `json:"cut,omitempty"`       // there were more than are read
	HugePages bool     `json:"hugetlbfs,omitempty"` // it has some of hugetlbfs, which count in no RSS

	// Largest is what has the most of Anonymous, Files, Libraries and Shared, in order.
	Largest []Mapped `json:"largest,omitempty"`
}

// Mapped is the resident memory of mappings of one name.
type Mapped struct {
	Name  string `json:"name"` // path of the file, or the kernel's name; "" of private memory without one
	Count int    `json:"count"`
	RSS   uint64 `json:"rss"`
	Most  uint64 `json:"most"` // of one of them
}

const (
	// maxLargest is how many names are kept, and leastMapped from which size on.
	maxLargest  = 8
	leastMapped = 1 << 20
)

// Resident is memory in bytes, of which Size is mapped.
type Resident struct {
	Size uint64 `json:"size"`
	RSS  uint64 `json:"rss"`
	PSS  uint64 `json:"pss"`            // pages that n processes share count an n-th
	Swap uint64 `json:"swap,omitempty"` // swapped out
	Huge uint64 `json:"huge,omitempty"` // of RSS, in transparent huge pages
}

func (r *Resident) add(o Resident) {
	r.Size += o.Size
	r.RSS += o.RSS
	r.PSS += o.PSS
	r.Swap += o.Swap
	r.Huge += o.Huge
}

// Total returns the sum of all kinds.
func (m *Maps) Total() (sum Resident) {
	for _, r := range []Resident{m.Heap, m.Anonymous, m.Stack, m.Program, m.Libraries, m.Files, m.Shared, m.Kernel} {
		sum.add(r)
	}
	return sum
}

// A Range is of addresses, from Low up to High.
type Range struct{ Low, High uint64 }

// ErrUnmapped is the error of a kernel that tells nothing of single mappings.
var ErrUnmapped = errors.New("this kernel does not tell it: no /proc/PID/smaps")

// maxMappings is far over the kernel's own bound of 65,530 (vm.max_map_count).
const maxMappings = 1 << 20

// ReadMaps reads the mappings of a process, whose heap is at some addresses, in order; nil
// where they are not known. The kernel walks through all its memory meanwhile, page by page,
// in which the process may not map any: 0.6 GB in pages of 4 KiB took 16 ms. The error is
// [ErrGone], fs.ErrPermission for another user's process, [ErrUnmapped] or [ErrSystem].
func ReadMaps(pid int, heap []Range) (*Maps, error) {
	if runtime.GOOS != "linux" {
		return nil, ErrSystem
	}
	return readMaps("/", pid, heap)
}

func readMaps(root string, pid int, heap []Range) (*Maps, error) {
	dir := filepath.Join(root, "proc", strconv.Itoa(pid))
	f, err := os.Open(filepath.Join(dir, "smaps"))
	if errors.Is(err, os.ErrNotExist) {
		if _, err := os.Stat(dir); err == nil {
			return nil, ErrUnmapped
		}
	}
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, asErrGone(err))
	}
	defer f.Close()
	exe, _ := os.Readlink(filepath.Join(dir, "exe"))
	m, err := parseMaps(f, exe, heap)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, asErrGone(err))
	}
	return m, nil
}

// A Mapping is one of a process's, with what it is of.
type Mapping struct {
	Range
	Executable bool
	Shared     bool
	File       bool   // of one, that of shared memory without a disk included
	Path       string // of the file, or the kernel's name of what is none
	Resident
}

// SortMaps adds mappings up that something else than the kernel told, of a process of an
// executable whose heap is at some addresses, both in order.
func SortMaps(list []Mapping, exe string, heap []Range) *Maps {
	s := newSorter(exe, heap)
	for i := range list {
		s.m.Mappings++
		s.last = &list[i]
		s.sort()
	}
	return s.finish()
}

func newSorter(exe string, heap []Range) sorter {
	return sorter{m: &Maps{Arenas: len(heap) > 0}, exe: exe, heap: heap, of: map[string]*mappedFile{}, all: map[string]*Mapped{}}
}

// parseMaps reads a smaps file: for each mapping a line of addresses and what it is of,
// and lines of sizes.
func parseMaps(r io.Reader, exe string, heap []Range) (*Maps, error) {
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20) // a path has 4 KiB at most
	s := newSorter(exe, heap)
	for in.Scan() {
		if mp, ok := parseMapping(in.Bytes()); ok {
			s.sort()
			if s.m.Mappings == maxMappings {
				s.m.Cut, s.last = true, nil
				break
			}
			s.m.Mappings++
			s.last = &mp
		} else if s.last != nil {
			s.size(in.Bytes())
		}
	}
	s.sort()
	if s.m.Mappings == 0 && in.Err() == nil {
		return nil, ErrGone // a process that is about to end has none
	}
	return s.finish(), in.Err()
}

// parseMapping reads the first line of one:
//
//	7f3a9c000000-7f3a9c021000 rw-p 00000000 00:00 0    /some/path
func parseMapping(line []byte) (m Mapping, ok bool) {
	w := words(line)
	low, high, ok := bytes.Cut(w.next(), []byte("-"))
	if !ok {
		return m, false
	}
	mode, _, _, inode := w.next(), w.next(), w.next(), w.next()
	var err1, err2 error
	m.Low, err1 = strconv.ParseUint(string(low), 16, 64)
	m.High, err2 = strconv.ParseUint(string(high), 16, 64)
	if err1 != nil || err2 != nil || len(mode) != 4 || inode == nil || m.High < m.Low {
		return m, false
	}
	m.Executable, m.Shared = mode[2] == 'x', mode[3] == 's'
	m.File, m.Path = string(inode) != "0", strings.TrimSpace(string(w))
	return m, true
}

// A mappedFile is what is mapped of one that is not the executable.
type mappedFile struct {
	executable bool // some of it
	Resident
}

// A sorter adds mappings up by kind.
type sorter struct {
	m    *Maps
	exe  string
	heap []Range
	last *Mapping
	of   map[string]*mappedFile
	all  map[string]*Mapped
	data uint64 // where the executable's data ends, whose zeroed part has no file
}

// size reads a line like "Rss:   8 kB" of the last mapping.
func (s *sorter) size(line []byte) {
	key, value, _ := bytes.Cut(line, []byte(":"))
	of := &s.last.Resident
	for _, f := range []struct {
		key  string
		into *uint64
	}{{"Rss", &of.RSS}, {"Pss", &of.PSS}, {"Swap", &of.Swap}, {"AnonHugePages", &of.Huge}} {
		if string(key) == f.key {
			*f.into = kilobytes(bytes.TrimSpace(value))
		}
	}
	if hugetlb := string(key) == "Private_Hugetlb" || string(key) == "Shared_Hugetlb"; hugetlb && kilobytes(bytes.TrimSpace(value)) > 0 {
		s.m.HugePages = true
	}
}

// sort adds the last mapping to its kind.
func (s *sorter) sort() {
	if s.last == nil {
		return
	}
	mp := s.last
	s.last = nil
	mp.Size = mp.High - mp.Low
	switch {
	case mp.File && s.exe != "" && mp.Path == s.exe:
		s.m.Program.add(mp.Resident)
		s.data = mp.High
	case mp.Path == "[stack]":
		s.m.Stack.add(mp.Resident)
	case strings.HasPrefix(mp.Path, "[v"): // vdso, vvar, vsyscall
		s.m.Kernel.add(mp.Resident)
	case mp.Shared && ofMemory(mp.Path):
		s.m.Shared.add(mp.Resident)
		s.name(mp)
	case mp.File && !ofMemory(mp.Path):
		s.file(mp)
	case mp.Low == s.data && mp.Path == "":
		s.m.Program.add(mp.Resident) // .bss, behind the data that the file has
	case s.ofHeap(mp):
		s.m.Heap.add(mp.Resident)
	default:
		s.m.Anonymous.add(mp.Resident)
		s.name(mp)
	}
}

// name adds a mapping to those of its name.
func (s *sorter) name(mp *Mapping) {
	of := s.all[mp.Path]
	if of == nil {
		of = &Mapped{Name: mp.Path}
		s.all[mp.Path] = of
	}
	of.Count++
	of.RSS += mp.RSS
	of.Most = max(of.Most, mp.RSS)
}

// file adds a mapping of a file that is not the executable.
func (s *sorter) file(mp *Mapping) {
	f := s.of[mp.Path]
	if f == nil {
		f = &mappedFile{}
		s.of[mp.Path] = f
	}
	f.executable = f.executable || mp.Executable
	f.add(mp.Resident)
	s.name(mp)
}

// finish tells libraries from other files: a library is mapped in several parts.
func (s *sorter) finish() *Maps {
	for _, f := range s.of {
		if f.executable {
			s.m.Libraries.add(f.Resident)
		} else {
			s.m.Files.add(f.Resident)
		}
	}
	for _, of := range s.all {
		if of.RSS >= leastMapped {
			s.m.Largest = append(s.m.Largest, *of)
		}
	}
	slices.SortFunc(s.m.Largest, func(a, b Mapped) int { return cmp.Or(cmp.Compare(b.RSS, a.RSS), cmp.Compare(a.Name, b.Name)) })
	s.m.Largest = s.m.Largest[:min(len(s.m.Largest), maxLargest)]
	return s.m
}

// ofMemory tells the files that are memory: what the kernel makes of shared anonymous
// memory, of memfd_create and of System V.
func ofMemory(path string) bool {
	return path == "" || slices.ContainsFunc([]string{"/dev/zero", "/memfd:", "/SYSV", "/dev/shm/", "[anon_shmem"}, func(p string) bool { return strings.HasPrefix(path, p) })
}

// Where the runtime would like to have its heap, as long as it does not choose at random,
// which it does since Go 1.26: from 0xc000000000 on, or on arm64 from 0x4000000000, up to
// where the next try would be.
var preferred = []Range{{0xc000000000, 0x1c000000000}, {0x4000000000, 0x14000000000}}

func (s *sorter) ofHeap(mp *Mapping) bool {
	ranges := s.heap
	if ranges == nil {
		// On amd64 nothing else is so low, and a program of arm64 has nothing at the first.
		ranges = preferred
	}
	return slices.ContainsFunc(ranges, func(r Range) bool { return mp.Low < r.High && mp.High > r.Low })
}
