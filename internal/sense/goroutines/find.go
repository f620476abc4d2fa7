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
func candidates(im *symbols.Image) []uint64 {
	return slices.DeleteFunc(operands(im, users...), func(a uint64) bool { return !im.Writable(a) })
}

// operands returns the addresses of whole words that the instructions of functions name.
func operands(im *symbols.Image, functions ...string) (addrs []uint64) {
	for _, name := range functions {
		code, at := im.Code(name)
		switch im.Machine() {
		case elf.EM_X86_64:
			addrs = operandsAMD64(addrs, code, at)
		case elf.EM_AARCH64:
			addrs = operandsARM64(addrs, code, at)
		}
	}
	addrs = slices.DeleteFunc(addrs, func(a uint64) bool { return a%8 != 0 })
	slices.Sort(addrs)
	return slices.Compact(addrs)
}

// findHeap finds the variables that lead to the heap, in a program without symbols: functions of the
// runtime name them in all versions that can be read, and what is there tells them from others.
func (r *Reader) findHeap() {
	p, ok := r.code.(program)
	if !ok {
		return
	}
	for _, v := range []struct {
		name, user string
		is         func(at uint64) bool
	}{
		{"runtime.mheap_", "runtime.mallocinit", r.isHeap},
		{"runtime.firstmoduledata", "runtime.modulesinit", r.isModule},
	} {
		if r.counter[v.name] != 0 {
			continue
		}
		for _, a := range operands(p.image, v.user) {
			if v.is(a + p.base) {
				r.counter[v.name] = a + p.base
				break
			}
		}
	}
	if r.counter["runtime.allfin"] != 0 {
		return
	}
	most := 0
	for _, a := range operands(p.image, "runtime.queuefinalizer") {
		if n := r.finalizerBlocks(a + p.base); n > most {
			most, r.counter["runtime.allfin"] = n, a+p.base
		}
	}
}

// finalizerBlocks returns how many blocks of finalizers that are to be called a variable leads to; 0 where these
// are none. The runtime has several lists of them: the longest is that of all.
func (r *Reader) finalizerBlocks(at uint64) (n int) {
	const link, count, most, maxBlocks = 0, 16, (4 << 10) / 40, 1 << 18
	b := make([]byte, 24)
	if got, err := r.memory.gather(b[:8], []span{{at, 8}}); err != nil || got < 8 {
		return 0
	}
	for block := word(b); block != 0 && n < maxBlocks; n++ {
		if got, err := r.memory.gather(b, []span{{block, len(b)}}); err != nil || got < len(b) || block%8 != 0 ||
			binary.LittleEndian.Uint32(b[count:]) > most {
			return 0
		}
		block = word(b[link:])
	}
	return n
}

// words reads words at places of a structure; nil where one is not there.
func (r *Reader) words(at uint64, fields ...field) []uint64 {
	var spans []span
	for _, f := range fields {
		offset := r.layout.at[f]
		if offset == missing {
			return nil
		}
		spans = append(spans, span{at + uint64(offset), 8})
	}
	b := make([]byte, 8*len(spans))
	if got, err := r.memory.gather(b, spans); err != nil || got < len(b) {
		return nil
	}
	list := make([]uint64, len(spans))
	for i := range list {
		list[i] = word(b[8*i:])
	}
	return list
}

// isHeap reports whether the runtime's description of the heap is at an address: its list of spans leads
// to some that begin at a page and have pages.
func (r *Reader) isHeap(at uint64) bool {
	const looked, pageBytes, most = 4, 8 << 10, 1 << 26
	offset := r.layout.at[heapSpans]
	head := make([]byte, 24)
	if got, err := r.memory.gather(head, []span{{at + uint64(offset), len(head)}}); err != nil || got < len(head) || offset == missing {
		return false
	}
	first, n, room := word(head), word(head[8:]), word(head[16:])
	if first%8 != 0 || n < looked || n > room || room > most {
		return false
	}
	b := make([]byte, 8*looked)
	if got, err := r.memory.gather(b, []span{{first, len(b)}}); err != nil || got < len(b) {
		return false
	}
	for i := range looked {
		w := r.words(word(b[8*i:]), spanStart, spanPages)
		if w == nil || w[0] == 0 || w[0]%pageBytes != 0 || w[1] == 0 || w[1] > most {
			return false
		}
	}
	return true
}

// isModule reports whether the runtime's description of where a program's code and variables are is at an
// address: it begins with the address of the table of functions, and has its parts in their order.
func (r *Reader) isModule(at uint64) bool {
	const tableMagic = 0xfffffff1 // of Go 1.20 and newer
	w := r.words(at, moduleText, moduleTextEnd, moduleData, moduleDataEnd)
	if w == nil || w[0] == 0 || w[0] >= w[1] || w[2] == 0 || w[2] > w[3] {
		return false
	}
	b := make([]byte, 8)
	if got, err := r.memory.gather(b, []span{{at, len(b)}}); err != nil || got < len(b) {
		return false
	}
	table := word(b)
	got, err := r.memory.gather(b[:4], []span{{table, 4}})
	return err == nil && got == 4 && binary.LittleEndian.Uint32(b) == tableMagic
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

// operandsARM64 finds what ADRP with a following ADD, LDR or STR names. What else names the register may
// have written to it: that stores do not costs nothing, for both instructions are beside each other.
func operandsARM64(into []uint64, code []byte, at uint64) []uint64 {
	var pages [32]uint64 // by register
	for i := 0; i+4 <= len(code); i += 4 {
		w := binary.LittleEndian.Uint32(code[i:])
		page, offset := pages[w>>5&31], uint64(w>>10&0xfff)
		pages[w&31] = 0
		switch {
		case w&0x9f000000 == 0x90000000: // ADRP
			distance := int64(int32((w>>5&0x7ffff<<2|w>>29&3)<<11)) >> 11 << 12
			pages[w&31] = (at+uint64(i))&^0xfff + uint64(distance)
		case w&0xffc00000 == 0x91000000 && page != 0: // ADD
			into = append(into, page+offset)
		case w&0xff800000 == 0xf9000000 && page != 0: // LDR and STR of 8 bytes
			into = append(into, page+8*offset)
		}
	}
	return into
}
