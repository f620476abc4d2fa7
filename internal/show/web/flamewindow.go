package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
)

// stacksPatience is how long the stacks of a window are waited for: pieces of the
// trace are read again for them.
const stacksPatience = 20 * time.Second

// flameModel returns the model that a flame graph is made of: the run's model, or for a
// window (from, to) what the trace and the kernel's samples have of it, as a model of its
// own. note says what of the window was looked at.
func (v *View) flameModel(q url.Values) (m *model.Model, note string, err error) {
	if q.Get("from") == "" && q.Get("to") == "" {
		return v.Model, "", nil
	}
	if q.Get("base") != "" {
		return nil, "", misuse("a window of a run cannot be compared with another run")
	}
	if v.Timeline == nil {
		return nil, "", v.noTrace()
	}
	from, to, err := v.timelineWindow(q)
	if err != nil {
		return nil, "", err
	}
	ctx, done := context.WithTimeout(context.Background(), stacksPatience)
	defer done()
	s, err := v.Timeline.Stacks(ctx, from, to)
	switch {
	case err != nil:
		return nil, "", timeProblem(err)
	case s.Pending:
		return nil, "", refuse(http.StatusServiceUnavailable, "try again, or choose a shorter window", "the trace is still being read for this window")
	}
	note = fmt.Sprintf("%s of the trace, from %s on.", figures.Duration(s.To-s.From), figures.Duration(s.From))
	if s.Partial != "" {
		note += " " + s.Partial + "."
	}
	m = &model.Model{Run: model.Run{Go: v.Model.Run.Go, Duration: s.To - s.From}, Build: v.Model.Build, Sched: &model.Sched{}}
	m.CPU = &model.Profile{Types: cpuTypes, Duration: s.To - s.From, FromTrace: true}
	for i := range s.Stacks {
		addStack(m, &s.Stacks[i])
	}
	if len(m.CPU.Samples) == 0 {
		m.CPU = nil
	}
	if k := v.kernelSamples(); k != nil {
		m.Kernel = k.profile(m, s.From, s.To)
	}
	return m, note, nil
}

var cpuTypes = []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}}

// waitKinds are the trees that have a state of a goroutine.
var waitKinds = map[timeline.State]model.WaitKind{
	timeline.Runnable: model.SchedWait, timeline.Syscall: model.SyscallWait, timeline.Sync: model.Sync, timeline.Net: model.Net, timeline.Wait: model.OtherWait,
}

func addStack(m *model.Model, s *timeline.StackTotal) {
	frames := make([]model.Frame, len(s.Stack))
	for i, f := range s.Stack {
		frames[i] = model.Frame(f)
	}
	stack := m.Stacks.Add(frames)
	if s.Sampled {
		m.CPU.Samples = append(m.CPU.Samples, model.Sample{Stack: stack, Values: []int64{s.Count, int64(s.Time)}, Group: s.Group})
	} else if kind, ok := waitKinds[s.State]; ok {
		m.Sched.Waits = append(m.Sched.Waits, model.Wait{Kind: kind, Stack: stack, Group: s.Group, Count: s.Count, Total: s.Time})
	}
}

// profile returns the kernel's samples of a window; nil where that is nothing.
func (k *kernelSamples) profile(m *model.Model, from, to time.Duration) *model.Kernel {
	number := map[int32]int{} // of a sample of the run, in the window
	p := &model.Profile{Types: cpuTypes, Duration: to - from}
	for _, x := range k.list[firstAfter(k.list, from-1):firstAfter(k.list, to)] {
		i, known := number[x.Sample]
		if !known {
			s := &k.m.Kernel.CPU.Samples[x.Sample]
			i = len(p.Samples)
			number[x.Sample] = i
			p.Samples = append(p.Samples, model.Sample{Stack: m.Stacks.Add(k.m.Stacks.Frames(s.Stack)), Values: []int64{0, 0}, Group: s.Group, Labels: s.Labels})
		}
		p.Samples[i].Values[0]++
		p.Samples[i].Values[1] += int64(k.period)
	}
	if len(p.Samples) == 0 {
		return nil
	}
	return &model.Kernel{CPU: p, UserOnly: k.m.Kernel.UserOnly}
}

// noStacks returns the answer where nothing has a stack.
func noStacks(q url.Values, hint string) error {
	if q.Get("from") != "" || q.Get("to") != "" {
		return problem.New(problem.Absence, "choose a longer window", "there are no stacks in this window")
	}
	return missing("this run has no stacks with a value", hint)
}

// kindIn returns the kind that was asked for, or the first that there is: a window may
// lack what the run has.
func kindIn(kinds []flame.Kind, asked string, window bool) string {
	for _, k := range kinds {
		if k.Name == asked {
			return asked
		}
	}
	if asked == "" || window {
		return kinds[0].Name
	}
	return asked
}
