package core

import (
	"bufio"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"time"
)

// The kinds of notes that are read, and where in them things are. Linux has written them so
// as long as it writes cores of 64 bits; notes only grow at their ends.
const (
	ofThread  = 1          // NT_PRSTATUS: elf_prstatus
	ofProcess = 3          // NT_PRPSINFO: elf_prpsinfo
	ofLoader  = 6          // NT_AUXV: pairs of words
	ofSignal  = 0x53494749 // NT_SIGINFO: siginfo
	ofFiles   = 0x46494c45 // NT_FILE

	threadSignal, threadID, threadUser, threadSystem, threadRegisters = 12, 32, 48, 64, 112
	processID, processName, processArgs, processEnd                   = 24, 40, 56, 136
	signalNumber, signalCode, signalAddr, signalEnd                   = 0, 8, 16, 24
	loaderEntry, loaderRandom, loaderVDSO                             = 9, 25, 33 // AT_ENTRY, AT_RANDOM, AT_SYSINFO_EHDR
)

// registers is where in a thread's registers the three are.
var registers = map[elf.Machine]struct{ pc, sp, bp int }{
	elf.EM_X86_64:  {16 * 8, 19 * 8, 4 * 8},
	elf.EM_AARCH64: {32 * 8, 31 * 8, 29 * 8},
}

// readNotes reads notes up to the first that is not whole. Threads have kilobytes of registers
// in notes that are passed over.
func (f *File) readNotes(r io.Reader) {
	in := bufio.NewReaderSize(r, 64<<10)
	var head [12]byte
	for {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		name, size, kind := binary.LittleEndian.Uint32(head[:]), binary.LittleEndian.Uint32(head[4:]), binary.LittleEndian.Uint32(head[8:])
		if _, err := io.CopyN(io.Discard, in, padded(name)); err != nil {
			return
		}
		add := map[uint32]func(*File, []byte){ofThread: (*File).addThread, ofProcess: (*File).addProcess, ofLoader: (*File).addLoader, ofSignal: (*File).addSignal, ofFiles: (*File).addFiles}[kind]
		if add == nil || size > maxNote {
			if _, err := io.CopyN(io.Discard, in, padded(size)); err != nil {
				return
			}
			continue
		}
		// What a note claims to have must be there before it gets memory.
		desc, err := io.ReadAll(io.LimitReader(in, padded(size)))
		if err != nil || len(desc) < int(size) {
			return
		}
		add(f, desc[:size])
	}
}

// padded returns a size up to the next multiple of 4.
func padded(n uint32) int64 { return (int64(n) + 3) &^ 3 }

func (f *File) addThread(b []byte) {
	at := registers[f.Machine]
	if len(b) < threadRegisters+max(at.pc, at.sp, at.bp)+8 || len(f.Threads) == maxThreads {
		return
	}
	of := b[threadRegisters:]
	f.Threads = append(f.Threads, Thread{int(int32(binary.LittleEndian.Uint32(b[threadID:]))), int(int16(half(b[threadSignal:]))),
		timeval(b[threadUser:]), timeval(b[threadSystem:]), Registers{word(of[at.pc:]), word(of[at.sp:]), word(of[at.bp:])}})
	if f.Death.Signal == 0 { // where no note tells more
		f.Death.Signal = f.Threads[0].Signal
	}
}

// timeval returns a time in seconds and microseconds.
func timeval(b []byte) time.Duration {
	const most = 1 << 33 // seconds, more than a computer runs
	s, us := word(b), word(b[8:])
	if s > most || us >= 1e6 {
		return 0
	}
	return time.Duration(s)*time.Second + time.Duration(us)*time.Microsecond
}

func (f *File) addProcess(b []byte) {
	if len(b) < processEnd {
		return
	}
	f.PID = int(int32(binary.LittleEndian.Uint32(b[processID:])))
	f.Name, f.Args = text(b[processName:processArgs]), text(b[processArgs:processEnd])
}

func (f *File) addLoader(b []byte) {
	for ; len(b) >= 16; b = b[16:] {
		switch word(b) {
		case loaderEntry:
			f.Entry = word(b[8:])
		case loaderRandom: // which the kernel puts on the first stack
			f.stack = word(b[8:])
		case loaderVDSO:
			f.vdso = word(b[8:])
		}
	}
}

// addSignal adds what the dying thread was sent. gcore writes the note without a signal.
func (f *File) addSignal(b []byte) {
	if len(b) < signalEnd || binary.LittleEndian.Uint32(b[signalNumber:]) == 0 {
		return
	}
	if f.Death.Addr != 0 || f.Death.Sender != 0 || f.Death.Code != 0 {
		return // gdb writes one for each thread
	}
	f.Death.Signal, f.Death.Code = int(int32(binary.LittleEndian.Uint32(b[signalNumber:]))), int(int32(binary.LittleEndian.Uint32(b[signalCode:])))
	if f.Death.Code > 0 { // by the kernel, of a fault
		f.Death.Addr = word(b[signalAddr:])
	} else {
		f.Death.Sender = int(int32(binary.LittleEndian.Uint32(b[signalAddr:])))
	}
}

// addFiles adds the mappings of files: a count and the size of a page, for each where it begins
// and ends and at which page of its file, and then the paths.
func (f *File) addFiles(b []byte) {
	const head, entry = 16, 24
	if len(b) < head {
		return
	}
	n, page, rest := word(b), word(b[8:]), b[head:]
	if n > maxSegments || n*entry > uint64(len(rest)) || page == 0 || page > 1<<20 {
		return
	}
	paths := rest[n*entry:]
	for ; n > 0; n, rest = n-1, rest[entry:] {
		end := bytes.IndexByte(paths, 0)
		if end < 0 || end > maxPath {
			return
		}
		m := Mapping{word(rest), word(rest[8:]), word(rest[16:]) * page, text(paths[:end])}
		paths = paths[end+1:]
		if m.Start < m.End {
			f.Mappings = append(f.Mappings, m)
		}
	}
}
