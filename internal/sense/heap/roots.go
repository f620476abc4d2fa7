package heap

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// module is where the program has its variables, and what it tells of them.
type module struct {
	text, textEnd, data, dataEnd, bss, bssEnd, types, typesEnd, dataMask, bssMask uint64
	// mask reads which words of variables may be pointers, from one of the two addresses on.
	mask func(b []byte, at uint64) (int, error)
}

func readModule(m memory) (mod module, err error) {
	mod.mask = m.Read
	at := m.Variable("runtime.firstmoduledata")
	for _, f := range []struct {
		to   *uint64
		path string
	}{
		{&mod.text, "text"}, {&mod.textEnd, "etext"}, {&mod.data, "data"}, {&mod.dataEnd, "edata"}, {&mod.bss, "bss"}, {&mod.bssEnd, "ebss"},
		{&mod.types, "types"}, {&mod.typesEnd, "etypes"}, {&mod.dataMask, "gcdatamask.bytedata"}, {&mod.bssMask, "gcbssmask.bytedata"},
	} {
		offset, ok := m.Field("runtime.moduledata", f.path)
		if !ok || at == 0 {
			return mod, unsure("where its variables are was not found")
		}
		var b [8]byte
		if got, err := m.Read(b[:], at+offset); err != nil || got < len(b) {
			return mod, cannot(err)
		}
		*f.to = word(b[:])
	}
	for _, part := range [][2]uint64{{mod.text, mod.textEnd}, {mod.data, mod.dataEnd}, {mod.bss, mod.bssEnd}, {mod.types, mod.typesEnd}} {
		if part[0] > part[1] || part[1]-part[0] > maxPart {
			return mod, unsure("its variables are not where they should be")
		}
	}
	return mod, nil
}

// maxPart bounds the program's text and variables.
const maxPart = 4 << 30

// A rootWord is a variable's word that leads to an object, or to a value that has no name.
type rootWord struct {
	at       uint64
	to       uint64
	variable int32 // that the word is in, -1 where none is known
	interior bool
	hint     typeID
	object   uint32
}

// globals are the words of all variables that lead to objects, and of which variables the
// values are that have no name of their own: what var cache = &Cache{} points to is one.
type globals struct {
	list     []symbols.NamedVariable // by address; without a name are such values
	words    []rootWord
	nameless []rootWord
	in       map[int32]rootWord // the word that leads to a value without a name
	bare     bool               // no variable has a name: each word is one, by its address
	lost     int                // words that lead to where the heap may be, and to no object
}

// readGlobals goes through the variables that may have pointers.
func readGlobals(ctx context.Context, c *scanner, mod module, list []symbols.NamedVariable) (*globals, error) {
	g := &globals{list: list, bare: len(list) == 0, in: map[int32]rootWord{}}
	for _, part := range []struct{ low, high, mask uint64 }{{mod.data, mod.dataEnd, mod.dataMask}, {mod.bss, mod.bssEnd, mod.bssMask}} {
		const size = 256 << 10
		b, mask := make([]byte, size), make([]byte, size/64)
		for at := part.low; at < part.high; at += size {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			n := min(size, part.high-at)
			got, err := c.m.Read(b[:n], at)
			if err != nil {
				return nil, err
			}
			marked, err := mod.mask(mask[:(n+63)/64], part.mask+(at-part.low)/64)
			if err != nil {
				return nil, err
			}
			g.part(c, at, b[:got&^7], mask[:marked])
		}
	}
	g.name(mod)
	return g, nil
}

