package symbols

import (
	"bytes"
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Bounds of what is remembered of a process's memory.
const (
	maxMappings = 8192
	maxImages   = 256
	maxMaps     = 16 << 20 // bytes of /proc/PID/maps
	maxPushed   = 1 << 16  // what Pushed remembers
)

// A mapping is a part of a process's memory with code in it.
type mapping struct {
	start, end, offset uint64
	path               string
}

// parseMaps reads the executable mappings of /proc/PID/maps.
func parseMaps(r io.Reader) ([]mapping, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxMaps))
	if err != nil {
		return nil, err
	}
	var maps []mapping
	for line := range bytes.Lines(b) {
		m, ok := parseMapping(string(bytes.TrimSuffix(line, []byte("\n"))))
		if ok && len(maps) < maxMappings {
			maps = append(maps, m)
		}
	}
	return maps, nil
}

// parseMapping reads a line like
//
//	00400000-0047d000 r-xp 00000000 fe:00 123    /bin/program
func parseMapping(line string) (m mapping, ok bool) {
	var fields [5]string
	for i := range fields {
		line = strings.TrimLeft(line, " ")
		fields[i], line, _ = strings.Cut(line, " ")
	}
	m.path = strings.TrimLeft(line, " ")
	if !strings.Contains(fields[1], "x") {
		return m, false
	}
	start, end, ok := strings.Cut(fields[0], "-")
	if !ok {
		return m, false
	}
	var err [3]error
	m.start, err[0] = strconv.ParseUint(start, 16, 64)
	m.end, err[1] = strconv.ParseUint(end, 16, 64)
	m.offset, err[2] = strconv.ParseUint(fields[2], 16, 64)
	return m, err == [3]error{} && m.start < m.end
}

// A Process is a process's code: what is mapped where, with its files kept open,
// as the process may be gone when names are asked for.
type Process struct {
	mu    sync.Mutex
	dir   string // /proc/PID
	exe   string // path of the program, as the mappings have it
	maps  []mapping
	files map[string]*file // by path; nil when it could not be opened
	users int              // who closes it yet

	pushed map[uint64]int32 // what Pushed said, -1 for what is not known
}

// vdsoPath is the name of the code that the kernel maps into each process.
const vdsoPath = "[vdso]"

// Open reads what is mapped where, and holds its files. There is no error: a process that
// is gone has no mappings.
func Open(pid int) *Process {
	m := &Process{dir: "/proc/" + strconv.Itoa(pid), files: map[string]*file{}, users: 1, pushed: map[uint64]int32{}}
	m.exe, _ = os.Readlink(m.dir + "/exe")
	m.Refresh()
	return m
}

// OpenProgram returns a process of which only its program is known: the file that it has here, and
// at which address the system began to run it, 0 where nothing tells. Its libraries have no names:
// those of this machine may be others.
func OpenProgram(path string, began uint64) (*Process, error) {
	f := openFile(path)
	im := f.read()
	m := &Process{exe: path, files: map[string]*file{path: f}, users: 1, pushed: map[uint64]int32{}}
	switch {
	case im == nil:
		m.Close()
		return nil, errors.New("the program's file cannot be read")
	case began == 0 && im.file.Type != elf.ET_EXEC:
		m.Close()
		return nil, errors.New("nothing tells where the program was loaded")
	case began == 0:
		began = im.file.Entry
	}
	base := began - im.file.Entry
	for _, p := range im.loads {
		if p.Flags&elf.PF_X != 0 {
			m.maps = append(m.maps, mapping{p.Vaddr + base, p.Vaddr + base + p.Memsz, p.Off, path})
		}
	}
	slices.SortStableFunc(m.maps, func(a, b mapping) int { return cmp.Compare(a.start, b.start) })
	return m, nil
}

// Refresh adds the mappings that are new. Old ones stay: the samples of a
// library that was unloaded are still its own.
func (m *Process) Refresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.addMappings()
}

func (m *Process) addMappings() {
	f, err := os.Open(m.dir + "/maps")
	if err != nil {
		return
	}
	defer f.Close()
	fresh, err := parseMaps(f)
	if err != nil {
		return
	}
	for _, n := range fresh {
		if len(m.maps) >= maxMappings {
			break
		}
		if !slices.Contains(m.maps, n) {
			m.maps = append(m.maps, n)
			m.open(n.path, fmt.Sprintf("%x-%x", n.start, n.end))
		}
	}
	// Later mappings come behind those they replaced.
	slices.SortStableFunc(m.maps, func(a, b mapping) int { return cmp.Compare(a.start, b.start) })
}

