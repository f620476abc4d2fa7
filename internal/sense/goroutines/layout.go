package goroutines

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// A field is what is read of the runtime's structures.
type field int

const (
	gStackLo field = iota
	gStackHi
	gSchedSP
	gSchedPC
	gSchedBP
	gSyscallSP
	gSyscallPC
	gSyscallBP
	gStatus
	gID
	gWaitSince
	gWaitReason
	gTrackingSeq
	gCreatorPC
	gStartPC
	gLabels
	schedIdleProcs
	gcHeapLive
	gcHeapMarked
	gcHeapGoal
	gcPercent
	gcMemoryLimit
	gcAllocated
	gcReleased
	gcMapped
	statsCollections
	statsForced
	workGCTime
	workTotalTime
	workMarkEnd
	bucketNext
	bucketKind
	bucketSize
	bucketDepth
	recordFuture
	cycleFrees
	gcFreed
	gcHeapInUse
	gcHeapFree
	statsHeap
	statsHeapEnd
	statsThreadStacks
	statsSpans
	statsCaches
	statsBuckets
	statsGC
	statsOther
	deltaInHeap
	deltaStacks
	deltaWorkBufs
	deltaPtrBits
	heapArenas
	heapAllArenas
	heapUserArenas
	labelsList
	labelsSet
	heapSpans
	spanStart
	spanPages
	spanElems
	spanFree
	spanAllocated
	spanElemSize
	spanClass
	spanState
	spanType
	spanSpecials
	specialNext
	specialOffset
	specialKind
	specialFunc
	moduleText
	moduleTextEnd
	moduleData
	moduleDataEnd
	moduleBSS
	moduleBSSEnd
	moduleTypes
	moduleTypesEnd
	moduleDataMask
	moduleBSSMask
	fields int = iota
)

