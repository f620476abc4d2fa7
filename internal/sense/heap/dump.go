package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/heapdump"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A dump is a heap dump as a source: it has the objects one by one, with where their pointers are, and
// what the compiler noted of stacks; types and names are in the program's file.
type dump struct {
	f     *heapdump.File
	p     *heapdump.Program // nil without the file
	s     *spans
	names map[uint64]named // functions, by an address in them, without the file

	scanner *heapdump.Scanner // goes through all objects
	// Where the objects of the span that was read last are in the dump, by their numbers in it. Its own
	// scanner finds them: types that package reflect makes are read while the other stands among objects.
	finder  *heapdump.Scanner
	last    int32
	offsets []int64
}

type named struct {
	entry uint64
	name  string
}

// ReadDump reads the heap in a dump, of the program that has its file at p: without one variables and types
// have no names. The error has a [BudgetError], or [goroutines.ErrUnsure] in it.
func ReadDump(ctx context.Context, f *heapdump.File, p *heapdump.Program, o Options) (*model.HeapLook, error) {
	if old(f.Version) {
		return nil, unsure("dumps of %s are not read, those of Go 1.22 and newer are", f.Version)
	}
	if f.Data.Offset == 0 || f.BSS.Offset == 0 {
		return nil, fmt.Errorf("%w %w", ErrCut, f.Damage)
	}
	d := &dump{f: f, p: p, names: map[uint64]named{}, scanner: f.NewScanner(), finder: f.NewScanner(), last: -1}
	pr := program{}
	if p != nil {
		pr = program{image: p.Image, base: p.Base}
	}
	o.Budget = cmp.Or(o.Budget, Budget)
	kept := uint64(len(f.Rows)) * rowBytes
	if kept*4 > o.Budget {
		return nil, tooSmall(kept*4, o.Budget)
	}
	o.Budget -= kept
	began := time.Now()
	look, err := readFrom(ctx, d, d, pr, o, nil)
	if err != nil {
		return nil, err
	}
	look.Took, look.Core, look.Dump, look.Nameless, look.Missing = time.Since(began), true, true, p == nil || p.Types == 0, f.Missing
	return look, nil
}

// ErrCut is in the error of a dump that has no variables: they come behind all objects.
var ErrCut = errors.New("the dump ends before its variables,")

// rowBytes is what one of a dump's rows of objects costs.
const rowBytes = 64

// old reports whether a version has another heap: of objects without types in front.
func old(version string) bool {
	var minor int
	n, _ := fmt.Sscanf(version, "go1.%d", &minor)
	return n == 1 && minor < 22
}

// maxSizes is over how many size classes there are.
const maxSizes = 255

func (d *dump) spans(budget uint64) (*spans, error) {
	s := &spans{}
	classes := map[uint64]uint8{}
	for i := range d.f.Rows {
		r := &d.f.Rows[i]
		n := span{at: uint64(i), start: r.Start, bytes: r.End - r.Start, elem: r.Size, n: uint32((r.End - r.Start) / r.Size), noscan: !r.Pointers}
		small, err := d.small(r)
		if err != nil {
			return nil, err
		}
		if small {
			if classes[r.Size] == 0 && len(classes) < maxSizes {
				classes[r.Size] = uint8(len(classes) + 1)
			}
			if n.class = classes[r.Size]; n.class == 0 {
				s.dropped++
				continue
			}
			n.div = ^uint32(0)/uint32(r.Size) + 1
		}
		s.list = append(s.list, n)
	}
	if err := s.number(budget); err != nil {
		return nil, err
	}
	s.used = make([]uint64, s.objects/64+1)
	d.s = s
	return s, d.markUsed()
}

// small reports whether the objects of a run are small ones, which begin with the address of their type
// where they have pointers and no map of these behind them.
func (d *dump) small(r *heapdump.Row) (bool, error) {
	if r.Size != heapdump.MaxSmall || !r.Pointers {
		return r.Size <= heapdump.MaxSmall, nil
	}
	typed := false
	err := d.scanner.Each(r, func(o *heapdump.Object) {
		at := word(o.Bytes(0, 8))
		typed = d.p != nil && at >= d.p.Types && at < d.p.TypesEnd
	}, nil)
	return typed, err
}

