package evidence

import (
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/model"
	"github.com/gowhy/gowhy/internal/problem"
)

// The block and the mutex profile have the same columns and the same period:
// only stacks tell them apart. Who is delayed waits; who delays others unlocks.

var isContention = hasType("contentions", "delay")

// isBlock accepts what isMutex does not, and what does not tell.
func isBlock(p *profile.Profile) bool {
	return isContention(p) && (len(p.Sample) == 0 || !mostlyUnlocks(p))
}

func isMutex(p *profile.Profile) bool {
	return isContention(p) && (len(p.Sample) == 0 || mostlyUnlocks(p))
}

// mostlyUnlocks reports whether more samples end in unlocking than not. Other
// leaves come from the runtime's own locks, which the mutex profile has since
// Go 1.22, and from stacks that somebody trimmed.
func mostlyUnlocks(p *profile.Profile) bool {
	unlocks := 0
	for _, s := range p.Sample {
		if unlocksAtLeaf(framesOf(&profile.Sample{Location: s.Location[:min(len(s.Location), leafFrames)]})) {
			unlocks++
		}
	}
	return unlocks*2 > len(p.Sample)
}

// leafFrames is how deep the unlocking is looked for: RWMutex's is two calls
// above that of the Mutex inside it.
const leafFrames = 4

func unlocksAtLeaf(frames []model.Frame) bool {
	for _, f := range frames[:min(len(frames), leafFrames)] {
		name := f.Func[strings.LastIndexByte(f.Func, '.')+1:]
		switch name {
		case "Unlock", "RUnlock", "unlockSlow", "rUnlockSlow", "unlock", "unlock2", "unlockWithRank", "_LostContendedRuntimeLock":
			return true
		}
	}
	return false
}

// maxComments bounds what a profile says of itself in a report.
const maxComments = 4

// foldContention folds a block or mutex profile: the delays of a time, or all
// since the rate was set.
func (l *loader) foldContention(f format, p *pprofFile) error {
	if len(p.Sample) == 0 && p.member == "" && !p.kindStated {
		return l.pass(problem.New(problem.Absence, "call runtime.SetBlockProfileRate or runtime.SetMutexProfileFraction first, or import github.com/gowhy/gowhy/agent", "%q is a block or a mutex profile with nothing in it", p.name))
	}
	if p.DurationNanos <= 0 {
		return l.foldSnapshot(f, p)
	}
	m, err := l.takeProfile(f, p)
	if err != nil {
		return err
	}
	for _, c := range p.Comments[:min(len(p.Comments), maxComments)] {
		l.note("%s: %s", f.what, c)
	}
	l.setContention(f.source, m)
	return nil
}

func (l *loader) setContention(src model.Source, m *model.Profile) {
	nameGroups(&l.m.Stacks, m)
	if src == model.Mutex {
		l.m.Mutex = m
	} else {
		l.m.Block = m
	}
}

func (l *loader) joinContention() error {
	for _, src := range []model.Source{model.Block, model.Mutex} {
		start, end, err := l.pair(src, string(src)+" profile")
		if err != nil {
			return err
		}
		if end == nil {
			continue
		}
		if src == model.Block && l.m.Block == nil || src == model.Mutex && l.m.Mutex == nil {
			l.setContention(src, l.growth(start, end))
		}
	}
	return nil
}
