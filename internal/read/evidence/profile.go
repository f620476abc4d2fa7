package evidence

import (
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/know/model"
)

// Limits on the frames of profiles. A few hundred bytes can name one location
// a thousand times, so the size of a file bounds nothing.
const (
	maxStackFrames   = 1 << 10
	maxProfileFrames = 8 << 20 // of a profile, and of all that differ together
)

// profile reads a profile in pprof's format or OpenTelemetry's, unpacked by now, into the model.
func (l *loader) profile(s source) error {
	if l.onlyTrace != nil {
		return nil
	}
	data, err := l.readAll(s, maxProfile)
	if data == nil {
		return err
	}
	if isOTLP(data) {
		return l.otlp(s.name, data)
	}
	p, err := profile.ParseUncompressed(data)
	if err == nil && len(p.SampleType) == 0 {
		err = fmt.Errorf("it has no sample types")
	}
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return l.pass(problem.New(problem.Absence, recordHelp, "%q is neither a trace nor a profile, nor a text that gowhy reads (as a profile: %w)", s.name, err))
	}
	return l.foldProfile(&pprofFile{Profile: p, name: s.name, member: s.member})
}

// readAll reads all of a source that is at most limit bytes long. Data is nil
// when it is longer or broken; the error is then what to return.
func (l *loader) readAll(s source, limit int64) (data []byte, err error) {
	data, err = io.ReadAll(io.LimitReader(ctxReader{l.ctx, s.r}, limit+1))
	switch {
	case l.ctx.Err() != nil:
		return nil, l.ctx.Err()
	case err != nil:
		return nil, l.pass(cutProblem(s.name, err))
	case int64(len(data)) > limit:
		return nil, l.pass(problem.New(problem.Failure, "go tool pprof -proto -o small.pb.gz "+shell.Word(s.name), "%q is larger than %d MiB unpacked", s.name, limit>>20))
	case data == nil:
		data = []byte{}
	}
	return data, nil
}

func (l *loader) foldProfile(p *pprofFile) error {
	f, ok := profileFormat(p)
	if !ok {
		return l.pass(problem.New(problem.Absence, "give a trace, a CPU profile or a heap profile", "%q is a %s profile, which is not read", p.name, typeName(p.Profile)))
	}
	return f.fold(l, f, p)
}

func typeName(p *profile.Profile) string {
	var names []string
	for _, t := range p.SampleType {
		names = append(names, t.Type)
	}
	return fmt.Sprintf("%q", strings.Join(names, "/"))
}

// start returns when a profile was taken or begun; zero when it does not say.
func (p *pprofFile) start() time.Time {
	if p.TimeNanos <= 0 {
		return time.Time{}
	}
	return time.Unix(0, p.TimeNanos)
}

// alignProfile puts a profile on the model's clock.
func (l *loader) alignProfile(m *model.Profile, at time.Time) {
	l.align(func(c clock) { m.At, m.Known = c.since(at) })
}

// takeProfile converts a profile of which there can be only one.
func (l *loader) takeProfile(f format, p *pprofFile) (*model.Profile, error) {
	if err := l.take(f.source, f.what, p.name); err != nil {
		return nil, err
	}
	return l.convert(p)
}

// convert interns the stacks, copies the values and puts the profile on the
// model's clock.
func (l *loader) convert(p *pprofFile) (*model.Profile, error) {
	m := &model.Profile{Duration: max(0, time.Duration(p.DurationNanos))}
	for _, t := range p.SampleType {
		m.Types = append(m.Types, model.ValueType{Name: t.Type, Unit: t.Unit})
	}
	known := map[string]model.Stack{}
	unfolded := 0
	for _, s := range p.Sample {
		key := locationKey(s)
		stack, ok := known[key]
		if !ok {
			frames := framesOf(s)
			if unfolded += len(frames); unfolded > maxProfileFrames {
				return nil, tooDeep(p.name)
			}
			var err error
			if stack, err = l.intern(p.name, frames); err != nil {
				return nil, err
			}
			known[key] = stack
		}
		m.Samples = append(m.Samples, model.Sample{Stack: stack, Values: s.Value, Labels: labels(s)})
	}
	l.alignProfile(m, p.start())
	if m.Duration > 0 {
		l.covers(spanOfProfile, p.start(), p.start().Add(m.Duration))
	}
	return m, nil
}