// markUsed notes which places have objects: all of a run without gaps.
func (d *dump) markUsed() error {
	for i := range d.s.list {
		n := &d.s.list[i]
		set := func(k uint32) { d.s.used[(n.first+k)/64] |= 1 << ((n.first + k) % 64) }
		r := &d.f.Rows[n.at]
		if r.Count >= n.n {
			for k := range n.n {
				set(k)
			}
			continue
		}
		err := d.scanner.Each(r, func(o *heapdump.Object) {
			if k := n.index(o.At - n.start); k < n.n {
				set(k)
			}
		}, nil)
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *dump) module() (mod module, err error) {
	data, bss := &d.f.Data, &d.f.BSS
	mod = module{data: data.Start, dataEnd: data.End(), bss: bss.Start, bssEnd: bss.End()}
	mod.text, mod.textEnd, mod.types, mod.typesEnd = mod.data, mod.data, mod.data, mod.data
	if d.p != nil && d.p.Types != 0 {
		mod.text, mod.textEnd, mod.types, mod.typesEnd = d.p.Text, d.p.TextEnd, d.p.Types, d.p.TypesEnd
	}
	mod.dataMask, mod.bssMask = 0, 1<<32
	mod.mask = func(b []byte, at uint64) (int, error) {
		mask := data.Mask
		if at >= mod.bssMask {
			mask, at = bss.Mask, at-mod.bssMask
		}
		return copy(b, mask[min(at, uint64(len(mask))):]), nil
	}
	return mod, nil
}

func (d *dump) below() bool { return framesBelow(d.f.Arch) }

// objects follows the spans in the order of their addresses, in which the graph has them.
func (d *dump) objects(ctx context.Context, c *scanner) error {
	for i := range c.s.list {
		if i%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			c.step(uint64(i), uint64(len(c.s.list)))
		}
		n := &c.s.list[i]
		n.edges = c.g.n
		if n.noscan {
			continue
		}
		if err := d.span(c, n); err != nil {
			return err
		}
		if c.full {
			return errBudget
		}
	}
	return nil
}

// span reads the pointers of a span's objects.
func (d *dump) span(c *scanner, n *span) error {
	next, first, words, place := uint32(0), true, uint64(0), ^uint64(0)
	end := func(before uint32) {
		for ; n.class != 0 && next < min(before, n.n); next++ {
			c.g.ends[n.ends+next] = c.count(n)
		}
	}
	err := d.scanner.Each(&d.f.Rows[n.at], func(o *heapdump.Object) {
		end(n.index(o.At - n.start))
		first, words = true, 0
		if !n.headed() {
			return
		}
		if id := c.t.at(word(o.Bytes(0, 8))); id != untyped {
			c.put(uint32(id), tagType)
			if size := c.t.of(id).size; size%8 == 0 {
				words = size / 8
			}
		}
	}, func(o *heapdump.Object, at uint64) {
		begin := n.skip()
		if at < begin {
			return
		}
		tag := uint64(tagUnknown)
		switch w := (at - begin) / 8; {
		case n.class == 0:
			if p := w - w%tagUnknown; p != place {
				place = p
				c.put(uint32(p), tagPlace)
			}
			tag = w % tagUnknown
		case n.headed() && words > 0:
			tag = min(w%words, tagUnknown)
		case !n.headed():
			tag = w
			if first {
				if pc := word(o.Bytes(0, 8)); at > 0 && pc >= c.image.text && pc < c.image.textEnd {
					c.put(uint32(c.t.closure(pc)), tagClosure)
				}
			}
		}
		first = false
		from := max(at, begin+8) - 8
		if b := o.Bytes(from, at-from+8); uint64(len(b)) == at-from+8 {
			c.pointer(b, at-from, 0, uint16(tag))
		}
	})
	end(n.n)
	return err
}

