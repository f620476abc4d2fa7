// Package core reads core files: the memory that a program left when it died, or that
// somebody took of one that lives on.
//
// It hides ELF's program headers and notes as Linux and gcore write them on amd64 and arm64,
// the memory that a core leaves out, and the end that many lack. [New] reads what is written
// about the memory, [File.ReadAt] the memory, piece by piece: a core is never read whole.
package core

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// A File is a core. Any number of goroutines may use it.
type File struct {
	Machine  elf.Machine
	PID      int
	Name     string    // of the command, cut to 15 bytes
	Args     string    // of the command line, cut to 79 bytes
	Program  string    // the path of the program's file, as it was; empty where nothing tells
	Entry    uint64    // where the program begins, 0 where nothing tells
	Threads  []Thread  // that which died first
	Mappings []Mapping // of files
	Segments []Segment // by address
	Death    Death
	// Lost is how many bytes of memory are missing at the file's end.
	Lost int64

	source      io.ReaderAt
	stack, vdso uint64 // addresses in the first thread's stack and in the kernel's page
}

// A Thread is one that there was.
type Thread struct {
	ID           int
	Signal       int // that it was to handle; 0 for none
	User, System time.Duration
	Registers
}

// Registers are where a thread was.
type Registers struct{ PC, SP, BP uint64 }

// A Mapping is a piece of a file at an address.
type Mapping struct {
	Start, End uint64
	Offset     uint64 // in the file
	Path       string
}

// A Segment is a piece of memory.
type Segment struct {
	Start, End uint64
	Stored     uint64 // of its bytes are in the core, from the first on
	Flags      elf.ProgFlag
	offset     uint64 // in the core
}

// A Death is the signal that ended the program, or one that stopped it while somebody took
// the core.
type Death struct {
	Signal, Code int
	Addr         uint64 // of a fault
	Sender       int    // the process that sent it
}

// deadly are the signals of which a kernel writes cores.
var deadly = map[int]string{3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", 6: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	11: "SIGSEGV", 24: "SIGXCPU", 25: "SIGXFSZ", 31: "SIGSYS"}

// Name returns the signal's; empty where it ends no program.
func (d Death) Name() string { return deadly[d.Signal] }

// Executable reports whether code may be in it.
func (s *Segment) Executable() bool { return s.Flags&elf.PF_X != 0 }

// Bounds of what is believed of a core.
const (
	maxSegments = 1 << 20 // 16 times the kernel's default bound of mappings
	maxThreads  = 1 << 16
	maxNotes    = 1 << 30
	maxNote     = 64 << 20 // of one that is read
	maxPath     = 4 << 10
)

// Errors that callers tell apart.
var (
	ErrMachine = errors.New("a core dump of a machine that is neither amd64 nor arm64")
	ErrDamaged = errors.New("a core dump without the headers that say what is in it")
)

// New reads the headers and notes of a core of a size.
func New(r io.ReaderAt, size int64) (*File, error) {
	head := make([]byte, headerSize)
	if _, err := r.ReadAt(head, 0); err != nil {
		return nil, fmt.Errorf("%w: it ends in the first", ErrDamaged)
	}
	if string(head[:6]) != elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)}) || elf.Type(half(head[16:])) != elf.ET_CORE {
		return nil, ErrMachine
	}
	f := &File{Machine: elf.Machine(half(head[18:])), source: r}
	if f.Machine != elf.EM_X86_64 && f.Machine != elf.EM_AARCH64 {
		return nil, ErrMachine
	}
	programs, err := programHeaders(r, head)
	if err != nil {
		return nil, err
	}
	for _, p := range programs {
		switch p.kind {
		case elf.PT_LOAD:
			f.addSegment(p, uint64(size))
		case elf.PT_NOTE:
			f.readNotes(io.NewSectionReader(r, int64(p.offset), int64(min(p.stored, maxNotes))))
		}
	}
	if len(f.Segments) == 0 {
		return nil, fmt.Errorf("%w: no memory is in it", ErrDamaged)
	}
	slices.SortFunc(f.Segments, func(a, b Segment) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortFunc(f.Mappings, func(a, b Mapping) int { return cmp.Compare(a.Start, b.Start) })
	f.findProgram()
	return f, nil
}

