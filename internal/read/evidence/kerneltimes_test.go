package evidence

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
	"github.com/gowhy/gowhy/internal/sense/kernel"
)

// clockAt is a moment by both clocks: the recordings of these tests begin 1,000 s
// after the machine did.
var clockAt = recording.Anchor{Wall: begin, Monotonic: int64(1000 * time.Second)}

// timedResult is kernelResult with the times of its five samples.
func timedResult() *kernel.Result {
	res := kernelResult()
	at := func(ms time.Duration) time.Duration { return 1000*time.Second + ms*time.Millisecond }
	res.Moments = []kernel.Moment{{Time: at(-3), Thread: 70, CPU: 1}, {Time: at(2), Thread: 71}, {Time: at(7), Thread: 71, CPU: 3, Sample: 1},
		{Time: at(1500), Thread: 70, Sample: 2}, {Time: at(2001), Thread: 70}}
	return res
}

// timedMembers returns the members of such a recording.
func timedMembers(t *testing.T, res *kernel.Result) map[string][]byte {
	t.Helper()
	cpu, _ := artifact.KernelProfiles(res)
	var profile, times bytes.Buffer
	if err := errors.Join(cpu.Write(&profile), artifact.WriteTimes(&times, res, clockAt)); err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{recording.KernelMember: profile.Bytes(), recording.KernelTimesMember: times.Bytes()}
}

func TestTimesReachModel(t *testing.T) {
	res := timedResult()
	m := loadRecording(t, timedMembers(t, res))
	want := []model.KernelMoment{{At: -3e6, Thread: 70, CPU: 1}, {At: 2e6, Thread: 71}, {At: 7e6, Thread: 71, CPU: 3, Sample: 1},
		{At: 1500e6, Thread: 70, Sample: 2}, {At: 2001e6, Thread: 70}}
	if !reflect.DeepEqual(m.Kernel.Moments, want) || m.Kernel.MomentsLost != 0 {
		t.Errorf("the moments are %+v, %d lost, want %+v, none", m.Kernel.Moments, m.Kernel.MomentsLost, want)
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	for _, x := range m.Kernel.Moments {
		if (m.Kernel.CPU.Samples[x.Sample].Labels["mode"] == "kernel") != (x.Sample == 0) {
			t.Errorf("the stack of %+v has mode %q, want kernel for sample 0 alone",
				x, m.Kernel.CPU.Samples[x.Sample].Labels["mode"])
		}
	}
	res.MomentsLost = 12
	if m := loadRecording(t, timedMembers(t, res)); m.Kernel.MomentsLost != 12 || !noted(m, "12 samples of the kernel's") {
		t.Errorf("%d lost: %q", m.Kernel.MomentsLost, m.Run.Coverage.Notes)
	}
}

// What cannot be of the profile is left out and said, and costs nothing else.
func TestTimesThatDoNotFit(t *testing.T) {
	other := timedResult()
	other.CPU = other.CPU[:2]
	other.Moments = other.Moments[:3]
	more := timedResult()
	more.Moments = append(more.Moments, more.Moments[4])
	var twoStacks, tooMany bytes.Buffer
	if err := errors.Join(artifact.WriteTimes(&twoStacks, other, clockAt), artifact.WriteTimes(&tooMany, more, clockAt)); err != nil {
		t.Fatal(err)
	}
	for name, times := range map[string]string{
		"of a profile with 2 stacks": twoStacks.String(),
		"more samples of a stack":    tooMany.String(),
		"newer gowhy":                `{"kind":"gowhy kernel sample times","schema":9}` + "\n",
		"makes no sense":             `{"kind":"gowhy kernel sample times","schema":1,"clock":{"monotonic_ns":-1},"stacks":3}` + "\n",
	} {
		members := timedMembers(t, timedResult())
		members[recording.KernelTimesMember] = []byte(times)
		m := loadRecording(t, members)
		if m.Kernel == nil || len(m.Kernel.CPU.Samples) != 3 || m.Kernel.Moments != nil || !noted(m, name) {
			t.Errorf("%s: kernel %+v, notes %q; want 3 samples without times and a note", name, m.Kernel, m.Run.Coverage.Notes)
		}
	}
}

// A trace of the same clock needs no wall: that may have been set meanwhile.
func TestTimesOnTheTracesClock(t *testing.T) {
	for name, c := range map[string]struct {
		trace exectrace.Time
		start time.Time
		want  time.Duration
	}{
		"no trace":                   {0, begin.Add(time.Second), 500 * time.Millisecond},
		"the trace's clock":          {exectrace.Time(1001 * time.Second), begin.Add(time.Second), 500 * time.Millisecond},
		"a wall that was set":        {exectrace.Time(1001 * time.Second), begin.Add(700 * time.Millisecond), 500 * time.Millisecond},
		"another clock":              {exectrace.Time(5 * time.Second), begin.Add(time.Second), 500 * time.Millisecond},
		"a trace without the wall's": {exectrace.Time(1001 * time.Second), time.Time{}, 500 * time.Millisecond},
	} {
		l := newLoader(t.Context(), Options{})
		if l.traceStart = c.trace; c.trace != 0 {
			l.m.Sched = &model.Sched{}
		}
		since, ok := l.sinceMonotonic(clock{start: c.start}, clockAt)
		if !ok || since(1001500*time.Millisecond) != c.want {
			t.Errorf("%s: sinceMonotonic() = %v, want true and %v after the start", name, ok, c.want)
		}
	}
	if _, ok := newLoader(t.Context(), Options{}).sinceMonotonic(clock{}, clockAt); ok {
		t.Error("a beginning that nobody knows is known")
	}
}

func TestTimesInWindow(t *testing.T) {
	l := newLoader(t.Context(), Options{})
	l.m.Kernel = &model.Kernel{CPU: &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}}, Samples: []model.Sample{{Values: []int64{10}}}}}
	times := &artifact.SampleTimes{Head: artifact.TimesHeader{Clock: clockAt, Stacks: 1}}
	for at := range time.Duration(10) {
		times.List = append(times.List, model.KernelMoment{At: 1000*time.Second + at*time.Second})
	}
	l.joinTimes(clock{start: begin.Add(4 * time.Second), length: 2 * time.Second, cut: true}, "x", times)
	if k := l.m.Kernel.Moments; len(k) != 3 || k[0].At != 0 || k[2].At != 2*time.Second {
		t.Errorf("moments %+v, want 3, from 0 to 2s", k)
	}
}

