package evidence

import (
	"slices"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A format is one shape in which evidence of a source comes. Content decides
// which it is; the member names of our own recordings only break ties.
type format struct {
	what   string // for messages, like "CPU profile"
	source model.Source

	// A text format is known by the beginning of the text and read as a stream.
	text func(head []byte) bool
	read func(l *loader, s source) error

	// A profile in pprof's format is known by its sample types and what is in it.
	profile func(p *profile.Profile) bool
	fold    func(l *loader, f format, p *pprofFile) error
}

// A pprofFile is a profile and where it was found.
type pprofFile struct {
	*profile.Profile
	name       string // for the user
	member     string // of a recording, else empty
	kindStated bool   // the text that it was read from said what it is
	stats      *model.MemStats
	dead       bool // the runtime found that no goroutine can go on
	bad        int  // records of that text which could not be read
}

// formats returns the table of what can be read, in the order in which content is
// tried. A new source is a line here, a file beside this one and a fixture.
//
// It is a function because a format's reader may come back to the table, with
// what it unpacked.
func formats() []format {
	return []format{
		// Profiles in pprof's format. The kernel's have more types and labels than the
		// runtime's, so they come first.
		{what: "kernel CPU profile", source: model.KernelCPU, profile: artifact.IsKernelCPU, fold: (*loader).foldKernelCPU},
		{what: "off-CPU profile", source: model.OffCPU, profile: isOffCPU, fold: (*loader).foldOffCPU},
		{what: "CPU profile", source: model.CPU, profile: isCPU, fold: (*loader).foldCPU},
		{what: "heap profile of several moments", source: courseSource, profile: artifact.IsHeapCourse, fold: (*loader).foldHeapCourse},
		{what: "heap profile", source: model.Heap, profile: hasType("alloc_space", "inuse_space"), fold: (*loader).foldHeap},
		{what: "mutex profile", source: model.Mutex, profile: isContention, fold: (*loader).foldContention},
		{what: "block profile", source: model.Block, profile: isContention, fold: (*loader).foldContention},
		{what: "goroutine profile", source: model.GoroutineProfile, profile: hasType("goroutine"), fold: (*loader).foldGoroutines},
		{what: "threadcreate profile", source: model.ThreadCreate, profile: hasType("threadcreate"), fold: (*loader).foldThreadCreate},
		{what: "wall-clock profile", source: model.Wall, profile: isWall, fold: (*loader).foldWall},
		{what: "goroutineleak profile", source: model.Leak, profile: hasType("goroutineleak"), fold: (*loader).foldLeaks},

		// Texts, each with its own beginning.
		{what: "process log", source: model.ProcFS, text: artifact.JSONKind("gowhy proc"), read: (*loader).readProc},
		{what: "metrics log", source: model.MetricsLog, text: artifact.JSONKind("gowhy metrics"), read: (*loader).readMetrics},
		{what: "system call log", source: model.SyscallLog, text: artifact.JSONKind("gowhy syscalls"), read: (*loader).readSyscalls},
		{what: "look at who holds the heap", source: model.Holders, text: artifact.JSONKind(artifact.HoldersKind), read: (*loader).readHolders},
		{what: "file of kernel sample times", source: timesSource, text: artifact.JSONKind(artifact.TimesKind), read: (*loader).readTimes},
		{what: "build info", source: model.BuildInfo, text: isBuildInfo, read: (*loader).readBuild},
		{what: "profile in text form", source: model.GoroutineProfile, text: isTextProfile, read: (*loader).readTextProfile},
		{what: "goroutine dump", source: model.GoroutineProfile, text: isGoroutineDump, read: (*loader).readLog},
		{what: "list of goroutines by Delve", source: model.GoroutineProfile, text: isDelve, read: (*loader).readDelve},
		{what: "profile that pprof printed whole", source: model.CPU, text: isPprofRaw, read: (*loader).readPprofRaw},
		{what: "profile that pprof printed", source: model.Printed, text: isPprofText, read: (*loader).readPprofText},
		{what: "file of OpenTelemetry's profiles", source: model.CPU, text: isOTLPText, read: (*loader).readOTLPText},
		{what: "load result", source: model.LoadResult, text: isLoad, read: (*loader).readLoad},
		{what: "output of perf stat", source: model.Counted, text: isPerfStat, read: (*loader).readPerfStat},
		{what: "output of strace -c", source: model.Counted, text: isStrace, read: (*loader).readStrace},
		{what: "output of perf report", source: model.Printed, text: isPerfReport, read: (*loader).readPerfReport},
		{what: "scrape of metrics", source: model.MetricsLog, text: isScrape, read: (*loader).readScrape},
		{what: "memory statistics", source: model.MetricsLog, text: isMemStats, read: (*loader).readMemStats},
		{what: "memory statistics that a program printed", source: model.MetricsLog, text: isMemText, read: (*loader).readMemText},
		{what: "perf script", source: model.CPU, text: isPerfScript, read: (*loader).readPerfScript},
		{what: "folded stacks", source: model.CPU, text: isFolded, read: (*loader).readFolded},
		{what: "escape analysis", source: model.Escape, text: isEscape, read: (*loader).readEscape},

		// What evidence led to. It is not evidence, so it has no source.
		{what: "saved diagnosis", text: isDiagnosis, read: (*loader).readDiagnosis},

		// Any other text may be a log with lines of the runtime in it.
		{what: "log", source: model.GCTrace, text: func([]byte) bool { return true }, read: (*loader).readLog},
	}
}

// textFormat returns the format of a text that begins with head.
func textFormat(head []byte) format {
	all := formats()
	return all[slices.IndexFunc(all, func(f format) bool { return f.text != nil && f.text(head) })]
}

// profileFormat returns the format of a profile. The name of a recording's member says what
// it holds when more than one format would do: a profile of contention does not say whether
// it is of those who wait.
func profileFormat(p *pprofFile) (format, bool) {
	var fits []format
	for _, f := range formats() {
		if f.profile != nil && f.profile(p.Profile) {
			fits = append(fits, f)
		}
	}
	if len(fits) == 0 {
		return format{}, false
	}
	if i := slices.IndexFunc(fits, func(f format) bool { return p.member != "" && f.source == artifact.MemberNamed(p.member).Source }); i >= 0 {
		return fits[i], true
	}
	if isContention(p.Profile) {
		src := contentionOf(p)
		return fits[slices.IndexFunc(fits, func(f format) bool { return f.source == src })], true
	}
	return fits[0], true
}

// hasType recognises profiles that have one of these sample types.
func hasType(names ...string) func(*profile.Profile) bool {
	return func(p *profile.Profile) bool {
		return slices.ContainsFunc(p.SampleType, func(t *profile.ValueType) bool { return slices.Contains(names, t.Type) })
	}
}
