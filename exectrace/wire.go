package exectrace

// eventType is the first byte of an event on the wire. The numbers never
// changed their meaning; a newer format only adds to them.
type eventType uint8

const (
	evNone eventType = iota
	evEventBatch
	evStacks
	evStack
	evStrings
	evString
	evCPUSamples
	evCPUSample
	evFrequency
	evProcsChange
	evProcStart
	evProcStop
	evProcSteal
	evProcStatus
	evGoCreate
	evGoCreateSyscall
	evGoStart
	evGoDestroy
	evGoDestroySyscall
	evGoStop
	evGoBlock
	evGoUnblock
	evGoSyscallBegin
	evGoSyscallEnd
	evGoSyscallEndBlocked
	evGoStatus
	evSTWBegin
	evSTWEnd
	evGCActive
	evGCBegin
	evGCEnd
	evGCSweepActive
	evGCSweepBegin
	evGCSweepEnd
	evGCMarkAssistActive
	evGCMarkAssistBegin
	evGCMarkAssistEnd
	evHeapAlloc
	evHeapGoal
	evGoLabel
	evUserTaskBegin
	evUserTaskEnd
	evUserRegionBegin
	evUserRegionEnd
	evUserLog // the last of Go 1.22
	evGoSwitch
	evGoSwitchDestroy
	evGoCreateBlocked
	evGoStatusStack
	evExperimentalBatch // the last of Go 1.23 and 1.24
	evSync
	evClockSnapshot   // the last of Go 1.25
	evEndOfGeneration // the last of Go 1.26
	evLast            = evEndOfGeneration
)

// The events of experiment 1, AllocFree.
const (
	evSpan eventType = iota + 128
	evSpanAlloc
	evSpanFree
	evHeapObject
	evHeapObjectAlloc
	evHeapObjectFree
	evGoroutineStack
	evGoroutineStackAlloc
	evGoroutineStackFree
	evLastExperimental = evGoroutineStackFree
)

// Status codes on the wire.
const (
	goRunnable = 1
	goRunning  = 2
	goSyscall  = 3
	goWaiting  = 4

	procRunning          = 1
	procIdle             = 2
	procSyscall          = 3
	procSyscallAbandoned = 4
)

const (
	headerSize   = 16       // "go 1.NN trace\0\0\0"
	maxBatchSize = 64 << 10 // of a batch's body
	maxFrames    = 128      // of a stack
	maxString    = 1 << 10
	noThread     = ^uint64(0)
	maxEventSize = 1 + 6*10 // a type byte and at most six varints
)

// An eventSpec describes an event for decoding and for whoever prints it.
type eventSpec struct {
	name string
	// args are the arguments in wire order. For timed events the first is dt.
	// Names ending in _string are string ids; "stack" and "new_stack" stack ids.
	args  []string
	timed bool
}

func timed(name string, args ...string) eventSpec {
	return eventSpec{name, append([]string{"dt"}, args...), true}
}

