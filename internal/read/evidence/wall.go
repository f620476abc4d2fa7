package evidence

import "github.com/google/pprof/profile"

// A wall-clock profile samples every goroutine at fixed times, whether it runs or
// waits: fgprof takes such, and so do agents. Its time is that of goroutines, side by
// side, and says nothing of the CPU.

var (
	wallTime  = profile.ValueType{Type: "wall", Unit: "nanoseconds"}
	wallNames = []string{"wallclock", "wall", "wall-time", "time"}
)

// isWall accepts profiles with time of the wall, by their period or their columns.
func isWall(p *profile.Profile) bool {
	return periodOf(p, wallNames...) > 0 || hasType(wallNames...)(p)
}

// foldWall folds a wall-clock profile. Its column of time gets one name, whoever took it.
func (l *loader) foldWall(f format, p *pprofFile) error {
	complete(p.Profile, wallTime, periodOf(p.Profile, wallNames...))
	for _, t := range p.SampleType {
		if t.Unit == wallTime.Unit {
			t.Type = wallTime.Type
		}
	}
	m, err := l.takeProfile(f, p)
	if err != nil {
		return err
	}
	nameGroups(&l.m.Stacks, m)
	l.m.Wall = m
	return nil
}
