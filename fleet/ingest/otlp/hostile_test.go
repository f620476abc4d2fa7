package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"runtime"
	"strings"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otel "go.opentelemetry.io/proto/otlp/profiles/v1development"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
)

// simple returns a profile of one sample.
func simple(b *book) *otel.Profile {
	return &otel.Profile{SampleType: b.kind("cpu", "nanoseconds"), Samples: []*otel.Sample{{StackIndex: b.stack("main.work"), Values: []int64{7}}}}
}

// nested returns a message as a field of another.
func nested(number protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), body)
}

// TestHostile changes a request of one profile and holds what is said about it: of the
// profile, or of the request when want begins with !.
func TestHostile(t *testing.T) {
	limits := profiles.Limits{Bytes: 1 << 20, Ratio: 200, Depth: 10, Frames: 100, Symbol: 100, Entries: 1000}
	for _, c := range []struct {
		name   string
		want   string
		change func(*book, *otel.Profile)
	}{
		{"well", "", func(*book, *otel.Profile) {}},
		{"no dictionary of zeroes", "", func(b *book, p *otel.Profile) {
			*b.ProfilesDictionary = otel.ProfilesDictionary{StringTable: []string{"", "cpu", "nanoseconds"}}
			p.Samples[0].StackIndex, p.SampleType.TypeStrindex, p.SampleType.UnitStrindex = 0, 1, 2
		}},
		{"no type", "sample_type", func(_ *book, p *otel.Profile) { p.SampleType = nil }},
		{"no such type", "string 999", func(_ *book, p *otel.Profile) { p.SampleType.TypeStrindex = 999 }},
		{"a type with colons", "cannot have", func(b *book, p *otel.Profile) { p.SampleType = b.kind("a:b", "c") }},
		{"a type that steers a terminal", "cannot have", func(b *book, p *otel.Profile) { p.SampleType = b.kind("\x1b[2J", "c") }},
		{"no such stack", "stack 99", func(_ *book, p *otel.Profile) { p.Samples[0].StackIndex = 99 }},
		{"a stack below 0", "stack -1", func(_ *book, p *otel.Profile) { p.Samples[0].StackIndex = -1 }},
		{"no such location", "location 77", func(b *book, _ *otel.Profile) { b.StackTable[1].LocationIndices[0] = 77 }},
		{"no such function", "function 66", func(b *book, _ *otel.Profile) { b.LocationTable[1].Lines[0].FunctionIndex = 66 }},
		{"no such name", "string -7", func(b *book, _ *otel.Profile) { b.FunctionTable[1].NameStrindex = -7 }},
		{"no such file", "string 55", func(b *book, _ *otel.Profile) { b.FunctionTable[1].FilenameStrindex = 55 }},
		{"no such mapping", "mapping 44", func(b *book, _ *otel.Profile) { b.LocationTable[1].MappingIndex = 44 }},
		{"no such attribute", "attribute 33", func(_ *book, p *otel.Profile) { p.Samples[0].AttributeIndices = []int32{33} }},
		{"no such key", "string 999", func(b *book, p *otel.Profile) {
			p.Samples[0].AttributeIndices = []int32{b.attribute("x", 1)}
			b.AttributeTable[1].KeyStrindex = 999
		}},
		{"an attribute many times", "twice", func(b *book, p *otel.Profile) {
			p.Samples[0].AttributeIndices = repeated(100, b.attribute("process.pid", 1))
		}},
		{"no value", "neither values", func(_ *book, p *otel.Profile) { p.Samples[0].Values = nil }},
		{"values without timestamps", "2 values of 1", func(_ *book, p *otel.Profile) {
			p.Samples[0].Values, p.Samples[0].TimestampsUnixNano = []int64{1, 2}, []uint64{3}
		}},
		{"a value out of range", "out of range", func(b *book, p *otel.Profile) {
			p.SampleType = b.kind("cpu", "seconds")
			p.Samples[0].Values[0] = math.MaxInt64 / 10
		}},
		{"a value below 0", "below 0", func(_ *book, p *otel.Profile) { p.Samples[0].Values[0] = -1 }},
		{"a time of 1970", "is of 1970-01-01", func(_ *book, p *otel.Profile) { p.TimeUnixNano = 1e9 }},
		{"a time of 2100", "is of 2100-01-01T00:00:00Z, more than a day ahead", func(_ *book, p *otel.Profile) { p.TimeUnixNano = 4102444800e9 }},
		{"a period out of range", "out of range", func(b *book, p *otel.Profile) {
			p.SampleType, p.PeriodType, p.Period = b.kind("samples", "count"), b.kind("cpu", "seconds"), math.MaxInt64/10
		}},
		{"a time out of range", "out of range", func(_ *book, p *otel.Profile) { p.TimeUnixNano = math.MaxUint64 }},
		{"a duration out of range", "out of range", func(_ *book, p *otel.Profile) { p.TimeUnixNano, p.DurationNano = 1, math.MaxInt64 }},
		{"a time that wraps", "out of range", func(_ *book, p *otel.Profile) { p.TimeUnixNano, p.DurationNano = 5, math.MaxUint64-1 }},
		{"a deep stack", "more than 10 frames", func(b *book, p *otel.Profile) {
			p.Samples[0].StackIndex = b.stack(strings.Split(strings.Repeat("a,", 10)+"a", ",")...)
		}},
		{"few locations of many lines", "more than 10 frames", func(b *book, _ *otel.Profile) {
			for range 6 {
				b.LocationTable[1].Lines = append(b.LocationTable[1].Lines, &otel.Line{})
			}
			b.StackTable[1].LocationIndices = []int32{1, 1}
		}},
		{"a location of many lines", "more than 10 frames", func(b *book, _ *otel.Profile) {
			for range 10 {
				b.LocationTable[1].Lines = append(b.LocationTable[1].Lines, &otel.Line{})
			}
		}},
		{"a long name", "!string 5 has 101 bytes", func(b *book, _ *otel.Profile) { b.text(strings.Repeat("x", 101)) }},
		{"many strings", "!more than 1000 entries", func(b *book, _ *otel.Profile) { b.StringTable = append(b.StringTable, make([]string, 1000)...) }},
		{"many samples", "!more than 1000 samples", func(_ *book, p *otel.Profile) {
			for range 1000 {
				p.Samples = append(p.Samples, p.Samples[0])
			}
		}},
	} {
		b := newBook()
		p := simple(b)
		c.change(b, p)
		batches, out, err := decode("", marshal(t, b.request([]*common.KeyValue{texted("service.name", "shop")}, p)), limits)
		whole := strings.HasPrefix(c.want, "!")
		said := err
		if !whole {
			said = out.first
		}
		switch want := strings.TrimPrefix(c.want, "!"); {
		case (err != nil) != whole || len(batches) != 1 && c.want == "" || len(batches) != 0 && c.want != "":
			t.Errorf("%s: decode() = %d batches, rejects %v, error %v, want a batch %v, an error %v",
				c.name, len(batches), out.first, err, c.want == "", whole)
		case want != "" && (said == nil || !strings.Contains(said.Error(), want)):
			t.Errorf("%s: %v, want %q", c.name, said, want)
		case whole && statusOf(err) != http.StatusRequestEntityTooLarge:
			t.Errorf("%s: status %d", c.name, statusOf(err))
		}
	}
}

