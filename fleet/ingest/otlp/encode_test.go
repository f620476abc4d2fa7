package otlp

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// batchOf returns a batch of samples of stacks, which have these frames.
func batchOf(source store.Source, stacks [][]*store.Frame, types ...store.Type) *store.Batch {
	until := time.Unix(1_790_000_000, 0).UTC()
	b := &store.Batch{Source: source, From: until.Add(-15 * time.Second), Until: until, Stacks: map[store.StackID][]*store.Frame{}}
	for i, t := range types {
		values := map[store.StackID]int64{}
		for j, frames := range stacks {
			id := store.IDOf(frames)
			b.Stacks[id] = frames
			values[id] += int64(1000*i+j) + 1
		}
		b.Profiles = append(b.Profiles, store.Profile{Type: t, Samples: profiles.SamplesOf(values)})
	}
	return b
}

func frames(depth int, name string) (all []*store.Frame) {
	for i := range depth {
		all = append(all, &store.Frame{Function: fmt.Sprintf("%s%d", name, i), File: name + ".go", Line: int32(i)})
	}
	return all
}

// labelled returns a source as ingest makes it.
func labelled(t testing.TB, labels ...string) store.Source {
	t.Helper()
	var all []store.Label
	for _, l := range labels {
		name, value, _ := strings.Cut(l, "=")
		all = append(all, store.Label{Name: name, Value: value})
	}
	s, err := ingest.SourceOf("", all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var usual = []store.Type{store.CPU, "process_cpu:samples:count:cpu:nanoseconds", store.AllocObjects, store.AllocSpace, store.InuseObjects, store.InuseSpace,
	store.Goroutines, store.MutexCount, store.MutexDelay, store.BlockCount, store.BlockDelay, store.Operations, "wall:wall:nanoseconds:wall:nanoseconds",
	"wall:cpu:milliseconds:cpu:milliseconds", "off_cpu:off_cpu:nanoseconds::"}

// TestEncode holds that what is written has the same sums by the generated types, by this
// package's own way in, and in JSON.
func TestEncode(t *testing.T) {
	two := [][]*store.Frame{frames(3, "main.work"), frames(5, "main.work")}
	extreme := batchOf(labelled(t, "service_name=shop"), two, store.CPU)
	extreme.Profiles[0].Samples[0].Value, extreme.Profiles[0].Samples[1].Value = math.MaxInt64, 1
	var many [][]*store.Frame
	for i := range 1500 {
		many = append(many, frames(1+i%60, fmt.Sprintf("main.f%d.", i/3)))
	}
	sent, _, err := decode("red", marshal(t, random(7)), profiles.Default)
	if err != nil {
		t.Fatal(err)
	}
	for name, batches := range map[string][]*store.Batch{
		"nothing":     nil,
		"no profiles": {batchOf(store.Source{Service: "shop"}, nil)},
		"no samples":  {batchOf(store.Source{Service: "shop"}, nil, store.CPU)},
		"types":       {batchOf(labelled(t, "service_name=shop", "version=v1", "hostname=a", "pid=7"), two, usual...)},
		"sources": {
			batchOf(store.Source{Service: "a b", Version: "v 1", Instance: "x/y"}, two, store.CPU),
			batchOf(labelled(t, "service_name=b", "service_git_ref=abc", "pod=p-1", "container=c"), two, store.CPU, store.BlockDelay),
			batchOf(labelled(t, "service_name=c", "service.instance.id=i", "host.name=h", "service.version=2", "zone=a"), two, store.AllocSpace),
			batchOf(labelled(t, "service_name=d", "service.name=other", "instance=h/1"), two, store.MutexDelay),
		},
		"no stack, no name": {batchOf(labelled(t, "service_name=shop"), [][]*store.Frame{nil, {{File: "libc.so", Function: "0x1f"}}, {{Function: "f", Line: math.MaxInt32}}}, store.CPU, store.Goroutines)},
		"extreme values":    {extreme},
		"huge":              {batchOf(labelled(t, "service_name=shop"), append(many, frames(1000, "deep")), store.CPU, store.MutexCount)},
		"as it came":        sent,
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string]int64{}
			for _, b := range batches {
				add(want, b)
			}
			encoded := Encode(batches...)
			theirs := new(collector.ExportProfilesServiceRequest)
			if err := proto.Unmarshal(encoded, theirs); err != nil {
				t.Fatal(err)
			}
			sums, err := reference(theirs)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, sums, want)
			tables(t, theirs)
			inJSON := new(collector.ExportProfilesServiceRequest)
			written := opentelemetry.ToJSON(encoded)
			if err := protojson.Unmarshal(written, inJSON); err != nil || !proto.Equal(inJSON, theirs) {
				t.Errorf("its JSON is something else (%v): %.2000s", err, written)
			}
			again, err := fromJSON(written, len(written))
			if err != nil {
				t.Fatal(err)
			}
			for _, data := range [][]byte{encoded, again} {
				m := &keeper{}
				if out, err := export(m, data); err != nil || out.rejected > 0 {
					t.Fatalf("export() rejects %d (%v), error %v, want none", out.rejected, out.first, err)
				}
				compare(t, m.kept(), want)
			}
		})
	}
}

