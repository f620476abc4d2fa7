package oracle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/exp/trace"
)

// Raw reads a trace of Go 1.22 or later with the reference and calls f for each
// event with the time that its thread wrote down, which ev.Time hides when the
// reference has moved it. Sync events, which nobody wrote, have the time at
// which the first batch of events or clocks of their generation begins (tables
// can be older than what they are of), and the one at the end that of the
// latest event.
//
// It also makes sure that moving is all that the reference does to time: each
// ev.Time must be the raw time or, where that is not later than the event
// before, one more than that event's. Anything else is an error.
func Raw(data []byte, f func(ev *trace.Event, raw trace.Time) error) error {
	gens, err := decode(data)
	if err != nil {
		return err
	}
	var last, latest trace.Time
	var gen *rawGen
	syncs := 0
	return eachEvent(bytes.NewReader(data), func(ev *trace.Event) error {
		var raw, stated trace.Time
		if ev.Kind() == trace.EventSync {
			if raw, stated = latest, last; syncs < len(gens) {
				gen = gens[syncs]
				raw, stated = gen.first, gen.start
			}
			syncs++
		} else if raw, err = gen.timeOf(ev); err != nil {
			return err
		} else {
			stated = raw
		}
		latest = max(latest, raw)
		if want := max(stated, last+1); ev.Time() != want {
			return fmt.Errorf("oracle: the reference puts at %d what was written at %d after %d: %v", ev.Time(), stated, last, ev)
		}
		last = ev.Time()
		return f(ev, raw)
	})
}

// RawTimes lists the times of all events of each thread as written, in the
// order of the file.
func RawTimes(data []byte) (map[uint64][]trace.Time, error) {
	gens, err := decode(data)
	if err != nil {
		return nil, err
	}
	out := make(map[uint64][]trace.Time)
	for _, g := range gens {
		for m, list := range g.threads {
			for _, e := range list {
				out[m] = append(out[m], e.at)
			}
		}
	}
	return out, nil
}

// A rawEvent is all that is needed to find the event again.
type rawEvent struct {
	typ byte
	arg uint64 // the first, where it names a goroutine or P
	at  trace.Time
}

// A rawGen is the events of a generation, handed out as they are asked for.
type rawGen struct {
	start   trace.Time // of any batch
	first   trace.Time // of a batch of events or clocks
	threads map[uint64][]rawEvent
	next    map[uint64]int
	goAt    map[uint64]trace.Time // of the status of each goroutine
	procAt  map[uint64]trace.Time
	samples []trace.Time
	repeat  map[uint64]int // events still to come of the last one of a thread
}

// The types that this file must know. It has its own list so that a slip in
// another cannot hide here.
const (
	typProcStatus  = 13
	typGoDestroyS  = 18
	typGoStatus    = 25
	typGoSwitch    = 45
	typGoSwitchEnd = 46
	typStatusStack = 48
)

// varints is how many follow each type of timed event, the time included; 0
// means that no such event exists.
var varints = map[byte]int{
	9: 3, 10: 3, 11: 1, 12: 4, 13: 3, 14: 4, 15: 2, 16: 3, 17: 1, 18: 1, 19: 3, 20: 3, 21: 4, 22: 3, 23: 1,
	24: 1, 25: 4, 26: 3, 27: 1, 28: 2, 29: 3, 30: 2, 31: 2, 32: 2, 33: 3, 34: 2, 35: 2, 36: 1, 37: 2, 38: 2,
	39: 2, 40: 5, 41: 3, 42: 4, 43: 4, 44: 5, 45: 3, 46: 3, 47: 4, 48: 5,
	128: 4, 129: 4, 130: 2, 131: 3, 132: 3, 133: 2, 134: 3, 135: 3, 136: 2,
}

// timeOf finds the raw time of the next event that the reference gives.
func (g *rawGen) timeOf(ev *trace.Event) (trace.Time, error) {
	if g == nil {
		return 0, errors.New("oracle: an event before any generation")
	}
	if ev.Kind() == trace.EventStackSample {
		if len(g.samples) == 0 {
			return 0, errors.New("oracle: a CPU sample that is not in the file")
		}
		at := g.samples[0]
		g.samples = g.samples[1:]
		return at, nil
	}
	if ev.Kind() == trace.EventStateTransition {
		// The reference shows a status under the thread that it is about, not
		// the one that wrote it; but there is one of each.
		if at, ok, err := g.status(ev); ok || err != nil {
			return at, err
		}
	}
	return g.ofThread(ev)
}

// status takes the time of a goroutine's or P's status, once. The theft of a P
// that was given up looks the same as an idle P's status, but comes later.
func (g *rawGen) status(ev *trace.Event) (at trace.Time, ok bool, err error) {
	st := ev.StateTransition()
	switch st.Resource.Kind {
	case trace.ResourceGoroutine:
		if from, to := st.Goroutine(); from != to && from != trace.GoUndetermined {
			return 0, false, nil
		}
		id := uint64(st.Resource.Goroutine())
		if at, ok = g.goAt[id]; !ok {
			return 0, false, fmt.Errorf("oracle: a status that is not in the file: %v", ev)
		}
		delete(g.goAt, id)
	case trace.ResourceProc:
		from, to := st.Proc()
		if from != to && from != trace.ProcUndetermined && from != trace.ProcNotExist {
			return 0, false, nil
		}
		id := uint64(st.Resource.Proc())
		at, ok = g.procAt[id]
		delete(g.procAt, id)
	}
	return at, ok, nil
}

// peek returns the next event of thread m that is no status.
func (g *rawGen) peek(m uint64) (rawEvent, bool) {
	list := g.threads[m]
	for i := g.next[m]; i < len(list); i++ {
		switch list[i].typ {
		case typGoStatus, typStatusStack, typProcStatus:
			g.next[m] = i + 1
		default:
			return list[i], true
		}
	}
	return rawEvent{}, false
}