func repeated(n int, i int32) (list []int32) {
	for range n {
		list = append(list, i)
	}
	return list
}

// TestRefusals sends what is no request.
func TestRefusals(t *testing.T) {
	b := newBook()
	whole := marshal(t, b.request([]*common.KeyValue{texted("service.name", "shop")}, simple(b)))
	var many []*common.KeyValue
	for i := range mostAttributes + 1 {
		many = append(many, texted(fmt.Sprint(i), "x"))
	}
	const jsonMedia, protoMedia = "application/json", "application/x-protobuf"
	for _, c := range []struct {
		name, media, encoding string
		data                  []byte
		want                  int
	}{
		{"well", protoMedia, "", whole, 200},
		{"nothing", protoMedia, "", nil, 200},
		{"unknown fields", protoMedia, "", append(nested(99, []byte("x")), whole...), 200},
		{"a cut request", protoMedia, "", whole[:len(whole)-1], 400},
		{"a string of 10^9 bytes", protoMedia, "", nested(2, protowire.AppendVarint([]byte{5<<3 | 2}, 1e9)), 400},
		{"a wrong length in a sample", protoMedia, "", nested(1, nested(2, nested(2, nested(2, []byte{4<<3 | 2, 9, 1})))), 400},
		{"a wrong number in a stack", protoMedia, "", append(bytes.Clone(whole), nested(2, nested(7, nested(1, []byte{0xff})))...), 200}, // nobody refers to it
		{"garbage", protoMedia, "", []byte("\x07garbage"), 400},
		{"many attributes", protoMedia, "", marshal(t, b.request(many)), 413},
		{"a bomb", protoMedia, "gzip", gzipped(make([]byte, 2<<20)), 413},
		{"no gzip", protoMedia, "gzip", whole, 400},
		{"another encoding", protoMedia, "br", whole, 415},
		{"a long body", protoMedia, "", make([]byte, 1<<20+1), 413},
		{"another media type", "text/plain", "", whole, 415},
		{"no JSON", jsonMedia, "", []byte("{"), 400},
		{"JSON of nothing", jsonMedia, "", []byte("{}"), 200},
		{"JSON that goes on", jsonMedia, "", []byte("{}{}"), 400},
		{"a list", jsonMedia, "", []byte("[]"), 400},
		{"an unknown field", jsonMedia, "", []byte(`{"resourceProfiles":null,"x":{"y":[1,{}]}}`), 200},
		{"a null in a list", jsonMedia, "", []byte(`{"resourceProfiles":[null]}`), 400},
		{"no list", jsonMedia, "", []byte(`{"resourceProfiles":{}}`), 400},
		{"no object", jsonMedia, "", []byte(`{"dictionary":[]}`), 400},
		{"a number out of range", jsonMedia, "", []byte(`{"dictionary":{"stackTable":[{"locationIndices":[4294967296]}]}}`), 400},
		{"a fraction", jsonMedia, "", []byte(`{"dictionary":{"stackTable":[{"locationIndices":[0.5]}]}}`), 400},
		{"a string as a truth", jsonMedia, "", []byte(`{"resourceProfiles":[{"resource":{"attributes":[{"value":{"boolValue":"true"}}]}}]}`), 400},
		{"JSON that grows", jsonMedia, "", []byte(`{"resourceProfiles":[{"scopeProfiles":[{"profiles":[{"samples":[{"timestampsUnixNano":[` + strings.Repeat("0,", 200_000) + `0]}]}]}]}]}`), 413},
		{"a deep list", jsonMedia, "", []byte(`{"x":` + strings.Repeat("[", 1<<19)), 400},
	} {
		m := &keeper{}
		s := serve(t, m, ingest.Options{Body: 1 << 20})
		r, body := post(t, s, c.media, c.encoding, c.data)
		if r.StatusCode != c.want {
			t.Errorf("%s: %d %q, want %d", c.name, r.StatusCode, body, c.want)
		}
		if _, err := answered(r, body); c.want != 200 && c.media != "text/plain" && err == nil || c.want == 200 && err != nil {
			t.Errorf("%s: the answer says %v", c.name, err)
		}
		if c.want != 200 && len(m.batches) > 0 {
			t.Errorf("%s: a refused request was kept", c.name)
		}
	}
}

