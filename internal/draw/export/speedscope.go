package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Speedscope writes the file format of speedscope: the profile that the options
// choose or all that there are, each by its sample type that a reader wants
// first, and with [Options.Slices] what ran on each P over time.
//
// speedscope holds all of a file in memory and draws single stretches, so that
// it gets at most maxStretches of these, the first ones; the names of the profiles say so.
// A time line of a long trace is for Perfetto.
func Speedscope(w io.Writer, m *model.Model, o Options) error {
	s := &speedscope{w: bufio.NewWriterSize(w, 1<<16), index: map[model.Frame]int{}}
	if err := s.collect(m, o); err != nil {
		return err
	}
	if o.Slices != nil && o.Profile == "" {
		s.timelines(o)
	}
	return s.write(m)
}

// maxStretches is what speedscope draws without delay on a laptop.
const maxStretches = 100_000

// speedscope is a file while it is made. The format puts the frames of all
// profiles first, so that nothing is written before all are known.
type speedscope struct {
	w        *bufio.Writer
	frames   []model.Frame
	index    map[model.Frame]int // in frames; without the program counter
	profiles []scopeProfile
}

// A scopeProfile is one profile: sampled, or with events.
type scopeProfile struct {
	name    string
	unit    string // one of the format's
	end     int64
	samples [][]int // root first
	weights []int64
	events  []scopeEvent
}

type scopeEvent struct {
	open  bool
	at    int64
	frame int
}

// scopeUnits are the format's names of units; what it does not know has none.
var scopeUnits = map[string]string{"nanoseconds": "nanoseconds", "microseconds": "microseconds", "milliseconds": "milliseconds", "seconds": "seconds", "bytes": "bytes"}

func (s *speedscope) frame(f model.Frame) int {
	f.PC = 0
	i, ok := s.index[f]
	if !ok {
		i = len(s.frames)
		s.index[f] = i
		s.frames = append(s.frames, f)
	}
	return i
}

func (s *speedscope) collect(m *model.Model, o Options) error {
	wanted := []Profile{o.Profile}
	if o.Profile == "" {
		if err := o.checkGroup(m); err != nil {
			return err
		}
		if wanted = ProfilesOf(m); len(wanted) == 0 {
			return missing(m, model.CPU, "profiles", "none was recorded")
		}
	}
	var last error
	for _, p := range wanted {
		of := o
		of.Profile = p
		list, err := collect(m, of)
		if err != nil { // of a group that this profile knows nothing of
			last = err
			continue
		}
		s.sampled(p, list)
	}
	if len(s.profiles) == 0 {
		return last
	}
	return nil
}

func (s *speedscope) sampled(name Profile, list samples) {
	if list.defaultType < 0 || list.defaultType >= len(list.types) {
		return
	}
	p := scopeProfile{name: string(name), unit: cmp.Or(scopeUnits[list.types[list.defaultType].Unit], "none")}
	for _, c := range list.list {
		if list.defaultType >= len(c.values) || c.values[list.defaultType] <= 0 {
			continue
		}
		stack := make([]int, 0, len(c.frames))
		for _, f := range slices.Backward(c.frames) {
			stack = append(stack, s.frame(f))
		}
		if len(stack) == 0 {
			stack = append(stack, s.frame(model.Frame{Func: noStack}))
		}
		p.samples, p.weights = append(p.samples, stack), append(p.weights, c.values[list.defaultType])
		p.end += c.values[list.defaultType]
	}
	s.profiles = append(s.profiles, p)
}

// timelines makes a profile of each P: the start function of whoever ran, and
// under it what the stretch was, when that is not just running.
func (s *speedscope) timelines(o Options) {
	byProc := map[int]*scopeProfile{}
	n := 0
	for run := range o.Slices {
		if run.Proc < 0 || !o.keeps(run.Group) {
			continue
		}
		if n == maxStretches {
			break
		}
		n++
		p := byProc[run.Proc]
		if p == nil {
			p = &scopeProfile{name: fmt.Sprint("P ", run.Proc), unit: "nanoseconds"}
			byProc[run.Proc] = p
		}
		s.stretch(p, run)
	}
	for _, id := range sortedKeysOf(byProc) {
		p := byProc[id]
		if n == maxStretches {
			p.name += fmt.Sprintf(" (of the first %d stretches)", n)
		}
		s.profiles = append(s.profiles, *p)
	}
}