// intern returns the identity of a profile's stack; equal stacks of several
// profiles have the same one, so that they can be compared. Functions get the names
// that a trace has for them.
func (l *loader) intern(name string, frames []model.Frame) (model.Stack, error) {
	if len(frames) == 0 {
		return 0, nil
	}
	for i := range frames {
		frames[i].Func = tracedName(frames[i].Func)
	}
	key := l.framesKey(frames)
	if s, ok := l.stacks[key]; ok {
		return s, nil
	}
	if l.frames += len(frames); l.frames > maxProfileFrames {
		return 0, tooDeep(name)
	}
	s := l.m.Stacks.Add(frames)
	l.stacks[key] = s
	return s, nil
}

func tooDeep(name string) *problem.Error {
	return problem.New(problem.Failure, "", "the stacks of %q have, with those of the profiles before it, more than %d frames", name, maxProfileFrames)
}

// framesKey returns frames as one value that can be compared. Names are in it
// by number: a hostile profile has one name of a megabyte in every frame.
func (l *loader) framesKey(frames []model.Frame) string {
	b := make([]byte, 0, 16*len(frames))
	for _, f := range frames {
		b = binary.AppendUvarint(b, f.PC)
		b = binary.AppendVarint(b, int64(f.Line))
		b = binary.AppendUvarint(b, l.number(f.Func))
		b = binary.AppendUvarint(b, l.number(f.File))
	}
	return string(b)
}

// number returns the number of a name.
func (l *loader) number(name string) uint64 {
	n, ok := l.names[name]
	if !ok {
		n = uint64(len(l.names))
		l.names[name] = n
	}
	return n
}

// tracedName returns a function's name as the runtime prints and traces it: in place of what it is made for,
// which a symbol spells out, it has three dots.
func tracedName(function string) string {
	i := strings.Index(function, "[go.shape.")
	if i < 0 {
		return function
	}
	j := strings.LastIndexByte(function, ']')
	if j < i {
		return function
	}
	return function[:i] + "[...]" + function[j+1:]
}

// maxName is how much of a function's name or a path is kept: instances of
// generic functions have the longest, some hundred bytes.
const maxName = 4 << 10

func clipName(name string) string { return name[:min(len(name), maxName)] }

func locationKey(s *profile.Sample) string {
	var b []byte
	for _, loc := range s.Location[:min(len(s.Location), maxStackFrames)] {
		b = binary.LittleEndian.AppendUint64(b, loc.ID)
	}
	return string(b)
}

// framesOf returns the frames of a sample, leaf first. Inlined calls of one
// location are innermost first, as in the file.
func framesOf(s *profile.Sample) []model.Frame {
	var frames []model.Frame
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			if len(frames) == maxStackFrames {
				return frames
			}
			f := model.Frame{PC: loc.Address, Line: int(line.Line)}
			if line.Function != nil {
				f.Func, f.File = clipName(line.Function.Name), clipName(line.Function.Filename)
			}
			frames = append(frames, f)
		}
		if len(loc.Line) == 0 && len(frames) < maxStackFrames {
			frames = append(frames, model.Frame{PC: loc.Address, Func: hexName(loc.Address)})
		}
	}
	return frames
}

// hexName stands in for the name of a function that nothing names.
func hexName(pc uint64) string { return fmt.Sprintf("0x%x", pc) }

func labels(s *profile.Sample) map[string]string {
	if len(s.Label) == 0 {
		return nil
	}
	m := make(map[string]string, len(s.Label))
	for k, v := range s.Label {
		m[k] = strings.Join(v, ",")
	}
	return m
}