// specs is indexed by event type; an empty name is no event.
var specs = [256]eventSpec{
	evEventBatch:          {name: "EventBatch", args: []string{"gen", "m", "time", "size"}},
	evStacks:              {name: "Stacks"},
	evStack:               {name: "Stack", args: []string{"id", "nframes"}},
	evStrings:             {name: "Strings"},
	evString:              {name: "String", args: []string{"id"}},
	evCPUSamples:          {name: "CPUSamples"},
	evCPUSample:           {name: "CPUSample", args: []string{"time", "m", "p", "g", "stack"}},
	evFrequency:           {name: "Frequency", args: []string{"freq"}},
	evProcsChange:         timed("ProcsChange", "procs_value", "stack"),
	evProcStart:           timed("ProcStart", "p", "p_seq"),
	evProcStop:            timed("ProcStop"),
	evProcSteal:           timed("ProcSteal", "p", "p_seq", "m"),
	evProcStatus:          timed("ProcStatus", "p", "pstatus"),
	evGoCreate:            timed("GoCreate", "new_g", "new_stack", "stack"),
	evGoCreateSyscall:     timed("GoCreateSyscall", "new_g"),
	evGoStart:             timed("GoStart", "g", "g_seq"),
	evGoDestroy:           timed("GoDestroy"),
	evGoDestroySyscall:    timed("GoDestroySyscall"),
	evGoStop:              timed("GoStop", "reason_string", "stack"),
	evGoBlock:             timed("GoBlock", "reason_string", "stack"),
	evGoUnblock:           timed("GoUnblock", "g", "g_seq", "stack"),
	evGoSyscallBegin:      timed("GoSyscallBegin", "p_seq", "stack"),
	evGoSyscallEnd:        timed("GoSyscallEnd"),
	evGoSyscallEndBlocked: timed("GoSyscallEndBlocked"),
	evGoStatus:            timed("GoStatus", "g", "m", "gstatus"),
	evSTWBegin:            timed("STWBegin", "kind_string", "stack"),
	evSTWEnd:              timed("STWEnd"),
	evGCActive:            timed("GCActive", "gc_seq"),
	evGCBegin:             timed("GCBegin", "gc_seq", "stack"),
	evGCEnd:               timed("GCEnd", "gc_seq"),
	evGCSweepActive:       timed("GCSweepActive", "p"),
	evGCSweepBegin:        timed("GCSweepBegin", "stack"),
	evGCSweepEnd:          timed("GCSweepEnd", "swept_value", "reclaimed_value"),
	evGCMarkAssistActive:  timed("GCMarkAssistActive", "g"),
	evGCMarkAssistBegin:   timed("GCMarkAssistBegin", "stack"),
	evGCMarkAssistEnd:     timed("GCMarkAssistEnd"),
	evHeapAlloc:           timed("HeapAlloc", "heapalloc_value"),
	evHeapGoal:            timed("HeapGoal", "heapgoal_value"),
	evGoLabel:             timed("GoLabel", "label_string"),
	evUserTaskBegin:       timed("UserTaskBegin", "task", "parent_task", "name_string", "stack"),
	evUserTaskEnd:         timed("UserTaskEnd", "task", "stack"),
	evUserRegionBegin:     timed("UserRegionBegin", "task", "name_string", "stack"),
	evUserRegionEnd:       timed("UserRegionEnd", "task", "name_string", "stack"),
	evUserLog:             timed("UserLog", "task", "key_string", "value_string", "stack"),
	evGoSwitch:            timed("GoSwitch", "g", "g_seq"),
	evGoSwitchDestroy:     timed("GoSwitchDestroy", "g", "g_seq"),
	evGoCreateBlocked:     timed("GoCreateBlocked", "new_g", "new_stack", "stack"),
	evGoStatusStack:       timed("GoStatusStack", "g", "m", "gstatus", "stack"),
	evExperimentalBatch:   {name: "ExperimentalBatch", args: []string{"exp", "gen", "m", "time", "size"}},
	evSync:                {name: "Sync"},
	evClockSnapshot:       timed("ClockSnapshot", "mono", "sec", "nsec"),
	evEndOfGeneration:     {name: "EndOfGeneration"},

	evSpan:                timed("Span", "id", "npages_value", "kindclass"),
	evSpanAlloc:           timed("SpanAlloc", "id", "npages_value", "kindclass"),
	evSpanFree:            timed("SpanFree", "id"),
	evHeapObject:          timed("HeapObject", "id", "type"),
	evHeapObjectAlloc:     timed("HeapObjectAlloc", "id", "type"),
	evHeapObjectFree:      timed("HeapObjectFree", "id"),
	evGoroutineStack:      timed("GoroutineStack", "id", "order"),
	evGoroutineStackAlloc: timed("GoroutineStackAlloc", "id", "order"),
	evGoroutineStackFree:  timed("GoroutineStackFree", "id"),
}

// argCount is the number of varints after the type byte of a timed event,
// dt included; 0 for anything that is no timed event.
var argCount = func() (n [256]uint8) {
	for t, s := range specs {
		if s.timed {
			n[t] = uint8(len(s.args))
		}
	}
	return n
}()

// uvarint decodes a varint at b[i:] and returns it with the index after it;
// an index of -1 means that it is cut off or longer than 64 bits.
func uvarint(b []byte, i int) (uint64, int) {
	var v uint64
	for s := uint(0); i < len(b) && s < 64; s += 7 {
		c := b[i]
		i++
		if c < 0x80 {
			if s == 63 && c > 1 {
				return 0, -1
			}
			return v | uint64(c)<<s, i
		}
		v |= uint64(c&0x7f) << s
	}
	return 0, -1
}
