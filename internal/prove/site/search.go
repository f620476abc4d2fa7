package site

import (
	"context"
	"maps"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/load"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// Process is the place in a command or an address for the number of a copy.
const Process = "process"

// A Search is for the capacity of a program or of a server that runs, with one
// setting or with many.
type Search struct {
	Site                                        // as all settings have it, without protocols and subjects
	Rates   experiment.CapacitySearch           // without Offer
	Command []string                            // empty for a server that runs
	URL     string                              // for the result
	Address string                              // the address of servers; empty where programs are fed
	Ready   func(address, number string) string // of a copy of a server
	Server  func(address string) (load.Protocol, error)
	Feed    func(subject.Program) (load.Protocol, error)
	Log     func(string)

	// What happens while it lasts. The label is of the setting.
	Label   func(done, of int, setting string) string
	Step    func(label string, step int, rate float64)
	Offered func(label string, rate float64, p load.Progress)
}

// An Axis is what a table varies.
type Axis struct {
	Name   string
	Values []float64
}

// Capacity returns the search with one setting.
func (s *Search) Capacity(ctx context.Context, setting experiment.Setting, label string) (*experiment.CapacityResult, error) {
	at, err := s.site(setting)
	if err != nil {
		return nil, err
	}
	defer at.Stop()
	at.Progress = func(p load.Progress, rate float64) { s.Offered(label, rate, p) }
	rates := s.Rates
	rates.Offer = at.Offer
	r, err := experiment.Capacity(ctx, rates, func(step int, rate float64, _ [2]float64) { s.Step(label, step, rate) })
	if r != nil {
		r.URL, r.Command = s.URL, s.Command
	}
	return r, err
}

// Table searches each cell. One that fails is reported and does not end the others, as long
// as one works.
func (s *Search) Table(ctx context.Context, axes []Axis) (*experiment.CapacityTable, error) {
	t := &experiment.CapacityTable{Schema: experiment.CapacitySchema}
	for _, a := range axes {
		t.Axes = append(t.Axes, a.Name)
	}
	settings := combinations(axes)
	var first error
	worked := false
	for i, setting := range settings {
		r, err := s.Capacity(ctx, setting, s.Label(i, len(settings), setting.Words(t.Axes, exact)))
		if ctx.Err() != nil {
			first = ctx.Err()
			break
		}
		if problem.Is(err, problem.Misuse) {
			return t, err
		}
		cell := experiment.Cell{Setting: setting, Search: r}
		if err != nil {
			cell.Failed, first = err.Error(), err
		}
		if r != nil {
			cell.Rate, cell.Limit = r.Low, r.Limit
			worked = worked || r.Low > 0
		}
		t.Cells = append(t.Cells, cell)
	}
	if !worked && first != nil && ctx.Err() == nil {
		return &experiment.CapacityTable{}, first
	}
	t.Conclusion = experiment.Conclude(t.Axes, t.Cells)
	return t, ctx.Err()
}

// combinations returns all settings of the axes, the last axis fastest.
func combinations(axes []Axis) []experiment.Setting {
	list := []experiment.Setting{{}}
	for _, a := range axes {
		var next []experiment.Setting
		for _, s := range list {
			for _, v := range a.Values {
				with := maps.Clone(s)
				with[a.Name] = v
				next = append(next, with)
			}
		}
		list = next
	}
	return list
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// site prepares the load and the program with a setting.
func (s *Search) site(setting experiment.Setting) (*Site, error) {
	t := s.Site
	copies := 1
	values := map[string]string{}
	for name, v := range setting {
		if name == experiment.Processes && !subject.HasPlace(s.Command, name) {
			copies = int(v)
			continue
		}
		values[name] = exact(v)
	}
	for i := range copies {
		number := strconv.Itoa(i + 1)
		if subject.HasPlace(s.Command, Process) {
			values[Process] = number
		}
		program, err := subject.Program{Command: s.Command}.WithSettings(values)
		if len(s.Command) > 0 && err != nil {
			return nil, err
		}
		if t.Feeds {
			t.Protocols = append(t.Protocols, func() (load.Protocol, error) { return s.Feed(program) })
			continue
		}
		address := strings.ReplaceAll(s.Address, "{"+Process+"}", number)
		t.Protocols = append(t.Protocols, func() (load.Protocol, error) { return s.Server(address) })
		if len(s.Command) > 0 {
			sub, err := subject.New(subject.Spec{Program: program, Ready: s.Ready(address, number), Log: s.Log})
			if err != nil {
				return nil, err
			}
			t.Subjects = append(t.Subjects, sub)
		}
	}
	return &t, nil
}
