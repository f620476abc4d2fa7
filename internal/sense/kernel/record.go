package kernel

import (
	"encoding/binary"
	"runtime"
)

// returnRegister tells that a call leaves the return address in a register.
const returnRegister = runtime.GOARCH == "arm64"

// Kinds of records in a ring, as perf_event_open(2) numbers them.
const (
	recordLost        = 2
	recordThrottle    = 5
	recordFork        = 7
	recordSample      = 9
	recordSwitch      = 14
	recordLostSamples = 13

	miscSwitchOut        = 1 << 13
	miscSwitchOutPreempt = 1 << 14
)

// Markers in a call chain, which say whose addresses follow. All that is at
// least contextMax is a marker.
const (
	contextKernel = ^uint64(128 - 1)
	contextUser   = ^uint64(512 - 1)
	contextMax    = ^uint64(4095 - 1)
)

// headerSize is that of a record's header: type, misc, size.
const headerSize = 8

// trailerSize is that of what follows each record that is no sample: thread,
// time and identifier; see attributes in sampler_linux.go.
const trailerSize = 8 + 8 + 8

// A record is one record of a ring. Its slices alias the ring.
type record struct {
	kind     uint32
	misc     uint16
	id       uint64 // of the event, as PERF_EVENT_IOC_ID tells it
	pid, tid uint32
	time     uint64 // ns of CLOCK_MONOTONIC
	lost     uint64 // of recordLost and recordLostSamples
	child    uint32 // of recordFork: the new thread
	chain    []byte // of recordSample: addresses and markers, 8 bytes each
	raw      []byte // of recordSample of a tracepoint
	// caller is of recordSample: where the program's innermost function returns
	// to if it has no frame; anything if it has one. 0 is not known.
	caller uint64
}

// decodeRecord reads one whole record, header included. hasRaw tells whether
// the samples of an event end in raw data.
func decodeRecord(b []byte, hasRaw func(id uint64) bool) (r record, ok bool) {
	if len(b) < headerSize {
		return r, false
	}
	r.kind = binary.NativeEndian.Uint32(b)
	r.misc = binary.NativeEndian.Uint16(b[4:])
	body := b[headerSize:]
	if r.kind == recordSample {
		return r, r.sample(body, hasRaw)
	}
	if len(body) < trailerSize {
		return r, false
	}
	tail := body[len(body)-trailerSize:]
	body = body[:len(body)-trailerSize]
	r.pid, r.tid = binary.NativeEndian.Uint32(tail), binary.NativeEndian.Uint32(tail[4:])
	r.time, r.id = binary.NativeEndian.Uint64(tail[8:]), binary.NativeEndian.Uint64(tail[16:])
	switch r.kind {
	case recordLost:
		if len(body) < 16 {
			return r, false
		}
		r.lost = binary.NativeEndian.Uint64(body[8:])
	case recordLostSamples:
		if len(body) < 8 {
			return r, false
		}
		r.lost = binary.NativeEndian.Uint64(body)
	case recordFork:
		if len(body) < 16 {
			return r, false
		}
		r.child = binary.NativeEndian.Uint32(body[8:])
	}
	return r, true
}

// sample reads the body of a sample: identifier, thread, time,
// then raw data, or a chain and the program's registers and stack.
func (r *record) sample(b []byte, hasRaw func(id uint64) bool) bool {
	if len(b) < 8+8+8+8 {
		return false
	}
	r.id = binary.NativeEndian.Uint64(b)
	r.pid, r.tid = binary.NativeEndian.Uint32(b[8:]), binary.NativeEndian.Uint32(b[12:])
	r.time = binary.NativeEndian.Uint64(b[16:])
	if hasRaw(r.id) {
		b = b[24:]
		n := binary.NativeEndian.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			return false
		}
		r.raw = b[4 : 4+n]
		return true
	}
	n := binary.NativeEndian.Uint64(b[24:])
	b = b[32:]
	if n > uint64(len(b)/8) {
		return false
	}
	r.chain = b[:n*8]
	r.caller = callerOf(b[n*8:])
	return true
}

// callerOf reads the register that was asked for and the top of the program's
// stack. Where calls push the return address it is there; else the register is
// the one that holds it.
func callerOf(b []byte) uint64 {
	if len(b) < 16 || binary.NativeEndian.Uint64(b) == 0 { // no registers: a thread of the kernel
		return 0
	}
	if returnRegister {
		return binary.NativeEndian.Uint64(b[8:])
	}
	if len(b) < 16+8+8 || binary.NativeEndian.Uint64(b[16:]) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(b[24:])
}

// walkRing calls f with each whole record between the positions tail and head
// of a ring whose size is a power of two, and returns the position behind the
// last. Positions only grow; they are taken modulo the size. A record that
// cannot be is the end: nothing behind it can be trusted.
func walkRing(ring []byte, tail, head uint64, scratch *[]byte, f func(rec []byte)) uint64 {
	size := uint64(len(ring))
	if head < tail || head-tail > size {
		return head
	}
	for head-tail >= headerSize {
		at := tail & (size - 1)
		// Headers never wrap, as records are multiples of 8 bytes; a hostile
		// ring's may.
		if at+headerSize > size {
			return head
		}
		n := uint64(binary.NativeEndian.Uint16(ring[at+6:]))
		if n < headerSize || n > head-tail {
			return head
		}
		if at+n <= size {
			f(ring[at : at+n])
		} else {
			*scratch = append(append((*scratch)[:0], ring[at:]...), ring[:at+n-size]...)
			f(*scratch)
		}
		tail += n
	}
	return tail
}