// TestMedia holds that the path of gRPC has no other protocol.
func TestMedia(t *testing.T) {
	s := serve(t, &keeper{}, ingest.Options{})
	for _, media := range []string{"application/proto", "application/json", ""} {
		r, err := http.Post(s.URL+GRPCPath, media, strings.NewReader("{}"))
		if err != nil || r.StatusCode != http.StatusUnsupportedMediaType {
			t.Errorf("%q: %v, %v", media, r, err)
			continue
		}
		r.Body.Close()
	}
}

// TestLongCall sends more over gRPC than is taken.
func TestLongCall(t *testing.T) {
	s := serve(t, &keeper{}, ingest.Options{Body: 1 << 10})
	for _, name := range []string{"gRPC", "gRPC, gzip"} {
		if _, err := ways[name](t, s, random(1)); err == nil || !strings.Contains(err.Error(), "ResourceExhausted") || strings.Contains(err.Error(), "RetryInfo") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSources are who profiles are of, and what is left out of what is said about them.
func TestSources(t *testing.T) {
	many := []*common.KeyValue{texted("service.name", "shop"), texted("z.last", "z")}
	for i := range 50 {
		many = append(many, texted(fmt.Sprintf("a%02d", i), "x"))
	}
	for _, c := range []struct {
		name     string
		resource []*common.KeyValue
		sample   map[string]any
		want     store.Source
		labels   int
	}{
		{"nobody", nil, nil, store.Source{Service: "unknown_service"}, 0},
		{"an executable", nil, map[string]any{"process.executable.name": "nginx", "process.pid": 7}, store.Source{Service: "nginx", Instance: "7"}, 2},
		{"a service at the sample", []*common.KeyValue{texted("service.name", "a"), texted("host.name", "h")}, map[string]any{"service.name": "b"}, store.Source{Service: "b", Instance: "h"}, 1},
		{"all", []*common.KeyValue{texted("service.name", "a"), texted("service.version", "v1"), texted("host.name", "h"), texted("service.instance.id", "i"), texted("process.pid", "8")},
			nil, store.Source{Service: "a", Version: "v1", Instance: "h/i"}, 4},
		{"a pod", []*common.KeyValue{texted("service.name", "a"), texted("k8s.pod.name", "p"), texted("host.name", "h"), texted("container.id", "c")}, nil, store.Source{Service: "a", Instance: "p/c"}, 3},
		{"a long value", []*common.KeyValue{texted("service.name", "a"), texted("process.command_line", strings.Repeat("x", 3000))}, nil, store.Source{Service: "a"}, 0},
		{"what steers a terminal", []*common.KeyValue{texted("service.name", "a"), texted("x", "\x1b[2J"), texted("\x1b", "x")}, nil, store.Source{Service: "a"}, 0},
		{"many", many, nil, store.Source{Service: "shop"}, store.MostLabels - 1},
		{"no text", []*common.KeyValue{texted("service.name", "a"), {Key: "list", Value: &common.AnyValue{Value: &common.AnyValue_ArrayValue{}}},
			{Key: "yes", Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}}}}, nil, store.Source{Service: "a"}, 1},
	} {
		b := newBook()
		p := simple(b)
		for key, value := range c.sample {
			p.Samples[0].AttributeIndices = append(p.Samples[0].AttributeIndices, b.attribute(key, value))
		}
		batches, out, err := decode("", marshal(t, b.request(c.resource, p)), profiles.Default)
		if err != nil || len(batches) != 1 {
			t.Errorf("%s: decode() = %d batches, rejects %v, error %v, want one batch",
				c.name, len(batches), out.first, err)
			continue
		}
		got := batches[0].Source
		if got.Service != c.want.Service || got.Version != c.want.Version || got.Instance != c.want.Instance || len(got.Labels) != c.labels {
			t.Errorf("%s: %+v, want %+v and %d labels", c.name, got, c.want, c.labels)
		}
	}
	b := newBook()
	_, out, err := decode("", marshal(t, b.request([]*common.KeyValue{texted("service.name", strings.Repeat("x", 3000))}, simple(b))), profiles.Default)
	if err != nil || out.rejected != 1 {
		t.Errorf("a long service: decode() rejects %d, error %v, want 1, no error", out.rejected, err)
	}
}

