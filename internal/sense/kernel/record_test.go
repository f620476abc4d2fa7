package kernel

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
	"time"
)

// words puts 64-bit values one behind the other.
func words(v ...uint64) []byte {
	var b []byte
	for _, w := range v {
		b = binary.NativeEndian.AppendUint64(b, w)
	}
	return b
}

func pair(a, b uint32) uint64 {
	return binary.NativeEndian.Uint64(binary.NativeEndian.AppendUint32(binary.NativeEndian.AppendUint32(nil, a), b))
}

// rec returns a record with its header.
func rec(kind uint32, misc uint16, body ...uint64) []byte {
	b := binary.NativeEndian.AppendUint32(nil, kind)
	b = binary.NativeEndian.AppendUint16(b, misc)
	b = binary.NativeEndian.AppendUint16(b, uint16(headerSize+8*len(body)))
	return append(b, words(body...)...)
}

const rawID = 99

func isRaw(id uint64) bool { return id == rawID }

var records = []struct {
	name string
	in   []byte
	want record
}{
	{"lost", rec(recordLost, 0, 5, 17, pair(1, 2), 1000, 5), record{kind: recordLost, id: 5, pid: 1, tid: 2, time: 1000, lost: 17}},
	{"lost samples", rec(recordLostSamples, 0, 18, pair(1, 2), 1000, 5), record{kind: recordLostSamples, id: 5, pid: 1, tid: 2, time: 1000, lost: 18}},
	{"fork", rec(recordFork, 0, pair(1, 1), pair(3, 2), 900, pair(1, 2), 1000, 5), record{kind: recordFork, id: 5, pid: 1, tid: 2, time: 1000, child: 3}},
	{"switch out", rec(recordSwitch, miscSwitchOut|miscSwitchOutPreempt, pair(1, 2), 1000, 5),
		record{kind: recordSwitch, misc: miscSwitchOut | miscSwitchOutPreempt, id: 5, pid: 1, tid: 2, time: 1000}},
	{"sample", rec(recordSample, 2, 5, pair(1, 2), 1000, 3, contextUser, 0x400, 0x500),
		record{kind: recordSample, misc: 2, id: 5, pid: 1, tid: 2, time: 1000, chain: words(contextUser, 0x400, 0x500)}},
	{"sample without a stack", rec(recordSample, 2, 5, pair(1, 2), 1000, 0, 0, 0), record{kind: recordSample, misc: 2, id: 5, pid: 1, tid: 2, time: 1000, chain: []byte{}}},
	{"raw sample", rec(recordSample, 0, rawID, pair(1, 2), 1000, pair(12, 7), pair(8, 9)),
		record{kind: recordSample, id: rawID, pid: 1, tid: 2, time: 1000, raw: append(binary.NativeEndian.AppendUint32(nil, 7), words(pair(8, 9))...)}},
}

func TestDecodeRecord(t *testing.T) {
	for _, r := range records {
		got, ok := decodeRecord(r.in, isRaw)
		if !ok || !reflect.DeepEqual(got, r.want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", r.name, ok, got, r.want)
		}
		for n := range r.in {
			decodeRecord(r.in[:n], isRaw) // must not panic
		}
	}
}

func TestCaller(t *testing.T) {
	tail := []uint64{2, 0x7000, 8, 0x4321, 8} // registers, their value, the stack and how much of it
	got, ok := decodeRecord(rec(recordSample, 2, append([]uint64{5, pair(1, 2), 1000, 2, contextUser, 0x400}, tail...)...), isRaw)
	want := uint64(0x4321)
	if returnRegister {
		want = 0x7000
	}
	if !ok || got.caller != want {
		t.Errorf("caller %#x, want %#x", got.caller, want)
	}
}

func TestHostileRecords(t *testing.T) {
	for name, in := range map[string][]byte{
		"chain longer than the record": rec(recordSample, 0, 5, pair(1, 2), 1000, 1<<60, 0x400),
		"chain that overflows":         rec(recordSample, 0, 5, pair(1, 2), 1000, 1<<61+1, 0x400),
		"raw longer than the record":   rec(recordSample, 0, rawID, pair(1, 2), 1000, pair(1<<31, 0)),
		"no trailer":                   rec(recordSwitch, 0, 1, 2),
		"lost without a number":        rec(recordLost, 0, pair(1, 2), 1000, 5),
		"empty":                        nil,
	} {
		if r, ok := decodeRecord(in, isRaw); ok {
			t.Errorf("%s: decodeRecord() = %+v, true, want false", name, r)
		}
	}
}

// TestWalkRing reads the same records at each place of a ring, so that each
// way to wrap occurs.
func TestWalkRing(t *testing.T) {
	const size = 512
	var stream []byte
	for _, r := range records {
		stream = append(stream, r.in...)
	}
	for start := uint64(0); start < 2*size; start += 8 {
		ring := make([]byte, size)
		for i, b := range stream {
			ring[(start+uint64(i))%size] = b
		}
		var got []byte
		var scratch []byte
		end := walkRing(ring, start, start+uint64(len(stream)), &scratch, func(b []byte) { got = append(got, b...) })
		if end != start+uint64(len(stream)) || !bytes.Equal(got, stream) {
			t.Fatalf("from %d: ended at %d, read %d bytes; want %d and all %d", start, end, len(got), start+uint64(len(stream)), len(stream))
		}
	}
}

