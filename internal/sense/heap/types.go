package heap

import (
	"encoding/binary"
	"slices"
	"strings"
)

// A typeID is the number of a type in types.
type typeID int32

// untyped is the type of an object of which nothing tells it.
const untyped typeID = 0

// kind is what a type is made of, as reflection numbers it; from pseudo on it is what the
// runtime makes of it.
type kind uint8

const (
	kindArray         kind = 17
	kindChan          kind = 18
	kindFunc          kind = 19
	kindInterface     kind = 20
	kindMap           kind = 21
	kindPointer       kind = 22
	kindSlice         kind = 23
	kindString        kind = 24
	kindStruct        kind = 25
	kindUnsafePointer kind = 26

	kindBacking   kind = 64 + iota // the array behind a slice
	kindText                       // the bytes of a string
	kindMapHeader                  // what a map is
	kindMapSlots                   // its directory of tables, or its one group of slots
	kindMapTables                  // its directory
	kindMapTable                   // a table
	kindChanHeader
	kindClosure
)

// A goType is a type of the program.
type goType struct {
	name     string
	kind     kind
	size     uint64
	pointers uint64 // bytes at its begin that may have some
	elem     typeID // of arrays, slices, pointers, channels; of a map its slots
	fields   []goField
	mask     []byte // a bit for each word with a pointer
	masked   bool   // the mask is known
	hidden   bool   // how the runtime makes something, which no path names

	targets map[uint32]target
	data    uint64 // where the mask is
	demand  bool   // it is made on demand
}

type goField struct {
	name string
	at   uint64
	is   typeID
}

// A target is what a word of a type points to.
type target struct {
	label string // the field
	is    typeID
	// dynamic is what the word before it tells: an interface.
	dynamic bool
}

const (
	maxTypes    = 1 << 20
	maxName     = 256
	maxFields   = 4096
	maxTypeSize = 1 << 40
	maxMask     = 64 << 10 // bytes of a type's mask: 4 MiB of a type
	maxNesting  = 32
)

// types are the types that were met, read out of the program's memory when they are.
type types struct {
	m         memory
	low, high uint64 // of their descriptions, in which names are too
	list      []*goType
	known     map[uint64]typeID // by address of the description
	made      map[madeKey]typeID
	closures  map[uint64]typeID
	itabs     map[uint64]typeID
	lastAt    uint64
	lastID    typeID
}

type madeKey struct {
	of   typeID
	kind kind
}

func newTypes(m memory, low, high uint64) *types {
	t := &types{m: m, low: low, high: high, known: map[uint64]typeID{}, made: map[madeKey]typeID{}, closures: map[uint64]typeID{}, itabs: map[uint64]typeID{}}
	t.list = append(t.list, &goType{})
	return t
}

func (t *types) of(id typeID) *goType { return t.list[id] }

func (t *types) add(g *goType) typeID {
	if len(t.list) >= maxTypes {
		return untyped
	}
	t.list = append(t.list, g)
	return typeID(len(t.list) - 1)
}

// described reports whether an address may be that of a type's description.
func (t *types) described(at uint64) bool { return at >= t.low && at < t.high && at%8 == 0 }

// at returns the type whose description is at an address: in the program, or made by package
// reflect on its heap.
func (t *types) at(at uint64) typeID {
	if at == t.lastAt {
		return t.lastID
	}
	id, ok := t.known[at]
	if !ok {
		id = t.read(at, 0)
	}
	t.lastAt, t.lastID = at, id
	return id
}

// Offsets in a description, the same in all versions.
const (
	typeSize     = 0
	typePointers = 8
	typeFlags    = 20
	typeKind     = 23
	typeMask     = 32
	typeName     = 40
	typeElem     = 48 // of arrays, pointers, slices, channels; keys of maps; packages of structures
	typeFields   = 56 // of structures; elements of maps, lengths of arrays follow
	typeSlots    = 64 // of maps
	typeBytes    = 80

	flagStar     = 1 << 1 // the name has a star too many
	flagOnDemand = 1 << 4
	kindMask     = 31
	kindProgram  = 1 << 6 // until Go 1.23: the mask is a program that makes one
)

