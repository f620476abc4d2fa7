package evidence

import (
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/know/model"
)

// cpuTime is the column of CPU time, as the runtime calls it.
var cpuTime = profile.ValueType{Type: "cpu", Unit: "nanoseconds"}

// isCPU accepts profiles with CPU time, and those of a sampling agent that have samples
// alone: their period says what one is worth.
func isCPU(p *profile.Profile) bool {
	return hasType("cpu")(p) || hasType("samples")(p) && periodOf(p, "cpu") > 0
}

// periodOf returns how many nanoseconds of a kind a sample stands for, 0 where the profile
// does not say.
func periodOf(p *profile.Profile, kinds ...string) int64 {
	if p.PeriodType == nil || p.PeriodType.Unit != "nanoseconds" || p.Period <= 0 {
		return 0
	}
	for _, k := range kinds {
		if p.PeriodType.Type == k {
			return p.Period
		}
	}
	return 0
}

// complete adds what follows from the period to a profile that has samples without
// their time, or time without the samples: many stores keep one value only.
func complete(p *profile.Profile, time profile.ValueType, period int64) {
	count, nanos := -1, -1
	for i, t := range p.SampleType {
		switch {
		case t.Unit == "count" && count < 0:
			count = i
		case t.Unit == time.Unit && nanos < 0:
			nanos = i
		}
	}
	if period <= 0 || (count < 0) == (nanos < 0) {
		return
	}
	if count < 0 {
		p.SampleType = append(p.SampleType, &profile.ValueType{Type: samplesOnly.Name, Unit: samplesOnly.Unit})
	} else {
		p.SampleType = append(p.SampleType, &time)
	}
	for _, s := range p.Sample {
		if count < 0 {
			s.Value = append(s.Value, (s.Value[nanos]+period/2)/period)
		} else {
			s.Value = append(s.Value, s.Value[count]*period)
		}
	}
}

// foldCPU folds the runtime's CPU profile.
func (l *loader) foldCPU(f format, p *pprofFile) error {
	complete(p.Profile, cpuTime, periodOf(p.Profile, "cpu"))
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
