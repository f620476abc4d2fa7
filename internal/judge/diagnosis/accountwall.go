package diagnosis

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// wallAccount lists what all goroutines did with their time, running or waiting. Waiting for
// work is most of it in any server: that ranks nothing, so what ran comes with it.
func wallAccount(p fact.Meter) *Account {
	total := p.Samples("time of goroutines", "wall", nil)
	rows := rowsOf(p, "wall", total, byState)
	if len(rows) == 0 {
		return nil
	}
	of := func(s *model.Sample) string { return sampledState(s, p.Model.Stacks.Frames(s.Stack)) }
	var states []string
	for _, state := range p.Largest("wall", of) {
		part := p.SampleShare("part", "wall", func(s *model.Sample) bool { return of(s) == state })
		if part.Value < kindShare || len(states) == workKinds {
			break
		}
		states = append(states, fact.Sentence(state+" %s", part))
	}
	text := fact.Sentence("%s of goroutines' time%s: %s.", total, atOnce(p.Model.Wall, total), fact.Name(strings.Join(states, ", ")))
	ran := p.Samples("running", "wall", func(s *model.Sample) bool { return of(s) == running })
	if ran.Value > 0 {
		most := p.Largest("wall", func(s *model.Sample) string {
			if of(s) != running {
				return ""
			}
			return byState(p.Model.Stacks.Frames(s.Stack)).name
		})
		if i := firstNamed(most); i >= 0 {
			text += fact.Sentence(" What ran for %s was mostly %s.", ran, fact.Name(most[i]))
		}
	}
	return &Account{Text: text, Rows: rows}
}

// byState returns the program's function on a stack, and what it does there.
func byState(frames []model.Frame) owner {
	o := byFunction(frames)
	if _, ok := model.UserFrame(frames); !ok {
		if i := slices.IndexFunc(frames, func(f model.Frame) bool { return !parking(f.Func) }); i >= 0 {
			o = owner{name: frames[i].Func, frame: frames[i]}
		}
	}
	o.with = stateOf(frames)
	return o
}

// parking reports whether a function is of the runtime, or of what it waits with.
func parking(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "internal/poll.")
}

// sampledState returns what a goroutine does, by its stack, and by the state that gowhy writes
// beside it: one that was made ready still has the stack of its wait.
func sampledState(s *model.Sample, frames []model.Frame) string {
	if s.Labels["state"] == model.StateRunnable {
		return running
	}
	return stateOf(frames)
}

// running is the state of what does not wait: it runs, or would as soon as it had a P.
const running = "running"

// stateOf says what a goroutine does whose stack this is.
func stateOf(frames []model.Frame) string {
	if len(frames) == 0 {
		return running
	}
	for _, f := range frames[:min(len(frames), stateFrames)] {
		switch {
		case f.Func == "runtime.netpollblock", f.Func == "internal/poll.runtime_pollWait":
			return "network"
		case f.Func == "time.Sleep":
			return "sleep"
		case strings.HasPrefix(f.Func, "syscall."), strings.HasPrefix(f.Func, "internal/runtime/syscall."), f.Func == "runtime.cgocall":
			return "system call or C"
		}
	}
	if what := waitedFor(frames); what != "other waits" {
		return what
	}
	switch frames[0].Func {
	case "runtime.gopark", "runtime.goparkunlock", "runtime.sigNoteSleep", "runtime.notetsleepg":
		return "other waits"
	}
	return running
}

// stateFrames is how deep below the leaf what parks a goroutine is called.
const stateFrames = 6
