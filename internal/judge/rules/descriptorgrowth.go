package rules

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed descriptorgrowth.md
var descriptorgrowthPage string

var descriptorgrowth = &diagnosis.Rule{
	Name:  "descriptorgrowth",
	Title: "Open files and connections become more and more",
	Doc:   descriptorgrowthPage,
	Needs: []model.Source{model.ProcFS},
	Check: checkDescriptorgrowth,
}

const (
	// descriptorsMore is the least growth that is no pool that fills: net/http keeps 100
	// idle connections in all, and pools of databases have ten or some tens.
	// descriptorsAlone is the same of files and of commands, of which nobody keeps a pool: a program
	// that waited for none of its commands had 169 more in five seconds, one that left a file open
	// where another held its lock, 172.
	descriptorsMore  = 200
	descriptorsAlone = 50
	// descriptorsFew is the growth at one pace from which their number is not called level:
	// what is opened and closed again moves it by a few.
	descriptorsFew = 20
	// descriptorsPart is the part of the growth that must be in the second half of the
	// window: what leaks at a steady pace has half of it there, clients that connect at the
	// start and pools that fill next to nothing.
	descriptorsPart = 0.35
	// descriptorsWindow is the shortest window that tells a pace from a start, thirty counts,
	// and descriptorsLong that from which it is more likely a leak than clients that come. A
	// recording of five seconds counts for a little less than five.
	descriptorsWindow = 3 * time.Second
	descriptorsLong   = 30 * time.Second
	// descriptorsLate is how far into the window most must be open for the rest to be its end.
	descriptorsLate = 0.9
	// descriptorsOpened is the part of the growth that a line must have opened to be named.
	descriptorsOpened = 0.5
	// descriptorsAlike is how nearly as many as the most another line must open to be named
	// beside it: of the two ends of a connection in one process one dials and one accepts.
	descriptorsAlike = 0.95
	// descriptorsClosed is the part of what goroutines open that they close themselves, from which it is
	// not what stays open: where both ends of a connection are in one process, who dials may do so.
	descriptorsClosed = 0.9
)

func checkDescriptorgrowth(p *diagnosis.Pass) {
	var s model.Series
	for _, point := range p.Model.Process.Series(func(s model.ProcessSample) float64 { return float64(s.FDs) }) {
		if point.Value >= 0 { // not permitted
			s = append(s, point)
		}
	}
	const open = "whether open files and connections become more and more"
	if s = untilMost(s); len(s) < 2 {
		p.Unchecked(open, "the number of descriptors could not be read twice: /proc/PID/fd is the owner's alone", p.RecordAgain(60, "longer.gowhy"))
		return
	}
	first, last := p.Process("descriptors at the start", "files", fact.First), p.Process("descriptors at most", "files", fact.Most)
	more := fact.Difference.Of("more descriptors", fact.Count, last, first)
	over := s[len(s)-1].At - s[0].At
	least := float64(descriptorsMore)
	if _, _, stacks := opener(p); len(stacks) > 0 && (startsCommand(p.Model, stacks[0]) || openedConnections(p.Model) < descriptorsOpened*more.Value) {
		least = descriptorsAlone
	}
	switch rises, known := s.Rises(descriptorsPart); {
	case rises && more.Value >= descriptorsFew && (more.Value < least || more.Value < first.Value):
		p.Unchecked(open, fewDescriptors(p, first, last, more), p.RecordAgain(60, "longer.gowhy"))
	case more.Value < least || more.Value < first.Value:
		p.Fine(fact.Sentence("descriptors: %s at the start, %s at most", first, last))
	case !known || over < descriptorsWindow:
		p.Doubt(open, fact.Sentence("they rose from %s to %s, in a window too short to tell a leak from a start", first, last), p.RecordAgain(60, "longer.gowhy"))
	case !rises:
		p.Unchecked(open, fact.Sentence("they rose from %s to %s, and not at one pace to the end: "+
			"clients that connect and pools that fill do so", first, last), p.RecordAgain(60, "longer.gowhy"))
	default:
		if workers := openers(p); workers.Value >= more.Value {
			p.Unchecked(open, fact.Sentence("they rose from %s to %s, by no more than the goroutines that open them (%s): each may hold what it works with", first, last, workers), p.RecordAgain(60, "longer.gowhy"))
			return
		}
		if l := p.Model.Load; l != nil && more.Value-float64(l.Connections) < least {
			p.Doubt(open, fact.Sentence("they rose from %s to %s, and the load had up to %s connections", first, last,
				loadFact(p, "connections", float64(l.Connections), fact.Count)), p.RecordAgain(60, "longer.gowhy"))
			return
		}
		p.Report(descriptorFinding(p, first, last, more, over))
	}
}