// stacks has a goroutine's frames in pieces that follow each other.
func (d *dump) stacks(ctx context.Context, k *stacks) error {
	toEnd := uint64(argsBehind)
	if k.below {
		toEnd = 8
	}
	var b []byte
	count := 0
	err := d.f.EachGoroutine(func(g *heapdump.Goroutine) error {
		if count++; count%64 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		is := goroutines.Goroutine{At: g.Record, ID: g.ID, Creator: g.Creator, System: g.System, State: goroutines.State(g.Status & 0xf), Reason: g.Reason}
		if is.State != goroutines.Waiting {
			is.Reason = ""
		}
		frames := make([]frame, len(g.Frames))
		var in standing
		interrupted := false
		for i := range g.Frames {
			f := &g.Frames[i]
			if d.p == nil && len(d.names) < maxPlaces {
				d.names[f.PC-1], d.names[f.Entry] = named{f.Entry, f.Name}, named{f.Entry, f.Name}
			}
			at := k.place(f.PC)
			in.add(at)
			frames[i] = frame{end: f.SP + uint64(len(f.Content)) - toEnd, name: at.number}
			if at.name == "" {
				frames[i].name = k.frame(f.Name)
			}
			if !interrupted { // else what the compiler noted is of calls
				frames[i].uses, frames[i].slots = at.uses, append([]uint32{}, f.Pointers...)
			}
			interrupted = at.name == "runtime.asyncPreempt"
			if f.Name != "runtime.goexit" {
				is.Start = f.Entry
			}
		}
		if g.Left > 0 || len(g.Frames) == 0 {
			k.unread++
		}
		group := k.join(&is, in.where, frames)
		own, _, known := k.c.lookup(g.Record)
		if !known {
			own = ^uint32(0)
		}
		for i := 0; i < len(frames); {
			from := i
			b = b[:0]
			is.SP = g.Frames[i].SP
			for ; i < len(frames) && g.Frames[i].SP == is.SP+uint64(len(b)); i++ {
				b = append(b, g.Frames[i].Content...)
			}
			if i == from {
				i++
			}
			b = b[:len(b)&^7]
			k.words(group, frames[from:i], is.SP, b, own, k.unused(&is, is.SP, frames[from:i], b))
		}
		if known {
			group.roots = append(group.roots, stackRoot{ownRecord, own, false})
		}
		return nil
	})
	return err
}

// queued has no cleanups of Go 1.25 and newer: those that wait are not in a dump.
func (d *dump) queued(r *retainer, c *scanner) error {
	d.finalizers(r, c)
	for _, root := range d.f.Roots {
		if object, _, ok := c.lookup(root.To); ok {
			if n := r.hold(model.HeldByRuntime, printable(root.Reason), untyped); n != 0 {
				r.reach(n, untyped, tagUnknown, untyped, object)
			}
		}
	}
	return nil
}

func (d *dump) specials(ctx context.Context, c *scanner) (s specials, err error) {
	for _, f := range d.f.Waiting {
		for _, p := range []uint64{f.Object, f.Func} {
			if object, _, ok := c.lookup(p); ok {
				s.kept = append(s.kept, object)
			}
		}
	}
	d.f.EachSite(func(*heapdump.Site) {}, func(at, site uint64) {
		if object, _, ok := c.lookup(at); ok && len(s.samples) < maxSamples {
			s.samples = append(s.samples, sample{object, site})
		}
	})
	return s, ctx.Err()
}

// profile has the rate that the runtime has unless a program sets it: a dump says none.
func (d *dump) profile() *profile {
	p := &profile{rate: 512 << 10, sizes: map[uint64]int64{}, close: func() {}, known: map[uint64]string{}}
	stacks := map[uint64][]symbols.Place{}
	d.f.EachSite(func(s *heapdump.Site) {
		if len(stacks) == maxPlaces {
			return
		}
		p.sizes[s.ID] = s.Size
		var stack []symbols.Place
		for _, at := range s.Stack {
			if len(stack) > 0 || !goroutines.OfRuntime(at.Func) {
				stack = append(stack, symbols.Place(at))
			}
		}
		stacks[s.ID] = stack
	}, func(uint64, uint64) {})
	p.stack = func(site uint64) []symbols.Place { return stacks[site] }
	return p
}