// TestTypes are the types of what profilers count.
func TestTypes(t *testing.T) {
	for _, c := range []struct {
		sample, unit, period, every string
		times                       int64
		want                        store.Type
		value                       int64
	}{
		{"samples", "count", "cpu", "nanoseconds", 50_000_000, store.CPU, 350_000_000},
		{"cpu", "count", "cpu", "ms", 10, store.CPU, 70_000_000},
		{"cpu", "nanoseconds", "", "", 0, store.CPU, 7},
		{"cpu", "ms", "cpu", "ms", 10, store.CPU, 7_000_000},
		{"samples", "count", "cpu", "nanoseconds", 0, "process_cpu:samples:count:cpu:nanoseconds", 7},
		{"samples", "count", "cpu", "cycles", 1000, "process_cpu:samples:count:cpu:cycles", 7},
		{"alloc_space", "bytes", "space", "bytes", 524288, store.AllocSpace, 7},
		{"inuse_objects", "count", "space", "bytes", 524288, store.InuseObjects, 7},
		{"goroutine", "count", "goroutine", "count", 1, store.Goroutines, 7},
		{"off_cpu", "nanoseconds", "", "", 0, "off_cpu:off_cpu:nanoseconds::", 7},
	} {
		b := newBook()
		p := simple(b)
		p.SampleType, p.PeriodType, p.Period = b.kind(c.sample, c.unit), b.kind(c.period, c.every), c.times
		batches, out, err := decode("", marshal(t, b.request(nil, p)), profiles.Default)
		if err != nil || len(batches) != 1 {
			t.Errorf("%s %s by %d of %s %s: decode() = %d batches, rejects %v, error %v, want one batch",
				c.sample, c.unit, c.times, c.period, c.every, len(batches), out.first, err)
			continue
		}
		if got := batches[0].Profiles[0]; got.Type != c.want || got.Samples[0].Value != c.value {
			t.Errorf("%s %s by %d of %s %s: decode() = %s with %d first, want %s with %d",
				c.sample, c.unit, c.times, c.period, c.every, got.Type, got.Samples[0].Value, c.want, c.value)
		}
	}
}

