package symbols

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"runtime/debug"
	"slices"
)

// A relocation is a word of the file that is an address: where the program was loaded is added.
type relocation struct{ at, value uint64 }

// maxRelocations bounds how many of a file are believed.
const maxRelocations = 1 << 22

// Relocate puts into b, which is what the file has at an address, the addresses that a program has there
// which was loaded base behind its file's.
func (im *Image) Relocate(b []byte, addr, base uint64) {
	if base == 0 {
		return
	}
	list := im.Memo("relocations", func() any { return im.relocations() }).([]relocation)
	n, _ := slices.BinarySearchFunc(list, addr, func(r relocation, at uint64) int { return cmp.Compare(r.at, at) })
	for ; n < len(list) && list[n].at-addr+8 <= uint64(len(b)); n++ {
		binary.LittleEndian.PutUint64(b[list[n].at-addr:], list[n].value+base)
	}
}

func (im *Image) relocations() (list []relocation) {
	defer func() {
		if recover() != nil { // see OpenImage
			list = nil
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	relative := map[elf.Machine]uint32{elf.EM_X86_64: uint32(elf.R_X86_64_RELATIVE), elf.EM_AARCH64: uint32(elf.R_AARCH64_RELATIVE)}[im.file.Machine]
	const size = 24
	for _, s := range im.file.Sections {
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 || relative == 0 {
			continue
		}
		for b := im.section(s); len(b) >= size && len(list) < maxRelocations; b = b[size:] {
			if binary.LittleEndian.Uint32(b[8:]) == relative {
				list = append(list, relocation{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[16:])})
			}
		}
	}
	slices.SortFunc(list, func(a, b relocation) int { return cmp.Compare(a.at, b.at) })
	return list
}
