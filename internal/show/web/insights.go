package web

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/draw/timeline"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// maxInsights are as many stretches as can be told apart on a screen.
const maxInsights = 200

// insights returns the findings that groups of goroutines show, with when they do.
func (v *View) insights() []Insight {
	list := []Insight{}
	if v.Diagnosis == nil {
		return list
	}
	l := newLinker(v)
	for i := range v.Diagnosis.Findings {
		f := &v.Diagnosis.Findings[i]
		main := l.main(f)
		groups := l.groupsOf(f)
		if !main.goroutines || len(groups) == 0 {
			continue
		}
		in := Insight{Finding: i + 1, Title: f.Title, Remark: f.Remark, Group: name(groups[0]), State: main.state.String(), Windows: []Gap{}, Queue: v.queue(f)}
		for _, w := range v.Timeline.Stretches(groups[0], main.state, maxInsights) {
			in.Windows = append(in.Windows, Gap{FromNS: int64(w.From), ToNS: int64(w.To)})
		}
		if len(in.Windows) > 0 {
			list = append(list, in)
		}
	}
	return list
}

// queue says what the goroutines of a finding wait for, when somebody has it meanwhile.
func (v *View) queue(f *diagnosis.Finding) string {
	for _, s := range f.Stacks {
		for _, frame := range v.Model.Stacks.Frames(s) {
			switch {
			case strings.HasPrefix(frame.Func, "sync.(*Mutex).Lock"), strings.HasPrefix(frame.Func, "sync.(*RWMutex)."):
				return "lock"
			case strings.HasPrefix(frame.Func, "runtime.chansend"), frame.Func == "runtime.selectgo":
				return "channel"
			}
		}
	}
	return ""
}

// holds answers api/timeline/holds.
func (v *View) holds(q url.Values) (any, error) {
	if v.Timeline == nil || v.Diagnosis == nil {
		return nil, v.noTrace()
	}
	n, err := integer(q, "finding", 0, 1, int64(len(v.Diagnosis.Findings)))
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, misuse("finding= is missing")
	}
	from, to, err := v.timelineWindow(q)
	if err != nil {
		return nil, err
	}
	f := &v.Diagnosis.Findings[n-1]
	if v.queue(f) == "" {
		return nil, missing("nobody holds what this finding is about", "")
	}
	ctx, done := questionContext(q)
	defer done()
	h, err := v.Timeline.Holds(ctx, from, to, v.waitsOf(f))
	if err != nil {
		return nil, timeProblem(err)
	}
	out := Holds{Holds: slices.Clone(h.List), Total: h.Total, Partial: h.Partial, Pending: h.Pending, Holders: v.parties(h.Holders), Waiters: v.parties(h.Waiters)}
	for i := range out.Holds {
		out.Holds[i].Group = name(out.Holds[i].Group)
	}
	return out, nil
}

// waitsOf reports whether a stack of the timeline is one of a finding.
func (v *View) waitsOf(f *diagnosis.Finding) func([]timeline.Frame) bool {
	return func(stack []timeline.Frame) bool {
		return slices.ContainsFunc(f.Stacks, func(s model.Stack) bool {
			return len(stack) > 0 && slices.EqualFunc(v.Model.Stacks.Frames(s), stack, func(a model.Frame, b timeline.Frame) bool {
				return a.Func == b.Func && a.Line == b.Line
			})
		})
	}
}

func (v *View) parties(list []timeline.Party) []Party {
	out := []Party{}
	o := flame.OwnersOf(v.Model)
	for _, p := range list {
		p.Longest.Group = name(p.Longest.Group)
		out = append(out, Party{Group: name(p.Group), Stack: frames(o, p.Stack), NS: int64(p.Time), Count: p.Count, Longest: p.Longest})
	}
	return out
}