// labelKey returns labels as one value that can be compared.
func labelKey(labels map[string]string) string {
	if len(labels) == 0 {
		return ""
	}
	var b []byte
	for _, k := range slices.Sorted(maps.Keys(labels)) {
		b = binary.AppendUvarint(b, uint64(len(k)))
		b = append(b, k...)
		b = binary.AppendUvarint(b, uint64(len(labels[k])))
		b = append(b, labels[k]...)
	}
	return string(b)
}

// A tally adds samples of equal stack and labels up.
type tally struct {
	p    *model.Profile
	at   map[tallyKey]int // index in p.Samples
	most int              // samples that keep their labels
}

type tallyKey struct {
	stack  model.Stack
	labels string
}

func newTally(types ...model.ValueType) *tally {
	return &tally{p: &model.Profile{Types: types}, at: map[tallyKey]int{}, most: maxTallyKeys}
}

// maxTallyKeys is how many samples keep their labels: the frames of stacks are
// bounded elsewhere, and labels need not repeat.
const maxTallyKeys = 1 << 20

// add adds sign times values to what the stack has. It keeps none of its arguments.
func (t *tally) add(stack model.Stack, labels map[string]string, sign int64, values ...int64) {
	key := tallyKey{stack, labelKey(labels)}
	i, ok := t.at[key]
	if !ok && len(t.at) >= t.most && labels != nil {
		labels, key = nil, tallyKey{stack: stack}
		i, ok = t.at[key]
	}
	if !ok {
		i = len(t.p.Samples)
		t.at[key] = i
		t.p.Samples = append(t.p.Samples, model.Sample{Stack: stack, Values: make([]int64, len(t.p.Types)), Labels: maps.Clone(labels)})
	}
	for j := range min(len(values), len(t.p.Types)) {
		t.p.Samples[i].Values[j] += sign * values[j]
	}
}

// profileDelta returns what a profile that only grows has grown by from start to
// end. A value that shrank, which sampled counts do by scaling, grew by 0; a
// stack that did not grow at all is left out.
func profileDelta(start, end *model.Profile) *model.Profile {
	t := newTally(end.Types...)
	for i := range end.Samples {
		s := &end.Samples[i]
		t.add(s.Stack, s.Labels, 1, s.Values...)
	}
	for i := range start.Samples {
		s := &start.Samples[i]
		t.add(s.Stack, s.Labels, -1, s.Values...)
	}
	t.p.Samples = slices.DeleteFunc(t.p.Samples, func(s model.Sample) bool {
		grew := false
		for i, v := range s.Values {
			s.Values[i] = max(0, v)
			grew = grew || v > 0
		}
		return !grew
	})
	return t.p
}

// maxRuntimeStack is where the runtime's profiler cuts stacks (64 frames, 128
// since Go 1.23): the outermost frame of a shorter one is where its goroutine
// began.
const maxRuntimeStack = 64

// nameGroups gives each sample the start function of its goroutine, as far as
// its stack shows it.
func nameGroups(stacks *model.Stacks, p *model.Profile) {
	for i := range p.Samples {
		frames := stacks.Frames(p.Samples[i].Stack)
		if n := len(frames); n > 0 && n < maxRuntimeStack {
			p.Samples[i].Group = startFunction(frames)
		}
	}
}

func startFunction(frames []model.Frame) string {
	root := len(frames) - 1
	if frames[root].Func == "runtime.goexit" && root > 0 {
		root--
	}
	switch f := frames[root].Func; f {
	case "runtime.mstart", "runtime.mstart0", "runtime.mstart1", "runtime.mcall", "runtime.systemstack", "runtime.morestack",
		"runtime._System", "runtime._ExternalCode", "runtime._GC", "runtime._VDSO", "runtime._LostExternalCode":
		return "" // the scheduler's own stack, not a goroutine's
	default:
		return f
	}
}