func (g *globals) part(c *scanner, low uint64, b, mask []byte) {
	for i := 0; i+8 <= len(b) && i/64 < len(mask); i += 8 {
		if mask[i/64]>>(i/8%8)&1 == 0 {
			continue
		}
		w := rootWord{at: low + uint64(i), to: word(b[i:])}
		if w.to == 0 || len(g.words)+len(g.nameless) >= maxRoots {
			continue
		}
		if i >= 8 {
			if before := word(b[i-8:]); before >= c.image.low && before < c.image.high {
				w.hint = c.hint(before)
			}
		}
		var ok bool
		if w.object, w.interior, ok = c.lookup(w.to); ok {
			g.words = append(g.words, w)
		} else if w.to >= c.image.low && w.to < c.image.high && !g.bare {
			if v := g.variable(w.to); v < 0 || strings.Contains(g.list[v].Name, staticValue) {
				g.nameless = append(g.nameless, w)
			}
		} else if c.s.near(w.to) {
			g.lost++
		}
	}
}

// staticValue is in the names that the compiler gives to values.
const staticValue = "..stmp_"

// name gives the values without a name their place in the list: each goes on to the next.
func (g *globals) name(mod module) {
	g.list = slices.DeleteFunc(g.list, func(v symbols.NamedVariable) bool { return strings.Contains(v.Name, staticValue) })
	for _, w := range g.nameless {
		if w.to >= mod.data && w.to < mod.dataEnd || w.to >= mod.bss && w.to < mod.bssEnd {
			g.list = append(g.list, symbols.NamedVariable{Variable: symbols.Variable{Addr: w.to}})
		}
	}
	slices.SortStableFunc(g.list, func(a, b symbols.NamedVariable) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(b.Name, a.Name))
	})
	g.list = slices.CompactFunc(g.list, func(a, b symbols.NamedVariable) bool { return a.Addr == b.Addr && b.Name == "" })
	for i := range g.list {
		if v := &g.list[i]; v.Name == "" {
			v.Size = mod.dataEnd - v.Addr
			if v.Addr >= mod.bss {
				v.Size = mod.bssEnd - v.Addr
			}
			if i+1 < len(g.list) {
				v.Size = min(v.Size, g.list[i+1].Addr-v.Addr)
			}
		}
	}
	for i := range g.words {
		g.words[i].variable = g.variable(g.words[i].at)
	}
	for _, w := range g.nameless {
		w.variable = g.variable(w.at)
		if v := g.variable(w.to); v >= 0 && v != w.variable && g.list[v].Name == "" && g.list[v].Addr == w.to {
			if _, has := g.in[v]; !has {
				g.in[v] = w
			}
		}
	}
}

// maxRoots bounds how many words of variables, and of stacks, are believed.
const maxRoots = 1 << 24

// variable returns the number of the one that an address is in, -1 where there is none.
func (g *globals) variable(at uint64) int32 {
	n, _ := slices.BinarySearchFunc(g.list, at, func(v symbols.NamedVariable, at uint64) int {
		if v.Addr <= at {
			return -1
		}
		return 1
	})
	if n--; n >= 0 && at-g.list[n].Addr < max(g.list[n].Size, 1) {
		return int32(n)
	}
	return -1
}

// wanted returns the addresses of variables whose types are of use.
func (g *globals) wanted() map[uint64]bool {
	all := map[uint64]bool{}
	for _, w := range g.words {
		if w.variable >= 0 {
			all[g.list[w.variable].Addr] = true
		}
	}
	for _, w := range g.in {
		if w.variable >= 0 {
			all[g.list[w.variable].Addr] = true
		}
	}
	return all
}

// order returns when the walk begins at a variable: what earlier ones reach is theirs.
func order(name string) int {
	switch {
	case name == "runtime.allp":
		return 1
	case strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "internal/") || name == "sync.allPools" || name == "sync.oldPools" || name == "":
		return 2
	}
	return 0
}

