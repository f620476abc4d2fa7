package otlp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	otel "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// A keeper is a store that keeps batches by ID.
type keeper struct {
	mu      sync.Mutex
	batches map[[16]byte]*store.Batch
	writes  int
	fail    error
}

func (m *keeper) Write(_ context.Context, b *store.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return m.fail
	}
	if m.batches == nil {
		m.batches = map[[16]byte]*store.Batch{}
	}
	m.batches[b.ID] = b
	m.writes++
	return nil
}

// kept returns the sums by source, span, type and stack.
func (m *keeper) kept() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	sums := map[string]int64{}
	for _, b := range m.batches {
		add(sums, b)
	}
	return sums
}

func add(sums map[string]int64, b *store.Batch) {
	span := "-"
	if !b.Until.IsZero() {
		span = fmt.Sprintf("%d-%d", b.From.UnixNano(), b.Until.UnixNano())
	}
	for _, p := range b.Profiles {
		for _, s := range p.Samples {
			of := fmt.Sprintf("%s %s %s %s %s", b.Source.Service, b.Source.Version, b.Source.Instance, span, p.Type)
			sums[fmt.Sprintf("%s %v", of, b.Stacks[s.Stack])] += s.Value
		}
	}
}

// reference returns what a request should leave, by the generated types and nothing of ours but
// the names of types. It errs where a profile is to be rejected.
func reference(r *collector.ExportProfilesServiceRequest) (map[string]int64, error) {
	d := r.GetDictionary()
	sums := map[string]int64{}
	for _, rp := range r.ResourceProfiles {
		for _, sp := range rp.ScopeProfiles {
			for _, p := range sp.Profiles {
				if err := referenceProfile(sums, d, rp.Resource, p); err != nil {
					return nil, err
				}
			}
		}
	}
	for k, v := range sums {
		if v == 0 {
			delete(sums, k)
		}
	}
	return sums, nil
}

func at[T any](list []T, i int32) (v T, err error) {
	if i == 0 && len(list) == 0 {
		return v, nil
	}
	if i < 0 || int(i) >= len(list) {
		return v, errors.New("out of range")
	}
	return list[i], nil
}

func referenceProfile(sums map[string]int64, d *otel.ProfilesDictionary, res *resource.Resource, p *otel.Profile) error {
	var texts [4]string
	for i, index := range []int32{p.GetSampleType().GetTypeStrindex(), p.GetSampleType().GetUnitStrindex(), p.GetPeriodType().GetTypeStrindex(), p.GetPeriodType().GetUnitStrindex()} {
		var err error
		if texts[i], err = at(d.GetStringTable(), index); err != nil {
			return err
		}
	}
	kind, times := "", int64(1)
	for _, i := range p.AttributeIndices {
		a, err := at(d.GetAttributeTable(), i)
		if err != nil {
			return err
		}
		name, err := at(d.GetStringTable(), a.GetKeyStrindex())
		if err != nil {
			return err
		}
		text, err := referenceText(d, a.GetValue())
		if err != nil {
			return err
		}
		if name == opentelemetry.KindAttribute && text != "" {
			kind = text + ":" + strings.Join(texts[:], ":")
		}
	}
	switch {
	case texts[0] == "":
		return errors.New("no type")
	case kind != "":
	case texts[0] == "cpu" && opentelemetry.Nanoseconds[texts[1]] > 0:
		kind, times = string(store.CPU), opentelemetry.Nanoseconds[texts[1]]
	case texts[2] == "cpu" && opentelemetry.Nanoseconds[texts[3]] > 0 && texts[1] == "count" && p.Period > 0:
		kind, times = string(store.CPU), p.Period*opentelemetry.Nanoseconds[texts[3]]
	default:
		prefix := ingest.KindOf(texts[0])
		switch {
		case prefix == "" && texts[2] == "cpu":
			prefix = "process_cpu"
		case prefix == "":
			prefix = texts[0]
		}
		kind = prefix + ":" + strings.Join(texts[:], ":")
	}
	from, until := p.TimeUnixNano, p.TimeUnixNano+p.DurationNano
	if p.TimeUnixNano == 0 {
		from, until = 1<<63, 0
		for _, s := range p.Samples {
			for _, t := range s.TimestampsUnixNano {
				from, until = min(from, t), max(until, t)
			}
		}
	}
	span := "-"
	if until > 0 {
		span = fmt.Sprintf("%d-%d", from, until)
	}
	for _, s := range p.Samples {
		value := int64(0)
		for _, v := range s.Values {
			value += v
		}
		if len(s.Values) == 0 {
			value = int64(len(s.TimestampsUnixNano))
		}
		frames, err := referenceStack(d, s.StackIndex)
		if err != nil {
			return err
		}
		who, err := referenceSource(d, res, s)
		if err != nil {
			return err
		}
		sums[fmt.Sprintf("%s %s %s %v", who, span, kind, frames)] += value * times
	}
	return nil
}

