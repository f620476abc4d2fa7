package heap

import (
	"cmp"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// errBudget ends a reading that would need more memory than it may.
var errBudget = errors.New("budget")

// A BudgetError is of a heap that needs more memory to be read than was allowed.
type BudgetError struct{ Need, Budget uint64 } // bytes; Need is the least

func (e *BudgetError) Error() string {
	return fmt.Sprintf("its heap needs %d MiB or more to be read, and %d are allowed", e.Need>>20, e.Budget>>20)
}

// maxAddress is beyond what a program has.
const maxAddress = 1 << 56

// memory is what is read of a process: a [goroutines.View].
type memory interface {
	Read(b []byte, at uint64) (int, error)
	ReadEach(b []byte, size int, at []uint64) (int, error)
	Same() error
	Variable(name string) uint64
	Field(in, path string) (offset uint64, ok bool)
	Function(pc uint64) (entry uint64, name string, ok bool)
	Started(entry uint64) string
	Frames(pc uint64) []symbols.Place
	Frame(pc uint64) (symbols.FrameMap, bool)
	Goroutines() ([]goroutines.Goroutine, error)
	Counters() goroutines.Runtime
}

func unsure(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{goroutines.ErrUnsure}, args...)...)
}

// cannot returns why memory was not read; without an error nothing is there.
func cannot(err error) error {
	if err == nil {
		return unsure("its heap is not where it should be")
	}
	return err
}

// Options say how a heap is read.
type Options struct {
	// Budget is how many bytes the reading may use; 0 is [Budget].
	Budget uint64
	// Freeze keeps a process still while its variables and stacks are read, for at most
	// [FreezeTime].
	Freeze bool
	// Examples adds beginnings of some strings to the ways, which are contents of the memory.
	Examples bool
	// Progress is called now and then with what is done and how much of it, from 0 to 1.
	Progress func(what string, share float64)
}

// Budget is what a reading may use when nothing else is said: 10 million objects need it.
const Budget = 256 << 20

// FreezeTime is for how long a process is stopped at most, which is far below what its clients and
// its health checks wait for.
const FreezeTime = 20 * time.Millisecond

// ErrNotStopped is in the error where a process was to stand still and could not be stopped.
var ErrNotStopped = errors.New("gowhy did not stop it")

// Read reads the heap of a process that is neither stopped, unless the options say so, nor asked. Where the reading is
// interrupted behind the half of it the look is partial, and no error. The error has
// a [BudgetError], or those of [goroutines.Open] in it.
func Read(ctx context.Context, pid int, o Options) (*model.HeapLook, error) {
	r, err := goroutines.Open(pid)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return of(ctx, r, pid, o)
}

// Of reads the heap in a memory whose goroutines are read: a process's, or a core's.
func Of(ctx context.Context, r *goroutines.Reader, o Options) (*model.HeapLook, error) {
	return of(ctx, r, 0, o)
}

func of(ctx context.Context, r *goroutines.Reader, pid int, o Options) (*model.HeapLook, error) {
	v, err := r.View()
	if err != nil {
		return nil, err
	}
	im, base := v.Image()
	var still func() (*proc.Freeze, error)
	if o.Freeze {
		still = func() (*proc.Freeze, error) { return proc.Stop(pid, FreezeTime) }
	}
	p := program{image: im, base: base}
	look, err := readFrom(ctx, live{v, p, r}, v, p, o, still)
	if gone := v.Same(); gone != nil {
		return nil, gone
	}
	return look, err
}

// A source is where objects and roots are read: the memory of a process or of a core, with all
// that the runtime keeps there, or a dump, which has the objects one by one.
type source interface {
	spans(budget uint64) (*spans, error)
	module() (module, error)
	// objects reads the pointers of all objects.
	objects(ctx context.Context, c *scanner) error
	stacks(ctx context.Context, k *stacks) error
	// queued reaches what waits for its finalizer or cleanup to be called.
	queued(r *retainer, c *scanner) error
	// specials reads what the runtime notes of single objects.
	specials(ctx context.Context, c *scanner) (specials, error)
	// profile is the program's memory profile; nil where it has none.
	profile() *profile
	// below is of the machine that the program ran on: see [framesBelow].
	below() bool
}

// live is a memory that has all.
type live struct {
	m memory
	p file
	r *goroutines.Reader // of the same memory; nil without a profile
}

