package evidence

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A snapshot is a profile of a state, or of counts since the program's start.
// Two of them are the ends of a run.
type snapshot struct {
	name   string
	member string
	at     time.Time // zero when not known
	dump   bool      // printed with states, not as a profile
	p      *model.Profile
	stats  *model.MemStats // of a heap; nil where it does not have them
	looks  []look          // of a dump's goroutines
	dead   bool            // the runtime found that nobody of them can go on
	// watched is for how long before it is known who made no step.
	watched time.Duration
}

// snapshot keeps a snapshot until all were seen.
func (l *loader) snapshot(src model.Source, s snapshot) {
	if l.snapshots == nil {
		l.snapshots = map[model.Source][]snapshot{}
	}
	l.snapshots[src] = append(l.snapshots[src], s)
	l.from[src] = s.name
	l.uses++
}

// foldSnapshot keeps a profile in pprof's format as a snapshot.
func (l *loader) foldSnapshot(f format, p *pprofFile) error {
	if len(l.snapshots[f.source]) >= maxSnapshots {
		return l.tooMany(f.source, f.what)
	}
	if err := l.sameRun(f.source, p.name); err != nil {
		return err
	}
	m, err := l.convert(p)
	if err != nil {
		return err
	}
	m.Duration = 0
	if n := artifact.UnlabelledCount(p.Comments); n > 0 {
		l.note("labels of %s in %s were not read", figures.Plural(n, "goroutine"), cmp.Or(p.member, p.name))
	}
	l.snapshot(f.source, snapshot{name: p.name, member: p.member, at: p.start(), p: m, stats: p.stats, dead: p.dead, watched: artifact.StillFor(p.Comments)})
	return nil
}

// maxSnapshots is how many are read before it is sure that they are too many:
// one more than there can be, so that the message can name them.
const maxSnapshots = 3

// pair returns the first and the last of a source's snapshots; start is nil
// when there is one only.
func (l *loader) pair(src model.Source, what string) (start, end *snapshot, err error) {
	list := l.snapshots[src]
	switch len(list) {
	case 0:
		return nil, nil, nil
	case 1:
		return nil, &list[0], nil
	case 2:
	default:
		return nil, nil, l.tooMany(src, what)
	}
	a, b := &list[0], &list[1]
	dateByCollections(a, b)
	order := cmp.Or(cmp.Compare(end0(a), end0(b)), age(a, b))
	if end0(a) == end0(b) && a.at.IsZero() != b.at.IsZero() && src == model.GoroutineProfile && !alike(a.p, b.p) {
		l.note("%q and %q do not both tell when they were taken; they are taken as given, the older first", a.name, b.name)
		return a, b, nil
	}
	if order > 0 {
		a, b = b, a
	}
	switch {
	case a.at.IsZero() && !b.at.IsZero() && end0(a) == end0(b):
		// A text beside a profile is mostly the same moment in another form.
		l.note("%q does not tell when it was taken, and %q does; only that is used", a.name, b.name)
		return nil, b, nil
	case order == 0 && a.dump != b.dump && alike(a.p, b.p):
		if a.dump {
			a, b = b, a
		}
		l.note("%q and %q are the same in two forms, as far as they tell; %[2]q says more, and only that is used", a.name, b.name)
		return nil, b, nil
	case order == 0:
		l.note("%q and %q do not tell which of them is older; they are taken as given", a.name, b.name)
	}
	l.covers(spanOfSnapshots, a.at, b.at)
	return a, b, nil
}

// alikePart is how far the counts of two forms of one moment may be apart: they are
// written one after the other, by a program that runs meanwhile.
const alikePart = 0.05

// alike reports whether two profiles of goroutines have about as many.
func alike(a, b *model.Profile) bool {
	x, y := count(a), count(b)
	return math.Abs(x-y) <= max(1, alikePart*max(x, y))
}

func count(p *model.Profile) (n float64) {
	for i := range p.Samples {
		n += p.Samples[i].Value(0)
	}
	return n
}

// end0 orders the members of our recordings: 1 for that of the start, 2 for
// that of the end, 0 for all others.
func end0(s *snapshot) int {
	switch {
	case strings.Contains(s.member, "-start."):
		return 1
	case strings.Contains(s.member, "-end."):
		return 2
	}
	return 0
}

func (l *loader) tooMany(src model.Source, what string) error {
	var names []string
	for _, s := range l.snapshots[src] {
		names = append(names, fmt.Sprintf("%q", s.name))
	}
	first, last := l.snapshots[src][0].name, l.snapshots[src][len(names)-1].name
	return problem.New(problem.Misuse, shell.Words([]string{"gowhy", first, last})+"   # two of them", "%d or more %ss were given, %s among them; a run has one at its start and one at its end", maxSnapshots, what, strings.Join(names, ", "))
}

// joinSnapshots puts what was kept into the model.
func (l *loader) joinSnapshots() error {
	if len(l.snapshots[model.GoroutineProfile]) == 0 && len(l.logs.dumps) <= 2 {
		for _, s := range l.logs.dumps {
			l.snapshot(model.GoroutineProfile, s)
		}
	}
	for _, join := range []func() error{l.joinHeap, l.joinGoroutines, l.joinContention} {
		if err := join(); err != nil {
			return err
		}
	}
	return nil
}

// growth returns what the counts of two snapshots grew by, or the one itself.
func (l *loader) growth(start, end *snapshot) *model.Profile {
	if start == nil {
		return end.p
	}
	if !slices.Equal(start.p.Types, end.p.Types) {
		l.note("%q and %q have other columns; the counts of the last since the program's start are used", start.name, end.name)
		return end.p
	}
	p := profileDelta(start.p, end.p)
	if !start.at.IsZero() && !end.at.IsZero() {
		p.Duration = max(0, end.at.Sub(start.at))
	}
	l.alignProfile(p, start.at)
	return p
}
