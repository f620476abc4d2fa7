package evidence

import (
	"github.com/gowhy/gowhy/recording"
)

// foldHeap folds a heap or allocs profile. Both have the same columns: what
// was allocated since the program's start, and what of it is in use. With a
// duration it is the difference that ?seconds= gives, and what of that is in
// use says nothing.
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

// allocs reports whether a profile was taken for its allocations: by the
// column that its viewer is asked to show, which is all that tells it from a
// heap profile.
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
	if l.m.Heap == nil || l.m.Heap.Duration == 0 && start != nil {
		l.m.Heap = l.growth(start, end)
	}
	if start != nil {
		l.m.LiveHeap.Start = start.p
	}
	l.m.LiveHeap.End = end.p
	return nil
}
