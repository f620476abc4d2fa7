package agent

import (
	"runtime/metrics"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

// memoryEvery is how often the memory is looked at: 20 MB a second are 2 MB then. A look takes
// some microseconds.
const memoryEvery = 100 * time.Millisecond

// A memoryWatch notices that the memory comes near its nearest limit.
type memoryWatch struct {
	share   float64 // at which it is near
	level   level
	groups  groupLimits
	samples []metrics.Sample
}

// A limitUse is what is used of a limit, in bytes.
type limitUse struct {
	of          string
	used, limit uint64
}

func (l limitUse) share() float64 {
	if l.limit == 0 {
		return 0
	}
	return float64(l.used) / float64(l.limit)
}

const (
	sampleLimit = iota
	sampleTotal
	sampleReleased
	sampleFree
	sampleUnused
	sampleObjects
	sampleLive
)

// newMemoryWatch returns nil when the trigger is off.
func newMemoryWatch(share float64) *memoryWatch {
	if share == 0 {
		return nil
	}
	return &memoryWatch{share: share, groups: openGroupLimits(), samples: []metrics.Sample{
		sampleLimit: {Name: "/gc/gomemlimit:bytes"}, sampleTotal: {Name: "/memory/classes/total:bytes"},
		sampleReleased: {Name: "/memory/classes/heap/released:bytes"}, sampleFree: {Name: "/memory/classes/heap/free:bytes"},
		sampleUnused: {Name: "/memory/classes/heap/unused:bytes"}, sampleObjects: {Name: "/memory/classes/heap/objects:bytes"},
		sampleLive: {Name: "/gc/heap/live:bytes"},
	}}
}

// look returns the event that this moment is, if it is one: once, until the memory has been
// well below.
func (w *memoryWatch) look(now time.Time) (e recording.Event, fired bool) {
	nearest := w.runtimeLimit()
	for _, l := range w.groups.read(w.share) {
		if l.share() > nearest.share() {
			nearest = l
		}
	}
	if !w.level.exceeded(nearest.share(), w.share, 1) {
		return e, false
	}
	return recording.Event{Kind: "memory", Of: nearest.of, Time: now, Value: float64(nearest.used), Limit: float64(nearest.limit)}, true
}

// runtimeLimit is GOMEMLIMIT, and what of it no collection can free: a heap that grows up to it
// and is then collected uses all of it and is well.
func (w *memoryWatch) runtimeLimit() limitUse {
	metrics.Read(w.samples)
	of := func(i int) uint64 {
		if w.samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return w.samples[i].Value.Uint64()
	}
	limit, objects := of(sampleLimit), of(sampleObjects)
	if limit == 0 || limit > 1<<62 {
		return limitUse{}
	}
	used, spare := of(sampleTotal), of(sampleReleased)+of(sampleFree)+of(sampleUnused)+objects-min(objects, of(sampleLive))
	return limitUse{"GOMEMLIMIT", used - min(used, spare), limit}
}