// TestMemory holds that what a request costs is in proportion to its length, or bounded,
// whatever it repeats.
func TestMemory(t *testing.T) {
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	number := func(field protowire.Number, n int) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, field, protowire.VarintType), uint64(n))
	}
	each := func(n int, make func(int) []byte) (all []byte) {
		for i := range n {
			all = append(all, make(i)...)
		}
		return all
	}
	stack := func(i int) []byte { return nested(7, number(1, i)) }
	sample := func(i int) []byte { return nested(2, join(number(1, i), number(4, 1))) }
	kind := nested(2, join(nested(5, nil), nested(5, []byte("cpu")), nested(5, []byte("nanoseconds"))))
	profile := func(samples []byte) []byte {
		return nested(1, nested(2, nested(2, join(nested(1, join(number(1, 1), number(2, 2))), samples))))
	}
	lines := nested(2, bytes.Repeat(nested(3, number(1, 0)), 900))
	limits := profiles.Default
	limits.Frames = 200_000
	for name, c := range map[string]struct {
		data               []byte
		rejected, profiles int
	}{
		"locations":        {join(kind, nested(2, bytes.Repeat(nested(2, nil), 100_000)), nested(2, each(100_000, stack)), profile(each(100_000, sample))), 0, 1},
		"lines":            {join(kind, nested(2, bytes.Repeat(lines, 300)), nested(2, each(300, stack)), profile(each(300, sample))), 1, 1},
		"profiles":         {join(kind, bytes.Repeat(profile(nil), 100_000)), 0, 100_000},
		"a bad one, often": {join(kind, nested(2, nested(7, bytes.Repeat(number(1, 9), 1<<18))), bytes.Repeat(profile(sample(0)), 100_000)), 100_000, 100_000},
		"a process each": {join(kind, nested(2, each(100_000, func(i int) []byte { return nested(6, join(number(1, 3), nested(2, number(3, i)))) })), nested(2, nested(5, []byte("process.pid"))),
			profile(each(100_000, func(i int) []byte { return nested(2, join(number(2, i), number(4, 1))) }))), 1, 1},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, out, err := decode("", c.data, limits)
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 100 || err != nil || out.rejected != c.rejected || out.profiles != c.profiles {
			t.Errorf("%s: %d bytes made it allocate %d MiB; %d of %d rejected (%v), %v", name, len(c.data), used, out.rejected, out.profiles, out.first, err)
		} else {
			t.Logf("%s: %d bytes, %d MiB (%v)", name, len(c.data), used, out.first)
		}
	}
}