// fewDescriptors describes a growth that goes on and is too small to accuse, with the line that
// opens as many.
func fewDescriptors(p *diagnosis.Pass, first, last, more fact.Fact) string {
	words := fact.Sentence("they rose from %s to %s at one pace to the end of the window, by too few to tell a leak from more clients", first, last)
	if places, opened, _ := opener(p); opened.Value >= descriptorsOpened*more.Value {
		words += fact.Sentence("; most are opened in %s", fact.Name(code.Line(places[0])))
	}
	return words
}

// openers returns how many goroutines lived at once of those that open most descriptors: as
// many are no leak. A pool of a thousand workers that wait for a CPU, each with a file,
// had 616 more than at its start.
func openers(p *diagnosis.Pass) fact.Fact {
	_, _, stacks := opener(p)
	var groups []string
	for _, s := range stacks {
		if g := code.Group(p.Model, code.Root(p.Model, s)); g != nil && !slices.Contains(groups, g.Name) {
			groups = append(groups, g.Name)
		}
	}
	if len(groups) == 0 {
		return fact.Fact{}
	}
	return p.Goroutines("goroutines that open them, at once", groups, "peak")
}

func descriptorFinding(p *diagnosis.Pass, first, last, more fact.Fact, over time.Duration) diagnosis.Finding {
	pace := p.Process("growth of the number of descriptors, by its Theil-Sen slope", "files", fact.Trend)
	f := diagnosis.Finding{
		Grows:      true,
		Evidence:   []fact.Fact{pace, first, last},
		Cost:       diagnosis.CostOf(more, fact.Fraction.Of("", fact.Ratio, more, last).Value),
		Bound:      noSaving(fact.Bytes, diagnosis.MemoryGoal, "what each holds in the kernel and in the heap is not counted"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the kernel's own count, at one pace to the end of the window"},
		RuledOut: []string{
			"a pool that fills, and clients that connect at the start: as many come in the second half of the window",
			fact.Sentence("files that are opened and closed again: %s more stay", more),
		},
		Remedy: closeAll,
		Experiment: codeChange(diagnosis.PeakRSS, "", "In a recording of the changed program the number of descriptors stays level: "+
			"that decides, for what each holds is little."),
	}
	format, parts := "The process has %s more descriptors open after %s: from %s to %s, by %s.", []fact.Part{more, fact.Name(fact.Seconds.Format(over.Seconds())), first, last, pace}
	if places, opened, stacks := opener(p); opened.Value >= descriptorsOpened*more.Value {
		f.Where, f.Stacks = code.Places(places...), stacks
		f.Evidence = append(f.Evidence, opened)
		format, parts = format+" Most are opened in %s.", append(parts, code.Name(places[0].Function))
		if startsCommand(p.Model, stacks[0]) {
			f.Remedy = waitForAll
		}
		f.Reasons = append(f.Reasons, "the line opens that many in the window; that it is these which stay open follows from the number alone")
	}
	if l := p.Model.Limits; l != nil && float64(l.Files) > last.Value && pace.Value > 0 {
		limit := p.Setting("descriptors that the process may have", "RLIMIT_NOFILE", float64(l.Files), fact.Count)
		left := fact.Quotient.Of("time to the limit", fact.Seconds, fact.Difference.Of("descriptors left", fact.Count, limit, last), pace)
		f.Evidence = append(f.Evidence, left)
		format, parts = format+" At that pace the limit of %s is reached in %s.", append(parts, limit, left)
	}
	f.Say(format, parts...)
	if over < descriptorsLong {
		f.Reasons = append(f.Reasons, "in so short a time clients that come and stay look the same: record a minute")
	}
	adviseRelease(p, &f)
	return f
}

// opens are the functions of the library through which descriptors come.
var opens = []string{"os.Open", "os.Create", "os.NewFile", "os.Pipe", "net.(*Dialer).Dial", "net.Dial", "net.(*TCPListener).Accept", "net.(*UnixListener).Accept",
	"net.Listen", "net.(*sysDialer)", "syscall.Open", "syscall.Socket", "golang.org/x/sys/unix.Open"}

// closeAll and waitForAll are what lets descriptors go: of files and connections, and of commands.
var (
	closeAll = diagnosis.Remedy{
		Text: "Close what is opened, also where an error returns early: `defer f.Close()` behind the check of the error, " +
			"and the body of each response, read to its end. " +
			"Make one http.Client and one sql.DB for all: each of its own keeps its connections. " +
			"At the limit of descriptors every open, accept and dial fails with EMFILE.",
		Code: "f, err := os.Open(name)\nif err != nil {\n\treturn err\n}\ndefer f.Close()",
	}
	waitForAll = diagnosis.Remedy{
		Text: "Wait for each command that is started: Wait lets go of its descriptors and of its entry in the kernel's table " +
			"of processes, which an ended one keeps until then. At the limit of either no command starts.",
		Code: "if err := cmd.Start(); err != nil {\n\treturn err\n}\ngo cmd.Wait() // or wait where its result is needed",
	}
)

// openedConnections returns how many connections were opened from either end, as far as the trace has it.
func openedConnections(m *model.Model) (n float64) {
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		if frames := m.Stacks.Frames(w.Stack); w.Kind == model.SyscallWait && opensDescriptor(frames) &&
			!code.ContainsFunc(frames, func(f string) bool { return strings.HasPrefix(f, "syscall.open") }) {
			n += float64(w.Count)
		}
	}
	return n
}