// deleted is what the kernel puts behind the name of a file that is no more.
const deleted = " (deleted)"

// open opens what is mapped from a path to a range of addresses.
func (m *Process) open(path, mapped string) {
	if _, ok := m.files[path]; ok || len(m.files) >= maxImages || !strings.HasPrefix(path, "/") {
		return
	}
	name := filepath.Join(m.dir, "root", path)
	switch {
	case path == m.exe: // also when it was deleted or replaced
		name = m.dir + "/exe"
	case strings.HasSuffix(path, deleted): // which root alone may read
		name = filepath.Join(m.dir, "map_files", mapped)
	}
	m.files[path] = openFile(name)
}

// Share has one more user call Close before the files are let go.
func (m *Process) Share() *Process {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.users++
	return m
}

// Close lets go of the files. After the last one no address has a name any more.
func (m *Process) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users > 0 {
		return
	}
	for _, f := range m.files {
		f.release()
	}
	clear(m.files)
	m.maps = nil
}

// GoVersion returns which toolchain built the process's program; empty for what is not Go's.
func (m *Process) GoVersion() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.open(m.exe, "") // it may be mapped under no name of its own
	if im := m.image(m.exe); im != nil {
		return im.GoVersion()
	}
	return ""
}

// Frames returns the functions at an address of the process, the inlined
// first. There is always at least one, if without a name.
func (m *Process) Frames(pc uint64, leaf bool) []Place {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := pc
	if !leaf && at > 0 {
		at-- // a return address: the call is before it
	}
	mp, ok := m.find(at)
	if !ok {
		return []Place{{}}
	}
	im := m.image(mp.path)
	if im == nil {
		return []Place{{File: mp.path}}
	}
	addr, ok := im.Address(at - mp.start + mp.offset)
	places := im.Lookup(addr)
	if !ok || len(places) == 0 {
		return []Place{{File: mp.path}}
	}
	for i := range places {
		if places[i].File == "" {
			places[i].File = mp.path
		}
	}
	return places
}

// PushedBytes returns how many bytes the function at an address, which runs, has put on the stack, over
// the address to return to where a call pushes that. It is known of Go functions only.
func (m *Process) PushedBytes(pc uint64) (n uint64, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.pushed[pc]; ok {
		return uint64(known), known >= 0
	}
	is := int32(-1)
	if mp, ok := m.find(pc); ok {
		if im := m.image(mp.path); im != nil && im.lines != nil {
			if addr, ok := im.Address(pc - mp.start + mp.offset); ok {
				is = im.pushed(addr)
			}
		}
	}
	if len(m.pushed) < maxPushed {
		m.pushed[pc] = is
	}
	return uint64(is), is >= 0
}

// find returns the mapping of an address, the latest where several cover it.
func (m *Process) find(pc uint64) (mapping, bool) {
	n, _ := slices.BinarySearchFunc(m.maps, pc, func(a mapping, pc uint64) int {
		if a.start <= pc {
			return -1
		}
		return 1
	})
	for n--; n >= 0; n-- {
		if pc < m.maps[n].end {
			return m.maps[n], true
		}
		if pc-m.maps[n].start > 1<<40 {
			break
		}
	}
	return mapping{}, false
}

func (m *Process) image(path string) *Image {
	if path == vdsoPath {
		return ownVDSO()
	}
	return m.files[path].read()
}

// ownVDSO is the vdso of this process: the kernel gives all the same.
var ownVDSO = sync.OnceValue(readVDSO)

func readVDSO() *Image {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return nil
	}
	defer f.Close()
	maps, err := parseMaps(f)
	if err != nil {
		return nil
	}
	n := slices.IndexFunc(maps, func(m mapping) bool { return m.path == vdsoPath })
	if n < 0 {
		return nil
	}
	mem, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil
	}
	defer mem.Close()
	const most = 1 << 20
	b := make([]byte, min(maps[n].end-maps[n].start, most))
	if _, err := mem.ReadAt(b, int64(maps[n].start)); err != nil {
		return nil
	}
	im, _ := OpenImage(bytes.NewReader(b))
	return im
}