// hold reaches what the variables of an order lead to.
func (g *globals) hold(r *retainer, dwarf *variables, base uint64, which int) {
	at := map[int32]int32{} // nodes
	for _, w := range g.words {
		name := ""
		if w.variable >= 0 {
			name = g.list[g.rootOf(w.variable)].Name
		}
		if g.bare && which == 0 && r.node[w.object] == 0 {
			if n := r.hold(model.HeldByVariable, fmt.Sprintf("variable at %#x", w.at-base), untyped); n != 0 {
				r.reach(n, untyped, g.tag(w), w.hint, w.object)
				continue
			}
		}
		if order(name) != which {
			continue
		}
		n := g.enter(r, at, dwarf, base, w.variable, 0)
		if n == 0 {
			continue
		}
		r.reach(n, r.nodes[n].is, g.tag(w), w.hint, w.object)
	}
}

// tag returns which word of its variable leads somewhere.
func (g *globals) tag(w rootWord) uint16 {
	tag := uint16(tagUnknown)
	if w.variable >= 0 {
		tag = uint16(min((w.at-g.list[w.variable].Addr)/8, tagUnknown))
	}
	if w.interior {
		tag |= tagInterior
	}
	return tag
}

// rootOf returns the variable that leads to one without a name.
func (g *globals) rootOf(v int32) int32 {
	for range maxNesting {
		w, ok := g.in[v]
		if !ok || w.variable < 0 {
			break
		}
		v = w.variable
	}
	return v
}

// enter returns the node of a variable.
func (g *globals) enter(r *retainer, at map[int32]int32, dwarf *variables, base uint64, v int32, depth int) int32 {
	if n, ok := at[v]; ok {
		return n
	}
	n := int32(0)
	switch w, ok := g.in[v]; {
	case v < 0 || !ok && g.list[v].Name == "":
		n = r.hold(model.HeldByRuntime, "variables without a name", untyped)
	case ok && w.variable >= 0 && depth < maxNesting && g.rootOf(v) != v:
		parent := g.enter(r, at, dwarf, base, w.variable, depth+1)
		to := r.target(r.nodes[parent].is, g.tag(w), w.hint)
		n = r.enter(parent, to.is, uint32(min(g.list[v].Size, 1<<31)), to.label, false)
	default:
		kind := []string{model.HeldByVariable, model.HeldByTimers, model.HeldByRuntime}[order(g.list[v].Name)]
		n = r.hold(kind, printable(g.list[v].Name), dwarf.of(g.list[v].Addr-base))
	}
	at[v] = n
	return n
}

// A stackGroup is goroutines that stand at the same place.
type stackGroup struct {
	first  uint64 // the least number of them
	count  int
	system bool
	name   string
	roots  []stackRoot
	// creator is the function that started the first of them, frames are those on its stack.
	creator int32
	frames  []frame
}

// ownRecord is in the place of the frame of what the runtime keeps of a goroutine.
const ownRecord = -2

type stackRoot struct {
	frame    int32 // in stacks.frames, -1 where it is not known
	object   uint32
	interior bool
}

type stackKey struct {
	start         uint64
	where, reason string
	state         goroutines.State
}

// stacks reads the stacks of all goroutines. Of frames that the compiler describes the words
// count that are in use, see [stacks.unused]; of others all that lead to an object.
type stacks struct {
	c      *scanner
	keys   map[stackKey]*stackGroup
	groups map[string]*stackGroup // by name
	places map[uint64]place
	below  bool     // frame pointers are below the frames that they are of: on arm64
	frames []string // names
	number map[string]int32
	roots  int
	// Running is how many ran: what their registers hold is not seen.
	running int
	unread  int
}

const (
	maxStack  = 256 << 20
	maxFrames = 64
)

func (k *stacks) read(ctx context.Context, list []goroutines.Goroutine) error {
	b := make([]byte, contentBytes)
	for i, g := range list {
		if i%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if g.State == goroutines.Running {
			k.running++
		}
		if g.SP < g.Low || g.SP >= g.High || g.High-g.Low > maxStack {
			k.unread++
			continue
		}
		if err := k.one(&g, b); err != nil {
			return err
		}
	}
	return nil
}