// startsCommand reports whether descriptors are those of a command that is started.
func startsCommand(m *model.Model, s model.Stack) bool {
	return code.ContainsAny(m.Stacks.Frames(s), []string{"os/exec.(*Cmd).Start", "os.StartProcess"})
}

// opener returns the line of the program that opens most, by the system calls of the trace, and
// those that open as many, with all calls of theirs.
func opener(p *diagnosis.Pass) (places []diagnosis.Place, opened fact.Fact, stacks []model.Stack) {
	if p.Model.Sched == nil {
		return nil, opened, nil
	}
	counts, by := map[diagnosis.Place]float64{}, map[diagnosis.Place][]model.Stack{}
	accepted, balance, groups := map[diagnosis.Place]bool{}, map[string]float64{}, map[diagnosis.Place]map[string]bool{}
	for i := range p.Model.Sched.Waits {
		w := &p.Model.Sched.Waits[i]
		frames := p.Model.Stacks.Frames(w.Stack)
		if w.Kind == model.SyscallWait && code.ContainsFunc(frames, func(f string) bool { return f == "syscall.Close" }) {
			balance[w.Group] -= float64(w.Count)
		}
		if w.Kind != model.SyscallWait || !opensDescriptor(frames) {
			continue
		}
		balance[w.Group] += descriptorsClosed * float64(w.Count)
		if at, ok := p.UserPlace(w.Stack); ok {
			if groups[at] == nil {
				groups[at] = map[string]bool{}
			}
			groups[at][w.Group] = true
			by[at] = append(by[at], w.Stack)
			counts[at] += float64(w.Count)
			accepted[at] = accepts(frames)
		}
	}
	// A listener asks once more for each connection, in vain, before it waits for the next.
	least := func(place diagnosis.Place) float64 {
		if accepted[place] {
			return counts[place] / 2
		}
		return counts[place]
	}
	order := slices.SortedFunc(maps.Keys(counts), func(a, b diagnosis.Place) int {
		return cmp.Or(cmp.Compare(least(b), least(a)), cmp.Compare(a.Function, b.Function), cmp.Compare(a.Line, b.Line))
	})
	if kept := slices.DeleteFunc(slices.Clone(order), func(place diagnosis.Place) bool {
		for g := range groups[place] {
			if balance[g] > 0 {
				return false
			}
		}
		return true
	}); len(kept) > 0 {
		order = kept
	}
	if len(order) == 0 {
		return nil, opened, nil
	}
	most := order[0]
	for _, place := range order {
		if least(place) >= descriptorsAlike*least(most) {
			places, stacks = append(places, place), append(stacks, by[place]...)
		}
	}
	// Of both ends of connections whoever opens them is to close them.
	slices.SortStableFunc(places, func(a, b diagnosis.Place) int {
		return cmp.Compare(counts[a]-least(a), counts[b]-least(b))
	})
	where := code.Line(places[0])
	if len(places) > 1 {
		where += " and the others"
	}
	return places, p.WaitCount("system calls that open in "+where, model.SyscallWait, func(w *model.Wait) bool { return slices.Contains(stacks, w.Stack) }), stacks
}

// accepts reports whether a system call takes a connection that somebody else opens.
func accepts(frames []model.Frame) bool {
	return code.ContainsFunc(frames, func(f string) bool { return strings.HasPrefix(f, "syscall.accept") })
}

// opensDescriptor reports whether a system call is made to open something: of a few calls
// that opening a file takes, the one that gives the descriptor, and of a dial connecting, for the
// trace has no raw system calls, and making a socket is one.
func opensDescriptor(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, opens) && code.ContainsFunc(frames, func(f string) bool {
		return strings.HasPrefix(f, "syscall.open") || strings.HasPrefix(f, "syscall.connect") || strings.HasPrefix(f, "syscall.accept")
	})
}