// The sizes of ELF's header and of one for a program's piece, and a count that stands
// elsewhere because it is larger.
const (
	headerSize, pieceSize = 64, 56
	manyPieces            = 0xffff
)

// A piece is a program header.
type piece struct {
	kind                         elf.ProgType
	flags                        elf.ProgFlag
	offset, start, stored, total uint64
}

// programHeaders reads the list of pieces. debug/elf reads none that are more than 65,534.
func programHeaders(r io.ReaderAt, head []byte) ([]piece, error) {
	at, size, n := word(head[32:]), half(head[54:]), uint32(half(head[56:]))
	if n == manyPieces { // then the first section's header has the number
		var section [headerSize]byte
		if _, err := r.ReadAt(section[:], int64(word(head[40:])&(1<<62-1))); err != nil {
			return nil, fmt.Errorf("%w: their number is missing", ErrDamaged)
		}
		n = binary.LittleEndian.Uint32(section[44:])
	}
	if size != pieceSize || n == 0 || n > maxSegments || at > 1<<62 {
		return nil, fmt.Errorf("%w: %d of them", ErrDamaged, n)
	}
	var list []piece
	in := io.NewSectionReader(r, int64(at), int64(n)*pieceSize)
	for b := make([]byte, pieceSize); len(list) < int(n); {
		if _, err := io.ReadFull(in, b); err != nil {
			return nil, fmt.Errorf("%w: it ends in them", ErrDamaged)
		}
		list = append(list, piece{elf.ProgType(binary.LittleEndian.Uint32(b)), elf.ProgFlag(binary.LittleEndian.Uint32(b[4:])),
			word(b[8:]), word(b[16:]), word(b[32:]), word(b[40:])})
	}
	return list, nil
}

// addSegment adds a piece of memory, of which only what is in the file counts as stored.
func (f *File) addSegment(p piece, size uint64) {
	s := Segment{Start: p.start, End: p.start + p.total, Stored: min(p.stored, p.total), Flags: p.flags, offset: p.offset}
	if p.total == 0 || s.End < s.Start || p.offset > 1<<62 {
		return
	}
	there := uint64(0)
	if size > s.offset {
		there = min(s.Stored, size-s.offset)
	}
	f.Lost += int64(min(s.Stored-there, 1<<62-uint64(f.Lost)))
	s.Stored = there
	f.Segments = append(f.Segments, s)
}

// ReadAt reads memory at an address into b, and returns how much of it is in the core.
func (f *File) ReadAt(b []byte, at uint64) (n int) {
	for n < len(b) {
		s, ok := f.segment(at + uint64(n))
		if !ok {
			return n
		}
		from := at + uint64(n) - s.Start
		if from >= s.Stored {
			return n
		}
		part := b[n:][:min(uint64(len(b)-n), s.Stored-from)]
		got, _ := f.source.ReadAt(part, int64(s.offset+from))
		n += got
		if got < len(part) {
			return n
		}
	}
	return n
}

// segment returns the piece of memory at an address.
func (f *File) segment(at uint64) (s Segment, ok bool) {
	i, found := slices.BinarySearchFunc(f.Segments, at, func(s Segment, at uint64) int { return cmp.Compare(s.Start, at) })
	if !found {
		i--
	}
	if i < 0 || at >= f.Segments[i].End {
		return s, false
	}
	return f.Segments[i], true
}

// findProgram finds the program's file among the mappings: it is that which the program begins
// in.
func (f *File) findProgram() {
	for _, m := range f.Mappings {
		if f.Entry >= m.Start && f.Entry < m.End {
			f.Program = m.Path
			return
		}
	}
}

// Began returns where the program's file began in memory, where that is known.
func (f *File) Began() (at uint64, known bool) {
	for _, m := range f.Mappings {
		if m.Path == f.Program && m.Offset == 0 {
			return m.Start, true
		}
	}
	return 0, false
}

// text returns a text that ends in a zero byte, without what would steer a terminal.
func text(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, ""))
}

func half(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