func (l live) spans(budget uint64) (*spans, error)         { return readSpans(l.m, budget) }
func (l live) module() (module, error)                     { return readModule(l.m) }
func (live) objects(ctx context.Context, c *scanner) error { return c.run(ctx) }
func (l live) specials(ctx context.Context, c *scanner) (specials, error) {
	return readSpecials(ctx, c, l.p.specialKinds())
}
func (l live) profile() *profile { return readProfile(l.r) }
func (l live) below() bool       { return framesBelow(l.p.arch()) }

func (l live) queued(r *retainer, c *scanner) error {
	return errors.Join(holdQueue(r, c), holdCleanups(r, c, cleanupList(l.p.arch()), l.p.cleanupWords()))
}

func (l live) stacks(ctx context.Context, k *stacks) error {
	list, err := l.m.Goroutines()
	if err != nil {
		return err
	}
	return k.read(ctx, list)
}

// framesBelow reports whether frame pointers are below the frames that they are of.
func framesBelow(arch string) bool { return arch == arm64 }

// file is what a program's file tells: a program.
type file interface {
	variables(low, high uint64) []symbols.NamedVariable
	arch() string // of the machine that it is for, as GOARCH has it
	inlineMarks() bool
	cleanupWords() int
	specialKinds() specialKinds
	types(wanted map[uint64]bool, t *types) *variables
	from() uint64 // what is added to its addresses to have the process's
}

type program struct {
	image *symbols.Image
	base  uint64
}

func (p program) from() uint64 { return p.base }

// variables returns those between two addresses of the process.
func (p program) variables(low, high uint64) []symbols.NamedVariable {
	if p.image == nil {
		return nil
	}
	list := p.image.Data(low-p.base, high-p.base)
	for i := range list {
		list[i].Addr += p.base
	}
	return list
}

const arm64 = "arm64"

// arch returns what a program's file was built for, which for a core may be another machine's than this one's.
func (p program) arch() string {
	switch {
	case p.image == nil:
		return runtime.GOARCH
	case p.image.Machine() == elf.EM_AARCH64:
		return arm64
	}
	return "amd64"
}

// inlineMarks reports whether the collector of a version keeps marks in the spans.
func (p program) inlineMarks() bool {
	if p.image == nil {
		return false
	}
	return marksInSpans(p.image.GoVersion())
}

// cleanupWords returns how many words an entry of the runtime's list of cleanups has.
func (p program) cleanupWords() int {
	if p.image == nil {
		return 0
	}
	return cleanupWords(p.image.GoVersion())
}

// specialKinds returns how the runtime numbers what it notes of objects.
func (p program) specialKinds() specialKinds {
	if p.image == nil {
		return specialKinds{}
	}
	return specialKindsOf(p.image.GoVersion())
}

func marksInSpans(version string) bool {
	switch {
	case strings.Contains(version, "nogreenteagc"):
		return false
	case strings.Contains(version, "greenteagc"):
		return true
	}
	return !slices.ContainsFunc([]string{"go1.22", "go1.23", "go1.24", "go1.25"}, func(v string) bool { return strings.HasPrefix(version, v) })
}

func (p program) types(wanted map[uint64]bool, t *types) *variables {
	if p.image == nil || len(wanted) == 0 {
		return nil
	}
	d, err := p.image.DWARF()
	if err != nil {
		return nil
	}
	file := map[uint64]bool{}
	for at := range wanted {
		file[at-p.base] = true
	}
	return newVariables(d, p.base, file, t)
}

// A reading is what one look at a heap has of it.
type reading struct {
	m        memory
	p        file
	from     source
	still    func() (*proc.Freeze, error) // nil to stop nothing
	budget   uint64
	progress func(what string, share float64)
	look     *model.HeapLook

	s     *spans
	t     *types
	g     *graph
	c     *scanner
	stack *stacks
	vars  *globals
}

// rootTries is how often spans and roots are read where a variable leads to an object that is newer than
// the list of spans: it may be the one that holds most, as the array of a slice that has just grown.
const rootTries = 3

// partTime is how long what was read is gone through when whoever asked does not want to wait; what is not reached
// by then is missing, too.
const partTime = 2 * time.Second

func read(ctx context.Context, m memory, p file, o Options, still func() (*proc.Freeze, error)) (*model.HeapLook, error) {
	return readFrom(ctx, live{m: m, p: p}, m, p, o, still)
}