// madeBy names types that package reflect makes as the program runs, by what makes them: their own names
// are where only the runtime finds them, and their offsets are negative.
var madeBy = map[kind]string{
	kindArray: "reflect.ArrayOf", kindChan: "reflect.ChanOf", kindFunc: "reflect.FuncOf", kindMap: "reflect.MapOf",
	kindPointer: "reflect.PointerTo", kindSlice: "reflect.SliceOf", kindStruct: "reflect.StructOf",
}

func (t *types) read(at uint64, depth int) (id typeID) {
	if known, ok := t.known[at]; ok {
		return known
	}
	if len(t.known) >= maxTypes || depth > maxNesting || at == 0 || at%8 != 0 {
		return untyped
	}
	t.known[at] = untyped // of what refers to itself, too, when it cannot be
	var b [typeBytes]byte
	if got, err := t.m.Read(b[:], at); err != nil || got < typeFields {
		return untyped
	}
	g := &goType{kind: kind(b[typeKind] & kindMask), size: word(b[typeSize:]), pointers: word(b[typePointers:])}
	if g.kind == 0 || g.kind > kindUnsafePointer || g.size > maxTypeSize || g.pointers > g.size || g.pointers%8 != 0 {
		return untyped
	}
	name := madeBy[g.kind]
	if offset := int32(binary.LittleEndian.Uint32(b[typeName:])); offset >= 0 {
		name = t.name(t.low + uint64(offset))
	}
	if b[typeFlags]&flagStar != 0 {
		name = strings.TrimPrefix(name, "*")
	}
	g.name = name
	g.hidden = strings.HasPrefix(name, "map.group[") || strings.HasPrefix(name, "map.bucket[") || name == "maps.table" || name == "*maps.table"
	g.data, g.demand = word(b[typeMask:]), b[typeFlags]&flagOnDemand != 0
	if b[typeKind]&kindProgram != 0 {
		g.data = 0
	}
	id = t.add(g)
	t.known[at] = id
	switch g.kind {
	case kindArray, kindPointer, kindSlice, kindChan:
		g.elem = t.read(word(b[typeElem:]), depth+1)
	case kindMap:
		g.elem = t.read(word(b[typeSlots:]), depth+1)
	case kindStruct:
		t.readFields(g, word(b[typeFields:]), word(b[typeFields+8:]), depth)
	}
	return id
}

func (t *types) readFields(g *goType, at, n uint64, depth int) {
	const size = 24
	if n > maxFields || n == 0 {
		return
	}
	b := make([]byte, n*size)
	if got, err := t.m.Read(b, at); err != nil || got < len(b) {
		return
	}
	for ; len(b) > 0; b = b[size:] {
		f := goField{name: t.name(word(b)), at: word(b[16:])}
		if f.at > g.size {
			return
		}
		f.is = t.read(word(b[8:]), depth+1)
		g.fields = append(g.fields, f)
	}
}

// name reads one: flags, a length of up to two bytes, and the text.
func (t *types) name(at uint64) string {
	var b [maxName + 3]byte
	got, err := t.m.Read(b[:], at)
	if got == 0 { // it is at the end of what is mapped
		got, err = t.m.Read(b[:min(len(b), int(pageBytes/2-at%(pageBytes/2)))], at)
	}
	if err != nil || got < 3 {
		return ""
	}
	n, width := binary.Uvarint(b[1:got])
	if width <= 0 || n > uint64(got-1-width) {
		n = uint64(max(0, min(maxName, got-1-max(0, width))))
	}
	return printable(string(b[1+width:][:n]))
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0xfffd {
			return -1
		}
		return r
	}, s)
}

