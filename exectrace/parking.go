package exectrace

import "strings"

// Where a goroutine waits that was found waiting. The event by which a goroutine
// stops tells the reason, and its stack begins with the function that the program, or
// the runtime, called. A status has no reason, and its stack goes down to
// runtime.gopark: the reason is in the names above that, and without them the stack
// is that of an event.

// parkedIn are the functions between runtime.gopark and the one that an event's stack
// begins with, and what the runtime calls a wait in them, where that is certain.
// Those of Go 1.22 to 1.26.
var parkedIn = map[string]string{
	"runtime.gopark":                      "",
	"runtime.goparkunlock":                "",
	"runtime.chansend":                    "chan send",
	"runtime.chanrecv":                    "chan receive",
	"runtime.semacquire1":                 "sync",
	"runtime.semacquire":                  "sync",
	"runtime.netpollblock":                "network",
	"internal/poll.runtime_pollWait":      "network",
	"internal/poll.(*pollDesc).wait":      "network",
	"internal/poll.(*pollDesc).waitRead":  "network",
	"internal/poll.(*pollDesc).waitWrite": "network",
	"internal/poll.runtime_Semacquire":    "sync",
	"sync.runtime_notifyListWait":         "sync.(*Cond).Wait",
	"internal/sync.(*Mutex).lockSlow":     "sync",
	"internal/sync.(*Mutex).Lock":         "sync",
	"sync.(*Mutex).lockSlow":              "sync",
}

// parkedBy are functions that an event's stack does begin with, and the reason.
var parkedBy = map[string]string{
	"runtime.chansend1":               "chan send",
	"runtime.chanrecv1":               "chan receive",
	"runtime.chanrecv2":               "chan receive",
	"runtime.selectgo":                "select",
	"runtime.block":                   "forever",
	"time.Sleep":                      "sleep",
	"runtime.gcParkAssist":            "GC mark assist wait for work",
	"runtime.bgsweep":                 "GC background sweeper wait",
	"runtime.gcBgMarkWorker":          "system goroutine wait",
	"runtime.forcegchelper":           "system goroutine wait",
	"runtime.runfinq":                 "system goroutine wait",
	"runtime.runFinalizers":           "system goroutine wait",
	"runtime.updateMaxProcsGoroutine": "system goroutine wait",
	"runtime.runCleanups":             "system goroutine wait",
	"runtime.(*scavengerState).park":  "system goroutine wait",
	"runtime.(*scavengerState).sleep": "sleep",
	"sync.(*Cond).Wait":               "sync.(*Cond).Wait",
	"sync.(*Mutex).Lock":              "sync",
	"sync.(*WaitGroup).Wait":          "sync",
	"sync.(*RWMutex).Lock":            "sync",
	"sync.(*RWMutex).RLock":           "sync",
}

// parking tells how many leaf frames of a stack, whose functions call names, an event
// leaves out, and why a goroutine waits in it: "" where nothing tells.
func parking(frames int, call func(int) string) (skip int, reason string) {
	if frames == 0 || call(0) != "runtime.gopark" {
		return 0, ""
	}
	for ; skip < frames; skip++ {
		name := call(skip)
		why, inside := parkedIn[name]
		if !inside && semaphore(name) {
			why, inside = "sync", true
		}
		if !inside {
			if reason == "" {
				reason = parkedBy[name]
			}
			break
		}
		if reason == "" || why != "" && why != "sync" {
			reason = why
		}
	}
	if skip == frames {
		skip = 0 // all of it is the runtime's
	}
	return skip, reason
}

// semaphore reports whether a function is one by which the packages of
// synchronization wait for the runtime's semaphores.
func semaphore(name string) bool {
	return strings.HasPrefix(name, "sync.runtime_Semacquire") || strings.HasPrefix(name, "internal/sync.runtime_Semacquire")
}

// findParkings makes the stacks of goroutines that were found waiting those of events,
// and learns the reasons that they tell. Those that were cut stay as they are: their
// length says that they were.
func (e *engine) findParkings() {
	clear(e.parkings)
	park := e.tables.find("runtime.gopark")
	if park < 0 {
		return
	}
	for id := range e.tables.stacks {
		ref := &e.tables.stacks[id]
		if ref.n == 0 || ref.n == maxFrames || int(e.tables.frames[ref.first].fn) != park {
			continue
		}
		fs := e.stack(uint32(id))
		skip, why := parking(len(fs), func(i int) string { return string(e.str(uint64(fs[i].fn))) })
		ref.first, ref.n = ref.first+uint32(skip), ref.n-uint8(skip)
		if why != "" {
			e.parkings[uint32(id)] = e.wordIndex([]byte(why)) + 1
		}
	}
}

// parking returns the same of a stack, for ordered events.
func (a *orderedAccount) parking(id uint64) (fs []rawFrame, reason string) {
	fs = a.tab.stack(uint32(id))
	if len(fs) == maxFrames {
		return fs, ""
	}
	skip, why := parking(len(fs), func(i int) string { return a.tab.word(uint64(fs[i].fn)) })
	return fs[skip:], why
}

// reason returns why a goroutine waits that a status finds waiting.
func (a *orderedAccount) reason(e *Event) string {
	if e.typ != evGoStatusStack {
		return e.Reason()
	}
	_, why := a.parking(e.subjectStackID())
	return why
}