func (g *rawGen) ofThread(ev *trace.Event) (trace.Time, error) {
	m := uint64(ev.Thread())
	e, ok := g.peek(m)
	if !ok {
		return 0, fmt.Errorf("oracle: an event that is not in the file: %v", ev)
	}
	switch e.typ {
	case typGoSwitch, typGoSwitchEnd: // the reference makes three of it
		if g.repeat[m]++; g.repeat[m] < 3 {
			return e.at, nil
		}
	case typGoDestroyS: // and here one more if there was a P to lose
		if ev.StateTransition().Resource.Kind == trace.ResourceProc {
			return e.at, nil
		}
	}
	g.repeat[m] = 0
	g.next[m]++
	return e.at, nil
}

// decode reads the times of a sound trace, and nothing else.
func decode(data []byte) (gens []*rawGen, err error) {
	if len(data) < 16 {
		return nil, errors.New("oracle: no trace")
	}
	var number uint64
	var bodies []rawBatch
	flush := func() {
		if err == nil && len(bodies) > 0 {
			var g *rawGen
			g, err = decodeGen(bodies)
			gens, bodies = append(gens, g), nil
		}
	}
	for i := 16; i < len(data) && err == nil; {
		if data[i] == 52 { // the end of a generation
			i++
			continue
		}
		var b rawBatch
		if b, i, err = decodeBatch(data, i); err != nil {
			return nil, err
		}
		if b.gen != number {
			flush()
			number = b.gen
		}
		bodies = append(bodies, b)
	}
	flush()
	return gens, err
}

type rawBatch struct {
	gen, m, time uint64
	body         []byte
	experiment   bool
}

func decodeBatch(data []byte, i int) (b rawBatch, next int, err error) {
	r := cursor{data: data, i: i}
	switch r.byte() {
	case 1:
	case 49:
		r.byte()
		b.experiment = true
	default:
		return b, 0, fmt.Errorf("oracle: no batch at byte %d", i)
	}
	b.gen, b.m, b.time = r.varint(), r.varint(), r.varint()
	size := r.varint()
	if r.bad || size > uint64(len(data)-r.i) {
		return b, 0, fmt.Errorf("oracle: torn batch at byte %d", i)
	}
	b.body = data[r.i : r.i+int(size)]
	return b, r.i + int(size), nil
}

func decodeGen(batches []rawBatch) (*rawGen, error) {
	g := &rawGen{
		threads: make(map[uint64][]rawEvent), next: make(map[uint64]int), repeat: make(map[uint64]int),
		goAt: make(map[uint64]trace.Time), procAt: make(map[uint64]trace.Time),
	}
	freq, earliest, begin := 0.0, ^uint64(0), ^uint64(0)
	for _, b := range batches {
		earliest = min(earliest, b.time)
		if len(b.body) == 0 || b.experiment {
			continue
		}
		switch b.body[0] {
		case 8, 50: // frequency, or a sync batch that begins with it
			r := cursor{data: b.body, i: 1}
			if b.body[0] == 50 {
				r.byte()
			}
			freq = 1 / (float64(r.varint()) / 1e9)
			begin = min(begin, b.time)
		case 2, 4, 6:
		default:
			begin = min(begin, b.time)
		}
	}
	if freq == 0 {
		return nil, errors.New("oracle: a generation without a frequency")
	}
	g.start, g.first = ns(earliest, freq), ns(begin, freq)
	for _, b := range batches {
		if len(b.body) == 0 || b.experiment {
			continue
		}
		if err := g.addBatch(b, freq); err != nil {
			return nil, err
		}
	}
	slices.Sort(g.samples)
	return g, nil
}

func ns(ticks uint64, freq float64) trace.Time { return trace.Time(float64(ticks) * freq) }

func (g *rawGen) addBatch(b rawBatch, freq float64) error {
	r := cursor{data: b.body}
	switch b.body[0] {
	case 2, 4, 8, 50: // tables and clocks
		return nil
	case 6: // CPU samples
		for r.i = 1; r.i < len(b.body) && !r.bad; {
			r.byte()
			g.samples = append(g.samples, ns(r.varint(), freq))
			for range 4 {
				r.varint()
			}
		}
		return r.err()
	}
	at := ns(b.time, freq)
	for r.i < len(b.body) && !r.bad {
		e := rawEvent{typ: r.byte()}
		n := varints[e.typ]
		if n == 0 {
			return fmt.Errorf("oracle: event type %d", e.typ)
		}
		at += ns(r.varint(), freq)
		e.at = at
		for k := 1; k < n; k++ {
			if v := r.varint(); k == 1 {
				e.arg = v
			}
		}
		g.add(b.m, e)
	}
	return r.err()
}

func (g *rawGen) add(m uint64, e rawEvent) {
	switch e.typ {
	case typGoStatus, typStatusStack:
		g.goAt[e.arg] = e.at
	case typProcStatus:
		g.procAt[e.arg] = e.at
	}
	g.threads[m] = append(g.threads[m], e)
}

// A cursor reads bytes and varints; bad is set once it ran out of them.
type cursor struct {
	data []byte
	i    int
	bad  bool
}

func (c *cursor) byte() byte {
	if c.i >= len(c.data) {
		c.bad = true
		return 0
	}
	c.i++
	return c.data[c.i-1]
}

func (c *cursor) varint() uint64 {
	if c.bad {
		return 0
	}
	v, n := binary.Uvarint(c.data[c.i:])
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.i += n
	return v
}

func (c *cursor) err() error {
	if c.bad {
		return errors.New("oracle: torn event")
	}
	return nil
}
