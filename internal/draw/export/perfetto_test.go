package export

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// The writer of the protobuf is checked against a reader that knows nothing of it
// but the wire format and this table: name and type of each field that the writer
// may use. That the table is perfetto's own was checked with the classes that
// perfetto generates from its .proto files (Python package perfetto 0.59.1): they
// read the golden traces without an unknown field and write the same message again.

type protoField struct {
	name string
	kind string // varint, double, text, or the message that it holds
}

var protoMessages = map[string]map[int]protoField{
	"Trace": {1: {"packet", "TracePacket"}},
	"TracePacket": {
		8: {"timestamp", "varint"}, 10: {"trusted_packet_sequence_id", "varint"}, 11: {"track_event", "TrackEvent"},
		12: {"interned_data", "InternedData"}, 13: {"sequence_flags", "varint"}, 60: {"track_descriptor", "TrackDescriptor"},
	},
	"TrackDescriptor": {
		1: {"uuid", "varint"}, 2: {"name", "text"}, 5: {"parent_uuid", "varint"}, 8: {"counter", "CounterDescriptor"},
		11: {"child_ordering", "varint"}, 12: {"sibling_order_rank", "varint"},
	},
	"CounterDescriptor": {3: {"unit", "varint"}, 6: {"unit_name", "text"}},
	"TrackEvent": {
		4: {"debug_annotations", "DebugAnnotation"}, 9: {"type", "varint"}, 10: {"name_iid", "varint"}, 11: {"track_uuid", "varint"},
		22: {"categories", "text"}, 23: {"name", "text"}, 30: {"counter_value", "varint"}, 44: {"double_counter_value", "double"},
	},
	"DebugAnnotation": {
		2: {"bool_value", "varint"}, 3: {"uint_value", "varint"}, 4: {"int_value", "varint"}, 5: {"double_value", "double"},
		6: {"string_value", "text"}, 10: {"name", "text"}, 12: {"array_values", "DebugAnnotation"},
	},
	"InternedData": {2: {"event_names", "EventName"}},
	"EventName":    {1: {"iid", "varint"}, 2: {"name", "text"}},
}

// A protoMessage is a decoded message: its fields in order.
type protoMessage []protoValue

type protoValue struct {
	name    string
	number  uint64
	double  float64
	text    string
	message protoMessage
	kind    string
}

func decodeProto(kind string, data []byte) (m protoMessage, err error) {
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, fmt.Errorf("%s: no field", kind)
		}
		data = data[n:]
		f, ok := protoMessages[kind][int(key>>3)]
		if !ok {
			return nil, fmt.Errorf("%s has no field %d", kind, key>>3)
		}
		v := protoValue{name: f.name, kind: f.kind}
		wire := map[string]uint64{"varint": 0, "double": 1}
		want, scalar := wire[f.kind]
		if !scalar {
			want = 2
		}
		if key&7 != want {
			return nil, fmt.Errorf("%s.%s has wire type %d, not %d", kind, f.name, key&7, want)
		}
		if data, err = v.decode(data); err != nil {
			return nil, fmt.Errorf("%s.%s: %w", kind, f.name, err)
		}
		m = append(m, v)
	}
	return m, nil
}

func (v *protoValue) decode(data []byte) (rest []byte, err error) {
	if v.kind == "double" {
		if len(data) < 8 {
			return nil, fmt.Errorf("cut")
		}
		v.double = math.Float64frombits(binary.LittleEndian.Uint64(data))
		return data[8:], nil
	}
	n, size := binary.Uvarint(data)
	if size <= 0 {
		return nil, fmt.Errorf("no varint")
	}
	data = data[size:]
	if v.kind == "varint" {
		v.number = n
		return data, nil
	}
	if n > uint64(len(data)) {
		return nil, fmt.Errorf("%d bytes of %d", len(data), n)
	}
	if v.kind == "text" {
		v.text = string(data[:n])
		return data[n:], nil
	}
	v.message, err = decodeProto(v.kind, data[:n])
	return data[n:], err
}

func (m protoMessage) get(name string) *protoValue {
	if i := slices.IndexFunc(m, func(v protoValue) bool { return v.name == name }); i >= 0 {
		return &m[i]
	}
	return nil
}

func (m protoMessage) number(name string) uint64 {
	if v := m.get(name); v != nil {
		return v.number
	}
	return 0
}

func (m protoMessage) text(name string) string {
	if v := m.get(name); v != nil {
		return v.text
	}
	return ""
}