// finalizers reaches what waits for its finalizer to be called.
func (d *dump) finalizers(r *retainer, c *scanner) {
	n := int32(0)
	for _, f := range d.f.Queued {
		for _, p := range []uint64{f.Object, f.Func} {
			object, _, ok := c.lookup(p)
			if !ok {
				continue
			}
			if n == 0 {
				if n = r.hold(model.HeldByFinalizers, nameQueued, untyped); n == 0 {
					return
				}
			}
			hint := untyped
			if p == f.Object {
				hint = c.t.at(f.Type)
			}
			r.reach(n, untyped, tagUnknown, hint, object)
		}
	}
}

// Read reads variables and objects out of the dump, and what nobody writes to out of the program's file.
func (d *dump) Read(b []byte, at uint64) (int, error) {
	if n := d.f.ReadAt(b, at); n > 0 {
		return n, nil
	}
	if n := d.object(b, at); n > 0 {
		return n, nil
	}
	if d.p != nil && d.constant(at-d.p.Base) && d.p.Image.Read(b, at-d.p.Base) {
		d.p.Image.Relocate(b, at-d.p.Base, d.p.Base)
		return len(b), nil
	}
	return 0, nil
}

// constant reports whether an address of the image is of what nobody writes to once the program has begun:
// the descriptions of types, too, where addresses in them depend on where it was loaded.
func (d *dump) constant(addr uint64) bool {
	types := addr+d.p.Base >= d.p.Types && addr+d.p.Base < d.p.TypesEnd
	return types || !d.p.Image.Writable(addr)
}

// object reads a part of an object.
func (d *dump) object(b []byte, at uint64) int {
	if d.s == nil || at < d.s.low {
		return 0
	}
	i := d.s.find(at)
	if i < 0 {
		return 0
	}
	n := &d.s.list[i]
	offset := at - n.start
	k := n.index(offset)
	if offset >= n.bytes || k >= n.n || !d.s.isUsed(n.first+k) {
		return 0
	}
	if d.last != i {
		d.last, d.offsets = -1, append(d.offsets[:0], make([]int64, n.n)...)
		err := d.finder.Each(&d.f.Rows[n.at], func(o *heapdump.Object) {
			if k := n.index(o.At - n.start); k < n.n {
				d.offsets[k] = o.Offset
			}
		}, nil)
		if err != nil {
			return 0
		}
		d.last = i
	}
	within := offset - uint64(k)*n.elem
	return d.f.ReadContent(b[:min(uint64(len(b)), n.elem-within)], d.offsets[k]+int64(within))
}

func (d *dump) ReadEach(b []byte, size int, at []uint64) (int, error) {
	for i, a := range at {
		if got, err := d.Read(b[i*size:][:size], a); got < size {
			return i, err
		}
	}
	return len(at), nil
}

func (d *dump) Function(pc uint64) (entry uint64, name string, ok bool) {
	if d.p == nil {
		f, ok := d.names[pc]
		return f.entry, f.name, ok
	}
	entry, name, ok = d.p.Image.Entry(pc - d.p.Base)
	return entry + d.p.Base, name, ok
}

func (d *dump) Started(entry uint64) string {
	if d.p == nil {
		return d.names[entry].name
	}
	_, name, _ := d.Function(entry)
	if callee, ok := d.p.Image.Started(entry-d.p.Base, name); ok {
		return callee.Func
	}
	return name
}

func (d *dump) Frames(pc uint64) []symbols.Place { return d.p.Frames(pc) }

func (d *dump) Frame(pc uint64) (f symbols.FrameMap, ok bool) {
	if d.p == nil {
		return f, false
	}
	return d.p.Image.Frame(pc - d.p.Base)
}

// Of what the runtime keeps the dump has nothing as such.

func (d *dump) Same() error                                 { return nil }
func (d *dump) Variable(string) uint64                      { return 0 }
func (d *dump) Field(string, string) (uint64, bool)         { return 0, false }
func (d *dump) Goroutines() ([]goroutines.Goroutine, error) { return nil, errors.ErrUnsupported }

func (d *dump) Counters() goroutines.Runtime {
	return goroutines.Runtime{HeapMarked: -1, HeapLive: -1}
}