// A frame is which function a part of a stack belongs to, up to an address: that of the frame
// pointer that the function saved, where the map of its words is known.
type frame struct {
	end  uint64
	name int32
	uses *symbols.FrameMap
	// slots are the offsets of its pointers, where a dump tells them.
	slots []uint32
}

func (k *stacks) one(g *goroutines.Goroutine, b []byte) error {
	sp := g.SP
	if k.below && sp > g.Low { // the first frame pointer is right below
		g.SP -= 8
	}
	n := min(uint64(len(b)), g.High-g.SP)
	got, err := k.c.m.Read(b[:n], g.SP)
	if err != nil {
		return err
	}
	if got == 0 {
		k.unread++
		return nil
	}
	frames, where := k.walk(g, b[:got])
	if where == "" && !g.System { // it has gone on since its registers were read
		g.BP = k.framePointer(g, b[:got])
		frames, where = k.walk(g, b[:got])
	}
	group := k.join(g, where, frames)
	left := k.unused(g, sp, frames, b[:got])
	own, _, known := k.c.lookup(g.At)
	if !known {
		own = math.MaxUint32
	} else { // behind what the frames lead to, for it leads to the same
		defer func() { group.roots = append(group.roots, stackRoot{ownRecord, own, false}) }()
	}
	for at := g.SP; ; {
		k.words(group, frames, at, b[:got&^7], own, left)
		at += uint64(got)
		left = nil
		if got < int(n) || at >= g.High {
			return nil
		}
		n = min(uint64(len(b)), g.High-at)
		if got, err = k.c.m.Read(b[:n], at); err != nil || got == 0 {
			return err
		}
	}
}

// join counts a goroutine in its group.
func (k *stacks) join(g *goroutines.Goroutine, where string, frames []frame) *stackGroup {
	group := k.group(g, where)
	if group.count == 0 {
		group.creator, group.frames = -1, slices.Clone(frames)
		if at := k.place(g.Creator); at.name != "" {
			group.creator = at.number
		}
	}
	group.count++
	group.first = min(group.first, g.ID)
	return group
}

// A standing is the innermost function of a stack that is the program's: of the standard library
// only where no other is.
type standing struct {
	where string
	std   bool
}

func (s *standing) add(at place) {
	if !at.runtime && (s.where == "" || s.std && !at.std) {
		s.where, s.std = at.name, at.std
	}
}

// walk follows the frame pointers as far as they are in b, and returns the function of each
// part of the stack, and the innermost one that is the program's.
func (k *stacks) walk(g *goroutines.Goroutine, b []byte) (list []frame, where string) {
	pc, bp := g.PC, g.BP
	var in standing
	if bp == 0 {
		bp = k.framePointer(g, b)
	}
	interrupted := false
	for range maxFrames {
		at := k.place(pc)
		if at.name == "" {
			break
		}
		in.add(at)
		if bp < g.SP || bp-g.SP > uint64(len(b)) || uint64(len(b))-(bp-g.SP) < 16 {
			list = append(list, frame{end: g.High, name: at.number})
			break
		}
		next := word(b[bp-g.SP:])
		end := bp
		if k.below && next > bp {
			end = next
		} else if k.below {
			end = g.High
		}
		uses := at.uses
		if interrupted || end == g.High { // of an instruction that is no call nothing is noted
			uses = nil
		}
		interrupted = at.name == "runtime.asyncPreempt"
		list = append(list, frame{end: end, name: at.number, uses: uses})
		pc = word(b[bp-g.SP+8:])
		if next != 0 && next <= bp {
			break
		}
		bp = next
	}
	return list, in.where
}

// framePointer looks for the first one on a stack: until Go 1.22 it is not kept of a goroutine
// that is in a system call, and one that has gone on since has another. It leads from frame to frame up to the first, and behind
// each is an address to return to.
func (k *stacks) framePointer(g *goroutines.Goroutine, b []byte) uint64 {
	const far = 64
	for i := 0; i+16 <= len(b) && i < 8*far; i += 8 {
		at := uint64(i)
		for n := 0; n < maxFrames && at <= uint64(len(b))-16; n++ {
			if k.place(word(b[at+8:])).name == "" {
				break
			}
			up := word(b[at:])
			if up == 0 && n > 0 {
				return g.SP + uint64(i)
			}
			if up <= g.SP+at || up >= g.High {
				break
			}
			at = up - g.SP
		}
	}
	return 0
}