// fieldNames are the structure and the path in it, as the runtime spells them.
// What a name ends in a question mark for is missing in some versions.
var fieldNames = [fields]struct{ in, path string }{
	gStackLo:          {"runtime.g", "stack.lo"},
	gStackHi:          {"runtime.g", "stack.hi"},
	gSchedSP:          {"runtime.g", "sched.sp"},
	gSchedPC:          {"runtime.g", "sched.pc"},
	gSchedBP:          {"runtime.g", "sched.bp"},
	gSyscallSP:        {"runtime.g", "syscallsp"},
	gSyscallPC:        {"runtime.g", "syscallpc"},
	gSyscallBP:        {"runtime.g", "syscallbp?"},
	gStatus:           {"runtime.g", "atomicstatus"},
	gID:               {"runtime.g", "goid"},
	gWaitSince:        {"runtime.g", "waitsince"},
	gWaitReason:       {"runtime.g", "waitreason"},
	gTrackingSeq:      {"runtime.g", "trackingSeq"},
	gCreatorPC:        {"runtime.g", "gopc"},
	gStartPC:          {"runtime.g", "startpc"},
	gLabels:           {"runtime.g", "labels?"},
	schedIdleProcs:    {"runtime.schedt", "npidle"},
	gcHeapLive:        {"runtime.gcControllerState", "heapLive"},
	gcHeapMarked:      {"runtime.gcControllerState", "heapMarked"},
	gcHeapGoal:        {"runtime.gcControllerState", "gcPercentHeapGoal"},
	gcPercent:         {"runtime.gcControllerState", "gcPercent"},
	gcMemoryLimit:     {"runtime.gcControllerState", "memoryLimit"},
	gcAllocated:       {"runtime.gcControllerState", "totalAlloc"},
	gcReleased:        {"runtime.gcControllerState", "heapReleased"},
	gcMapped:          {"runtime.gcControllerState", "mappedReady"},
	statsCollections:  {"runtime.mstats", "numgc"},
	statsForced:       {"runtime.mstats", "numforcedgc"},
	workGCTime:        {"runtime.workType", "cpuStats.GCTotalTime?"},
	workTotalTime:     {"runtime.workType", "cpuStats.TotalTime?"},
	workMarkEnd:       {"runtime.workType", "tstart?"},
	bucketNext:        {"runtime.bucket", "allnext"},
	bucketKind:        {"runtime.bucket", "typ"},
	bucketSize:        {"runtime.bucket", "size"},
	bucketDepth:       {"runtime.bucket", "nstk"},
	recordFuture:      {"runtime.memRecord", "future"},
	cycleFrees:        {"runtime.memRecordCycle", "frees"},
	gcFreed:           {"runtime.gcControllerState", "totalFree"},
	gcHeapInUse:       {"runtime.gcControllerState", "heapInUse"},
	gcHeapFree:        {"runtime.gcControllerState", "heapFree"},
	statsHeap:         {"runtime.mstats", "heapStats"},
	statsHeapEnd:      {"runtime.mstats", "heapStats.gen"},
	statsThreadStacks: {"runtime.mstats", "stacks_sys"},
	statsSpans:        {"runtime.mstats", "mspan_sys"},
	statsCaches:       {"runtime.mstats", "mcache_sys"},
	statsBuckets:      {"runtime.mstats", "buckhash_sys"},
	statsGC:           {"runtime.mstats", "gcMiscSys"},
	statsOther:        {"runtime.mstats", "other_sys"},
	deltaInHeap:       {"runtime.heapStatsDelta", "inHeap"},
	deltaStacks:       {"runtime.heapStatsDelta", "inStacks"},
	deltaWorkBufs:     {"runtime.heapStatsDelta", "inWorkBufs"},
	deltaPtrBits:      {"runtime.heapStatsDelta", "inPtrScalarBits?"},
	heapArenas:        {"runtime.mheap", "heapArenas?"},
	heapAllArenas:     {"runtime.mheap", "allArenas?"}, // until Go 1.25
	heapUserArenas:    {"runtime.mheap", "userArenaArenas?"},
	labelsList:        {"runtime/pprof.labelMap", "LabelSet.list?"}, // of Go 1.24 and 1.25; a map before
	labelsSet:         {"runtime/pprof.labelMap", "Set.List?"},      // since Go 1.26
	heapSpans:         {"runtime.mheap", "allspans?"},
	spanStart:         {"runtime.mspan", "startAddr?"},
	spanPages:         {"runtime.mspan", "npages?"},
	spanElems:         {"runtime.mspan", "nelems?"},
	spanFree:          {"runtime.mspan", "freeindex?"},
	spanAllocated:     {"runtime.mspan", "allocBits?"},
	spanElemSize:      {"runtime.mspan", "elemsize?"},
	spanClass:         {"runtime.mspan", "spanclass?"},
	spanState:         {"runtime.mspan", "state?"},
	spanType:          {"runtime.mspan", "largeType?"},
	spanSpecials:      {"runtime.mspan", "specials?"},
	specialNext:       {"runtime.special", "next?"},
	specialOffset:     {"runtime.special", "offset?"},
	specialKind:       {"runtime.special", "kind?"},
	specialFunc:       {"runtime.specialfinalizer", "fn?"},
	moduleText:        {"runtime.moduledata", "text?"},
	moduleTextEnd:     {"runtime.moduledata", "etext?"},
	moduleData:        {"runtime.moduledata", "data?"},
	moduleDataEnd:     {"runtime.moduledata", "edata?"},
	moduleBSS:         {"runtime.moduledata", "bss?"},
	moduleBSSEnd:      {"runtime.moduledata", "ebss?"},
	moduleTypes:       {"runtime.moduledata", "types?"},
	moduleTypesEnd:    {"runtime.moduledata", "etypes?"},
	moduleDataMask:    {"runtime.moduledata", "gcdatamask.bytedata?"},
	moduleBSSMask:     {"runtime.moduledata", "gcbssmask.bytedata?"},
}

// missing is the offset of a field that a version does not have.
const missing = ^uint32(0)

// A layout is where the fields are in their structures, and what the numbers of
// wait reasons mean.
type layout struct {
	at      [fields]uint32
	reasons []string
	argp    bool // a panic begins with a pointer before its value, until Go 1.25
}