func FuzzRing(f *testing.F) {
	for _, r := range records {
		f.Add(r.in, uint64(0), uint64(len(r.in)))
		f.Add(r.in, uint64(4000), uint64(4000+len(r.in)))
	}
	f.Add([]byte{}, uint64(0), uint64(1<<63))
	f.Fuzz(func(t *testing.T, data []byte, tail, head uint64) {
		ring := make([]byte, 4096)
		for i, b := range data[:min(len(data), len(ring))] {
			ring[(tail+uint64(i))%4096] = b
		}
		table := newChainTable()
		switches := newSwitching(table)
		calls := newCallCounter()
		var scratch []byte
		read := 0
		end := walkRing(ring, tail, head, &scratch, func(b []byte) {
			read += len(b)
			r, ok := decodeRecord(b, isRaw)
			if !ok {
				return
			}
			c := table.cell(r.chain, r.tid, false)
			parseChain(c.chain)
			userStart(r.chain)
			switches.add(switchEvent{time: r.time, tid: r.tid, kind: uint8(r.misc % 4), cell: c})
			calls.add(callEvent{time: r.time, tid: r.tid, exit: r.misc%2 == 1, number: int64(r.id), result: int64(r.lost)})
		})
		if end != head && end > head || read > len(ring) {
			t.Errorf("from %d to %d: ended at %d, read %d bytes; want an end at most there, and at most %d", tail, head, end, read, len(ring))
		}
		switches.finish(1<<40, func(uint32) bool { return true })
		calls.advance(^uint64(0))
		for _, c := range table.cells {
			if c.count < 0 {
				t.Errorf("count %+v, want none below 0", c)
			}
		}
	})
}

func TestSwitching(t *testing.T) {
	table := newChainTable()
	s := newSwitching(table)
	a, b := words(contextUser, 1), words(contextUser, 2)
	stack := func(at uint64, tid uint32, chain []byte) {
		s.add(switchEvent{time: at, tid: tid, kind: eventStack, cell: table.cell(chain, tid, false)})
	}
	add := func(at uint64, tid uint32, kind uint8) { s.add(switchEvent{time: at, tid: tid, kind: kind}) }

	// Thread 1 comes back on another CPU, whose ring is read first.
	add(300, 1, eventIn)
	stack(100, 1, a)
	add(101, 1, eventOut)
	// Thread 2 is taken off, and its return is younger than the horizon.
	stack(200, 2, b)
	add(201, 2, eventOutPreempted)
	add(901, 2, eventIn)
	// Thread 3 comes, but nobody saw it go; thread 4 goes without a stack.
	add(250, 3, eventIn)
	add(260, 4, eventOut)
	s.advance(500)

	want := func(chain []byte, tid uint32, preempted bool, count int64, d time.Duration) {
		t.Helper()
		c := table.find(chain, tid, preempted)
		if c == nil || c.count != count || c.time != d {
			t.Errorf("thread %d: %+v, want %d in %v", tid, c, count, d)
		}
	}
	want(a, 1, false, 1, 199)
	want(b, 2, true, 0, 0)
	s.finish(1260, func(tid uint32) bool { return tid == 4 })
	want(b, 2, true, 1, 700)
	want(nil, 4, false, 1, 1000)
}

func TestChainTableBound(t *testing.T) {
	table := newChainTable()
	for i := range uint64(maxStacks + 10) {
		table.cell(words(contextUser, i), 1, false).count++
	}
	if len(table.cells) > maxStacks+1 || table.lost != 10 || table.find(nil, 1, false).count != 10 {
		t.Errorf("%d cells, %d lost, the rest %+v, want %d cells at most, 10, a count of 10",
			len(table.cells), table.lost, table.find(nil, 1, false), maxStacks+1)
	}
}

func TestParseChain(t *testing.T) {
	const guest = ^uint64(2048 - 1)
	got := parseChain(string(words(7, contextKernel, 1, 2, contextUser, 3, 4, guest, 5)))
	want := chain{kernel: []uint64{1, 2}, user: []uint64{3, 4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCallCounter(t *testing.T) {
	c := newCallCounter()
	c.add(callEvent{time: 150, tid: 1, exit: true, number: 0, result: 100})
	c.add(callEvent{time: 100, tid: 1, number: 0})
	c.add(callEvent{time: 160, tid: 2, exit: true, number: 1, result: 5}) // began before
	c.add(callEvent{time: 170, tid: 1, number: 0})
	c.add(callEvent{time: 180, tid: 1, exit: true, number: 0, result: -9})
	c.add(callEvent{time: 190, tid: 1, number: 0}) // goes on
	c.advance(1000)
	want := &callCount{count: 2, bytes: 100, time: 60, errors: map[int]int64{9: 1}}
	if !reflect.DeepEqual(c.calls, map[int64]*callCount{0: want}) {
		t.Errorf("calls %+v, want %+v", c.calls[0], want)
	}
}
