package evidence

import (
	"path"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// The block and the mutex profile have the same columns and the same period. Which
// one it is a recording's member says by its name, else the name that somebody gave the
// file, and at last the stacks: who is delayed waits, who delays others unlocks.

var isContention = hasType("contentions", "delay")

// contentionOf tells a block from a mutex profile.
func contentionOf(p *pprofFile) model.Source {
	name := strings.ToLower(path.Base(p.name[strings.LastIndexByte(p.name, ':')+1:])) // of a member without its archive
	mutex, block := strings.Contains(name, "mutex"), strings.Contains(name, "block")
	switch {
	case mutex != block:
	case len(p.Sample) == 0:
		block = true
	default:
		block = !unlockers(p.Profile)
	}
	if block {
		return model.Block
	}
	return model.Mutex
}

// unlockers reports whether the stacks of a profile are of those who delay others. A
// block profile has waits at its leaves; a mutex profile unlocks, also the runtime's own
// since Go 1.22, or what an unlock was inlined into.
func unlockers(p *profile.Profile) bool {
	delayed, delaying := 0, 0
	for _, s := range p.Sample {
		for _, f := range framesOf(&profile.Sample{Location: s.Location[:min(len(s.Location), leafFrames)]}) {
			if unlocks(f.Func) {
				delaying++
				break
			}
			if waits(f.Func) {
				delayed++
				break
			}
		}
	}
	return delaying >= delayed
}

// leafFrames is how deep the unlocking is looked for: RWMutex's is two calls
// above that of the Mutex inside it.
const leafFrames = 4

// unlocks reports whether a function is one that a mutex profile's stacks end in.
func unlocks(f string) bool {
	switch f[strings.LastIndexByte(f, '.')+1:] {
	case "Unlock", "RUnlock", "unlockSlow", "rUnlockSlow", "unlock", "unlock2", "unlockWithRank", "_LostContendedRuntimeLock":
		return true
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
