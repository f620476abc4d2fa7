package symbols

import (
	"bytes"
	"cmp"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"runtime/debug"
	"slices"
	"strings"
)

// ErrNoTable is what a program without a table of functions answers.
var ErrNoTable = errors.New("no table of Go functions in the program's file")

// Program returns the image of the process's own program, and what is to be added
// to the image's addresses to have those of the process: 0 unless the program
// may be loaded anywhere.
func (m *Process) Program() (im *Image, base uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	isProgram := func(mp mapping) bool { return mp.path == m.exe }
	n := slices.IndexFunc(m.maps, isProgram)
	if n < 0 && m.exe != "" { // it may have begun a moment ago, before the kernel had mapped its file
		m.addMappings()
		n = slices.IndexFunc(m.maps, isProgram)
	}
	if n < 0 || m.exe == "" {
		return nil, 0, errors.New("the program's file is not among the process's mappings")
	}
	im = m.image(m.exe)
	if im == nil {
		return nil, 0, errors.New("the program's file cannot be read")
	}
	addr, ok := im.Address(m.maps[n].offset)
	if base = m.maps[n].start - addr; !ok || im.lines == nil {
		return im, base, ErrNoTable
	}
	return im, base, nil
}

// Entry returns where the function at an address begins, with its name. The last ones are
// remembered: stacks have the same few again and again.
func (im *Image) Entry(addr uint64) (entry uint64, name string, ok bool) {
	if im.lines == nil {
		return 0, "", false
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	e, known := im.entries[addr]
	if !known {
		if e, known = im.entryOf(addr); !known {
			return 0, "", false
		}
		if im.entries == nil || len(im.entries) == maxKept {
			im.entries = map[uint64]entryPoint{}
		}
		im.entries[addr] = e
	}
	return e.addr, e.name, e.addr != 0
}

// An entryPoint is where a function begins; its address is 0 where none is.
type entryPoint struct {
	addr uint64
	name string
}

// maxKept bounds how many are remembered of one image.
const maxKept = 1 << 13

// entryOf looks into the table. It is not ok where that cannot be read.
func (im *Image) entryOf(addr uint64) (e entryPoint, ok bool) {
	defer recoverFault(debug.SetPanicOnFault(true))
	im.looked.Store(true)
	if f, found := im.lines.find(addr); found {
		e = entryPoint{f.entry, shownName(stringAt(im.lines.names, uint64(f.name)))}
	}
	return e, true
}

// maxCode bounds one function's code.
const maxCode = 64 << 10

// Read fills b with what the file has at an address of the image.
func (im *Image) Read(b []byte, addr uint64) (ok bool) {
	defer recoverFault(debug.SetPanicOnFault(true))
	return im.read(b, addr)
}

// Code returns a function's code and where it begins; nil when there is none of
// that name.
func (im *Image) Code(name string) (code []byte, at uint64) {
	defer recoverFault(debug.SetPanicOnFault(true))
	t := im.lines
	if t == nil {
		return nil, 0
	}
	want := append([]byte(name), 0)
	for i := range t.n {
		start := t.text + uint64(binary.LittleEndian.Uint32(t.funcs[i*8:]))
		end := t.text + uint64(binary.LittleEndian.Uint32(t.funcs[i*8+8:]))
		info := uint64(binary.LittleEndian.Uint32(t.funcs[i*8+4:]))
		if info+8 > uint64(len(t.funcs)) || end <= start || end-start > maxCode {
			continue
		}
		if from := uint64(binary.LittleEndian.Uint32(t.funcs[info+4:])); from >= uint64(len(t.names)) || !bytes.HasPrefix(t.names[from:], want) {
			continue
		}
		code = make([]byte, end-start)
		if !im.read(code, start) {
			return nil, 0
		}
		return code, start
	}
	return nil, 0
}

// Differs reports whether memory, which read reads from an address of the image on, is of another
// file: where each piece begins that nobody writes to. The first has the file's headers, with
// the name of the build behind them. Where known, the file began at an address of the image.
func (im *Image) Differs(began uint64, known bool, read func(b []byte, addr uint64) int) bool {
	const page = 4 << 10
	if known && len(im.loads) > 0 && im.loads[0].Vaddr&^(page-1) != began {
		return true
	}
	memory, file := make([]byte, page), make([]byte, page)
	for _, p := range im.loads {
		n := min(page, p.Filesz)
		if p.Flags&elf.PF_W != 0 || !im.Read(file[:n], p.Vaddr) {
			continue
		}
		if got := read(memory[:n], p.Vaddr); !bytes.Equal(memory[:got], file[:got]) {
			return true
		}
	}
	return false
}

// Machine returns the kind of CPU that the image is for.
func (im *Image) Machine() elf.Machine { return im.file.Machine }

// Writable tells whether an address of the image is of its data.
func (im *Image) Writable(addr uint64) bool {
	return slices.ContainsFunc(im.loads, func(p elf.ProgHeader) bool {
		return p.Flags&elf.PF_W != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz
	})
}

// A Variable is where a program keeps one.
type Variable struct{ Addr, Size uint64 }

// Variables returns those of the names that the file has symbols for.
func (im *Image) Variables(names ...string) (at map[string]Variable) {
	defer func() {
		if recover() != nil { // see OpenImage
			at = nil
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return im.variables(names...)
}

// variables looks through the bytes of the table: large programs have some
// hundred thousand symbols, and [elf.File.Symbols] makes a string of each.
func (im *Image) variables(names ...string) map[string]Variable {
	f, at := im.file, map[string]Variable{}
	table := f.SectionByType(elf.SHT_SYMTAB)
	if table == nil || int(table.Link) >= len(f.Sections) {
		return at
	}
	entries, text := im.section(table), im.section(f.Sections[table.Link])
	for ; len(entries) >= elf.Sym64Size && len(at) < len(names); entries = entries[elf.Sym64Size:] {
		from := uint64(binary.LittleEndian.Uint32(entries))
		if from == 0 || from >= uint64(len(text)) {
			continue
		}
		for _, n := range names {
			end := from + uint64(len(n))
			if end < uint64(len(text)) && text[end] == 0 && string(text[from:end]) == n {
				at[n] = Variable{binary.LittleEndian.Uint64(entries[8:]), binary.LittleEndian.Uint64(entries[16:])}
			}
		}
	}
	return at
}

// maxDWARF bounds what is read of a file's description of its types.
const maxDWARF = 512 << 20

// DWARF returns the file's description of its types, where it has one.
func (im *Image) DWARF() (d *dwarf.Data, err error) {
	defer func() {
		if recover() != nil { // see OpenImage
			d, err = nil, errors.New("broken DWARF")
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	size := uint64(0)
	for _, s := range im.file.Sections {
		switch {
		case strings.HasPrefix(s.Name, ".zdebug_"): // of Go 1.18 and older; its size is not known before it is read
			return nil, errors.New("the program's DWARF is compressed in a way that no toolchain writes now")
		case strings.HasPrefix(s.Name, ".debug_"):
			size += min(s.Size, maxDWARF+1)
		}
	}
	switch {
	case size == 0:
		return nil, errors.New("the program's file has no DWARF")
	case size > maxDWARF:
		return nil, errors.New("the program's DWARF is too large to look through")
	}
	return im.file.DWARF()
}

// Started returns the function that go calls, of the function that a goroutine begins with: what is
// called with arguments the compiler puts into one of its own, whose name ends in gowrap1, and a
// method with its receiver into one that ends in -fm. It is not ok for all others.
func (im *Image) Started(entry uint64, name string) (callee Place, ok bool) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !strings.HasPrefix(last, "gowrap") && !strings.HasSuffix(last, "-fm") {
		return callee, false
	}
	return im.Callee(entry)
}

// Callee returns the one function that a function of the compiler's calls, or has
// inlined; not ok when it calls several.
func (im *Image) Callee(entry uint64) (callee Place, ok bool) {
	defer recoverFault(debug.SetPanicOnFault(true))
	if im.lines == nil {
		return Place{}, false
	}
	f, found := im.lines.find(entry)
	if !found || f.entry != entry {
		return Place{}, false
	}
	own := shownName(stringAt(im.lines.names, uint64(f.name)))
	var code []byte
	for end := entry + 1; end-entry < maxWrapper; end++ {
		if g, ok := im.lines.find(end); !ok || g.entry != entry {
			code = make([]byte, end-entry)
			break
		}
	}
	if code == nil || !im.read(code, entry) {
		return Place{}, false
	}
	for i := range code {
		at := im.lines.lookup(entry + uint64(i))
		if n := len(at); n > 0 && at[n-1].Func != own && !isWrapper(at[n-1]) {
			return at[n-1], true
		}
		target, calls := im.called(code, i, entry)
		if !calls {
			continue
		}
		at = im.lines.lookup(target)
		if g, found := im.lines.find(target); !found || g.entry != target || len(at) == 0 || strings.HasPrefix(at[len(at)-1].Func, "runtime.") {
			continue
		}
		if ok && at[len(at)-1] != callee {
			return Place{}, false
		}
		callee, ok = at[len(at)-1], true
	}
	return callee, ok
}

// maxWrapper bounds the functions that are looked through for calls.
const maxWrapper = 1024

// called returns where the instruction at i calls, if it is a call.
func (im *Image) called(code []byte, i int, at uint64) (target uint64, ok bool) {
	switch {
	case im.file.Machine == elf.EM_X86_64 && code[i] == 0xe8 && i+5 <= len(code):
		return at + uint64(i) + 5 + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:])))), true
	case im.file.Machine == elf.EM_AARCH64 && i%4 == 0 && i+4 <= len(code):
		if w := binary.LittleEndian.Uint32(code[i:]); w&0xfc000000 == 0x94000000 {
			return at + uint64(i) + uint64(int64(int32(w<<6)>>4)), true
		}
	}
	return 0, false
}