func ofRuntime(name string) bool {
	for _, p := range []string{"runtime.", "internal/", "sync.", "time.Sleep", "syscall."} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// A place is the function of an address to return to; without a name there is none.
type place struct {
	name         string
	number       int32 // of the name, in frames
	runtime, std bool
	uses         *symbols.FrameMap
}

func (k *stacks) place(pc uint64) place {
	at, ok := k.places[pc]
	if !ok {
		if _, name, found := k.c.m.Function(pc - 1); found && name != "" {
			if all := k.c.m.Frames(pc); len(all) > 0 && all[len(all)-1].Func != "" { // not what the compiler puts around it
				name = all[len(all)-1].Func
			}
			at = place{name, k.frame(name), ofRuntime(name), model.IsStd(name), nil}
			if uses, ok := k.c.m.Frame(pc); ok {
				at.uses = &uses
			}
		}
		if len(k.places) < maxPlaces {
			k.places[pc] = at
		}
	}
	return at
}

// maxPlaces bounds how many addresses are remembered.
const maxPlaces = 1 << 18

func (k *stacks) frame(name string) int32 {
	n, ok := k.number[name]
	if !ok {
		n = int32(len(k.frames))
		k.frames = append(k.frames, printable(name))
		k.number[name] = n
	}
	return n
}

// group returns where a goroutine counts: with those that are in the same function for the same
// reason, and began at the same.
func (k *stacks) group(g *goroutines.Goroutine, where string) *stackGroup {
	key := stackKey{g.Start, where, g.Reason, g.State}
	group, ok := k.keys[key]
	if !ok {
		group = k.newGroup(g, where)
		if len(k.keys) < maxPlaces {
			k.keys[key] = group
		}
	}
	return group
}

// newGroup returns the group of a name, which may be there: of other versions of a function.
func (k *stacks) newGroup(g *goroutines.Goroutine, where string) *stackGroup {
	start := k.c.m.Started(g.Start)
	name := cmp.Or(where, start)
	if start != name && start != "" && start != "runtime.main" {
		name += ", started as " + start
	}
	name = printable(name + " (" + cmp.Or(g.Reason, g.State.String()) + ")")
	group, ok := k.groups[name]
	if !ok && len(k.groups) >= maxGroups {
		name = "goroutines of other kinds"
		group, ok = k.groups[name]
	}
	if !ok {
		group = &stackGroup{first: g.ID, system: g.System && where == "", name: name}
		k.groups[name] = group
	}
	return group
}

const maxGroups = 10_000

func (k *stacks) words(group *stackGroup, frames []frame, at uint64, b []byte, own uint32, left bitset) {
	f := 0
	last := uint32(0)
	for i := 0; i < len(b); i += 8 {
		if left.has(i / 8) {
			continue
		}
		object, interior, ok := k.c.lookup(word(b[i:]))
		if !ok || object == last && len(group.roots) > 0 || object == own || k.roots >= maxRoots {
			continue
		}
		for f < len(frames) && at+uint64(i) >= frames[f].end {
			f++
		}
		name := int32(-1)
		if f < len(frames) {
			name = frames[f].name
		}
		last = object
		k.roots++
		group.roots = append(group.roots, stackRoot{name, object, interior})
	}
}

// ordered returns the groups, those first that are there longest: by their numbers, and who
// started others before these, for each processor deals out numbers of its own.
func (k *stacks) ordered() (list []*stackGroup) {
	all := slices.SortedFunc(maps.Values(k.groups), func(a, b *stackGroup) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.name, b.name))
	})
	in := map[int32]*stackGroup{}
	for _, g := range all {
		for _, f := range g.frames {
			if _, has := in[f.name]; !has {
				in[f.name] = g
			}
		}
	}
	known := map[*stackGroup]bool{}
	for _, g := range all {
		var chain []*stackGroup
		for ; g != nil && !known[g]; g = in[g.creator] {
			known[g] = true
			chain = append(chain, g)
		}
		slices.Reverse(chain)
		list = append(list, chain...)
	}
	return list
}

