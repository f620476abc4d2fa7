package whatif

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Menu replays the usual changes, each alone, and returns them with the
// largest gain first: where a fix would bring most. They are the locks that
// were waited for most, taken away and held half as long; half and twice the
// Ps, as far as there are CPUs for them; the groups and functions with most work, twice as fast, unless one does
// all of it; the collector for half of its cost.
func (p *Program) Menu(ctx context.Context, progress func(done, of int)) ([]Result, error) {
	list := p.usual()
	results := make([]Result, len(list))
	errs := make([]error, len(list))
	var wg sync.WaitGroup
	var mu sync.Mutex
	done := 0
	room := make(chan struct{}, 2) // each replay takes the memory of its goroutines
	for i, e := range list {
		wg.Go(func() {
			room <- struct{}{}
			defer func() { <-room }()
			if errs[i] = ctx.Err(); errs[i] != nil {
				return
			}
			results[i], errs[i] = p.Run(e)
			mu.Lock()
			defer mu.Unlock()
			if done++; progress != nil {
				progress(done, len(list))
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(results, func(a, b Result) int { return cmp.Compare(a.Ratio, b.Ratio) })
	return results, nil
}

// How many of each sort the menu has, and how much of the work a part must
// have: what has less cannot bring more.
const (
	menuLocks     = 4
	menuGroups    = 4
	menuFunctions = 4
	worthTrying   = 0.01
	// allOfIt is the share of the work above which a group or function is the program: that
	// half of its work is half of the time tells nobody anything.
	allOfIt = 0.9
)

func (p *Program) usual() (list []Edit) {
	for i, l := range p.worstLocks() {
		if i == menuLocks {
			break
		}
		list = append(list, WithLock(l.Site, 0), WithLock(l.Site, 0.5))
	}
	if p.Procs > 1 {
		list = append(list, WithProcs(p.Procs/2))
	}
	// More Ps than CPUs only share them, and of a bare trace nobody knows how many
	// CPUs there were: --cores says it.
	if more := min(2*p.Procs, p.Cores); more > p.Procs {
		list = append(list, WithProcs(more))
	}
	all := float64(p.Work + p.GC)
	groups := p.UserGroups()
	for _, g := range groups[:min(len(groups), menuGroups)] {
		if g.Name != "" && float64(g.Work) > worthTrying*all && float64(g.Work) < allOfIt*all && !p.records(g.Name) {
			list = append(list, WithScale(g.Name, 0.5))
		}
	}
	for _, name := range p.usualFunctions() {
		list = append(list, WithScale(name, 0.5))
	}
	if float64(p.GC) > worthTrying*all {
		list = append(list, WithGC(0.5))
	}
	return list
}

// recorderPart is the part of a group's samples under the recorder's own functions from
// which the group serves those who record: a server's other requests are not under them.
const recorderPart = 0.5

// records reports whether a group serves those who record, as net/http's connections of an
// agent do in a program that serves nothing else.
func (p *Program) records(group string) bool {
	g := p.group(group)
	sampled := false
	for name, shares := range p.shares {
		if g < 0 || g >= len(shares) || shares[g] == 0 {
			continue
		}
		if ofRecorder(name) && shares[g] >= recorderPart {
			return true
		}
		sampled = true
	}
	// Connections that no sample shows, in a trace with samples, serve nobody but the agent.
	return ofRecorder(group) || !sampled && len(p.shares) > 0 && group == servedConnections
}

// servedConnections is the group that the agent's server shares with any other.
const servedConnections = "net/http.(*conn).serve"

// ofRecorder reports whether a function is the recorder's own.
func ofRecorder(function string) bool { return model.OfRecording([]model.Frame{{Func: function}}) }

// usualFunctions returns the functions with most work, a system call once.
func (p *Program) usualFunctions() (names []string) {
	seen := map[string]bool{}
	for _, f := range p.Functions {
		if len(names) == menuFunctions || f.Share < worthTrying {
			break
		}
		if p.group(f.Name) >= 0 || f.Share >= allOfIt || strings.HasPrefix(f.Name, "runtime.") || ofRecorder(f.Name) {
			continue
		}
		if call, ok := systemCall(f.Name); ok {
			if call == "" || seen[call] {
				continue
			}
			seen[call] = true
		}
		names = append(names, f.Name)
	}
	return names
}

// systemCall returns the system call that a function of the packages that make them
// stands for: "write" of both syscall.Write and syscall.write. It is empty for those
// through which all calls go, as Syscall, RawSyscall6 and Syscall6: one call passes
// three of them, and which one it is only their caller tells.
func systemCall(function string) (call string, ok bool) {
	slash := strings.LastIndexByte(function, '/') + 1
	pkg, name, _ := strings.Cut(function[slash:], ".")
	switch pkg = function[:slash] + pkg; {
	case pkg == "syscall", pkg == "golang.org/x/sys/unix", strings.HasPrefix(pkg, "internal/runtime/syscall"):
	default:
		return "", false
	}
	call = strings.ToLower(name)
	if strings.HasPrefix(strings.TrimPrefix(call, "raw"), "syscall") {
		call = ""
	}
	return call, true
}
