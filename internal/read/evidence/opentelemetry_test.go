package evidence

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/wire"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// An otlpWriter writes requests for tests, as a receiver of profiles in pprof's format does: a
// profile for each of its columns.
type otlpWriter struct {
	dictionary []byte
	strings    map[string]uint64
	entries    map[int]uint64 // of other tables
	resources  []byte
}

func newOTLPWriter() *otlpWriter {
	w := &otlpWriter{strings: map[string]uint64{}, entries: map[int]uint64{}}
	w.text("")
	for _, table := range []int{opentelemetry.DictionaryMappings, opentelemetry.DictionaryLocations, opentelemetry.DictionaryFunctions,
		opentelemetry.DictionaryAttributes, opentelemetry.DictionaryStacks} {
		w.entry(table, nil)
	}
	return w
}

func (w *otlpWriter) text(s string) uint64 {
	i, ok := w.strings[s]
	if !ok {
		i = uint64(len(w.strings))
		w.strings[s] = i
		w.dictionary = wire.AppendBytes(w.dictionary, opentelemetry.DictionaryStrings, s)
	}
	return i
}

func (w *otlpWriter) entry(table int, body []byte) uint64 {
	i := w.entries[table]
	w.entries[table]++
	w.dictionary = wire.AppendBytes(w.dictionary, table, body)
	return i
}

func (w *otlpWriter) attribute(name, value string) uint64 {
	return w.entry(opentelemetry.DictionaryAttributes, wire.AppendBytes(wire.AppendVarint(nil, 1, w.text(name)), 2, wire.AppendBytes(nil, 1, value)))
}

func (w *otlpWriter) valueType(t *profile.ValueType) []byte {
	return wire.AppendVarint(wire.AppendVarint(nil, 1, w.text(t.Type)), 2, w.text(t.Unit))
}

func (w *otlpWriter) location(l *profile.Location, kernel bool) uint64 {
	body := wire.AppendVarint(nil, 2, l.Address)
	for _, line := range l.Line {
		f := w.entry(opentelemetry.DictionaryFunctions, wire.AppendVarint(wire.AppendVarint(nil, 1, w.text(line.Function.Name)), 3, w.text(line.Function.Filename)))
		body = wire.AppendBytes(body, 3, wire.AppendVarint(wire.AppendVarint(nil, 1, f), 2, uint64(line.Line)))
	}
	if kernel {
		body = wire.AppendVarint(body, 4, w.attribute("profile.frame.type", "kernel"))
	}
	return w.entry(opentelemetry.DictionaryLocations, body)
}

// add adds a profile of a service; edit may add fields to each sample.
func (w *otlpWriter) add(service, kind string, p *profile.Profile, edit func(i int, sample []byte) []byte) {
	locations := map[*profile.Location]uint64{}
	for _, l := range p.Location {
		locations[l] = w.location(l, len(l.Line) > 0 && l.Line[0].Function.Filename == kernelFile)
	}
	var stacks []uint64
	for _, s := range p.Sample {
		var body []byte
		for _, l := range s.Location {
			body = wire.AppendVarint(body, 1, locations[l])
		}
		stacks = append(stacks, w.entry(opentelemetry.DictionaryStacks, body))
	}
	var scope []byte
	for column, t := range p.SampleType {
		one := wire.AppendBytes(nil, opentelemetry.ProfileSampleType, w.valueType(t))
		for i, s := range p.Sample {
			sample := wire.AppendVarint(wire.AppendVarint(nil, 1, stacks[i]), 4, uint64(s.Value[column]))
			for _, k := range slices.Sorted(maps.Keys(s.Label)) {
				sample = wire.AppendVarint(sample, 2, w.attribute(k, strings.Join(s.Label[k], ",")))
			}
			if edit != nil {
				sample = edit(i, sample)
			}
			one = wire.AppendBytes(one, opentelemetry.ProfileSample, sample)
		}
		one = wire.AppendFixed64(one, opentelemetry.ProfileTime, uint64(p.TimeNanos))
		one = wire.AppendVarint(one, opentelemetry.ProfileDuration, uint64(p.DurationNanos))
		if p.PeriodType != nil {
			one = wire.AppendBytes(one, opentelemetry.ProfilePeriodType, w.valueType(p.PeriodType))
		}
		one = wire.AppendVarint(one, opentelemetry.ProfilePeriod, uint64(p.Period))
		if kind != "" {
			one = wire.AppendVarint(one, opentelemetry.ProfileAttributes, w.attribute(opentelemetry.KindAttribute, kind))
		}
		scope = wire.AppendBytes(scope, 2, one)
	}
	name := wire.AppendBytes(wire.AppendBytes(nil, 1, "service.name"), 2, wire.AppendBytes(nil, 1, service))
	w.resources = wire.AppendBytes(w.resources, 1, wire.AppendBytes(wire.AppendBytes(nil, 1, wire.AppendBytes(nil, 1, name)), 2, scope))
}