// FuzzDecode holds that what our reader and the generated types both take has the same
// sums, in either form.
func FuzzDecode(f *testing.F) {
	for seed := range uint64(2) {
		f.Add(marshal(f, random(seed)))
	}
	b := newBook()
	request := b.request([]*common.KeyValue{texted("service.name", "shop")}, simple(b))
	f.Add(marshal(f, request))
	data, err := protojson.Marshal(request)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	l := profiles.Limits{Bytes: 1 << 20, Ratio: 100, Depth: 100, Frames: 100_000, Symbol: 1000, Entries: 10_000}
	f.Fuzz(func(t *testing.T, data []byte) {
		theirs := new(collector.ExportProfilesServiceRequest)
		read := proto.Unmarshal
		ours := data
		if bytes.HasPrefix(data, []byte("{")) {
			read = protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal
			var err error
			if ours, err = fromJSON(data, l.Bytes); err != nil {
				return
			}
		}
		batches, out, err := decode("", ours, l)
		if err != nil && !errors.Is(err, errRequest) && statusOf(err) == http.StatusInternalServerError {
			t.Fatalf("an error without a status: %v", err)
		}
		for _, b := range batches {
			for _, s := range b.Profiles[0].Samples {
				if frames, ok := b.Stacks[s.Stack]; s.Stack != 0 && !ok || s.Value == 0 || store.IDOf(frames) != s.Stack {
					t.Fatalf("a sample of %d has the stack %d and the frames %v of stack %d, "+
						"want a value and the frames of its stack",
						s.Value, s.Stack, frames, store.IDOf(frames))
				}
			}
		}
		if err != nil || out.rejected > 0 || read(data, theirs) != nil {
			return
		}
		want, err := reference(theirs)
		if err != nil {
			t.Fatalf("it was kept: %v", err)
		}
		got := map[string]int64{}
		for _, b := range batches {
			add(got, b)
		}
		if !maps.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
		if again, out, err := decode("", Encode(batches...), profiles.Default); err != nil || out.rejected > 0 || !maps.Equal(totals(again), totals(batches)) {
			t.Fatalf("decode(Encode(batches)) = %v, rejects %v, error %v, want %v",
				totals(again), out.first, err, totals(batches))
		}
	})
}

// totals returns the sums by type.
func totals(batches []*store.Batch) map[store.Type]int64 {
	sums := map[store.Type]int64{}
	for _, b := range batches {
		for _, p := range b.Profiles {
			for _, s := range p.Samples {
				sums[p.Type] += s.Value
			}
		}
	}
	return sums
}

func BenchmarkDecode(b *testing.B) {
	data := marshal(b, random(1))
	b.Run("ours", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := decode("", data, profiles.Default); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("generated types", func(b *testing.B) { // only its parser
		for b.Loop() {
			if err := proto.Unmarshal(data, new(collector.ExportProfilesServiceRequest)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
