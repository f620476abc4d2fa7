package evidence

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/model"
)

// Limits on the frames of a profile. A few hundred bytes can name one
// location a thousand times, so the size of the file bounds nothing.
const (
	maxStackFrames   = 1 << 10
	maxProfileFrames = 8 << 20
)

// profile reads a pprof profile, unpacked by now, into the model.
func (l *loader) profile(s source) error {
	if l.onlyTrace != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(ctxReader{l.ctx, s.r}, maxProfile+1))
	if l.ctx.Err() != nil {
		return l.ctx.Err()
	}
	if err != nil {
		return l.pass(cutProblem(s.name, err))
	}
	if len(data) > maxProfile {
		return l.pass(&Problem{What: fmt.Sprintf("%q is larger than %d MiB unpacked", s.name, maxProfile>>20),
			Hint: "go tool pprof -proto -o small.pb.gz " + quote(s.name)})
	}
	p, err := profile.ParseUncompressed(data)
	if err == nil && len(p.SampleType) == 0 {
		err = fmt.Errorf("it has no sample types")
	}
	if err == nil {
		err = p.CheckValid()
	}
	if err != nil {
		return l.pass(&Problem{What: fmt.Sprintf("%q is neither a trace nor a profile: %v", s.name, err),
			Hint: "gowhy record -o run.gowhy -- CMD", None: true, Err: err})
	}
	return l.foldProfile(s.name, p)
}

func (l *loader) foldProfile(name string, p *profile.Profile) error {
	switch {
	case hasType(p, "cpu"):
		if err := l.take(model.CPU, "CPU profile", name); err != nil {
			return err
		}
		m, err := l.convert(name, p)
		if err != nil {
			return err
		}
		nameGroups(&l.m.Stacks, m)
		l.m.CPU = m
		if l.m.Sched == nil && l.m.Run.Duration == 0 {
			l.m.Run.Duration = m.Duration
		}
	case hasType(p, "alloc_space"), hasType(p, "inuse_space"):
		if err := l.take(model.Heap, "heap profile", name); err != nil {
			return err
		}
		m, err := l.convert(name, p)
		if err != nil {
			return err
		}
		l.m.Heap = m
	default:
		return l.pass(&Problem{What: fmt.Sprintf("%q is a %s profile, which is not read", name, typeName(p)),
			Hint: "give a trace, a CPU profile or a heap profile", None: true})
	}
	if l.m.Run.Start.IsZero() && p.TimeNanos > 0 {
		l.m.Run.Start = time.Unix(0, p.TimeNanos)
	}
	return nil
}

func hasType(p *profile.Profile, name string) bool {
	for _, t := range p.SampleType {
		if t.Type == name {
			return true
		}
	}
	return false
}

func typeName(p *profile.Profile) string {
	var names []string
	for _, t := range p.SampleType {
		names = append(names, t.Type)
	}
	return fmt.Sprintf("%q", strings.Join(names, "/"))
}

// convert interns the stacks and copies the values.
func (l *loader) convert(name string, p *profile.Profile) (*model.Profile, error) {
	m := &model.Profile{Duration: time.Duration(p.DurationNanos)}
	for _, t := range p.SampleType {
		m.Types = append(m.Types, model.ValueType{Name: t.Type, Unit: t.Unit})
	}
	known := map[string]model.Stack{}
	frames := 0
	for _, s := range p.Sample {
		key := stackKey(s)
		stack, ok := known[key]
		if !ok {
			f := framesOf(s)
			if frames += len(f); frames > maxProfileFrames {
				return nil, &Problem{What: fmt.Sprintf("the stacks of %q have more than %d frames together", name, maxProfileFrames)}
			}
			stack = l.m.Stacks.Add(f)
			known[key] = stack
		}
		m.Samples = append(m.Samples, model.Sample{Stack: stack, Values: s.Value, Labels: labels(s)})
	}
	return m, nil
}

func stackKey(s *profile.Sample) string {
	var b strings.Builder
	for _, loc := range s.Location[:min(len(s.Location), maxStackFrames)] {
		id := loc.ID
		for range 8 {
			b.WriteByte(byte(id))
			id >>= 8
		}
	}
	return b.String()
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
				f.Func, f.File = line.Function.Name, line.Function.Filename
			}
			frames = append(frames, f)
		}
		if len(loc.Line) == 0 && len(frames) < maxStackFrames {
			frames = append(frames, model.Frame{PC: loc.Address, Func: fmt.Sprintf("0x%x", loc.Address)})
		}
	}
	return frames
}

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