func readFrom(ctx context.Context, from source, m memory, p file, o Options, still func() (*proc.Freeze, error)) (*model.HeapLook, error) {
	budget := cmp.Or(o.Budget, Budget)
	progress := o.Progress
	if progress == nil {
		progress = func(string, float64) {}
	}
	look := &model.HeapLook{Time: time.Now()}
	before := m.Counters()
	h := reading{m: m, p: p, from: from, still: still, budget: budget, progress: progress, look: look}
	for try := 1; ; try++ {
		if err := h.roots(ctx); err != nil {
			return nil, err
		}
		if h.vars.lost == 0 || try == rootTries || still != nil {
			break
		}
		h = reading{m: m, p: p, from: from, budget: budget, progress: progress, look: look}
		runtime.GC() // the budget is for one of them
	}
	s, t, g, c, stack, vars := h.s, h.t, h.g, h.c, h.stack, h.vars
	err := from.objects(ctx, c)
	switch {
	case errors.Is(err, errBudget):
		return nil, tooSmall(budget*2, budget)
	case err != nil && c.part == 0:
		return nil, err
	case err != nil: // what was read leads to what is held at least
		look.PartRead = c.part
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), partTime)
		defer done()
	}
	noted, err := from.specials(ctx, c)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	after := m.Counters()
	look.Took = time.Since(look.Time)
	dwarf := p.types(vars.wanted(), t)
	look.Typed, look.Nameless = dwarf != nil, vars.bare
	r := newRetainer(s, g, t)
	r.examples = o.Examples
	r.step = func(done, of uint64) { progress(walking, float64(done)/float64(of)) }
	err = r.all(ctx, from, c, vars, stack, noted.kept, dwarf, p)
	if err != nil && ctx.Err() == nil {
		return nil, err
	}
	look.Partial = err != nil || c.part > 0
	r.sum()
	if err := r.measureUse(c); err != nil {
		return nil, err
	}
	if len(noted.samples) > 0 {
		r.tellMakers(noted.samples, from.profile(), look)
	}
	r.tell(look)
	if _, inMemory := from.(live); inMemory { // a dump has no pages
		look.Free = s.freeSizes()
	}
	objects, bytes := s.allocated()
	look.Unreached = model.ObjectSum{Objects: objects - min(objects, look.Reached.Objects), Bytes: bytes - min(bytes, look.Reached.Bytes)}
	look.Marked, look.Collections = after.HeapMarked, after.Collections-before.Collections
	look.Allocated = max(0, after.HeapLive-after.HeapMarked)
	look.Lost, look.Dropped, look.Running, look.Stackless = g.lost, s.dropped, stack.running, stack.unread
	return look, nil
}

// roots reads the spans, and then variables and stacks, while the process stands still where that was
// asked for.
func (h *reading) roots(ctx context.Context) (err error) {
	if h.s, err = h.from.spans(h.budget); err != nil {
		return err
	}
	need := uint64(h.s.objects)*objectBytes + uint64(h.s.scanned)*2 + uint64(len(h.s.list))*128 + uint64(len(h.s.pages))*arenaPages*4
	if need > h.budget {
		return tooSmall(need, h.budget)
	}
	mod, err := h.from.module()
	if err != nil {
		return err
	}
	h.t = newTypes(h.m, mod.types, mod.typesEnd)
	low, high := min(mod.text, mod.data, mod.bss, mod.types), max(mod.textEnd, mod.dataEnd, mod.bssEnd, mod.typesEnd)
	h.g = &graph{boxed: map[uint32]typeID{}, ends: make([]uint16, h.s.scanned), room: h.budget - need}
	h.c = &scanner{m: h.m, s: h.s, t: h.t, g: h.g, inline: h.p.inlineMarks(), image: imageRange{low, high, mod.text, mod.textEnd},
		step: func(done, of uint64) { h.progress(readingObjects, float64(done)/float64(of)) }}
	h.stack = &stacks{c: h.c, keys: map[stackKey]*stackGroup{}, groups: map[string]*stackGroup{}, places: map[uint64]place{}, below: h.from.below(), number: map[string]int32{}}
	named := slices.Concat(h.p.variables(mod.data, mod.dataEnd), h.p.variables(mod.bss, mod.bssEnd))
	if h.still != nil {
		f, err := h.still()
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotStopped, err)
		}
		h.look.StoodBy = f.By
		defer func() {
			var thaw error
			h.look.Stood, h.look.Early, thaw = f.Thaw()
			err = errors.Join(err, thaw)
		}()
	}
	if h.vars, err = readGlobals(ctx, h.c, mod, named); err != nil {
		return err
	}
	return h.from.stacks(ctx, h.stack)
}