// byVersion returns the layout of a release, known without asking the program; nil of
// versions that were never released, that are later than the table, or that
// others built with changes.
func byVersion(version, arch string) *layout {
	version, experiments, _ := strings.Cut(strings.Replace(version, "-X:", " X:", 1), " ") // X:name after a space, since Go 1.26 after a dash
	if strings.Contains(experiments, "staticlockranking") {
		return nil // all locks are larger; other experiments leave in its place what is read
	}
	major, rest, _ := strings.Cut(version, ".")
	minor, patch, _ := strings.Cut(rest, ".")
	if l, ok := layouts[major+"."+minor+" "+arch]; ok && digits(patch) {
		l.argp = slices.Contains([]string{"22", "23", "24", "25"}, minor)
		return &l
	}
	return nil
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// fits tells whether this computer's own kind of CPU is one that can be read.
func fits() bool {
	return runtime.GOOS == "linux" && (runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64")
}

// fromDWARF reads the layout from a program's own description of its types. It
// has no reasons: these are in the program's memory.
func fromDWARF(d *dwarf.Data) (l *layout, err error) {
	defer func() {
		if p := recover(); p != nil { // the standard library's reader is not made for files that lie
			l, err = nil, fmt.Errorf("broken DWARF: %v", p)
		}
	}()
	found, err := structures(d)
	if err != nil {
		return nil, err
	}
	l = new(layout)
	for f, n := range fieldNames {
		path, optional := strings.CutSuffix(n.path, "?")
		at, ok := uint32(0), false
		if in, known := found[n.in]; known {
			at, ok = offsetOf(d, in, path)
		}
		switch {
		case ok && n.in == "runtime.g" && at > maxG:
			return nil, fmt.Errorf("%s has its field %s at %d", n.in, path, at)
		case ok:
			l.at[f] = at
		case optional || f >= int(schedIdleProcs):
			l.at[f] = missing
		default:
			return nil, fmt.Errorf("%s has no field %s", n.in, path)
		}
	}
	return l, nil
}

// Bounds of what is believed of a program's description of its types.
const (
	maxEntries = 20_000_000
	maxMembers = 10_000
	maxNames   = 8    // of one type
	maxG       = 4096 // bytes of the fields of runtime.g
	maxOffset  = 1 << 20
)

// structures finds the structures that the fields are in.
func structures(d *dwarf.Data) (map[string]dwarf.Offset, error) {
	wanted := map[string]bool{}
	for _, n := range fieldNames {
		wanted[n.in] = true
	}
	found := map[string]dwarf.Offset{}
	r := d.Reader()
	for range maxEntries {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil || len(found) == len(wanted) {
			break
		}
		if name, _ := e.Val(dwarf.AttrName).(string); e.Tag == dwarf.TagStructType && e.Children && wanted[name] {
			if _, ok := found[name]; !ok {
				found[name] = e.Offset
			}
		}
	}
	if _, ok := found["runtime.g"]; !ok {
		return nil, errors.New("no runtime.g in the program's DWARF")
	}
	return found, nil
}

// offsetOf returns where a field is in the structure that is described at a place. It goes
// from entry to entry: what the standard library makes of a type may refer to itself, and
// nests as deep as a file says.
func offsetOf(d *dwarf.Data, in dwarf.Offset, path string) (at uint32, ok bool) {
	name, rest, more := strings.Cut(path, ".")
	r := d.Reader()
	r.Seek(in)
	e, err := r.Next()
	for range maxNames {
		if err != nil || e == nil || e.Tag != dwarf.TagTypedef {
			break
		}
		of, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
		r.Seek(of)
		e, err = r.Next()
	}
	if err != nil || e == nil || e.Tag != dwarf.TagStructType || !e.Children {
		return 0, false
	}
	for range maxMembers {
		e, err := r.Next()
		if err != nil || e == nil || e.Tag != dwarf.TagMember || e.Children {
			break
		}
		if field, _ := e.Val(dwarf.AttrName).(string); field != name {
			continue
		}
		offset, ok := e.Val(dwarf.AttrDataMemberLoc).(int64)
		if !ok || offset < 0 || offset > maxOffset {
			break
		}
		if !more {
			return uint32(offset), true
		}
		of, _ := e.Val(dwarf.AttrType).(dwarf.Offset)
		inner, ok := offsetOf(d, of, rest)
		return uint32(offset) + inner, ok
	}
	return 0, false
}