// hold reaches what the goroutines hold: what all of a server's reach is the one's that began it.
func (k *stacks) hold(ctx context.Context, r *retainer, system bool) error {
	for _, g := range k.ordered() {
		if len(g.roots) == 0 || g.system != system {
			continue
		}
		kind := model.HeldByGoroutines
		if g.system {
			kind = model.HeldByRuntime
		}
		n := r.hold(kind, g.name, untyped)
		if n == 0 {
			break
		}
		r.holders[len(r.holders)-1].count = g.count
		for _, w := range g.roots {
			if w.frame == ownRecord {
				r.reachRecord(n, w.object)
				continue
			}
			if r.ofRuntime(w.object) {
				continue
			}
			at := n
			if w.frame >= 0 {
				at = r.under(n, k.frames[w.frame])
			}
			tag := uint16(tagUnknown)
			if w.interior {
				tag |= tagInterior
			}
			r.reach(at, untyped, tag, untyped, w.object)
		}
		if err := r.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// reachRecord reaches what the runtime keeps of a goroutine.
func (r *retainer) reachRecord(from int32, object uint32) {
	if r.node[object] == 0 {
		r.node[object] = r.enter(from, r.t.record(), 0, "", false)
		r.reached++
		r.queue.push(object)
	}
}

// ofRuntime reports whether an object is the runtime's own: stacks have words that lead to
// what it keeps of threads and processors, and over these to all timers.
func (r *retainer) ofRuntime(object uint32) bool {
	own, _ := r.own(r.s.of(object), object)
	return own != untyped && strings.HasPrefix(r.t.of(own).name, "runtime.")
}

// Of the runtime's list of finalizers that are to be called, which is the same in all
// versions: the next block, how many there are, and the first of them.
const (
	finLink, finCount, finFirst = 0, 16, 24
	finSize                     = 40
	finArgument, finType        = 8, 32 // behind the function: what it is called with, and the type of that
	finBlock                    = 4 << 10
	maxFinBlocks                = 1 << 18
)

// holdQueue reaches what waits for its finalizer to be called.
func holdQueue(r *retainer, c *scanner) error {
	variable := c.m.Variable("runtime.allfin")
	if variable == 0 {
		return nil
	}
	var b [finBlock]byte
	if got, err := c.m.Read(b[:8], variable); err != nil || got < 8 {
		return err
	}
	n := int32(0)
	first := word(b[:])
	for block, left := first, maxFinBlocks; block != 0 && left > 0; left-- {
		got, err := c.m.Read(b[:], block)
		if err != nil {
			return err
		}
		if got < len(b) {
			return nil
		}
		count := min(int(uint32(word(b[finCount:]))), (finBlock-finFirst)/finSize)
		for i := range count {
			for _, at := range []int{0, finArgument} {
				object, interior, ok := c.lookup(word(b[finFirst+i*finSize+at:]))
				if !ok {
					continue
				}
				if n == 0 {
					if n = r.hold(model.HeldByFinalizers, nameQueued, untyped); n == 0 {
						return nil
					}
				}
				tag := uint16(tagUnknown)
				if interior {
					tag |= tagInterior
				}
				hint := untyped
				if at == finArgument {
					hint = c.t.at(word(b[finFirst+i*finSize+finType:]))
				}
				r.reach(n, untyped, tag, hint, object)
			}
		}
		if block = word(b[finLink:]); block == first {
			break
		}
	}
	return nil
}
