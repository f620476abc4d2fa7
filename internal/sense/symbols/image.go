// Package symbols tells which functions are at the addresses of a program: of a
// process, by its mappings ([Process]), or of a file ([Image]).
//
// It hides ELF, the table of functions that each Go program carries for its own
// runtime, with inlined functions where it is of Go 1.20 or newer, and how files
// are found that a container has or that were deleted. It believes nothing that
// a file says: a broken one has no functions.
package symbols

import (
	"bytes"
	"cmp"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// maxSection bounds a section that is read whole. The table of functions of
// the largest Go programs has some 60 MB.
const maxSection = 256 << 20

// An Image is a program or library in the form of an ELF file, as far as its
// functions are concerned. Any number of goroutines may use it.
type Image struct {
	file   *elf.File
	loads  []elf.ProgHeader
	source io.ReaderAt
	data   []byte // the whole file, where it is mapped
	lines  *lineTable
	old    *gosym.Table // of programs of Go 1.17 and older

	looked atomic.Bool  // since it rested
	rested atomic.Int64 // when that was

	mu   sync.Mutex // of what follows, and of old, which remembers names
	kept map[string]func() any

	entries map[uint64]entryPoint // see Entry

	once  sync.Once
	funcs []elfFunc // by address; see functions
}

type elfFunc struct {
	start, size uint64
	name        string
}

// OpenImage reads what an ELF file says of functions. A file without any is no
// error: then all lookups fail.
func OpenImage(r io.ReaderAt) (im *Image, err error) { return openImage(r, nil) }

// openMapped is of a file in memory, of which nothing is copied.
func openMapped(data []byte) (im *Image, err error) {
	err = errors.New("a file that cannot be read") // unless something else is said
	defer recoverFault(debug.SetPanicOnFault(true))
	return openImage(bytes.NewReader(data), data)
}

func openImage(r io.ReaderAt, data []byte) (im *Image, err error) {
	// The standard library's readers of these formats are not made for files
	// that lie; what they stumble over is a file without functions.
	defer func() {
		if p := recover(); p != nil {
			im, err = nil, fmt.Errorf("broken ELF file: %v", p)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	if f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return nil, fmt.Errorf("ELF file of another kind of machine: %v %v", f.Class, f.Data)
	}
	im = &Image{file: f, source: r, data: data, kept: map[string]func() any{}}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			im.loads = append(im.loads, p.ProgHeader)
		}
	}
	im.readLines(f)
	return im, nil
}

// section reads a section, nil when it cannot be read or is too large to be read whole.
func (im *Image) section(s *elf.Section) []byte {
	if s == nil || s.Type == elf.SHT_NOBITS || s.Size > maxSection {
		return nil
	}
	if im.data != nil && s.Flags&elf.SHF_COMPRESSED == 0 {
		if size := uint64(len(im.data)); s.Offset > size || s.Size > size-s.Offset {
			return nil
		}
		return im.data[s.Offset:][:s.Size:s.Size]
	}
	b, err := s.Data()
	if err != nil {
		return nil
	}
	return b
}

// functions returns those of the file's symbols, which are read when they are asked
// for: the table of functions has Go's own.
func (im *Image) functions() []elfFunc {
	im.once.Do(func() {
		defer func() {
			if recover() != nil { // see OpenImage
				im.funcs = nil
			}
		}()
		im.readSymbols()
	})
	return im.funcs
}

func (im *Image) readSymbols() {
	f := im.file
	for _, s := range f.Sections {
		if (s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_DYNSYM) && s.Size > maxSection {
			return
		}
	}
	symbols, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	for _, list := range [][]elf.Symbol{symbols, dynamic} {
		for _, s := range list {
			if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Value != 0 {
				im.funcs = append(im.funcs, elfFunc{s.Value, s.Size, s.Name})
			}
		}
	}
	slices.SortStableFunc(im.funcs, func(a, b elfFunc) int { return cmp.Compare(a.start, b.start) })
	im.funcs = slices.CompactFunc(im.funcs, func(a, b elfFunc) bool { return a.start == b.start })
}

// lineSections are the names of the section with the table of functions.
var lineSections = []string{".gopclntab", ".data.rel.ro.gopclntab"}

func (im *Image) readLines(f *elf.File) {
	for _, name := range lineSections {
		s := f.Section(name)
		b := im.section(s)
		if b == nil {
			continue
		}
		module := im.findModule(f, s.Addr)
		if module.text == 0 {
			module = im.namedModule(f, module)
		}
		t, err := newLineTable(b, module.text)
		if err != nil {
			im.old = oldTable(b, module.text)
			return
		}
		if module.inline != 0 {
			t.readInline = func(b []byte, offset uint32) bool { return im.read(b, module.inline+uint64(offset)) }
		}
		im.lines = t
		return
	}
}