// tables holds that each has an empty entry 0 and no entry twice.
func tables(t *testing.T, r *collector.ExportProfilesServiceRequest) {
	t.Helper()
	d := r.Dictionary
	if len(d.MappingTable) != 1 || len(d.LinkTable) != 1 || d.StringTable[0] != "" {
		t.Errorf("mappings %v, links %v, the first string %q", d.MappingTable, d.LinkTable, d.StringTable[0])
	}
	for _, table := range [][]proto.Message{list(d.LocationTable), list(d.FunctionTable), list(d.AttributeTable), list(d.StackTable)} {
		seen := map[string]bool{}
		for i, m := range table {
			key := string(marshal(t, m))
			if seen[key] || (key == "") != (i == 0) {
				t.Errorf("entry %d of a table is %q", i, key)
				break
			}
			seen[key] = true
		}
	}
}

func list[M proto.Message](messages []M) (all []proto.Message) {
	for _, m := range messages {
		all = append(all, m)
	}
	return all
}

// TestEncodeHostile has texts that no protocol buffer may have, and types that are none.
func TestEncodeHostile(t *testing.T) {
	b := batchOf(store.Source{Service: "a\xff", Version: "\x80", Labels: []store.Label{{Name: "b\xfe", Value: "\xff"}}},
		[][]*store.Frame{{{Function: "f\xff", File: "<g>\u2028\xc0"}}}, "", ":::::", "x", "\xff:\xff:\xff:\xff:\xff")
	b.From = time.Unix(-5, 0)
	encoded := Encode(b)
	theirs, inJSON := new(collector.ExportProfilesServiceRequest), new(collector.ExportProfilesServiceRequest)
	if err := proto.Unmarshal(encoded, theirs); err != nil {
		t.Fatal(err)
	}
	if err := protojson.Unmarshal(opentelemetry.ToJSON(encoded), inJSON); err != nil || !proto.Equal(inJSON, theirs) {
		t.Errorf("%v: %s", err, opentelemetry.ToJSON(encoded))
	}
	if got := theirs.Dictionary.StringTable; !strings.Contains(strings.Join(got, " "), "f\uFFFD") {
		t.Errorf("%q", got)
	}
}

// TestWhere holds that receivers find service, version and process where OpenTelemetry has
// them, and that our own keeps the labels besides.
func TestWhere(t *testing.T) {
	b := batchOf(labelled(t, "service_name=shop", "version=v1", "hostname=a", "pid=7", "zone=z"), [][]*store.Frame{frames(1, "f")}, store.CPU)
	r := new(collector.ExportProfilesServiceRequest)
	if err := proto.Unmarshal(Encode(b), r); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, a := range r.ResourceProfiles[0].Resource.Attributes {
		got += a.Key + "=" + a.Value.GetStringValue() + " "
	}
	if want := "service.name=shop hostname=a pid=7 version=v1 zone=z service.version=v1 service.instance.id=a/7 "; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
