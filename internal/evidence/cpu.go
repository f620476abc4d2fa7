package evidence

import (
	"time"

	"github.com/gowhy/gowhy/internal/model"
)

// foldCPU folds the runtime's CPU profile.
func (l *loader) foldCPU(f format, p *pprofFile) error {
	m, err := l.takeProfile(f, p)
	if err != nil {
		return err
	}
	nameGroups(&l.m.Stacks, m)
	l.setCPU(m, p.start())
	return nil
}

// setCPU gives the model its CPU profile, which began at a moment that may not
// be known.
func (l *loader) setCPU(m *model.Profile, at time.Time) {
	l.m.CPU = m
	l.untimed, l.cpuFrom = m.Duration, at
	if m.Duration > 0 {
		l.covers(spanOfCPU, at, at.Add(m.Duration))
	}
}