func (s *speedscope) stretch(p *scopeProfile, run Slice) {
	begin, end := max(int64(run.Begin), p.end), int64(run.End)
	if end <= begin { // the format wants the events of a profile in order of time
		return
	}
	p.end = end
	outer := s.frame(model.Frame{Func: cmp.Or(run.Group, noName)})
	p.events = append(p.events, scopeEvent{true, begin, outer})
	if run.Name != "" && run.Name != run.Group {
		inner := s.frame(model.Frame{Func: run.Name})
		p.events = append(p.events, scopeEvent{true, begin, inner}, scopeEvent{false, end, inner})
	}
	p.events = append(p.events, scopeEvent{false, end, outer})
}

func sortedKeysOf[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

const scopeSchema = "https://www.speedscope.app/file-format-schema.json"

// write writes the file. Errors of w stay with the buffer until it is flushed.
func (s *speedscope) write(m *model.Model) error {
	fmt.Fprintf(s.w, "{\"$schema\":%q,\"exporter\":\"gowhy\",\"name\":%s,\"activeProfileIndex\":%d,\n\"shared\":{\"frames\":[", scopeSchema, quote(scopeName(m)), s.active())
	for i, f := range s.frames {
		s.comma(i)
		fmt.Fprintf(s.w, "{\"name\":%s", quote(cmp.Or(f.Func, noName)))
		if f.File != "" {
			fmt.Fprintf(s.w, ",\"file\":%s", quote(f.File))
		}
		if f.Line > 0 {
			fmt.Fprintf(s.w, ",\"line\":%d", f.Line)
		}
		s.w.WriteByte('}')
	}
	s.w.WriteString("]},\n\"profiles\":[")
	for i := range s.profiles {
		s.comma(i)
		s.profile(&s.profiles[i])
	}
	s.w.WriteString("]}\n")
	return s.w.Flush()
}

// active returns the profile that a reader wants first: where CPU time went, else where
// goroutine time did.
func (s *speedscope) active() int {
	for _, p := range []Profile{CPU, Kernel, States} {
		if i := slices.IndexFunc(s.profiles, func(q scopeProfile) bool { return q.name == string(p) }); i >= 0 {
			return i
		}
	}
	return 0
}

// comma begins a line of a list.
func (s *speedscope) comma(i int) {
	if i > 0 {
		s.w.WriteByte(',')
	}
	s.w.WriteByte('\n')
}

// scopeName returns the viewer's title.
func scopeName(m *model.Model) string {
	name := cmp.Or(m.Run.Go, "Go program")
	if d := m.Run.Duration; d > 0 {
		name += ", " + figures.Duration(d)
	}
	return name
}

func (s *speedscope) profile(p *scopeProfile) {
	kind := "sampled"
	if p.events != nil {
		kind = "evented"
	}
	fmt.Fprintf(s.w, "{\"type\":%q,\"name\":%s,\"unit\":%q,\"startValue\":0,\"endValue\":%d,\n", kind, quote(p.name), p.unit, p.end)
	if p.events != nil {
		s.w.WriteString("\"events\":[")
		for i, e := range p.events {
			s.comma(i)
			what := "C"
			if e.open {
				what = "O"
			}
			fmt.Fprintf(s.w, "{\"type\":%q,\"frame\":%d,\"at\":%d}", what, e.frame, e.at)
		}
		s.w.WriteString("]}")
		return
	}
	s.w.WriteString("\"samples\":[")
	for i, stack := range p.samples {
		s.comma(i)
		s.w.Write(appendNumbers(s.w.AvailableBuffer(), stack))
	}
	s.w.WriteString("],\n\"weights\":")
	s.w.Write(appendNumbers(s.w.AvailableBuffer(), p.weights))
	s.w.WriteByte('}')
}

// appendNumbers appends a list of numbers as JSON.
func appendNumbers[N int | int64](b []byte, list []N) []byte {
	b = append(b, '[')
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}