func referenceStack(d *otel.ProfilesDictionary, index int32) (frames []*store.Frame, err error) {
	stack, err := at(d.GetStackTable(), index)
	for _, l := range stack.GetLocationIndices() {
		location, err := at(d.LocationTable, l)
		if err != nil {
			return nil, err
		}
		for _, line := range location.GetLines() {
			f, err := at(d.FunctionTable, line.FunctionIndex)
			if err != nil {
				return nil, err
			}
			name, err := at(d.StringTable, f.GetNameStrindex())
			if err != nil {
				return nil, err
			}
			if name == "" {
				if name, err = at(d.StringTable, f.GetSystemNameStrindex()); err != nil {
					return nil, err
				}
			}
			if name == "" {
				name = fmt.Sprintf("0x%x", location.Address)
			}
			file, err := at(d.StringTable, f.GetFilenameStrindex())
			if err != nil {
				return nil, err
			}
			frames = append(frames, &store.Frame{Function: name, File: file, Line: int32(min(max(line.Line, 0), 1<<31-1))})
		}
		if len(location.GetLines()) == 0 {
			mapping, err := at(d.MappingTable, location.GetMappingIndex())
			if err != nil {
				return nil, err
			}
			file, err := at(d.StringTable, mapping.GetFilenameStrindex())
			if err != nil {
				return nil, err
			}
			frames = append(frames, &store.Frame{Function: fmt.Sprintf("0x%x", location.GetAddress()), File: file})
		}
	}
	return frames, err
}

func referenceText(d *otel.ProfilesDictionary, v *common.AnyValue) (string, error) {
	switch v := v.GetValue().(type) {
	case *common.AnyValue_StringValue:
		return v.StringValue, nil
	case *common.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10), nil
	case *common.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue), nil
	case *common.AnyValue_StringValueStrindex:
		return at(d.GetStringTable(), v.StringValueStrindex)
	}
	return "", nil
}

func referenceSource(d *otel.ProfilesDictionary, res *resource.Resource, s *otel.Sample) (string, error) {
	all := map[string]string{}
	for _, kv := range res.GetAttributes() {
		name := kv.Key
		if name == "" {
			var err error
			if name, err = at(d.GetStringTable(), kv.KeyStrindex); err != nil {
				return "", err
			}
		}
		text, err := referenceText(d, kv.Value)
		if err != nil {
			return "", err
		}
		if text != "" {
			all[name] = text
		}
	}
	for _, i := range s.AttributeIndices {
		a, err := at(d.GetAttributeTable(), i)
		if err != nil {
			return "", err
		}
		name, err := at(d.GetStringTable(), a.GetKeyStrindex())
		if err != nil {
			return "", err
		}
		text, err := referenceText(d, a.GetValue())
		if err != nil {
			return "", err
		}
		if text != "" {
			all[name] = text
		}
	}
	first := func(names ...string) string {
		for _, n := range names {
			if all[n] != "" && ingest.CheckLabel(store.Label{Name: n, Value: all[n]}) == nil {
				return all[n]
			}
		}
		return ""
	}
	service := first("service.name", "service_name", "process.executable.name")
	if service == "" {
		service = "unknown_service"
	}
	version, host := first("version", "service_version", "service.version", "service_git_ref"), first("instance", "pod", "k8s.pod.name", "hostname", "host.name", "host")
	if process := first("service.instance.id", "container", "container.id", "process.pid", "process_pid", "pid"); process == host || strings.HasPrefix(process, host+"/") {
		host = process
	} else if process != "" {
		host = strings.TrimPrefix(host+"/"+process, "/")
	}
	return service + " " + version + " " + host, nil
}

