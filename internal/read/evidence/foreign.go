package evidence

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// foreigners are files that people bring and gowhy does not read, each with what to do
// about it. The hint has %s where the file's name goes.
var foreigners = []struct {
	is         func(head []byte) bool
	what, hint string
}{
	{artifact.OtherCore, "a core dump of another system, the memory of a process that died", "dlv core PROGRAM %s   # then, in it: transcript delve.txt, and goroutines -t; gowhy delve.txt"},
	{begins("MDMP"), "a minidump, the memory of a process that died", "dlv core PROGRAM.exe %s   # then, in it: transcript delve.txt, and goroutines -t; gowhy delve.txt"},
	{begins("PERFILE2", "PERFFILE"), "what perf record wrote, and only perf knows the names in it", "perf script -i %s > perf.txt && gowhy perf.txt"},
	{func(head []byte) bool { return heapDump.Match(head) && artifact.Sniff(head) != artifact.HeapDump }, "a heap dump of Go 1.6 or older",
		"save a heap profile instead, by pprof.WriteHeapProfile or from /debug/pprof/heap"},
	{begins("FLR\x00"), "a recording of Java's Flight Recorder", "jfr summary %s   # gowhy reads what Go programs leave behind"},
	{begins("JAVA PROFILE 1.0"), "a dump of a Java heap", "jhat %s   # gowhy reads what Go programs leave behind"},
	{func(head []byte) bool { return v8Profile.Match(head) }, "a CPU profile of V8, which runs JavaScript", "load it into the DevTools of a browser; gowhy reads what Go programs leave behind"},
	{func(head []byte) bool { return otelOther.Match(head) }, "telemetry of OpenTelemetry without profiles: spans, metrics or log records",
		"gowhy record -o run.gowhy -d 5s --url http://HOST:PORT   # or give the collector's file of profiles"},
	{begins("\xfd7zXZ\x00"), "packed by xz", "xz -dc %s | gowhy -"},
	{begins("\x04\x22\x4d\x18"), "packed by lz4", "lz4 -dc %s | gowhy -"},
	{begins("7z\xbc\xaf\x27\x1c"), "a 7-Zip archive", "7z x %s -ounpacked && gowhy unpacked"},
	{func(head []byte) bool { return gperfHeap.Match(head) }, "a heap profile of gperftools, which has addresses and no names",
		"go tool pprof -top PROGRAM %s > top.txt && gowhy top.txt"},
}

var (
	heapDump  = regexp.MustCompile(`^go1\.\d+ heap dump\n`)
	v8Profile = regexp.MustCompile(`^\s*\{"(?:nodes"\s*:\s*\[\s*\{\s*"id"|head"\s*:\s*\{\s*"functionName"|typeId"|startTime")`)
	otelOther = regexp.MustCompile(`^\s*\{\s*"resource(?:Spans|Metrics|Logs)"\s*:\s*\[`)
	// Go's own ends in heap and its rate.
	gperfHeap = regexp.MustCompile(`^heap profile: +\d+: +\d+ \[ *\d+: +\d+\] @ (?:heap[^/\s]|growth|fragmentation|\s)`)
)

func begins(marks ...string) func(head []byte) bool {
	return func(head []byte) bool {
		for _, m := range marks {
			if bytes.HasPrefix(head, []byte(m)) {
				return true
			}
		}
		return false
	}
}

// foreign says what to do about a file that is known and not read; nil for any other.
func foreign(name string, head []byte) *problem.Error {
	for _, f := range foreigners {
		if !f.is(head) {
			continue
		}
		hint := f.hint
		if bytes.Contains([]byte(hint), []byte("%s")) {
			hint = fmt.Sprintf(hint, shell.Word(name))
		}
		return problem.New(problem.Absence, hint, "%q is %s", name, f.what)
	}
	return nil
}
