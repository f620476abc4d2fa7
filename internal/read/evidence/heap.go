package evidence

import (
	"maps"
	"slices"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// foldHeap folds a heap or allocs profile. Both have the same columns: what
// was allocated since the program's start, and what of it is in use. With a
// duration it is the difference that ?seconds= gives: what was allocated, and by
// how much what is in use grew.
func (l *loader) foldHeap(f format, p *pprofFile) error {
	if p.member == recording.HeapCourseMember && len(p.Sample) == 0 {
		return nil // its samples would say which moments they are of: nothing was in use at any
	}
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

// courseSource is under which the one profile of several moments is noted.
const courseSource = "heapcourse"

// foldHeapCourse takes a profile of several moments apart.
func (l *loader) foldHeapCourse(f format, p *pprofFile) error {
	all, err := l.takeProfile(f, p)
	if err != nil {
		return err
	}
	byTime := map[int64]*model.Profile{}
	for i, s := range p.Sample {
		at := artifact.Moment(s)
		if byTime[at] == nil {
			byTime[at] = &model.Profile{Types: all.Types}
		}
		byTime[at].Samples = append(byTime[at].Samples, all.Samples[i])
	}
	delete(byTime, 0) // a sample of no moment is of none
	if len(byTime) > maxMoments {
		return problem.New(problem.Failure, "", "%q is of more than %d moments", p.name, maxMoments)
	}
	moments := slices.Sorted(maps.Keys(byTime))
	if n := len(moments); n > 0 {
		l.covers(spanOfSnapshots, time.Unix(0, moments[0]), time.Unix(0, moments[n-1]))
	}
	for _, at := range moments {
		l.alignProfile(byTime[at], time.Unix(0, at))
		l.m.HeapCourse = append(l.m.HeapCourse, byTime[at])
	}
	return nil
}

// maxMoments is how many such a profile may have: gowhy writes 48.
const maxMoments = 256

// allocs reports whether a profile was taken for its allocations: by the column that its
// viewer is to show, which is all that tells it from a heap profile.
func allocs(p *pprofFile) bool {
	return p.member == recording.AllocsMember || p.DefaultSampleType == "alloc_space" && p.member == ""
}

// joinHeap takes live heaps from the snapshots, and what was allocated from
// their difference when no profile was taken for that.
func (l *loader) joinHeap() error {
	start, end, err := l.pair("heap", "heap profile")
	if n := len(l.m.HeapCourse); end == nil && err == nil && n > 1 {
		l.m.LiveHeap = model.Snapshots{Start: l.m.HeapCourse[0], End: l.m.HeapCourse[n-1]}
	}
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
