package evidence

import (
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// foldGoroutines folds a goroutine profile, one of at most two.
func (l *loader) foldGoroutines(f format, p *pprofFile) error {
	if p.DurationNanos > 0 {
		return l.pass(problem.New(problem.Absence, "fetch it again, without seconds= in its address", "%q is the difference of two goroutine profiles, which tells of no moment", p.name))
	}
	return l.foldSnapshot(f, p)
}

func (l *loader) joinGoroutines() error {
	start, end, err := l.pair(model.GoroutineProfile, "goroutine profile")
	if end == nil || err != nil {
		return err
	}
	for _, s := range []*snapshot{start, end} {
		if s != nil {
			nameGroups(&l.m.Stacks, s.p)
		}
	}
	if start != nil {
		l.m.Goroutines.Start = start.p
	}
	l.m.Goroutines.End = end.p
	l.joinMoment(end)
	return nil
}

// foldThreadCreate folds the profile of what made OS threads.
func (l *loader) foldThreadCreate(f format, p *pprofFile) (err error) {
	l.m.ThreadCreate, err = l.takeProfile(f, p)
	return err
}

// foldLeaks folds the profile of goroutines that nothing can wake any more.
func (l *loader) foldLeaks(f format, p *pprofFile) (err error) {
	if l.m.Leaks, err = l.takeProfile(f, p); err != nil {
		return err
	}
	nameGroups(&l.m.Stacks, l.m.Leaks)
	return nil
}