func texted(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}}
}

// A book is a dictionary that grows.
type book struct {
	*otel.ProfilesDictionary
	known map[string]int32
}

func newBook() *book {
	return &book{&otel.ProfilesDictionary{
		StringTable: []string{""}, MappingTable: []*otel.Mapping{{}}, LocationTable: []*otel.Location{{}}, FunctionTable: []*otel.Function{{}},
		LinkTable: []*otel.Link{{}}, AttributeTable: []*otel.KeyValueAndUnit{{}}, StackTable: []*otel.Stack{{}},
	}, map[string]int32{"": 0}}
}

func (b *book) text(s string) int32 {
	i, ok := b.known[s]
	if !ok {
		i = int32(len(b.StringTable))
		b.known[s] = i
		b.StringTable = append(b.StringTable, s)
	}
	return i
}

func (b *book) kind(name, unit string) *otel.ValueType {
	return &otel.ValueType{TypeStrindex: b.text(name), UnitStrindex: b.text(unit)}
}

// attribute returns the index of one with a text or a number.
func (b *book) attribute(key string, value any) int32 {
	v := &common.AnyValue{}
	switch value := value.(type) {
	case int:
		v.Value = &common.AnyValue_IntValue{IntValue: int64(value)}
	case string:
		v.Value = &common.AnyValue_StringValueStrindex{StringValueStrindex: b.text(value)}
	}
	b.AttributeTable = append(b.AttributeTable, &otel.KeyValueAndUnit{KeyStrindex: b.text(key), Value: v})
	return int32(len(b.AttributeTable) - 1)
}

// stack returns the index of one of functions, leaf first; each has a location of its own.
func (b *book) stack(functions ...string) int32 {
	s := &otel.Stack{}
	for i, name := range functions {
		b.FunctionTable = append(b.FunctionTable, &otel.Function{NameStrindex: b.text(name), FilenameStrindex: b.text(name + ".go")})
		b.LocationTable = append(b.LocationTable, &otel.Location{Address: uint64(i), Lines: []*otel.Line{{FunctionIndex: int32(len(b.FunctionTable) - 1), Line: int64(i + 1)}}})
		s.LocationIndices = append(s.LocationIndices, int32(len(b.LocationTable)-1))
	}
	b.StackTable = append(b.StackTable, s)
	return int32(len(b.StackTable) - 1)
}

// request has profiles of one resource.
func (b *book) request(attributes []*common.KeyValue, profiles ...*otel.Profile) *collector.ExportProfilesServiceRequest {
	return &collector.ExportProfilesServiceRequest{Dictionary: b.ProfilesDictionary, ResourceProfiles: []*otel.ResourceProfiles{
		{Resource: &resource.Resource{Attributes: attributes}, ScopeProfiles: []*otel.ScopeProfiles{{Profiles: profiles}}}}}
}

const second = 1_000_000_000