// oldTable reads the tables of Go 1.17 and older.
func oldTable(b []byte, text uint64) *gosym.Table {
	// The standard library believes the number of functions; each has an entry
	// of two words.
	const magic12, magic116 = 0xfffffffb, 0xfffffffa
	if len(b) < pcHeaderSize || b[7] != 8 || binary.LittleEndian.Uint64(b[8:]) > uint64(len(b))/16 {
		return nil
	}
	if magic := binary.LittleEndian.Uint32(b); magic != magic12 && magic != magic116 {
		return nil
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(b, text))
	if err != nil {
		return nil
	}
	return t
}

// A module is what the runtime knows of where a program's code and data are.
type module struct {
	text   uint64 // the first function
	inline uint64 // go:func.*, the inline trees
}

// Offsets in runtime.moduledata of Go 1.20 and newer.
const (
	moduleText = 176
	moduleEnd  = 184
	moduleSize = 360
)

// moduleInline is where go:func.* is: in Go 1.27, and before.
var moduleInline = []int{344, 320}

// findModule looks for the runtime's own description of the program. It has no
// name in a stripped file but begins with the address of the table of
// functions.
func (im *Image) findModule(f *elf.File, table uint64) (m module) {
	var want [8]byte
	binary.LittleEndian.PutUint64(want[:], table)
	for _, name := range []string{".go.module", ".noptrdata", ".data", ".data.rel.ro"} {
		b := im.section(f.Section(name))
		for from := 0; ; {
			n := bytes.Index(b[from:], want[:])
			if n < 0 {
				break
			}
			at := from + n
			if len(b)-at < moduleSize {
				break
			}
			text := binary.LittleEndian.Uint64(b[at+moduleText:])
			end := binary.LittleEndian.Uint64(b[at+moduleEnd:])
			if at%8 == 0 && im.executable(text) && end > text {
				for _, offset := range moduleInline {
					// Other fields that may be there are sizes.
					if inline := binary.LittleEndian.Uint64(b[at+offset:]); inline > text && im.mapped(inline) {
						return module{text: text, inline: inline}
					}
				}
			}
			from = at + 1
		}
	}
	return m
}

// namedModule asks the symbols, where there are any, and the section of code:
// it begins with the first function unless there is code that is not Go's.
func (im *Image) namedModule(f *elf.File, m module) module {
	if s := f.Section(".text"); s != nil {
		m.text = s.Addr
	}
	at := im.variables("runtime.text", "go:func.*")
	m.text, m.inline = cmp.Or(at["runtime.text"].Addr, m.text), at["go:func.*"].Addr
	return m
}

func (im *Image) executable(addr uint64) bool {
	return slices.ContainsFunc(im.loads, func(p elf.ProgHeader) bool {
		return p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz
	})
}

func (im *Image) mapped(addr uint64) bool {
	return slices.ContainsFunc(im.loads, func(p elf.ProgHeader) bool {
		return addr >= p.Vaddr && addr-p.Vaddr < p.Filesz
	})
}

// read fills b from an address of the image.
func (im *Image) read(b []byte, addr uint64) bool {
	for _, p := range im.loads {
		if addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			at := p.Off + addr - p.Vaddr
			if im.data == nil {
				_, err := im.source.ReadAt(b, int64(at))
				return err == nil
			}
			return at < uint64(len(im.data)) && copy(b, im.data[at:]) == len(b)
		}
	}
	return false
}

// Address converts a place in the file to an address of the image.
func (im *Image) Address(offset uint64) (uint64, bool) {
	for _, p := range im.loads {
		if p.Flags&elf.PF_X != 0 && offset >= p.Off && offset-p.Off < p.Filesz {
			return p.Vaddr + offset - p.Off, true
		}
	}
	return 0, false
}

// Lookup returns the functions at an address of the image, the inlined first.
func (im *Image) Lookup(addr uint64) (places []Place) {
	defer recoverFault(debug.SetPanicOnFault(true))
	im.looked.Store(true)
	if im.lines != nil {
		if places := im.lines.lookup(addr); places != nil {
			return places
		}
	}
	if p, ok := im.lookupOld(addr); ok {
		return []Place{p}
	}
	funcs := im.functions()
	n, found := slices.BinarySearchFunc(funcs, addr, func(f elfFunc, a uint64) int { return cmp.Compare(f.start, a) })
	if !found {
		n--
	}
	if n < 0 {
		return nil
	}
	f := funcs[n]
	// Symbols written by hand may have no size: they reach to the next.
	if f.size > 0 && addr-f.start >= f.size {
		return nil
	}
	return []Place{{Func: f.name}}
}

func (im *Image) lookupOld(addr uint64) (p Place, ok bool) {
	if im.old == nil {
		return p, false
	}
	im.mu.Lock()
	defer im.mu.Unlock()
	defer func() {
		if recover() != nil { // see OpenImage
			p, ok = Place{}, false
		}
	}()
	file, line, fn := im.old.PCToLine(addr)
	if fn == nil {
		return p, false
	}
	return Place{Func: fn.Name, File: file, Line: line}, true
}