// words returns where the pointers of a type are, a bit each; ok is false where that is not
// known, and any word may be one.
func (t *types) words(id typeID) (mask []byte, ok bool) {
	g := t.of(id)
	if g.masked {
		return g.mask, g.mask != nil
	}
	g.masked = true
	size := (g.pointers/8 + 7) / 8
	if id == untyped || g.size == 0 || size == 0 || size > maxMask || g.data == 0 {
		return nil, false
	}
	at := g.data
	if g.demand {
		var b [8]byte
		if got, err := t.m.Read(b[:], at); err != nil || got < len(b) || word(b[:]) == 0 {
			return nil, false
		}
		at = word(b[:])
	}
	b := make([]byte, size)
	if got, err := t.m.Read(b, at); err != nil || got < len(b) {
		return nil, false
	}
	g.mask = b
	return b, true
}

// derived returns the type of what the runtime makes for values of a type.
func (t *types) derived(of typeID, k kind) typeID {
	key := madeKey{of, k}
	if id, ok := t.made[key]; ok {
		return id
	}
	from := t.of(of)
	g := &goType{kind: k, elem: of, name: from.name}
	switch k {
	case kindBacking:
		if of == untyped {
			return untyped
		}
		g.name, g.size, g.hidden = "[]"+shortByte(from.name), from.size, from.hidden
	case kindText:
		g.name, g.size = "string", 1
	case kindMapHeader:
		g.size = 48
	case kindMapSlots, kindMapTables, kindMapTable:
		g.hidden = true
	case kindChanHeader:
	case kindClosure:
		g.name = "func"
	}
	id := t.add(g)
	t.made[key] = id
	return id
}

func shortByte(name string) string {
	if name == "uint8" {
		return "byte"
	}
	return name
}

// record returns the type of what the runtime keeps of a goroutine.
func (t *types) record() typeID {
	const only = kindStruct
	key := madeKey{untyped, only}
	id, ok := t.made[key]
	if !ok {
		id = t.add(&goType{kind: only, name: "runtime.g"})
		t.made[key] = id
	}
	return id
}

// closure returns the type of a function with what it captured, by the address of its code.
func (t *types) closure(pc uint64) typeID {
	id, ok := t.closures[pc]
	if ok {
		return id
	}
	if entry, name, found := t.m.Function(pc); found && entry == pc && len(t.closures) < maxTypes {
		id = t.add(&goType{kind: kindClosure, name: "func " + name})
	}
	t.closures[pc] = id
	return id
}

// itab returns the type in a table of methods, which is in front of the pointer in an interface.
func (t *types) itab(at uint64) typeID {
	id, ok := t.itabs[at]
	if ok || len(t.itabs) >= maxTypes {
		return id
	}
	var b [16]byte
	if got, err := t.m.Read(b[:], at); err == nil && got == len(b) && t.described(word(b[:])) && t.described(word(b[8:])) {
		id = t.read(word(b[8:]), 0)
	}
	t.itabs[at] = id
	return id
}

// boxed returns what the data word of an interface with a value of a type points to.
func (t *types) boxed(id typeID) typeID {
	switch g := t.of(id); g.kind {
	case kindPointer:
		return g.elem
	case kindMap:
		return t.derived(id, kindMapHeader)
	case kindChan:
		return t.derived(id, kindChanHeader)
	case kindFunc:
		return t.derived(untyped, kindClosure)
	case kindUnsafePointer:
		return untyped
	}
	return id
}

// target returns what the word at an offset of a type points to.
func (t *types) target(id typeID, at uint64) target {
	g := t.of(id)
	to, ok := g.targets[uint32(at)]
	if ok {
		return to
	}
	to = t.targetOf(id, at, 0)
	if g.targets == nil {
		g.targets = map[uint32]target{}
	}
	if len(g.targets) < maxFields {
		g.targets[uint32(at)] = to
	}
	return to
}