// The halves of a reading.
const (
	readingObjects = "reading objects"
	walking        = "who reaches them"
)

func tooSmall(need, budget uint64) error {
	return &BudgetError{need, budget}
}

// all reaches from the roots, in the order of who is named first.
func (r *retainer) all(ctx context.Context, from source, c *scanner, vars *globals, stack *stacks, kept []uint32, dwarf *variables, p file) error {
	base := p.from()
	vars.hold(r, dwarf, base, 1)
	timers := r.reserve()
	vars.hold(r, dwarf, base, 0)
	if err := r.run(ctx); err != nil {
		return err
	}
	r.by = byStacks
	if err := stack.hold(ctx, r, false); err != nil {
		return err
	}
	r.by = byOthers
	if err := from.queued(r, c); err != nil {
		return err
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	r.queue = timers
	if err := r.run(ctx); err != nil {
		return err
	}
	r.by = byRuntime
	if len(kept) > 0 {
		n := r.hold(model.HeldByFinalizers, nameKept, untyped)
		for _, object := range kept {
			if n != 0 {
				r.reach(n, untyped, tagUnknown, untyped, object)
			}
		}
	}
	if err := r.run(ctx); err != nil {
		return err
	}
	if err := stack.hold(ctx, r, true); err != nil {
		return err
	}
	vars.hold(r, dwarf, base, 2)
	if err := r.run(ctx); err != nil {
		return err
	}
	return errors.Join(r.spread(ctx, &r.shared[byOthers]), r.spread(ctx, &r.shared[byStacks]))
}

// tell puts the nodes into words.
func (r *retainer) tell(look *model.HeapLook) {
	children := r.children()
	shared := make([][2]uint64, len(r.holders))
	objects := make([]uint64, len(r.holders))
	types, holds := map[string]model.ObjectSum{}, map[string]map[int32]uint64{}
	for i := 1; i < len(r.nodes); i++ {
		n := &r.nodes[i]
		for by, bytes := range n.shared {
			shared[n.holder][by] += bytes
		}
		objects[n.holder] += n.objects
		if r.typeName(n) == "" {
			look.Untyped = model.ObjectSum{Objects: look.Untyped.Objects + n.objects, Bytes: look.Untyped.Bytes + n.bytes}
		}
		name := r.typeName(n)
		sum := types[name]
		types[name] = model.ObjectSum{Objects: sum.Objects + n.objects, Bytes: sum.Bytes + n.bytes}
		if holds[name] == nil {
			holds[name] = map[int32]uint64{}
		}
		holds[name][n.holder] += n.bytes
	}
	for i, h := range r.holders[1:] {
		n := &r.nodes[h.node]
		if n.retained == 0 {
			continue
		}
		look.Holders = append(look.Holders, model.Holder{Kind: h.kind, Name: h.name, Count: h.count, ObjectSum: model.ObjectSum{Objects: objects[i+1], Bytes: n.retained}, Shared: shared[i+1][byOthers], OnStacks: shared[i+1][byStacks], Path: r.path(h.node, children)})
		look.Reached.Objects += objects[i+1]
		look.Reached.Bytes += n.retained
	}
	slices.SortStableFunc(look.Holders, func(a, b model.Holder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for name, sum := range types {
		if sum.Bytes > 0 && name != "" {
			look.Types = append(look.Types, model.HeldType{Name: name, ObjectSum: sum})
		}
	}
	slices.SortFunc(look.Types, func(a, b model.HeldType) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Name, b.Name))
	})
	look.Types = look.Types[:min(len(look.Types), model.MaxHeldTypes)]
	for i := range look.Types {
		t := &look.Types[i]
		of := holds[t.Name]
		most := slices.MaxFunc(slices.Sorted(maps.Keys(of)), func(a, b int32) int { return cmp.Compare(of[a], of[b]) })
		t.Holder, t.HolderBytes = r.words(most), of[most]
	}
	look.Tree = r.tree()
}

