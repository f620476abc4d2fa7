package goroutines

import (
	"debug/elf"
	"encoding/binary"
	"slices"

	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// users are functions of the runtime that read and write its list of all
// goroutines, in all versions that can be read.
var users = []string{"runtime.allgadd", "runtime.forEachG"}

// candidates returns the addresses of an image that runtime.allgs may have, in a
// program without symbols: data that the users' instructions name. Which it is
// is for the process's memory to say.
func candidates(im *symbols.Image) (addrs []uint64) {
	for _, name := range users {
		code, at := im.Code(name)
		switch im.Machine() {
		case elf.EM_X86_64:
			addrs = operandsAMD64(addrs, code, at)
		case elf.EM_AARCH64:
			addrs = operandsARM64(addrs, code, at)
		}
	}
	addrs = slices.DeleteFunc(addrs, func(a uint64) bool { return a%8 != 0 || !im.Writable(a) })
	slices.Sort(addrs)
	return slices.Compact(addrs)
}

// operandsAMD64 finds what moves and comparisons of whole words name relative to
// the instruction: REX.W, opcode, a ModRM byte of mode 0 and register 5, and a
// distance of 4 bytes from the instruction's end. Bytes that look so by chance
// name nothing that is a list of goroutines.
func operandsAMD64(into []uint64, code []byte, at uint64) []uint64 {
	const size = 7
	for i := 0; i+size <= len(code); i++ {
		rex, op, modrm := code[i], code[i+1], code[i+2]
		if rex&0xf8 != 0x48 || modrm&0xc7 != 0x05 || !slices.Contains([]byte{0x8b, 0x89, 0x39, 0x3b, 0x8d}, op) {
			continue
		}
		distance := int32(binary.LittleEndian.Uint32(code[i+3:]))
		into = append(into, at+uint64(i)+size+uint64(int64(distance)))
	}
	return into
}

// operandsARM64 finds what ADRP with a following ADD, LDR or STR names.
func operandsARM64(into []uint64, code []byte, at uint64) []uint64 {
	var pages [32]uint64 // by register
	for i := 0; i+4 <= len(code); i += 4 {
		w := binary.LittleEndian.Uint32(code[i:])
		from, offset := w>>5&31, uint64(w>>10&0xfff)
		switch {
		case w&0x9f000000 == 0x90000000: // ADRP
			distance := int64(int32((w>>5&0x7ffff<<2|w>>29&3)<<11)) >> 11 << 12
			pages[w&31] = (at+uint64(i))&^0xfff + uint64(distance)
		case w&0xffc00000 == 0x91000000 && pages[from] != 0: // ADD
			into = append(into, pages[from]+offset)
		case w&0xff800000 == 0xf9000000 && pages[from] != 0: // LDR and STR of 8 bytes
			into = append(into, pages[from]+8*offset)
		}
	}
	return into
}