func (w *otlpWriter) request() []byte { return wire.AppendBytes(w.resources, 2, w.dictionary) }

func parsed(t testing.TB, data []byte) *profile.Profile {
	t.Helper()
	p, err := profile.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sums returns what a profile has by stack and labels, whatever the order.
func sums(m *model.Model, p *model.Profile) map[string]string {
	if p == nil {
		return nil
	}
	by := map[string][]int64{}
	for i := range p.Samples {
		s := &p.Samples[i]
		key := fmt.Sprint(m.Stacks.Frames(s.Stack), s.Labels)
		if by[key] == nil {
			by[key] = make([]int64, len(s.Values))
		}
		for j, v := range s.Values {
			by[key][j] += v
		}
	}
	out := map[string]string{fmt.Sprint(p.Types, p.Duration): ""}
	for key, values := range by {
		if slices.Max(values) > 0 {
			out[key] = fmt.Sprint(values)
		}
	}
	return out
}

// TestOTLPIsAsPprof reads a profile in pprof's format and as OpenTelemetry has it: the same.
func TestOTLPIsAsPprof(t *testing.T) {
	plain := func(p *profile.Profile) { // labels of numbers have no form in OTLP, nor has the viewer's column
		p.DefaultSampleType = ""
		for _, s := range p.Sample {
			s.NumLabel, s.NumUnit = nil, nil
		}
	}
	for name, c := range map[string]struct {
		data []byte
		kind string
		of   func(*model.Model) *model.Profile
	}{
		"cpu":       {cpuProfile(t), "", func(m *model.Model) *model.Profile { return m.CPU }},
		"heap":      {snapshotOf(t, "heap", plain), "", func(m *model.Model) *model.Profile { return m.LiveHeap.End }},
		"goroutine": {snapshotOf(t, "goroutine", plain), "", func(m *model.Model) *model.Profile { return m.Goroutines.End }},
		"mutex": {snapshotOf(t, "mutex", func(p *profile.Profile) { withContention(p, "sync.(*Mutex).Unlock") }), "mutex",
			func(m *model.Model) *model.Profile { return m.Mutex }},
		"block": {snapshotOf(t, "block", func(p *profile.Profile) { withContention(p, "sync.(*Mutex).Lock") }), "block",
			func(m *model.Model) *model.Profile { return m.Block }},
	} {
		w := newOTLPWriter()
		w.add("shop", c.kind, parsed(t, c.data), nil)
		dir := files(t, map[string][]byte{name + ".pprof": c.data, "wire": w.request(), "json": opentelemetry.ToJSON(w.request())})
		pprof := load(t, Options{}, filepath.Join(dir, name+".pprof"))
		want := sums(pprof, c.of(pprof))
		if len(want) < 2 {
			t.Fatalf("%s: the profile has nothing: %v", name, want)
		}
		for _, form := range []string{"wire", "json"} {
			m := load(t, Options{}, filepath.Join(dir, form))
			if got := sums(m, c.of(m)); !maps.Equal(got, want) {
				t.Errorf("%s as %s:\n%v\nwant\n%v", name, form, got, want)
			}
		}
	}
}

// withContention gives a profile one delay, of a function.
func withContention(p *profile.Profile, function string) {
	f := &profile.Function{ID: 1, Name: function, Filename: "mutex.go"}
	l := &profile.Location{ID: 1, Address: 16, Line: []profile.Line{{Function: f, Line: 3}}}
	p.Function, p.Location, p.Mapping = []*profile.Function{f}, []*profile.Location{l}, nil
	p.Sample = []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{4, 5e6}}}
}