// words returns a holder in words.
func (r *retainer) words(number int32) string {
	h := r.holders[number]
	return (&model.Holder{Kind: h.kind, Name: h.name, Count: h.count}).Words()
}

// tree returns the nodes that hold most, with those before them. Each counts the objects of those behind it that are
// left out, and of what the runtime makes a map of; holders that are left out are one.
func (r *retainer) tree() (list []model.HeldNode) {
	order := make([]int32, 0, len(r.nodes))
	for i := 1; i < len(r.nodes); i++ {
		if r.nodes[i].retained > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(r.nodes[b].retained, r.nodes[a].retained) })
	kept := make([]bool, len(r.nodes))
	for _, n := range order[:min(len(order), model.MaxHeldNodes-1)] {
		kept[n] = true // and so is its parent, which retains as much and has a smaller number
	}
	others := model.HeldNode{Parent: -1, Type: "other holders"}
	at := make([]int, len(r.nodes)) // of each in the list
	at[0] = -1
	for i := 1; i < len(r.nodes); i++ {
		n := &r.nodes[i]
		if at[i] = at[n.parent]; kept[i] {
			next := r.heldNode(n, at[n.parent])
			if !n.hidden || at[i] < 0 || next.Type != "" && next.Type != list[at[i]].Type {
				at[i] = len(list)
				list = append(list, next)
			}
		}
		sum := &others.ObjectSum
		if at[i] >= 0 {
			sum = &list[at[i]].ObjectSum
		}
		sum.Objects, sum.Bytes = sum.Objects+n.objects, sum.Bytes+n.bytes
	}
	if others.Bytes > 0 {
		list = append(list, others)
	}
	return list
}

func (r *retainer) heldNode(n *node, parent int) model.HeldNode {
	if parent < 0 {
		return model.HeldNode{Parent: -1, Type: r.words(n.holder)}
	}
	return model.HeldNode{Parent: parent, Field: n.label, Type: r.typeName(n), Size: n.elem}
}

func (r *retainer) typeName(n *node) string {
	name := r.t.of(n.is).name
	switch name {
	case "*maps.table", "[]*maps.table", "maps.table":
		return ""
	}
	for _, of := range []string{"map.group[", "map.bucket["} { // what a map is made of is the map
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(name, "[]"), of); ok {
			return "map[" + rest
		}
	}
	return name
}

// withoutMap leaves out the steps of a map whose types nothing told but its slots: a header, or
// since Go 1.24 a header, which may be on a stack, a directory and a table.
func withoutMap(list []model.HolderStep) []model.HolderStep {
	const header, table = 48, 32
	unknown := func(back int, size uint32) bool {
		i := len(list) - back
		return i >= 0 && list[i].Type == "" && list[i].Size > 0 && (size == 0 || list[i].Size == size)
	}
	switch {
	case unknown(1, table) && unknown(2, 0) && unknown(3, header):
		return list[:len(list)-3]
	case unknown(1, table) && unknown(2, 0):
		return list[:len(list)-2]
	case unknown(1, header):
		return list[:len(list)-1]
	}
	return list
}

// path follows the most bytes from a holder on, as long as most of them are on one way.
func (r *retainer) path(at int32, children map[int32][]int32) (list []model.HolderStep) {
	for {
		next := children[at]
		if len(next) == 0 {
			return list
		}
		n := &r.nodes[next[0]]
		if from := &r.nodes[at]; n.retained == 0 || n.retained < from.bytes || from.parent != 0 && n.retained < from.retained/4 {
			return list
		}
		at = next[0]
		if n.hidden && r.typeName(n) != "" {
			list = withoutMap(list)
		}
		if name, last := r.typeName(n), len(list)-1; n.hidden && (name == "" || last >= 0 && list[last].Type == name) {
			if last >= 0 {
				list[last].Objects, list[last].Bytes = list[last].Objects+n.objects, list[last].Bytes+n.bytes
			}
			continue
		}
		step := model.HolderStep{Field: n.label, Type: r.typeName(n), Size: n.elem, ObjectSum: model.ObjectSum{Objects: n.objects, Bytes: n.bytes}, Retained: n.retained}
		if n.useKnown {
			step.Use = &n.use
		}
		if n.duplicateKnown {
			step.Duplicate = &n.duplicate
		}
		step.Examples, step.MadeBy, step.Pointers = n.examples, n.madeBy, offsetsOfWords(n.words)
		list = append(list, step)
	}
}
