package symbols

import (
	"bytes"
	"cmp"
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
	maxNoFrame  = 1 << 16  // what Frameless remembers
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
	mu     sync.Mutex
	dir    string // /proc/PID
	exe    string // path of the program, as the mappings have it
	maps   []mapping
	files  map[string]*os.File // by path; nil when it could not be opened
	images map[string]*Image   // nil when it could not be read

	noFrame map[uint64]bool // what Frameless said
}

// vdsoPath is the name of the code that the kernel maps into each process.
const vdsoPath = "[vdso]"

func Open(pid int) *Process {
	m := &Process{dir: "/proc/" + strconv.Itoa(pid), files: map[string]*os.File{}, images: map[string]*Image{}, noFrame: map[uint64]bool{}}
	m.exe, _ = os.Readlink(m.dir + "/exe")
	m.Refresh()
	return m
}

// Refresh adds the mappings that are new. Old ones stay: the samples of a
// library that was unloaded are still its own.
func (m *Process) Refresh() {
	m.mu.Lock()
	defer m.mu.Unlock()
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
			m.open(n.path)
		}
	}
	// Later mappings come behind those they replaced.
	slices.SortStableFunc(m.maps, func(a, b mapping) int { return cmp.Compare(a.start, b.start) })
}

func (m *Process) open(path string) {
	if _, ok := m.files[path]; ok || len(m.files) >= maxImages || !strings.HasPrefix(path, "/") {
		return
	}
	name := filepath.Join(m.dir, "root", path)
	if path == m.exe {
		name = m.dir + "/exe" // also when it was deleted or replaced
	}
	m.files[path] = openRegular(name)
}

// openRegular opens a file that cannot make the reader wait, as a device or a
// pipe in its place could.
func openRegular(name string) *os.File {
	st, err := os.Stat(name)
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	return f
}

func (m *Process) Close() {
	for _, f := range m.files {
		if f != nil {
			f.Close()
		}
	}
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

// Frameless tells whether the function at an address, which runs, has put
// nothing on the stack. It is known of Go functions only.
func (m *Process) Frameless(pc uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.noFrame[pc]; ok {
		return known
	}
	var none bool
	if mp, ok := m.find(pc); ok {
		if im := m.image(mp.path); im != nil && im.lines != nil {
			addr, ok := im.Address(pc - mp.start + mp.offset)
			none = ok && im.lines.frameless(addr)
		}
	}
	if len(m.noFrame) < maxNoFrame {
		m.noFrame[pc] = none
	}
	return none
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
	if im, ok := m.images[path]; ok {
		return im
	}
	var im *Image
	if path == vdsoPath {
		im = ownVDSO()
	} else if f := m.files[path]; f != nil {
		im, _ = OpenImage(f)
	}
	m.images[path] = im
	return im
}

// ownVDSO reads the vdso of this process: the kernel gives all the same.
func ownVDSO() *Image {
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