// A NamedVariable is one of the program's variables.
type NamedVariable struct {
	Name string
	Variable
}

// maxVariables bounds how many of a file are believed.
const maxVariables = 1 << 20

// Data returns all variables in the part of the image from low up to high, in the order of their
// addresses.
func (im *Image) Data(low, high uint64) (list []NamedVariable) {
	defer func() {
		if recover() != nil { // see OpenImage
			list = nil
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	table := im.file.SectionByType(elf.SHT_SYMTAB)
	if table == nil || int(table.Link) >= len(im.file.Sections) {
		return nil
	}
	entries, text := im.section(table), im.section(im.file.Sections[table.Link])
	for ; len(entries) >= elf.Sym64Size && len(list) < maxVariables; entries = entries[elf.Sym64Size:] {
		from, at := uint64(binary.LittleEndian.Uint32(entries)), binary.LittleEndian.Uint64(entries[8:])
		if from != 0 && from < uint64(len(text)) && at >= low && at < high && elf.ST_TYPE(entries[4]) == elf.STT_OBJECT {
			list = append(list, NamedVariable{stringAt(text, from), Variable{at, binary.LittleEndian.Uint64(entries[16:])}})
		}
	}
	slices.SortStableFunc(list, func(a, b NamedVariable) int { return cmp.Compare(a.Addr, b.Addr) })
	return list
}