// Alone, the times are of nothing.
func TestTimesAlone(t *testing.T) {
	members := timedMembers(t, timedResult())
	delete(members, recording.KernelMember)
	l := newLoader(t.Context(), Options{})
	if err := l.readTimes(source{name: "x", r: bytes.NewReader(members[recording.KernelTimesMember])}); err != nil {
		t.Fatal(err)
	}
	var p *problem.Error
	if _, err := l.finish(); !errors.As(err, &p) || p.Kind != problem.Absence {
		t.Errorf("times without samples: error %v, want an absence", err)
	}
	if err := l.readTimes(source{name: "y", r: strings.NewReader("")}); !errors.As(err, &p) {
		t.Errorf("two lists of times: error %v, want a problem", err)
	}
}

func FuzzTimes(f *testing.F) {
	var b bytes.Buffer
	if err := artifact.WriteTimes(&b, timedResult(), clockAt); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add([]byte(`{"kind":"gowhy kernel sample times","schema":1,"stacks":2147483648}` + "\n" + `{"t":[1,4611686018427387904],"tid":[1,1],"cpu":[0,0],"s":[0,0]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		times, _ := artifact.ParseTimes(bytes.NewReader(b))
		if times == nil {
			return
		}
		if len(times.List) > len(b)/8+1 {
			t.Fatalf("%d samples of %d bytes, want at most one in 8", len(times.List), len(b))
		}
		l := newLoader(t.Context(), Options{})
		l.m.Kernel = &model.Kernel{CPU: &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}}}}
		for range min(times.Head.Stacks, 8) {
			l.m.Kernel.CPU.Samples = append(l.m.Kernel.CPU.Samples, model.Sample{Values: []int64{math.MaxInt64}})
		}
		l.joinTimes(clock{start: begin}, "x", times)
		if err := l.m.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
