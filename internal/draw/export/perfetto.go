package export

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Perfetto writes a time line in Perfetto's own format, a protobuf message
// perfetto.protos.Trace, which has less than half of the JSON's size and opens
// where that is too large: ui.perfetto.dev, trace_processor. An instant event at the
// begin, "about this file", says what it holds and what not.
//
// The message is a list of TracePackets, and of the protocol a handful of
// messages are enough; they are written by hand here, with the field numbers
// beside their names. What the format calls a slice is a begin and an end on
// a track: readers put them in order of time and close the last that is open, so
// that those of one track must lie in each other or side by side.
func Perfetto(w io.Writer, m *model.Model, o Options) error {
	return draw(w, m, o, func(w io.Writer, m *model.Model) canvas {
		return &perfetto{m: m, w: bufio.NewWriterSize(w, 1<<16), tracks: map[trackKey]*protoTrack{}, names: map[string]uint64{}}
	})
}

// Fields of perfetto.protos, by message.
const (
	tracePacket = 1 // of Trace

	packetTimestamp  = 8 // of TracePacket
	packetSequence   = 10
	packetTrackEvent = 11
	packetInterned   = 12
	packetFlags      = 13
	packetTrack      = 60

	trackUUID    = 1 // of TrackDescriptor
	trackName    = 2
	trackParent  = 5
	trackCounter = 8
	trackOrder   = 11
	trackRank    = 12

	counterUnit     = 3 // of CounterDescriptor
	counterUnitName = 6

	eventAnnotation = 4 // of TrackEvent
	eventType       = 9
	eventNameIID    = 10
	eventTrack      = 11
	eventCategory   = 22
	eventName       = 23
	eventCounterInt = 30
	eventCounter    = 44

	annotationBool   = 2 // of DebugAnnotation
	annotationUint   = 3
	annotationInt    = 4
	annotationDouble = 5
	annotationString = 6
	annotationName   = 10
	annotationArray  = 12

	internedEventName = 2 // of InternedData

	nameIID  = 1 // of EventName
	nameText = 2
)

// Values of its enumerations.
const (
	flagCleared = 1 // what was interned before is forgotten
	flagNeeds   = 2 // uses what was interned

	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3
	counted    = 4

	orderExplicit = 3

	protoCount = 2
	protoBytes = 3
)

// sequence is the one sequence of packets in the file.
const sequence = 1

type trackKey struct {
	group int
	id    int64
	part  string // of a counter or a task
}

// A protoTrack is a track and how far it is written.
type protoTrack struct {
	uuid uint64
	done time.Duration // the end of its last span
}

// perfetto is a canvas of protobuf packets.
type perfetto struct {
	m                          *model.Model
	w                          *bufio.Writer
	tracks                     map[trackKey]*protoTrack
	names                      map[string]uint64 // of runs, interned
	begun                      bool
	err                        error
	packet, body, inner, array []byte // scratch, each inside the one before
}

func (p *perfetto) broken() bool { return p.err != nil }

func (p *perfetto) end() error {
	if p.err != nil {
		return p.err
	}
	return p.w.Flush()
}

// The wire format: a field is its number and type, and a varint, eight bytes, or a length and
// that number of bytes.

func putVarint(b []byte, field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), v)
}

func putDouble(b []byte, field int, f float64) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3|1)
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(f))
}

func putBytes[T string | []byte](b []byte, field int, data T) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

func putBool(b []byte, field int, v bool) []byte {
	if v {
		return putVarint(b, field, 1)
	}
	return putVarint(b, field, 0)
}

// send writes p.packet, a TracePacket without what every one has.
func (p *perfetto) send(flags uint64) {
	if p.err != nil {
		return
	}
	b := putVarint(p.packet, packetSequence, sequence)
	if !p.begun {
		flags |= flagCleared
		p.begun = true
	}
	if flags != 0 {
		b = putVarint(b, packetFlags, flags)
	}
	p.packet = b
	head := binary.AppendUvarint(p.w.AvailableBuffer(), tracePacket<<3|2)
	head = binary.AppendUvarint(head, uint64(len(b)))
	if _, err := p.w.Write(head); err != nil {
		p.err = err
		return
	}
	if _, err := p.w.Write(b); err != nil {
		p.err = err
	}
}

// open returns a track, written when it is new.
func (p *perfetto) open(key trackKey, parent uint64, describe func(b []byte) []byte) *protoTrack {
	t := p.tracks[key]
	if t == nil {
		t = &protoTrack{uuid: uint64(len(p.tracks) + 1)}
		p.tracks[key] = t
		b := putVarint(p.body[:0], trackUUID, t.uuid)
		if parent != 0 {
			b = putVarint(b, trackParent, parent)
		}
		p.body = describe(b)
		p.packet = putBytes(p.packet[:0], packetTrack, p.body)
		p.send(0)
	}
	return t
}

// groupTrack returns the track of a group; its name is empty until it is given one.
func (p *perfetto) groupTrack(group int) uint64 {
	if t := p.tracks[trackKey{group: group}]; t != nil {
		return t.uuid
	}
	return 0
}

func (p *perfetto) group(group int, name string) {
	p.open(trackKey{group: group}, 0, func(b []byte) []byte {
		return putVarint(putBytes(b, trackName, name), trackOrder, orderExplicit)
	})
}

func (p *perfetto) track(group int, id int64, name string) {
	p.open(trackKey{group, id, "spans"}, p.groupTrack(group), func(b []byte) []byte {
		return putVarint(putBytes(b, trackName, name), trackRank, uint64(id)&math.MaxInt32)
	})
}

