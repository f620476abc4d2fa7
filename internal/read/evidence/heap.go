package evidence

import (
	"slices"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/know/model"
)

// foldHeap folds a heap or allocs profile. Both have the same columns: what
// was allocated since the program's start, and what of it is in use. With a
// duration it is the difference that ?seconds= gives: what was allocated, and by
// how much what is in use grew.
func (l *loader) foldHeap(f format, p *pprofFile) error {
	if p.DurationNanos <= 0 && !allocs(p) {
		f.what = "heap profile"
		return l.foldSnapshot(f, p)
	}
	f.source, f.what = allocsSource, "profile of allocation"
	m, err := l.takeProfile(f, p)
	if err != nil {
		return err
	}
	l.m.Heap = m
	return nil
}

// allocsSource is under which the one profile of allocation is noted: heap
// profiles, of which two can be given, are noted under their own.
const allocsSource = "allocs"

// allocs reports whether a profile was taken for its allocations: by the column that its
// viewer is to show, which is all that tells it from a heap profile.
func allocs(p *pprofFile) bool {
	return p.member == recording.AllocsMember || p.DefaultSampleType == "alloc_space" && p.member == ""
}

// joinHeap takes live heaps from the snapshots, and what was allocated from
// their difference when no profile was taken for that.
func (l *loader) joinHeap() error {
	start, end, err := l.pair("heap", "heap profile")
	if end == nil || err != nil {
		return err
	}
	if start == nil && end.member == recording.HeapStartMember {
		start, end = grownTo(end, l.m.Heap)
	}
	if l.m.Heap == nil || l.m.Heap.Duration == 0 && start != nil {
		l.m.Heap = l.growth(start, end)
	}
	if start != nil {
		l.m.LiveHeap.Start = start.p
		l.alignProfile(start.p, start.at)
		l.alignProfile(end.p, end.at)
	}
	l.m.LiveHeap.End, l.m.MemStats = end.p, end.stats
	return nil
}

// grownTo makes the snapshot of the end, which a program that ends by itself has
// not sent any more, from that of the start and the growth that its profile of
// allocation has. Without such growth the one of the start is all there is.
func grownTo(start *snapshot, grown *model.Profile) (first, last *snapshot) {
	if grown == nil || grown.Duration <= 0 || !slices.Equal(start.p.Types, grown.Types) {
		return nil, start
	}
	end := *start
	if !start.at.IsZero() {
		end.at = start.at.Add(grown.Duration)
	}
	end.p = &model.Profile{Types: start.p.Types, Samples: slices.Concat(start.p.Samples, grown.Samples)}
	return start, &end
}