func (t *types) targetOf(id typeID, at uint64, depth int) (to target) {
	g := t.of(id)
	if depth > maxNesting {
		return to
	}
	switch g.kind {
	case kindArray, kindBacking:
		if e := t.of(g.elem); e.size > 0 {
			return t.targetOf(g.elem, at%e.size, depth+1)
		}
	case kindStruct:
		return t.targetOfField(g, at, depth)
	case kindPointer:
		to.is = g.elem
	case kindSlice:
		to.is = t.derived(g.elem, kindBacking)
	case kindString:
		to.is = t.derived(untyped, kindText)
	case kindInterface:
		to.dynamic = true
	case kindMap:
		to.is = t.derived(id, kindMapHeader)
	case kindChan:
		to.is = t.derived(id, kindChanHeader)
	case kindFunc:
		to.is = t.derived(untyped, kindClosure)
	case kindMapHeader:
		to.is = t.slotsOf(g, at)
	case kindMapTables:
		to.is = t.derived(g.elem, kindMapTable)
	case kindMapTable:
		to.is = t.derived(t.of(g.elem).elem, kindBacking)
	case kindChanHeader:
		if at == chanBuffer {
			to = target{label: " buffer", is: t.derived(t.of(g.elem).elem, kindBacking)}
		}
	}
	return to
}

// chanBuffer is where a channel has the address of its buffer.
const chanBuffer = 16

// slotsOf returns what the header of a map points to: since Go 1.24 a group or a directory, before
// its buckets.
func (t *types) slotsOf(g *goType, at uint64) typeID {
	slots := t.of(g.elem).elem
	const (
		first  = 16 // directory, or buckets
		former = 24 // buckets that it grows out of
	)
	switch buckets := strings.HasPrefix(t.of(slots).name, "map.bucket["); {
	case buckets && (at == first || at == former):
		return t.derived(slots, kindBacking)
	case !buckets && at == first:
		return t.derived(g.elem, kindMapSlots)
	}
	return untyped
}

// slots tells which of the two a map's header points to: by what the object tells itself, else
// by its size.
func (t *types) slots(id typeID, bytes uint64, own typeID) typeID {
	of := t.of(id).elem
	group := t.of(of).elem
	size := t.of(group).size
	if own == group || own == untyped && size > 0 && bytes >= size && bytes <= size+size/8+16 && bytes&(bytes-1) != 0 {
		return group
	}
	return t.derived(of, kindMapTables)
}

func (t *types) targetOfField(g *goType, at uint64, depth int) (to target) {
	n, found := slices.BinarySearchFunc(g.fields, at, func(f goField, at uint64) int {
		if f.at <= at {
			return -1
		}
		return 1
	})
	if found || n == 0 {
		return to
	}
	for n--; n > 0 && t.of(g.fields[n].is).size == 0 && g.fields[n-1].at == g.fields[n].at; n-- { // fields without size share an offset
	}
	f := g.fields[n]
	to = t.targetOf(f.is, at-f.at, depth+1)
	if g.hidden {
		to.label = strings.TrimPrefix(strings.TrimPrefix(to.label, ".key"), ".elem")
		return to
	}
	if strings.HasPrefix(g.name, "atomic.Pointer[") && f.name == "v" { // it has the type in a field without size
		if first := t.of(g.fields[0].is); first.kind == kindArray {
			to.is = t.of(first.elem).elem
		}
		return to
	}
	to.label = "." + f.name + to.label
	return to
}

// within returns the number of a word in its type: of an array in the element.
func (t *types) within(id typeID, word uint64) uint16 {
	g := t.of(id)
	size := g.size
	if g.kind == kindArray {
		size = t.of(g.elem).size
	}
	if (g.kind == kindArray || g.kind == kindBacking) && size >= 8 && size%8 == 0 {
		word %= size / 8
	}
	return uint16(min(word, tagUnknown))
}

// holds reports whether an object of that size may be a value of the type.
func (t *types) holds(id typeID, bytes uint64) bool {
	g := t.of(id)
	switch g.kind {
	case kindBacking, kindText, kindClosure, kindMapSlots, kindMapTables, kindMapTable, kindChanHeader:
		return true
	}
	return g.size > 0 && g.size <= bytes && bytes <= g.size+g.size/4+16
}