// print writes a message in one line, the names of fields before their values.
func (m protoMessage) print(b *strings.Builder) {
	for i, v := range m {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(v.name)
		switch v.kind {
		case "varint":
			fmt.Fprintf(b, "=%d", int64(v.number))
		case "double":
			fmt.Fprintf(b, "=%v", v.double)
		case "text":
			fmt.Fprintf(b, "=%s", v.text)
		default:
			b.WriteByte('{')
			v.message.print(b)
			b.WriteByte('}')
		}
	}
}

// protoText returns a file with a packet on each line.
func protoText(t *testing.T, data []byte) []byte {
	t.Helper()
	var b strings.Builder
	for _, packet := range packets(t, data) {
		packet.print(&b)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

func packets(t *testing.T, data []byte) (list []protoMessage) {
	t.Helper()
	m, err := decodeProto("Trace", data)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range m {
		list = append(list, v.message)
	}
	return list
}

// What a reader relies on: a track is described before its first event, names are
// interned before they are used, packets are of one sequence that begins
// anew, and begins and ends of each track take turns in order of time.
func TestPerfettoShape(t *testing.T) {
	list := packets(t, write(t, "perfetto", example(), Options{Slices: exampleRuns()}))
	tracks, interned := map[uint64]string{}, map[uint64]string{}
	open, done := map[uint64]uint64{}, map[uint64]uint64{}
	spans := map[string]time.Duration{}
	for i, p := range list {
		if p.number("trusted_packet_sequence_id") == 0 {
			t.Errorf("packet %d is of no sequence", i)
		}
		if cleared := p.number("sequence_flags")&1 != 0; cleared != (i == 0) {
			t.Errorf("packet %d: the sequence begins: %v, want %v", i, cleared, i == 0)
		}
		if d := p.get("track_descriptor"); d != nil {
			if parent := d.message.number("parent_uuid"); parent != 0 && tracks[parent] == "" {
				t.Errorf("packet %d: its parent %d is not described", i, parent)
			}
			tracks[d.message.number("uuid")] = d.message.text("name")
		}
		if d := p.get("interned_data"); d != nil {
			n := d.message[0].message
			interned[n.number("iid")] = n.text("name")
		}
		e := p.get("track_event")
		if e == nil {
			continue
		}
		track, at := e.message.number("track_uuid"), p.number("timestamp")
		if tracks[track] == "" {
			t.Errorf("packet %d: track %d is not described", i, track)
		}
		if at > uint64(time.Second) {
			t.Errorf("packet %d: at %v, want it inside of the window of 1s", i, time.Duration(at))
		}
		iid := e.message.number("name_iid")
		if iid != 0 && (interned[iid] == "" || p.number("sequence_flags")&2 == 0) {
			t.Errorf("packet %d: name %d cannot be known", i, iid)
		}
		switch e.message.number("type") {
		case 1:
			if open[track] != 0 || at < done[track] {
				t.Errorf("packet %d: a span in another on track %s", i, tracks[track])
			}
			open[track] = at + 1
		case 2:
			if open[track] == 0 || at+1 < open[track] {
				t.Errorf("packet %d: an end without a begin on track %s", i, tracks[track])
			}
			spans[tracks[track]] += time.Duration(at + 1 - open[track])
			open[track], done[track] = 0, at
		}
	}
	const ms = time.Millisecond
	for track, want := range map[string]time.Duration{
		"P 0": 3*ms + 7, "P 1": ms, "G 7 main.worker": 4*ms - 7, "garbage collections": 200*ms - 1, "stop the world": 1234, "task open": 980 * ms,
	} {
		if spans[track] != want {
			t.Errorf("%s: spans of %v, want %v", track, spans[track], want)
		}
	}
	for track, since := range open {
		if since != 0 {
			t.Errorf("a span of %s never ends", tracks[track])
		}
	}
}

// Runs that overlap on a P, as those of damaged traces can, are cut: the format
// would take the second for a part of the first.
func TestPerfettoOverlap(t *testing.T) {
	const ms = time.Millisecond
	runs := slicesOf(
		Slice{Proc: 0, Goroutine: 1, Group: "a", Begin: ms, End: 5 * ms},
		Slice{Proc: 0, Goroutine: 2, Group: "b", Begin: 3 * ms, End: 7 * ms},
		Slice{Proc: 0, Goroutine: 3, Group: "c", Begin: 4 * ms, End: 6 * ms},
	)
	m := &model.Model{Sched: &model.Sched{}, Run: model.Run{Duration: time.Second}}
	var got []string
	for _, p := range packets(t, write(t, "perfetto", m, Options{Slices: runs})) {
		if e := p.get("track_event"); e != nil && e.message.number("type") < 3 {
			got = append(got, fmt.Sprint(e.message.number("type"), " ", time.Duration(p.number("timestamp"))))
		}
	}
	if want := []string{"1 1ms", "2 5ms", "1 5ms", "2 7ms"}; !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}
