// Package corefile makes core files, for tests: of a process that is stopped, as gcore does, and
// of pieces that a test makes up.
//
// It hides ELF's headers, the notes of Linux on amd64, and what of a process's memory a kernel
// leaves out: pages of files that nobody wrote to, but for the first of each file.
package corefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A Core is what a file is made of.
type Core struct {
	Machine  uint16 // 62 is amd64, 183 arm64
	Notes    []Note
	Segments []Segment
}

// A Note is one of its kinds, as in elf.h.
type Note struct {
	Kind uint32
	Data []byte
}

// A Segment is memory. What is longer than its data was left out.
type Segment struct {
	Start, Size uint64
	Flags       uint32
	Data        []byte
}

// The kinds of notes.
const (
	Status, Info, Auxv, Siginfo, Files = 1, 3, 6, 0x53494749, 0x46494c45
)

// Bytes returns the file.
func (c *Core) Bytes() []byte {
	var notes bytes.Buffer
	for _, n := range c.Notes {
		for _, v := range []uint32{5, uint32(len(n.Data)), n.Kind} {
			binary.Write(&notes, binary.LittleEndian, v)
		}
		notes.WriteString("CORE\x00\x00\x00\x00")
		notes.Write(n.Data)
		notes.Write(make([]byte, -len(n.Data)&3))
	}
	const header, piece = 64, 56
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	b.WriteString("\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9))
	put(uint16(4), c.Machine, uint32(1), uint64(0), uint64(header), uint64(0), uint32(0), uint16(header), uint16(piece), uint16(len(c.Segments)+1), uint16(0), uint16(0), uint16(0))
	at := uint64(header + piece*(len(c.Segments)+1))
	put(uint32(4), uint32(0), at, uint64(0), uint64(0), uint64(notes.Len()), uint64(0), uint64(4))
	at += uint64(notes.Len())
	for _, s := range c.Segments {
		put(uint32(1), s.Flags, at, s.Start, uint64(0), uint64(len(s.Data)), s.Size, uint64(1))
		at += uint64(len(s.Data))
	}
	b.Write(notes.Bytes())
	for _, s := range c.Segments {
		b.Write(s.Data)
	}
	return b.Bytes()
}

// StatusNote returns that of a thread of amd64 which a signal ended or none.
func StatusNote(id, signal int, pc, sp, bp uint64) Note {
	b := make([]byte, 336)
	binary.LittleEndian.PutUint16(b[12:], uint16(signal))
	binary.LittleEndian.PutUint32(b[32:], uint32(id))
	for at, v := range map[int]uint64{4: bp, 16: pc, 19: sp} {
		binary.LittleEndian.PutUint64(b[112+8*at:], v)
	}
	return Note{Status, b}
}

// InfoNote returns that of a process with a command line.
func InfoNote(pid int, name, args string) Note {
	b := make([]byte, 136)
	binary.LittleEndian.PutUint32(b[24:], uint32(pid))
	copy(b[40:55], name)
	copy(b[56:135], args)
	return Note{Info, b}
}

// A Mapping is of a file.
type Mapping struct {
	Start, End, Page uint64
	Path             string
}

// FilesNote returns that of mapped files.
func FilesNote(list ...Mapping) Note {
	var b bytes.Buffer
	binary.Write(&b, binary.LittleEndian, []uint64{uint64(len(list)), 4096})
	for _, m := range list {
		binary.Write(&b, binary.LittleEndian, []uint64{m.Start, m.End, m.Page})
	}
	for _, m := range list {
		b.WriteString(m.Path + "\x00")
	}
	return Note{Files, b.Bytes()}
}

// Of makes the core of a process of amd64 that is stopped.
func Of(pid int) (*Core, error) {
	dir := "/proc/" + strconv.Itoa(pid)
	maps, err := os.ReadFile(dir + "/maps")
	if err != nil {
		return nil, err
	}
	memory, err := os.Open(dir + "/mem")
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	c := &Core{Machine: 62}
	if err := c.addThreads(dir); err != nil {
		return nil, err
	}
	name, _ := os.ReadFile(dir + "/comm")
	args, _ := os.ReadFile(dir + "/cmdline")
	auxv, err := os.ReadFile(dir + "/auxv")
	if err != nil {
		return nil, err
	}
	c.Notes = append(c.Notes, InfoNote(pid, strings.TrimSpace(string(name)), strings.ReplaceAll(string(args), "\x00", " ")), Note{Auxv, auxv})
	var files []Mapping
	for line := range strings.Lines(string(maps)) {
		var s Segment
		var end, offset, inode uint64
		var mode, device, path string
		fmt.Sscanf(line, "%x-%x %s %x %s %d %s", &s.Start, &end, &mode, &offset, &device, &inode, &path)
		if mode[0] != 'r' || strings.HasPrefix(path, "[v") && path != "[vdso]" {
			continue
		}
		for i, f := range []byte{'x', 'w', 'r'} {
			if strings.IndexByte(mode, f) >= 0 {
				s.Flags |= 1 << i
			}
		}
		s.Size = end - s.Start
		stored := s.Size
		if inode != 0 {
			files = append(files, Mapping{s.Start, end, offset / 4096, path})
			if mode[1] != 'w' {
				stored = 0
				if offset == 0 {
					stored = 4096
				}
			}
		}
		s.Data = make([]byte, stored)
		if n, err := memory.ReadAt(s.Data, int64(s.Start)); err != nil && err != io.EOF {
			s.Data = s.Data[:n]
		}
		c.Segments = append(c.Segments, s)
	}
	c.Notes = append(c.Notes, FilesNote(files...))
	return c, nil
}

// addThreads adds where threads are, as far as /proc tells: not the frame.
func (c *Core) addThreads(dir string) error {
	tasks, err := filepath.Glob(dir + "/task/*/syscall")
	for _, t := range tasks {
		text, err := os.ReadFile(t)
		if err != nil {
			return err
		}
		f := strings.Fields(string(text))
		if len(f) < 3 {
			return fmt.Errorf("%s: %q; is it stopped?", t, text)
		}
		sp, _ := strconv.ParseUint(f[len(f)-2], 0, 64)
		pc, _ := strconv.ParseUint(f[len(f)-1], 0, 64)
		id, _ := strconv.Atoi(filepath.Base(filepath.Dir(t)))
		c.Notes = append(c.Notes, StatusNote(id, 0, pc, sp, 0))
	}
	return err
}
