package heap

import (
	"debug/dwarf"
	"encoding/binary"
)

// variables are the types of the program's variables, as its file describes them. The
// description of a type leads to the runtime's own where the program has that.
type variables struct {
	data  *dwarf.Data
	base  uint64                  // of the process's addresses over the file's
	at    map[uint64]dwarf.Offset // the type of the variable at an address of the file
	types *types
	known map[dwarf.Offset]typeID
}

// Attributes that Go's compiler adds.
const (
	attrGoKind        dwarf.Attr = 0x2900
	attrGoRuntimeType dwarf.Attr = 0x2904
)

const (
	maxEntries = 20_000_000
	opAddr     = 3 // DW_OP_addr
)

// newVariables looks for the variables at some addresses of the file. It is nil where the
// file tells nothing of them.
func newVariables(d *dwarf.Data, base uint64, wanted map[uint64]bool, t *types) (v *variables) {
	defer func() {
		if recover() != nil { // the standard library's reader is not made for files that lie
			v = nil
		}
	}()
	v = &variables{data: d, base: base, at: map[uint64]dwarf.Offset{}, types: t, known: map[dwarf.Offset]typeID{}}
	r := d.Reader()
	for range maxEntries {
		e, err := r.Next()
		if err != nil || e == nil {
			break
		}
		if e.Tag == dwarf.TagVariable {
			loc, _ := e.Val(dwarf.AttrLocation).([]byte)
			of, ok := e.Val(dwarf.AttrType).(dwarf.Offset)
			if ok && len(loc) == 9 && loc[0] == opAddr {
				if at := binary.LittleEndian.Uint64(loc[1:]); wanted[at] {
					v.at[at] = of
				}
			}
		}
		if e.Children && e.Tag != dwarf.TagCompileUnit {
			r.SkipChildren()
		}
	}
	return v
}

// of returns the type of the variable at an address of the file.
func (v *variables) of(at uint64) (id typeID) {
	if v == nil {
		return untyped
	}
	defer func() {
		if recover() != nil {
			id = untyped
		}
	}()
	offset, ok := v.at[at]
	if !ok {
		return untyped
	}
	return v.read(offset, 0)
}

func (v *variables) read(at dwarf.Offset, depth int) typeID {
	if id, ok := v.known[at]; ok || depth > maxNesting {
		return id
	}
	v.known[at] = untyped
	r := v.data.Reader()
	r.Seek(at)
	e, err := r.Next()
	if err != nil || e == nil {
		return untyped
	}
	if id := v.own(e); id != untyped {
		v.known[at] = id
		return id
	}
	of, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
	name, _ := e.Val(dwarf.AttrName).(string)
	size, _ := e.Val(dwarf.AttrByteSize).(int64)
	goKind, _ := e.Val(attrGoKind).(int64)
	if e.Tag == dwarf.TagTypedef {
		id := v.read(of, depth+1)
		v.known[at] = id
		return id
	}
	g := &goType{name: printable(name), size: uint64(max(0, size)), kind: kind(goKind & kindMask)}
	if g.size > maxTypeSize {
		return untyped
	}
	id := v.types.add(g)
	v.known[at] = id
	switch {
	case e.Tag == dwarf.TagPointerType && (g.kind == kindPointer || g.kind == 0):
		g.kind, g.size = kindPointer, 8
		g.elem = v.read(of, depth+1)
	case e.Tag == dwarf.TagArrayType && g.kind == kindArray:
		g.elem = v.read(of, depth+1)
	case e.Tag == dwarf.TagStructType && g.kind == kindSlice:
		v.members(r, func(name string, _ uint64, of dwarf.Offset) {
			if name == "array" {
				g.elem = v.types.of(v.read(of, depth+1)).elem
			}
		})
	case e.Tag == dwarf.TagStructType && g.kind == kindStruct:
		v.members(r, func(name string, at uint64, of dwarf.Offset) {
			g.fields = append(g.fields, goField{printable(name), at, v.read(of, depth+1)})
		})
	}
	return id
}

// own returns the runtime's description of a type; untyped where the program has none. Since Go
// 1.26 its place counts from where the descriptions begin.
func (v *variables) own(e *dwarf.Entry) typeID {
	at, _ := e.Val(attrGoRuntimeType).(uint64)
	size, sized := e.Val(dwarf.AttrByteSize).(int64)
	for _, from := range []uint64{v.base, v.types.low} {
		if at == 0 || !v.types.described(at+from) {
			continue
		}
		if id := v.types.read(at+from, 0); id != untyped && (!sized || v.types.of(id).size == uint64(size)) {
			return id
		}
	}
	return untyped
}

// members calls f for each field that follows.
func (v *variables) members(r *dwarf.Reader, f func(name string, at uint64, of dwarf.Offset)) {
	for range maxFields {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag != dwarf.TagMember || e.Children {
			return
		}
		name, _ := e.Val(dwarf.AttrName).(string)
		at, ok := e.Val(dwarf.AttrDataMemberLoc).(int64)
		of, typed := e.Val(dwarf.AttrType).(dwarf.Offset)
		if ok && typed && at >= 0 {
			f(name, uint64(at), of)
		}
	}
}