// TestOTLPOfHost reads what a profiler of a host sends: samples of several processes, at times,
// with kernel frames, request after request.
func TestOTLPOfHost(t *testing.T) {
	p := parsed(t, cpuProfile(t))
	p.SampleType, p.PeriodType.Unit, p.Period = p.SampleType[:1], "ns", 5e7
	p.Sample[1].Label = nil
	p.Sample[0].Location = append([]*profile.Location{{ID: 3, Address: 0x30, Line: []profile.Line{{Function: &profile.Function{ID: 3, Name: "do_syscall_64", Filename: kernelFile}}}}}, p.Sample[0].Location...)
	p.Location = append(p.Location, p.Sample[0].Location[0])
	var all [][]byte
	for range 2 {
		w := newOTLPWriter()
		w.add("shop", "", p, nil)
		other := w.attribute("process.pid", "7")
		w.add("other", "", p, func(_ int, sample []byte) []byte { return wire.AppendVarint(sample, 2, other) })
		all = append(all, opentelemetry.ToJSON(w.request()))
		p.TimeNanos += p.DurationNanos
	}
	dir := files(t, map[string][]byte{"lines": bytes.Join(all, []byte("\n"))})
	m := load(t, Options{}, filepath.Join(dir, "lines"))
	if m.CPU == nil {
		t.Fatalf("CPU nil with the notes %q, want a profile", m.Run.Coverage.Notes)
	}
	if m.CPU.Duration.Seconds() != 4 || !noted(m, `profiles of 2 processes; only those of "shop" were read, which has`) {
		t.Fatalf("CPU of %v with the notes %q, want 4s, that only shop was read", m.CPU.Duration, m.Run.Coverage.Notes)
	}
	kernel, user := int64(0), int64(0)
	for i := range m.CPU.Samples {
		s := &m.CPU.Samples[i]
		if s.Labels["mode"] == "kernel" {
			kernel += s.Values[1]
		} else {
			user += s.Values[1]
		}
	}
	if kernel != 2*3*5e7 || user != 2*5e7 {
		t.Errorf("%d ns in the kernel and %d outside, want 300 and 100 ms", kernel, user)
	}
}

// TestOTLPLookalikes keeps apart what only looks like profiles of OpenTelemetry.
func TestOTLPLookalikes(t *testing.T) {
	for name, data := range map[string][]byte{"cpu": cpuProfile(t), "heap": snapshotOf(t, "heap", nil), "goroutine": snapshotOf(t, "goroutine", nil)} {
		var buf bytes.Buffer
		if err := parsed(t, data).WriteUncompressed(&buf); err != nil {
			t.Fatal(err)
		}
		if isOTLP(buf.Bytes()) {
			t.Errorf("%s in pprof's format is taken for OpenTelemetry's", name)
		}
	}
	w := newOTLPWriter()
	w.add("shop", "", parsed(t, cpuProfile(t)), nil)
	request := w.request()
	noType := wire.AppendBytes(nil, 1, wire.AppendBytes(nil, 2, wire.AppendBytes(nil, 2, wire.AppendBytes(nil, 2, wire.AppendVarint(nil, 4, 1)))))
	for _, c := range []struct{ name, data, want string }{
		{"spans", `{"resourceSpans":[{"scopeSpans":[]}]}`, "without profiles"},
		{"empty", `{"resourceProfiles":[]}`, "with no samples"},
		{"cut", string(request[:len(request)-9]), "neither a trace nor a profile"},
		{"cut JSON", string(opentelemetry.ToJSON(request)[:200]), "cannot be read"},
		{"old", string(noType), "older versions of the protocol"},
		{"other", `{"dictionary":{"words":["stringTable"]}}`, "JSON"},
	} {
		dir := files(t, map[string][]byte{"x": []byte(c.data)})
		_, err := Load(t.Context(), []string{filepath.Join(dir, "x")}, Options{})
		var p *problem.Error
		if !errors.As(err, &p) || !strings.Contains(p.What, c.want) || p.Hint == "" {
			t.Errorf("%s: %v; want %q and a hint", c.name, err, c.want)
		}
	}
}

// FuzzOTLP reads requests whatever they hold, in either form.
func FuzzOTLP(f *testing.F) {
	w := newOTLPWriter()
	w.add("shop", "mutex", parsed(f, cpuProfile(f)), nil)
	f.Add(w.request())
	f.Add(opentelemetry.ToJSON(w.request()))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, read := range []func(*loader) error{
			func(l *loader) error { return l.otlp("x", data) },
			func(l *loader) error { return l.readOTLPText(source{name: "x", r: bytes.NewReader(data)}) },
		} {
			l := newLoader(t.Context(), Options{})
			err := read(l)
			if err == nil {
				_, err = l.finish()
			}
			var p *problem.Error
			if err != nil && !errors.As(err, &p) {
				t.Fatal(err)
			}
		}
	})
}