// random returns a request as profilers of hosts and of programs send them, in all shapes that
// samples may have.
func random(seed uint64) *collector.ExportProfilesServiceRequest {
	r := rand.New(rand.NewPCG(seed, 1))
	b := newBook()
	b.MappingTable = append(b.MappingTable, &otel.Mapping{FilenameStrindex: b.text("libc.so.6"), MemoryLimit: 1 << 40})
	for i := range 40 { // inlined, without a name, and without lines
		f := &otel.Function{FilenameStrindex: b.text(fmt.Sprintf("file%d.go", i/5)), StartLine: 3}
		switch i % 8 {
		case 6:
			f.SystemNameStrindex = b.text("_Zsystem")
		case 7:
		default:
			f.NameStrindex = b.text(fmt.Sprintf("example.com/shop.step%d", i))
		}
		b.FunctionTable = append(b.FunctionTable, f)
	}
	for i := range 60 {
		l := &otel.Location{Address: uint64(i) << 20, MappingIndex: int32(i % 2)}
		for range i % 3 {
			l.Lines = append(l.Lines, &otel.Line{FunctionIndex: r.Int32N(40), Line: int64(r.IntN(500)), Column: 4})
		}
		b.LocationTable = append(b.LocationTable, l)
	}
	for range 30 {
		s := &otel.Stack{}
		for range 1 + r.IntN(20) {
			s.LocationIndices = append(s.LocationIndices, 1+r.Int32N(60))
		}
		b.StackTable = append(b.StackTable, s)
	}
	var who []int32
	for pid := range 3 {
		who = append(who, b.attribute("process.pid", 100+pid), b.attribute("process.executable.name", fmt.Sprintf("program%d", pid)))
	}
	thread, cpu := b.attribute("thread.name", "worker"), b.attribute("cpu.logical_number", 3)
	named := b.attribute("service.name", "named")
	kinds := []*otel.Profile{
		{SampleType: b.kind("samples", "count"), PeriodType: b.kind("cpu", "nanoseconds"), Period: second / 20},
		{SampleType: b.kind("cpu", "milliseconds"), PeriodType: b.kind("cpu", "milliseconds"), Period: 10},
		{SampleType: b.kind("alloc_space", "bytes"), PeriodType: b.kind("space", "bytes"), Period: 524288},
		{SampleType: b.kind("off_cpu", "nanoseconds"), PeriodType: b.kind("context_switch", "count"), Period: 1000},
		{SampleType: b.kind("samples", "count"), PeriodType: b.kind("cpu", "nanoseconds")},
	}
	for i, p := range kinds {
		if p.TimeUnixNano = 1_790_000_000*second + uint64(i); i == 3 {
			p.TimeUnixNano = 0
		}
		p.DurationNano, p.ProfileId = 5*second, []byte{byte(i), 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
		for range 50 {
			s := &otel.Sample{StackIndex: r.Int32N(31), AttributeIndices: []int32{thread, cpu}}
			if at := r.IntN(4); at < 3 {
				s.AttributeIndices = append(s.AttributeIndices, who[2*at], who[2*at+1])
			}
			if r.IntN(5) == 0 {
				s.AttributeIndices = append(s.AttributeIndices, named)
			}
			for n := range 1 + r.IntN(4) {
				if shape := i % 4; shape != 2 {
					s.TimestampsUnixNano = append(s.TimestampsUnixNano, 1_790_000_000*second+uint64(n*r.IntN(second)))
				}
				if i > 0 && i < 4 {
					s.Values = append(s.Values, r.Int64N(1<<20)-10)
				}
			}
			p.Samples = append(p.Samples, s)
		}
	}
	request := b.request([]*common.KeyValue{texted("host.name", "h1"), texted("container.id", "c0ffee")}, kinds[:3]...)
	program := b.request([]*common.KeyValue{texted("service.name", "shop"), texted("service.version", "v1.2.3"), texted("service.instance.id", "i-1"),
		{KeyStrindex: b.text("k8s.pod.name"), Value: &common.AnyValue{Value: &common.AnyValue_StringValueStrindex{StringValueStrindex: b.text("shop-0")}}}}, kinds[3:]...)
	request.ResourceProfiles = append(request.ResourceProfiles, program.ResourceProfiles...)
	return request
}
