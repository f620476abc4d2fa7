package goroutines

import (
	"bytes"
	"debug/elf"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/sense/core"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A core is a memory that does not change. It lacks what the program's file has, and
// often its end; but it has the registers of all threads, so that goroutines that ran have
// stacks too, and all stacks can be read.

// ErrOther is the error of a program's file that is not the one that ran.
var ErrOther = errors.New("it is another build than the program that ran")

// A coreMemory is the memory in a core, with what nobody writes to out of the program's file.
type coreMemory struct {
	file  *core.File
	image *symbols.Image
	base  uint64 // of the core's addresses over the image's
	clock int64
	reads int64
}

// OpenCore prepares the reading of the goroutines in a core, of a program that has its file at
// a path. The error is [ErrOther], has [ErrUnsure] in it, or says why the file cannot be read.
func OpenCore(c *core.File, path string) (*Reader, error) {
	names, err := symbols.OpenProgram(path, c.Entry)
	if err != nil {
		return nil, unsure("%w", err)
	}
	r, err := openCore(c, names)
	if err != nil {
		names.Close()
		return nil, err
	}
	r.close = names.Close
	return r, nil
}

func openCore(c *core.File, names *symbols.Process) (*Reader, error) {
	im, base, err := names.Program()
	began, known := c.Began()
	if im != nil && (im.Machine() != c.Machine || im.Differs(began-base, known, func(b []byte, addr uint64) int { return c.ReadAt(b, addr+base) })) {
		return nil, ErrOther
	}
	if err != nil {
		return nil, unsure("%w", err)
	}
	return openNamed(&coreMemory{file: c, image: im, base: base}, names)
}

func (m *coreMemory) gather(b []byte, spans []span) (done int, err error) {
	for _, s := range spans {
		m.reads++
		n := m.file.ReadAt(b[:s.size], s.at)
		if n < s.size && m.constant(s.at+uint64(n)) && m.image.Read(b[n:s.size], s.at+uint64(n)-m.base) {
			n = s.size
		}
		if done += n; n < s.size {
			return done, nil
		}
		b = b[n:]
	}
	return done, nil
}

// constant reports whether an address is of what nobody writes to in the program.
func (m *coreMemory) constant(at uint64) bool { return !m.image.Writable(at - m.base) }

func (m *coreMemory) same(uint64) error        { return nil }
func (m *coreMemory) another() (memory, error) { return m, nil }
func (m *coreMemory) used() int64              { return m.reads }
func (m *coreMemory) now() int64               { return m.clock }
func (m *coreMemory) close()                   {}

// Of a core as much is read as there is in all but enormous ones: nobody waits for a program
// that is stopped.
var ofCore = bounds{stacks: maxGroups, few: 64, fewStacks: 1 << 14}

// settle prepares a reader of a core. No clock is in it: its moment is the latest that the
// runtime noted, so that goroutines may have waited for longer.
func (r *Reader) settle(m *coreMemory) {
	r.bounds, r.holes = ofCore, m.file.Lost > 0
	if at, ok := r.counter["runtime.work"]; ok && r.layout.at[workMarkEnd] != missing {
		var b [8]byte
		if got, _ := m.gather(b[:], []span{{at + uint64(r.layout.at[workMarkEnd]), 8}}); got == 8 && int64(word(b[:])) > 0 {
			m.clock = int64(word(b[:]))
		}
	}
	r.running = []core.Registers{}
	for _, t := range m.file.Threads {
		r.running = append(append(r.running, t.Registers), r.interrupted(m, t.Registers)...)
	}
}

// contexts is where a signal's handler finds the interrupted thread's registers, from where its
// ucontext begins.
var contexts = map[elf.Machine]struct{ pc, sp, bp int }{
	elf.EM_X86_64:  {168, 160, 120},
	elf.EM_AARCH64: {440, 432, 416},
}

const (
	contextSize = 448
	// signalStack is how much of a thread's stack is looked through: the runtime gives its
	// handlers 32 KiB.
	signalStack = 32 << 10
)

// interrupted finds what a thread did that handles a signal, as all do when the runtime prints
// the stacks of a crash. Below the handler's frames lies what the kernel put there: flags, no
// link, and the stack that it itself lies on. Where a second signal came meanwhile there are two,
// and behind them what is left of older ones: the first that fits counts.
func (r *Reader) interrupted(m *coreMemory, at core.Registers) (list []core.Registers) {
	of := contexts[m.file.Machine]
	b := make([]byte, signalStack)
	b = b[:m.file.ReadAt(b, at.SP)]
	for i := 0; i+contextSize <= len(b); i += 8 {
		c := b[i:]
		flags, link, low, size := word(c), word(c[8:]), word(c[16:]), word(c[32:])
		here := at.SP + uint64(i)
		if flags > 0xff || link != 0 || at.SP < low || here-low >= size {
			continue // or it is of a signal long ago, on another stack beside this one
		}
		was := core.Registers{PC: word(c[of.pc:]), SP: word(c[of.sp:]), BP: word(c[of.bp:])}
		if _, _, ok := r.code.Entry(was.PC); ok {
			list = append(list, was)
		}
	}
	return list
}

// ran returns where a thread stood that ran on a stack. What the goroutine's structure has of one
// is of when it last left its stack, for another goroutine or the runtime's.
func (r *Reader) ran(low, high uint64) (at core.Registers, ok bool) {
	n := slices.IndexFunc(r.running, func(t core.Registers) bool { return t.SP >= low && t.SP < high })
	if n < 0 {
		return at, false
	}
	return r.running[n], true
}

// Words are what the runtime would have written of a program's end.
type Words struct {
	Text string        // "panic: …" or "fatal error: …"; empty where nothing tells
	At   symbols.Place // in the program; empty where nothing tells
}

const (
	// backlogSize is how much the runtime keeps of what was last printed.
	backlogSize = 512
	// In runtime.g and internal/abi.Type, of all versions that can be read.
	panicOfG, kindOfType = 32, 23
	kindMask, kindString = 31, 24
	maxPanicText         = 1 << 10
)

// fatal begins what the runtime says before it gives up.
const fatal = "fatal error: "

// LastWords finds why the runtime ended the program: the value of a panic that nobody
// recovered, or what it printed last. It is of use after [Reader.Read].
func (r *Reader) LastWords() (w Words) {
	for i := range r.tally {
		for _, one := range r.tally[i].each {
			if r.tally[i].key.state != Running {
				break
			}
			if text := r.panicOf(one.index); text != "" {
				w.Text = "panic: " + text
			}
			pieces := r.borrow()
			if at, dies := dyingAt(r.stack(one.registers, Running)); dies {
				w.At = at
			}
			pieces()
		}
	}
	if w.Text == "" {
		w.Text = r.lastFatal()
	}
	return w
}

// dyingAt returns the first place in the program of a stack on which the runtime gave up.
func dyingAt(stack []symbols.Place) (at symbols.Place, dies bool) {
	for _, p := range stack {
		switch {
		case slices.Contains([]string{"runtime.gopanic", "runtime.throw", "runtime.fatal"}, p.Func):
			dies = true
		case !OfRuntime(p.Func):
			return p, dies
		}
	}
	return at, dies
}

// panicOf returns what a goroutine panics with, as far as it is text: the runtime has made that
// of errors before it ends the program.
func (r *Reader) panicOf(index int32) string {
	p := r.load(r.pointer(index) + panicOfG)
	if p == 0 {
		return ""
	}
	arg := p
	if r.layout.argp {
		arg += 8
	}
	of, data := r.load(arg), r.load(arg+8)
	if of == 0 || data == 0 || r.load(of+kindOfType)&kindMask != kindString {
		return ""
	}
	text := make([]byte, min(r.load(data+8), maxPanicText))
	if got, err := r.memory.gather(text, []span{{r.load(data), len(text)}}); err != nil || got < len(text) {
		return ""
	}
	return printable(text)
}

// lastFatal returns the last error of the runtime's, with the line before it where that is the
// runtime's too.
func (r *Reader) lastFatal() string {
	log, index := r.counter["runtime.printBacklog"], r.counter["runtime.printBacklogIndex"]
	if log == 0 || index == 0 {
		return ""
	}
	b := make([]byte, backlogSize)
	if got, err := r.memory.gather(b, []span{{log, len(b)}}); err != nil || got < len(b) {
		return ""
	}
	from := r.load(index) % backlogSize
	lines := strings.Split(string(slices.Concat(b[from:], b[:from])), "\n")
	for i, line := range slices.Backward(lines) {
		if _, text, ok := strings.Cut(line, fatal); ok {
			text = fatal + printable([]byte(text))
			if i > 0 && strings.HasPrefix(lines[i-1], "runtime: ") {
				text += " (" + printable([]byte(lines[i-1])) + ")"
			}
			return text
		}
	}
	return ""
}

// load reads a word; 0 where none is.
func (r *Reader) load(at uint64) uint64 {
	var b [8]byte
	if got, err := r.memory.gather(b[:], []span{{at, len(b)}}); at > maxAddress || err != nil || got < len(b) {
		return 0
	}
	return word(b[:])
}

// printable returns a text in one line.
func printable(b []byte) string {
	b = bytes.ToValidUTF8(bytes.Trim(b, "\x00"), []byte("?"))
	quoted := strconv.Quote(string(b))
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(quoted[1 : len(quoted)-1])
}