// event writes p.body, a TrackEvent, at a moment.
func (p *perfetto) event(at time.Duration, flags uint64) {
	p.packet = putVarint(p.packet[:0], packetTimestamp, uint64(max(at, 0)))
	p.packet = putBytes(p.packet, packetTrackEvent, p.body)
	p.send(flags)
}

func (p *perfetto) about(facts []arg) {
	t := p.open(trackKey{part: "about"}, 0, func(b []byte) []byte { return putBytes(b, trackName, "about this file") })
	p.body = putVarint(putVarint(p.body[:0], eventType, instant), eventTrack, t.uuid)
	p.body = putBytes(p.body, eventName, "about this file")
	p.annotate(facts)
	p.event(0, 0)
}

// annotate adds args to p.body.
func (p *perfetto) annotate(args []arg) {
	for _, a := range args {
		p.inner = p.value(putBytes(p.inner[:0], annotationName, a.name), a.value)
		p.body = putBytes(p.body, eventAnnotation, p.inner)
	}
}

func (p *perfetto) value(b []byte, v any) []byte {
	switch v := v.(type) {
	case bool:
		return putBool(b, annotationBool, v)
	case int64:
		return putVarint(b, annotationInt, uint64(v))
	case uint64:
		return putVarint(b, annotationUint, v)
	case float64:
		return putDouble(b, annotationDouble, v)
	case string:
		return putBytes(b, annotationString, v)
	case []string:
		for _, s := range v {
			p.array = putBytes(p.array[:0], annotationString, s)
			b = putBytes(b, annotationArray, p.array)
		}
	}
	return b
}

// counter draws each value on a track of its own.
func (p *perfetto) counter(name, unit string, at time.Duration, values []arg) {
	for _, v := range values {
		t := p.open(trackKey{rowsProgram, 0, name + ": " + v.name}, p.groupTrack(rowsProgram), func(b []byte) []byte {
			label := name
			if len(values) > 1 {
				label = name + ": " + v.name
			}
			return putBytes(putBytes(b, trackName, label), trackCounter, describeUnit(unit))
		})
		p.body = putVarint(putVarint(p.body[:0], eventType, counted), eventTrack, t.uuid)
		switch n := v.value.(type) {
		case uint64:
			p.body = putVarint(p.body, eventCounterInt, min(n, math.MaxInt64))
		case float64:
			p.body = putDouble(p.body, eventCounter, n)
		}
		p.event(at, 0)
	}
}

func describeUnit(unit string) []byte {
	switch unit {
	case unitBytes:
		return putVarint(nil, counterUnit, protoBytes)
	case unitCount:
		return putVarint(nil, counterUnit, protoCount)
	}
	return putBytes(nil, counterUnitName, unit)
}

// fits cuts a span to what its track has free, and takes it; false when
// nothing is left.
func (t *protoTrack) fits(begin, end time.Duration) (time.Duration, time.Duration, bool) {
	begin = max(begin, t.done)
	if end < begin {
		return 0, 0, false
	}
	t.done = end
	return begin, end, true
}

func (p *perfetto) span(group int, id int64, name, category string, begin, end time.Duration, args []arg) {
	p.stretch(p.tracks[trackKey{group, id, "spans"}], name, category, begin, end, args)
}

func (p *perfetto) stretch(t *protoTrack, name, category string, begin, end time.Duration, args []arg) {
	begin, end, ok := t.fits(begin, end)
	if !ok {
		return
	}
	p.body = putVarint(putVarint(p.body[:0], eventType, sliceBegin), eventTrack, t.uuid)
	p.body = putBytes(putBytes(p.body, eventCategory, category), eventName, name)
	p.annotate(args)
	p.event(begin, 0)
	p.close(t, end)
}

func (p *perfetto) close(t *protoTrack, at time.Duration) {
	p.body = putVarint(putVarint(p.body[:0], eventType, sliceEnd), eventTrack, t.uuid)
	p.event(at, 0)
}

// task gives each task a track of its own, for tasks overlap.
func (p *perfetto) task(id uint64, name string, begin, end time.Duration, args []arg) {
	t := p.open(trackKey{rowsProgram, int64(id), "task"}, p.groupTrack(rowsProgram), func(b []byte) []byte {
		return putVarint(putBytes(b, trackName, "task "+name), trackRank, math.MaxInt32)
	})
	p.stretch(t, name, "task", begin, end, args)
}

func (p *perfetto) goSlice(group int, id int64, s Slice) {
	t := p.tracks[trackKey{group, id, "spans"}]
	begin, end, ok := t.fits(s.Begin, s.End)
	if !ok {
		return
	}
	p.packet = putVarint(p.packet[:0], packetTimestamp, uint64(max(begin, 0)))
	iid := p.names[s.Name]
	if iid == 0 {
		iid = uint64(len(p.names) + 1)
		p.names[s.Name] = iid
		p.inner = putBytes(putVarint(p.inner[:0], nameIID, iid), nameText, plain(s.Name))
		p.body = putBytes(p.body[:0], internedEventName, p.inner)
		p.packet = putBytes(p.packet, packetInterned, p.body)
	}
	p.body = putVarint(putVarint(p.body[:0], eventType, sliceBegin), eventTrack, t.uuid)
	p.body = putVarint(p.body, eventNameIID, iid)
	args := []arg{{"goroutine", s.Goroutine}}
	if s.Stack != 0 {
		args = append(args, arg{"stack", stackNames(p.m, s.Stack)})
	}
	p.annotate(args)
	p.packet = putBytes(p.packet, packetTrackEvent, p.body)
	p.send(flagNeeds)
	p.close(t, end)
}
