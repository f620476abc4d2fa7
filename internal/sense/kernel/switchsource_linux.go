//go:build amd64 || arm64

package kernel

import (
	"bytes"
	"encoding/binary"
	"time"
)

// A switchSource sums time off the CPU. What is not seen in a pause between
// two slices is known from the slices: a thread's wait counts in each as far as
// it reaches into it. A wait that began in a pause is of an unknown place, and
// shareOut gives it one: not that where the thread was last, for a long wait
// would then go to where the thread waits often.
type switchSource struct {
	maps    switchMaps
	pid     int
	foreign bool                 // threads have other numbers here
	last    map[sumKey][2]uint64 // what the map said the last time
	sums    map[sumKey]*[2]float64
	going   map[sumKey]*[2]uint64 // weighed waits that went on at a slice's end
	runs    map[uint64]uint64     // of threads that waited then, by task
}

func newSwitchSource(pid int, foreign bool, m switchMaps) *switchSource {
	return &switchSource{maps: m, pid: pid, foreign: foreign, last: map[sumKey][2]uint64{}, sums: map[sumKey]*[2]float64{}, going: map[sumKey]*[2]uint64{}, runs: map[uint64]uint64{}}
}

func (w *switchSource) seen() uint64 {
	return counted(w.maps.budget, func(b [budgetSize / 8]uint64) uint64 { return b[budgetSeenAt/8] })
}

// manyThreads are so many that to read their counters costs more than it brings.
const manyThreads = 500

// counters returns how often threads came onto a CPU: as often as they left one, and one
// more.
func (w *switchSource) counters() map[int]uint64 {
	threads, err := threadsOf(w.pid)
	if err != nil || len(threads) > manyThreads {
		return nil
	}
	all := make(map[int]uint64, len(threads))
	for _, thread := range threads {
		if runs, ok := runsOf(w.pid, thread); ok {
			all[thread] = runs
		}
	}
	return all
}

// A wait is an entry of the map of waits.
type wait [waitSize]byte

func (w *wait) since() uint64 { return binary.NativeEndian.Uint64(w[waitSinceAt:]) }

func (w *wait) thread() int { return int(binary.NativeEndian.Uint32(w[waitThreadAt:])) }

func (w *wait) key() sumKey { return sumKey(w[waitKeyAt:waitThreadAt]) }

// waits returns the waits that go on, by task.
func (w *switchSource) waits() map[uint64]wait {
	all := make(map[uint64]wait)
	eachEntry(w.maps.waits, func(task uint64, v wait) {
		if v.since() != 0 {
			all[task] = v
		}
	})
	return all
}

// begin makes the waits begin anew that go on since the last slice, without
// their place if their threads ran meanwhile.
func (w *switchSource) begin(at uint64) {
	for task, v := range w.waits() {
		runs, ok := w.runsOf(v.thread())
		if !ok && !w.foreign && !threadAlive(w.pid, v.thread()) {
			_ = w.maps.waits.Delete(task) // it may have gone by itself
			continue
		}
		if !ok || runs != w.runs[task] {
			none := int32(noStack)
			binary.NativeEndian.PutUint32(v[waitUserAt:], uint32(none))
			binary.NativeEndian.PutUint32(v[waitKernelAt:], uint32(none))
			binary.NativeEndian.PutUint32(v[waitFlagsAt:], waitCarried)
		}
		v[waitFlagsAt] |= waitCarried
		binary.NativeEndian.PutUint64(v[waitSinceAt:], at)
		_ = w.maps.waits.Put(task, v) // it is there
	}
}

func (w *switchSource) runsOf(tid int) (runs uint64, ok bool) {
	if w.foreign {
		return 0, false
	}
	return runsOf(w.pid, tid)
}

// end counts the waits that go on.
func (w *switchSource) end(s span) {
	clear(w.runs)
	for task, v := range w.waits() {
		w.runs[task], _ = w.runsOf(v.thread())
		if v.since() > s.until {
			continue
		}
		sum := w.going[v.key()]
		if sum == nil {
			sum = new([2]uint64)
			w.going[v.key()] = sum
		}
		sum[0] += s.weight
		sum[1] += (s.until - v.since()) * s.weight
	}
}

func (w *switchSource) collect(count, wall float64) {
	add := func(key sumKey, switches, time uint64) {
		sum := w.sums[key]
		if sum == nil {
			sum = new([2]float64)
			w.sums[key] = sum
		}
		sum[1] += float64(time) * wall
		if keyPart(key, waitFlagsAt)&waitCarried == 0 { // else the switch was before
			sum[0] += float64(switches) * count
		}
	}
	eachEntry(w.maps.sums, func(key sumKey, sum [2]uint64) {
		before := w.last[key]
		add(key, sum[0]-before[0], sum[1]-before[1])
		w.last[key] = sum
	})
	for key, sum := range w.going {
		add(key, sum[0], sum[1])
	}
	clear(w.going)
}

// totals returns the sums by place.
func (w *switchSource) totals() []offSum {
	shareOut(w.sums)
	merged := make(map[sumKey]*[2]float64)
	for key, v := range w.sums {
		key[waitFlagsAt-waitKeyAt] &^= waitCarried
		if merged[key] == nil {
			merged[key] = new([2]float64)
		}
		merged[key][0] += v[0]
		merged[key][1] += v[1]
	}
	out := make([]offSum, 0, len(merged))
	for key, v := range merged {
		s := offSum{count: round(v[0]), time: time.Duration(v[1])}
		s.chain.kernel = readStack(w.maps.kernelStacks, key[waitKernelAt-waitKeyAt:], kernelDepth)
		s.chain.user = readStack(w.maps.users, key[waitUserAt-waitKeyAt:], userDepth)
		name, _, _ := bytes.Cut(key[waitNameAt-waitKeyAt:waitFlagsAt-waitKeyAt], []byte{0})
		s.thread = string(name)
		s.preempted = keyPart(key, waitFlagsAt)&waitPreempted != 0
		if s.count > 0 || s.time > 0 {
			out = append(out, s)
		}
	}
	return out
}
