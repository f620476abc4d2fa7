package heapdump

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// ErrProgram is of a file that is not the program which wrote the dump.
var ErrProgram = errors.New("it is another build than the program that wrote the dump")

// A Program is the file of the program that wrote a dump, which has the names and types.
type Program struct {
	Image *symbols.Image
	Base  uint64 // of the dump's addresses over the image's
	// Text and types are addresses of the dump, 0 where the file has no symbols.
	Text, TextEnd, Types, TypesEnd uint64
	close                          func()
}

// Close lets go of the file. Nil has none.
func (p *Program) Close() {
	if p != nil {
		p.close()
	}
}

// machines are the names that Go has for them.
var machines = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64", elf.EM_RISCV: "riscv64", elf.EM_LOONGARCH: "loong64", elf.EM_PPC64: "ppc64le"}

// framesCompared are enough to tell builds of the same size apart.
const framesCompared = 256

// errCompared ends the comparison.
var errCompared = errors.New("enough")

// OpenProgram opens the file of the program that wrote a dump. The error is [ErrProgram], or says why the
// file cannot be read.
func (f *File) OpenProgram(path string) (*Program, error) {
	im, done, err := symbols.OpenFile(path)
	if err != nil {
		return nil, err
	}
	p := &Program{Image: im, close: done}
	if err := p.fits(f); err != nil {
		done()
		return nil, err
	}
	return p, nil
}

func (p *Program) fits(f *File) error {
	version, _, _ := strings.Cut(f.Version, " ")
	own, _, _ := strings.Cut(p.Image.GoVersion(), " ")
	if own == "" {
		return symbols.ErrNoTable
	}
	if own != version || machines[p.Image.Machine()] != f.Arch {
		return fmt.Errorf("%w: of %s for %s, not of %s for %s", ErrProgram, own, machines[p.Image.Machine()], version, f.Arch)
	}
	at := p.Image.Variables("runtime.text", "runtime.etext", "runtime.types", "runtime.etypes", "runtime.data", "runtime.edata", "runtime.bss", "runtime.ebss")
	if data := at["runtime.data"].Addr; data != 0 {
		p.Base = f.Data.Start - data
		if f.Data.Offset == 0 {
			p.Base = 0
		}
		for _, part := range []struct {
			s         *Segment
			low, high string
		}{{&f.Data, "runtime.data", "runtime.edata"}, {&f.BSS, "runtime.bss", "runtime.ebss"}} {
			if low := at[part.low].Addr; part.s.Offset > 0 && (part.s.Start != low+p.Base || part.s.Size != at[part.high].Addr-low) {
				return ErrProgram
			}
		}
		p.Text, p.TextEnd, p.Types, p.TypesEnd = at["runtime.text"].Addr+p.Base, at["runtime.etext"].Addr+p.Base, at["runtime.types"].Addr+p.Base, at["runtime.etypes"].Addr+p.Base
	}
	left := framesCompared
	err := f.EachGoroutine(func(g *Goroutine) error {
		for i := range g.Frames {
			at := &g.Frames[i]
			entry, name, ok := p.Image.Entry(at.Entry - p.Base)
			if !ok || entry != at.Entry-p.Base || name != at.Name && !strings.Contains(name, "[") {
				return ErrProgram
			}
			if left--; left == 0 {
				return errCompared
			}
		}
		return nil
	})
	if errors.Is(err, errCompared) {
		return nil
	}
	return err
}

// Frames returns the functions of an address that a call returns to, the inlined first, with lines.
func (p *Program) Frames(pc uint64) []symbols.Place {
	if p == nil || pc <= p.Base {
		return nil
	}
	return p.Image.Lookup(pc - 1 - p.Base)
}
