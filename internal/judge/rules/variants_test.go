package rules

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A variant is a case of a rule's file with some lines changed: what lies on either
// side of a threshold, without the whole case once more.
type variant struct {
	rule  *diagnosis.Rule
	story string // how that of the case begins
	// edits are "old → new" in the evidence, one a line. A line without an arrow is
	// put before the last line of evidence that begins with the same word, or at
	// the end.
	edits string
	sick  bool
	// says are pieces of what must be told, one a line; none after a "!".
	says string
}

func (v *variant) diagnose(t *testing.T) (*model.Model, *diagnosis.Diagnosis) {
	t.Helper()
	_, cases := readFixtures(t, filepath.Join("testdata", v.rule.Name+".txt"))
	for _, c := range cases {
		if !strings.HasPrefix(c.story, v.story) {
			continue
		}
		lines := strings.Join(c.source, "\n")
		for edit := range strings.SplitSeq(strings.TrimSpace(v.edits), "\n") {
			old, fresh, replaces := strings.Cut(strings.TrimSpace(edit)+" ", " → ")
			switch {
			case edit == "":
			case !replaces:
				lines = insert(lines, strings.TrimSpace(old))
			case !strings.Contains(lines, old):
				t.Fatalf("%s, %q: no %q in its evidence", v.rule.Name, c.story, old)
			default:
				lines = strings.ReplaceAll(lines, old, strings.TrimSpace(fresh))
			}
		}
		_, changed, err := parseFixtures(lines)
		if err != nil {
			t.Fatalf("%s, %q: %v", v.rule.Name, c.story, err)
		}
		m := changed[0].model
		return m, diagnosis.Run(m, []*diagnosis.Rule{v.rule}, diagnosis.Options{Goal: c.goal})
	}
	t.Fatalf("%s has no case %q", v.rule.Name, v.story)
	return nil, nil
}

// insert puts a line among those of its kind.
func insert(lines, line string) string {
	word, _, _ := strings.Cut(line, " ")
	if i := strings.LastIndex(lines, "\n"+word+" "); i >= 0 {
		return lines[:i+1] + line + "\n" + lines[i+1:]
	}
	return lines + "\n" + line
}

func checkVariants(t *testing.T, variants []variant) {
	t.Helper()
	for _, v := range variants {
		m, d := v.diagnose(t)
		text := strings.Join(golden(m, d), "\n") + "\n"
		if sick := len(d.Findings) > 0; sick != v.sick {
			t.Errorf("%s, %q with\n%s\nsick: %v\n%s", v.rule.Name, v.story, v.edits, sick, text)
			continue
		}
		for says := range strings.SplitSeq(v.says, "\n") {
			without, not := strings.CutPrefix(strings.TrimSpace(says), "!")
			if strings.Contains(text, without) == not && without != "" {
				t.Errorf("%s, %q with\n%s\nsays %q:\n%s", v.rule.Name, v.story, v.edits, says, text)
			}
		}
	}
}

// Of no case is it said that allocation is well beside a finding that it is not.
func TestNothingWellBesideItsIllness(t *testing.T) {
	wells := []string{"allocation and garbage collection take", "runtime: scheduling, allocating and collecting take"}
	var ill []string
	for _, r := range append(garbageRules(), allocchurn) {
		ill = append(ill, r.Name)
	}
	for _, rule := range All {
		_, cases := readFixtures(t, filepath.Join("testdata", rule.Name+".txt"))
		for _, c := range cases {
			d := diagnosis.Run(c.model, All, diagnosis.Options{Goal: c.goal})
			for _, well := range d.Fine {
				said := slices.ContainsFunc(wells, func(w string) bool { return strings.HasPrefix(well.Text, w) })
				i := slices.IndexFunc(ill, func(rule string) bool { return illness(d.Findings, rule) })
				if said && i >= 0 {
					t.Errorf("%s, %q: %q beside %s", rule.Name, c.story, well, ill[i])
				}
			}
		}
	}
}

// illness reports whether a rule has a finding that is no remark.
func illness(fs []diagnosis.Finding, rule string) bool {
	return slices.ContainsFunc(fs, func(f diagnosis.Finding) bool { return f.Rule == rule && !f.Remark || illness(f.Symptoms, rule) })
}

// What decides the newest rules, on either side.
func TestEdges(t *testing.T) {
	const noHeap, sampled, keys, unknown = "a heap that got no more", "each small allocation is sampled", "keys are text", "nobody knows who"
	const set = " in=main.limits file=limits.go line=18"
	const threeChannels = "each line goes through three"
	const profiles, monitor, command = "four megabytes a second, and two heap profiles", "a process monitor", "run ./check ended=true untold=true\n"
	const compiles = "a pattern compiled for each request"
	const senders = "many send to one who is slow"
	const server = "\"./server\" → \"./server\" "
	const works, sleeps = "stack works main.check@check.go:7\nwall stack=works count=9 time=9s\n", "stack sleeps runtime.gopark < time.Sleep@sleep.go:9 < main.main@main.go:9\nwall stack=sleeps count=9 time=9s"
	const opens, branches = "the main goroutine opens", "the main goroutine fetches"
	const (
		morePs   = "window 2s procs=2 → window 2s procs=4\nproc 2 user=1.9s idle=100ms\nproc 3 user=1.9s idle=100ms\n"
		closing  = "stack close runtime.chansend1@chan.go:161 < main.(*ledger).close@ledger.go:20 < main.open.func2@codec.go:40 < runtime.runFinalizers@mfinal.go:255\n"
		tens     = "at=0s,1s,2s,3s,4s,5s,6s,7s,8s,9s,10s "
		tenLooks = tens + "objects=0,2000,4000,6000,8000,10000,12000,14000,16000,18000,20000 → "
		dearer   = "cpu-assist=900us cpu-background=500us → cpu-assist=16ms cpu-background=9ms"
		saves    = "net.(*Dialer).DialContext@dial.go:500 < database/sql.(*DB).conn@sql.go:1300 < main.save@save.go:12 < main.main@main.go:9"
		zips     = "stack zip main.(*subscriber).zip@hub.go:97 < main.(*subscriber).run@hub.go:86\n"
		more     = "stack more main.log@log.go:5 < main.main@main.go:9\nheapcourse stack=more each=1KiB at=0s,2s,4s,6s,8s,10s,12s,14s,15s,16s,18s,20s "
	)
	keeps := func(name, each string) string {
		return "stack " + name + " main." + name + "@" + name + ".go:5 < main.main@main.go:9\nheapcourse stack=" + name + " each=" + each +
			" at=0s,1s,2s,3s,4s,5s,6s,7s,8s,9s,10s objects=0,2000,4000,6000,8000,10000,12000,14000,16000,18000,20000\n"
	}
	checkVariants(t, []variant{
		{memorylimit, "the limiter was on", "setter GOMEMLIMIT" + set, true, "where main.limits limits.go:18\nsets GOMEMLIMIT itself, in main.limits:18"},
		{memorylimit, "the limiter was on", "setter GOGC" + set, true, "!where main.limits"},
		{gccost, "the program sets GOGC to 10", "setter GOGC" + set, true, "where main.limits limits.go:18\nsets GOGC itself, in main.limits:18"},
		{gccost, "a third of the CPU marks", "setter GOGC" + set, true, "!where main.limits"},
		{fewprocs, "GOMAXPROCS=1 from an old", "setter GOMAXPROCS" + set, true, "where main.limits limits.go:18\nsets GOMAXPROCS itself, in main.limits:18"},
		{runtimetax, threeChannels, "stack=work count=200 time=2s → stack=work count=1100 time=11s\nuser=5s → user=14s", false, ""},
		{runtimetax, threeChannels, "stack=work count=200 time=2s → stack=work count=950 time=9.5s\nuser=5s → user=12.5s", true, "in operations on channels"},
		{runtimetax, threeChannels, "user=5s system=1s → user=500ms system=100ms", false, ""},
		{runtimetax, threeChannels, "user=5s system=1s → user=1100ms system=100ms", true, "in operations on channels"},
		{runtimetax, threeChannels, "count=160 time=1.6s → count=20 time=200ms\ncount=120 time=1.2s → count=20 time=200ms\ncount=200 time=2s → count=39 time=390ms", false, ""},
		{slowstart, opens, "at=2s..5s → at=2s..4100ms", true, "a remark"},
		{slowstart, opens, "at=2s..5s → at=2s..3900ms", false, ""},
		{slowstart, opens, "count=140 time=700ms at=2s..5s → count=330 time=1650ms at=2s..5s", false, ""},
		{slowstart, opens, "count=140 time=700ms at=2s..5s → count=200 time=1s at=2s..5s", true, "a remark"},
		{slowstart, opens, "at=2s..5s → at=1900ms..5s", false, ""},
		{slowstart, branches, "most=90 → most=12", true, "12 calls"},
		{slowstart, branches, "most=90 → most=11", false, ""},
		{slowstart, branches, "from=20ms → from=490ms", true, ""},
		{slowstart, branches, "from=20ms → from=510ms", false, ""},
		{slowstart, branches, "to=2s → to=3490ms", true, ""},
		{slowstart, branches, "to=2s → to=3510ms", false, ""},
		{slowstart, branches, "mostwaited=1900ms → mostwaited=300ms\nto=2s → to=530ms", true, ""},
		{slowstart, branches, "mostwaited=1900ms → mostwaited=300ms\nto=2s → to=515ms", false, ""},
		{slowstart, branches, "window 5s → window 2s\nmostwaited=1900ms → mostwaited=200ms\nto=2s → to=280ms", true, ""},
		{slowstart, branches, "window 5s → window 2s\nmostwaited=1900ms → mostwaited=200ms\nto=2s → to=260ms", false, ""},
		{slowstart, branches, "mostwaited=1900ms → mostwaited=1s", true, "50.5% of 1.98 s"},
		{slowstart, branches, "mostwaited=1900ms → mostwaited=980ms", false, ""},
		{slowstart, branches, "most=90 → most=40000", false, ""},
		{slowstart, branches, "main.main@main.go:20 → main.fill@main.go:20", false, ""},
		{exhausted, noHeap, "heap=32GiB → heap=2GiB\nrefused ENOMEM call=memory n=1 heap=32GiB \"out of memory\"", true, "memory that the heap had = 3.436e+10"},
		{memoryprofiler, sampled, "count=440 time=4.4s → count=9 time=4.4s\ncount=40 time=400ms → count=1 time=400ms", false, ""},
		{needlesswork, "what a cache should have", "stack=make mode=user count=600 time=6s density=1..1 → stack=make mode=user count=600 time=6s density=1..0.3", true, ""},
		{needlesswork, "what a cache should have", "stack=make mode=user count=600 time=6s density=1..1 → stack=make mode=user count=600 time=6s density=1..0.1", false, ""},
		{needlesswork, keys, "x, y)\" → x, y)\" instead=\"key{x, y}\"", true, "code key{x, y}"},
		{stalled, senders, "", true, "in main.report"},
		{stalled, senders, "main.report@report.go:14 < main.worker@main.go:9 → example.com/pool.put@pool.go:14 < example.com/pool.run@pool.go:9", true, "in pool.put"},
		{stalled, "many wait for a slot", "slots=true → slots=false", true, "in main.report"},
		{stalled, senders, "stack reads syscall.read < main.report@report.go:16 < main.worker@main.go:9\nstanding stack=reads state=syscall", false, ""},
		{stalled, senders, "stack reads syscall.read < main.report@report.go:13 < main.worker@main.go:9\nstanding stack=reads state=syscall", true, ""},
		{stalled, senders, "stack runs main.worker@main.go:8\nstanding stack=runs state=running", false, ""},
		{stalled, senders, "stack runs main.sum@main.go:18 < main.worker@main.go:8\nstanding stack=runs state=running", true, ""},
		{heapgrowth, profiles, server + "ended=true untold=true\n" + works, true, "a remark\nits peak is what counts"},
		{heapgrowth, profiles, server + "ended=true untold=true\n" + works + sleeps, true, "!a remark"},
		{heapgrowth, profiles, server + "ended=true untold=true", true, "!a remark"},
		{heapgrowth, profiles, server + "ended=true\n" + works, true, "!a remark"},
		{heapgrowth, profiles, server + "untold=true\n" + works, true, "!a remark"},
		{hotfunction, compiles, command + works, true, "a remark\nmade once, for its source"},
		{hotfunction, compiles, command + works + "reason regexp-per-call main.route route.go:21 through=regexp.MustCompile what=x", true, "!a remark"},
		{hotretry, "a file is looked for in many directories", "errors.ENOENT=101000 → errors.ENOENT=53000", false, ""}, // half of the cost
		{hotretry, "a file is looked for in many directories", "errors.ENOENT=101000 → errors.ENOENT=80000", true, "76.9% of all these calls"},
		{hotretry, "a file is looked for in many directories", "count=32 time=128ms → count=22 time=88ms", true, "takes 11.2% of the CPU"},
		{hotretry, "a file is looked for in many directories", "count=32 time=128ms → count=18 time=72ms", false, ""},
		{reopen, "a process monitor reads each file anew", "syscall newfstatat count=310000", true, "9.94 system calls"},
		{reopen, "a process monitor reads each file anew", "syscall newfstatat count=330000", true, "8 system calls"},
		{reopen, monitor, command + works, true, "a remark\nanother one, read once"},
		{reopen, monitor, command + works + sleeps, true, "!a remark"},
		{descriptorgrowth, unknown, "window 60s → window 20s\nat=0s..60s → at=0s..20s", true, "record a minute"},
		{descriptorgrowth, unknown, "window 60s → window 31s\nat=0s..60s → at=0s..31s", true, "!record a minute"},
		{descriptorgrowth, "a file opened", "fds=5..3659 → fds=5..273\ncount=3654 → count=276\nresult wrk ops=1000 rate=100 connections=256", false, "verdict unclear\nthe load had up to 256 connections"},
		{descriptorgrowth, "a file opened", "fds=5..3659 → fds=5..461\ncount=3654 → count=461\nresult wrk ops=1000 rate=100 connections=256", true, ""},
		{overload, "twice the rate", "process n=11 → process n=11 runqueue=20s\nmachine n=11 cpus=4 busy=40s idle=0s", true, "remark\nother processes used 51%"},
		{overload, "twice the rate", "process n=11 → process n=11 runqueue=20s\nmachine n=11 cpus=4 busy=21s idle=19s", true, "!remark"},
		{descriptorgrowth, "a command for each job", "fds=5..174 → fds=5..20", false, "!too few"},
		{slowstop, "the last thread to stop had no CPU", "for=38ms → for=500ms\nrunqueue=2s → runqueue=480ms", true, ""},
		{slowstop, "the last thread to stop had no CPU", "for=38ms → for=400ms\nrunqueue=2s → runqueue=480ms", false, "they waited 10.7"},
		{unsampled, "the profile saw half", "user=4s system=5s → user=300ms system=400ms\ncount=200 time=2s → count=15 time=150ms\ncount=250 time=2.5s → count=15 time=150ms", false, "!where"},
		{unsampled, "the profile saw half", "user=4s system=5s → user=600ms system=500ms\ncount=200 time=2s → count=25 time=250ms\ncount=250 time=2.5s → count=25 time=250ms", false, "unchecked where"},
		{gccost, "few finalizers", "bytes 0s=10MiB 10s=10MiB → bytes 0s=78MiB 10s=78MiB", true, "is looked through for pointers"},
		{gccost, "few finalizers", "bytes 0s=10MiB 10s=10MiB → bytes 0s=72MiB 10s=72MiB", true, "!is looked through for pointers"},
		{schedlatency, "a server with both Ps full", "run=9s runnable=80s → run=90s runnable=11s", true, ""},
		{schedlatency, "a server with both Ps full", "run=9s runnable=80s → run=90s runnable=9s", false, ""},
		{goroutinegrowth, "a client for each tenant, whose", "stack=ask count=3 → stack=ask count=1400", true, "more connections of HTTP clients"},
		{goroutinegrowth, "a client for each tenant, whose", "stack=ask count=3 → stack=ask count=1600", false, ""},
		{heldmemory, "a map of sessions", "bytes=50MiB → bytes=230MiB\nreached=62MiB → reached=240MiB", true, "fact growth of what main.store holds"},
		{descriptorgrowth, "a command for each job", "fds=5..174 → fds=5..60", true, "!too few"},
		{descriptorgrowth, "a command for each job", "fds=5..174 → fds=5..50", false, "too few"},
		{descriptorgrowth, "a command for each job", "fds=5..174 → fds=5..35", false, "too few"},
		{emptymap, "a burst of sessions", "use=0.001 → use=0.07", true, "7.0% of them in use"},
		{emptymap, "a burst of sessions", "use=0.001 → use=0.11", false, ""},
		{retainedslice, "a key of each line", "use=0.0002 → use=0.24", true, "24.0% are in use"},
		{retainedslice, "a key of each line", "use=0.0002 → use=0.3", false, ""},
		{failures, "half of the answers", "ops=1000 failed=500 → ops=100 failed=3\nn=500 → n=3", true, ""},
		{failures, "half of the answers", "ops=1000 failed=500 → ops=100 failed=2\nn=500 → n=2", false, ""},
		{poolmisuse, "one request in a hundred", "stack growtwo bytes.growSlice@buffer.go:249 < bytes.(*Buffer).Grow@buffer.go:170 < main.export@export.go:19\n" +
			"stack puttwo sync.(*Pool).Put@pool.go:100 < main.export@export.go:30\nsample stack=puttwo count=3 time=30ms\n" +
			"liveheap end stack=growtwo objects=12 bytes=36MiB\nalloc stack=growtwo objects=20 bytes=60MiB", true, "Buffers that grew in main.render hold 159 MiB"},
		{descriptorgrowth, "a command for each job", "os/exec.(*Cmd).childStdin@exec.go:500 < os/exec.(*Cmd).Start@exec.go:690 → main.read@read.go:9", true, "Most are opened in main.read"},
		{descriptorgrowth, "a command for each job", "os/exec.(*Cmd).childStdin@exec.go:500 < os/exec.(*Cmd).Start@exec.go:690 → main.read@read.go:9\n" +
			"stack dial syscall.connect@z.go:1 < net.(*netFD).connect@fd.go:1 < net.(*Dialer).DialContext@dial.go:2 < main.dial@dial.go:9\nwait syscall reason=syscall stack=dial group=main.main count=90", false, "too few"},
		{descriptorgrowth, "a command for each job", "os/exec.(*Cmd).childStdin@exec.go:500 < os/exec.(*Cmd).Start@exec.go:690 → main.read@read.go:9\n" +
			"syscall.openat@zsyscall_linux_amd64.go:83 < syscall.Open@syscall_linux.go:292 < os.OpenFile@file.go:410 → syscall.connect@z.go:1", false, "too few"},
		{descriptorgrowth, "both ends", "stack close syscall.Close@z.go:1 < internal/poll.(*FD).destroy@fd.go:9 < net.(*conn).Close@net.go:9 < main.ask@ask.go:20\n" +
			"wait syscall reason=syscall stack=close group=main.ask count=1810 total=1ms", true, "!where main.ask\nwhere main.serve"},
		{descriptorgrowth, "both ends", "stack close syscall.Close@z.go:1 < internal/poll.(*FD).destroy@fd.go:9 < net.(*conn).Close@net.go:9 < main.ask@ask.go:20\n" +
			"wait syscall reason=syscall stack=close group=main.ask count=1790 total=1ms", true, "where main.ask\nwhere main.serve"},
		{descriptorgrowth, "both ends", "stack=dial group=main.ask count=2000 → stack=dial group=main.ask count=3000", true, "!where main.serve"},
		{heapgrowth, "five seconds of a set", "bytes=50MiB → bytes=150MiB", false, "so does that of a program that starts"},
		{heapgrowth, "five seconds of a store", "objects=2 bytes=56MiB → objects=15 bytes=56MiB", false, ""},
		{heapgrowth, "five seconds of a store", "objects=2 bytes=56MiB → objects=16 bytes=56MiB", true, ""},
		{heapgrowth, "five seconds of a set", "window 5s → window 3s\n5s= → 3s=", false, "so does that of a program that starts"},
		{timeouts, "a look-up asks", "expired=900 → expired=20", true, ""},
		{timeouts, "a look-up asks", "expired=900 → expired=19", false, "1.1% of the calls"},
		{timeouts, "a look-up asks", "lost=36s → lost=7900ms", true, "20.3% of the time"},
		{timeouts, "a look-up asks", "lost=36s → lost=7700ms", false, ""},
		{timeouts, "a look-up asks", "done=900 → done=19", false, "!time-outs"},
		{timeouts, "a client that asks", "waited=75s took=79s → waited=25s took=29s", true, ""},
		{heapgrowth, "one line keeps", "0,2000,4000,6000,8000,10000,12000,14000,16000,18000,20000 → 0,2000,4000,6000,8000,10000,10100,14000,16000,18000,20000", true, ""},
		{heapgrowth, "one line keeps", "each=1KiB → each=200", false, "whether the live heap"},
		{heapgrowth, "one line keeps", "each=1KiB → each=300", true, ""},
		{heapgrowth, "one line keeps", "18000,20000 → 18000,17000", true, ""},
		{heapgrowth, "one line keeps", "18000,20000 → 18000,16000", false, ""},
		{serialcalls, "a row at a time", "done=1073 calls=21460 → done=1073 calls=3230", true, "3.01 calls"},
		{serialcalls, "a row at a time", "done=1073 calls=21460 → done=1073 calls=3200", false, "none waits"},
		{serialcalls, "a row at a time", "waited=27s took=28.5s → waited=14s took=28.5s", false, "none waits"},
		{serialcalls, "a row at a time", "waited=27s took=28.5s → waited=1s took=1.1s", false, "none waits"},
		{serialcalls, "a row at a time", "done=1073 → done=19", false, "!none waits"},
		{serialcalls, "twenty clients", "waited=79s took=80s → waited=15s took=16.1s", false, "!none waits"},
		{serialcalls, "twenty clients", "waited=79s took=80s → waited=15s took=15.9s", true, "189 calls"},
		{serialcalls, "it looks every", "calls=1900 → calls=910", true, "!remark"},
		{serialcalls, "it looks every", "polls=true done → done", true, "a remark"},
		{serialcalls, "it looks every", "calls=1900 → calls=500", false, "none waits"},
		{serialcalls, "a relay", "calls=5225 most=5225 → calls=101 most=101\nasked=5230 → asked=100", true, "101 calls of wire"},
		{serialcalls, "a relay", "calls=5225 most=5225 → calls=99 most=99\nasked=5230 → asked=99", false, ""},
		{serialcalls, "a relay", "waited=5.9s → waited=3.1s", true, "51.7% of its time"},
		{serialcalls, "a relay", "waited=5.9s → waited=2.9s", false, ""},
		{serialcalls, "a relay", "calls=5225 most=5225 → calls=120000 most=120000", false, ""},
		{serialcalls, "a relay", "waited=5.9s → waited=4.7s\ntook=6s → took=4.9s", true, "95.9%"},
		{serialcalls, "a relay", "waited=5.9s → waited=4.6s\ntook=6s → took=4.7s", false, ""},
		{serialcalls, "a relay", "pauses=2 paused=1ms → pauses=500 paused=500ms", true, ""},
		{serialcalls, "a relay", "pauses=2 → pauses=550", false, ""},
		{serialcalls, "a relay", "paused=1ms → paused=700ms", false, ""},
		{serialcalls, "a relay", "asked=5230 → asked=7500", true, ""},
		{serialcalls, "a relay", "asked=5230 → asked=8000", false, ""},
		{serialcalls, "a relay", "user=60ms → user=2.2s", true, ""},
		{serialcalls, "a relay", "user=60ms → user=2.6s", false, ""},
		{serialcalls, "without a trace, requests", "count=380 time=19s → count=80 time=900ms", false, "41.9% of their time"},
		{serialcalls, "without a trace, requests", "count=380 time=19s → count=75 time=1250ms", true, "50.0% of their time"},
		{serialcalls, "without a trace, requests", "count=380 time=19s → count=74 time=1250ms", false, ""},
		{serialcalls, "without a trace, the main", "count=5200 bytes → count=100 bytes", true, ""},
		{serialcalls, "without a trace, the main", "count=5200 bytes → count=99 bytes", false, ""},
		{serialcalls, "without a trace, the main", "user=300ms → user=2.5s", false, ""},
		{serialcalls, "a stage of a pipeline", "count=2000 total=5.8s → count=2000 total=3.1s", true, "!remark\n0.517 wait"},
		{serialcalls, "a stage of a pipeline", "count=2000 total=5.8s → count=2000 total=2.9s", true, "a remark"},
		{serialcalls, "a stage of a pipeline", "stack take runtime.chanrecv1@chan.go:506 < main.(*pipeline).assess@pipe.go:27 → stack take runtime.chanrecv1@chan.go:506 < main.(*pipeline).other@pipe.go:37", true, "a remark"},
		{serialcalls, "two clients", "calls=2500 most=2500 waited=5.8s → calls=2500 most=2500 waited=2s", true, "2,600 calls"},
		{runtimetax, "each lookup asks", "count=490000 → count=200000", true, "by turns"},
		{runtimetax, "each lookup asks", "count=490000 → count=190000", true, "!by turns"},
		{runtimetax, "each lookup asks", "count=590000 → count=300000\ncount=490000 → count=240000", true, "!by turns"},
		{runtimetax, "each lookup asks", "wake waker=asks woken=question → wake waker=asks woken=answer", true, "!by turns"},
		{hotretry, "a call is made again", "again=23100 → again=12500", true, "!a remark"},
		{hotretry, "a call is made again", "again=23100 → again=12400", false, ""},
		{hotretry, "a call is made again", "calls=24900 again=23100 → calls=520 again=510", true, "!a remark"},
		{hotretry, "a call is made again", "calls=24900 again=23100 → calls=500 again=490", false, ""},
		{hotretry, "a call is made again", "calls=24900 again=23100 → calls=520 again=510\nsample stack=post count=100 time=1s → sample stack=post count=20 time=200ms", true, "a remark"},
		{hotretry, "a call is made again", "sample stack=post count=100 time=1s → sample stack=post count=20 time=200ms", true, "!a remark"},
		{poolwait, "a connection is kept", "peerstime=13s took=22s → peerstime=13s took=51s", true, "26.5 ms"},
		{poolwait, "a connection is kept", "peerstime=13s took=22s → peerstime=13s took=53s", false, ""},
		{poolwait, "a connection is kept", "time=800ms → time=5700ms", true, ""},
		{poolwait, "a connection is kept", "time=800ms → time=6800ms", false, ""},
		{poolwait, "a connection is kept", "time=3200ms → time=540ms", true, ""},
		{poolwait, "a connection is kept", "time=3200ms → time=500ms", false, ""},
		{poolwait, "a connection is kept", "peers=490 → peers=0", false, ""},
		{poolwait, "a connection is kept", "peers=490 → peers=14000", false, ""},
		{poolwait, "a connection is kept", "done=480 → done=19", false, ""},
		{poolwait, "a pool of two", "time=4400ms → time=280ms", false, "connection pools"},
		{waitchain, "a batch that waits", "took=11.5s → took=11.5s peers=450 peerstime=5400ms", true, ""},
		{waitchain, "a batch that waits", "took=11.5s → took=11.5s peers=460 peerstime=5600ms", false, "!fine"},
		{waitchain, "a batch that waits", "time=9.9s → time=7.5s\ntime=200ms → time=2.6s", true, "!a remark"},
		{waitchain, "a batch that waits", "time=9.9s → time=7.2s\ntime=200ms → time=2.9s", true, "a remark"},
		{waitchain, "a batch that waits", "time=9.9s → time=5s\ntime=200ms → time=5.1s", false, "hardly waits for the clock"},
		{waitchain, "a batch that waits", "timer=true → timer=false", true, "a remark"},
		{waitchain, "a batch that waits", "asked=900 → asked=0", false, "!fine"},
		{waitchain, "a batch that waits", "done=900 → done=19", false, "!fine"},
		{waitchain, "a batch that waits", "waited=11s took=11.5s → waited=1s took=1.05s\ntime=9.9s → time=890ms\ntime=900ms → time=90ms\ntime=200ms → time=20ms", false, "hardly waits for the clock"},
		{waitchain, "it rests after", "for=2200 → for=1300", true, "a remark"},
		{waitchain, "it rests after", "for=2200 → for=1400", true, "!a remark"},
		{waitchain, "it rests after", "count=900 for=2200 → count=590 for=2200", true, "a remark"},
		{waitchain, "it rests after", "root=1 done → root=1 loops=true done", false, "!fine"},
		{waitchain, "it rests after", "root=1 done → root=1 loops=true own=true done\nasked=300 → asked=0", true, "!a remark"},
		{waitchain, "one goroutine asks", "count=900 for=3600 → count=900 for=2600", false, "hardly waits for the clock"},
		{waitchain, "one goroutine asks", "count=900 for=3600 → count=900 for=2800", true, "3.11 answers"},
		{waitchain, "one goroutine asks", "count=900 for=3600 → count=590 for=3600", false, ""},
		{smallio, "a server flushes", "rows=100000 → rows=533000", true, "3.00 of them in a row"},
		{smallio, "a server flushes", "rows=100000 → rows=534000", false, ""},
		{smallio, "a server flushes", "count=8 created=8 → count=1 created=1", false, ""},
		{smallio, "a server flushes", "bufio.(*Writer).Flush@bufio.go:640 → main.(*session).send@server.go:60", false, ""},
		{smallio, "a server flushes", "bufio.(*Writer).Flush@bufio.go:640 → fmt.Fprintf@print.go:225", true, "16 of them in a row"},
		{smallio, "a server flushes", "stack log syscall.write@zsyscall.go:964 < net.(*conn).Write@net.go:212 < main.log@log.go:9\n" +
			"writerow stack=log rows=1600000 writes=1610000", false, ""},
		{smallio, "a server flushes", "stack log syscall.write@zsyscall.go:964 < net.(*conn).Write@net.go:212 < main.log@log.go:9\n" +
			"writerow stack=log rows=1600000 writes=1590000", true, ""},
		{smallio, "a header and a few bytes", "syscall write count=90000 → syscall write count=2300000", false, "reads: 438,000 a second of 7.66 B each take"},
		{smallio, "a header and a few bytes", "syscall read count=4400000 → syscall read count=130000", false, "reads: 11,000 a second"},
		{runtimetax, "four stages", "count=3000000 → count=1900000", true, "a remark"},
		{runtimetax, "four stages", "count=3000000 → count=2100000", true, "!a remark"},
		{runtimetax, "four stages", "stack=park count=560 time=5.6s → stack=park count=420 time=4.2s", true, "a remark"},
		{poolmisuse, "one request in a hundred", "objects=53 bytes=159MiB → objects=53 bytes=31MiB\nobjects=76 bytes=228MiB → objects=76 bytes=45MiB", false, ""},
		{poolmisuse, "one request in a hundred", "stack=other objects=40 bytes=4MiB → stack=other objects=40 bytes=160MiB", false, ""},
		{poolmisuse, "one request in a hundred", "objects=53 bytes=159MiB → objects=700 bytes=159MiB\nobjects=76 bytes=228MiB → objects=1000 bytes=228MiB", false, ""},
		{sparsemap, "a million slots", "stack=look count=220 time=2.2s → stack=look count=25 time=250ms\nstack=next count=50 time=500ms → stack=next count=16 time=160ms\nstack=other count=50 time=500ms → stack=other count=279 time=2.79s", true, ""},
		{sparsemap, "a million slots", "stack=look count=220 time=2.2s → stack=look count=24 time=240ms\nstack=next count=50 time=500ms → stack=next count=15 time=150ms\nstack=other count=50 time=500ms → stack=other count=281 time=2.81s", false, "!fine: maps"},
		{sparsemap, "a million slots", "stack=look count=220 time=2.2s → stack=look count=90 time=900ms\nstack=next count=50 time=500ms → stack=next count=180 time=1.8s", false, "fine: maps: walking them"},
		{printedprofile, "the timers of a service", "cum=1s → cum=3.3s", false, ""},
		{printedprofile, "the timers of a service", "cum=1s → cum=3.5s", true, "a remark"},
		{runtimetax, "four stages", "\"blocked.chan receive\"=20s → blocked.select=20s\nreason=\"chan receive\" → reason=select", true, "!a remark"},
		{gcassist, "by the lines of gctrace alone", "cpu-assist=200ms cpu-background=100ms → cpu-assist=100ms cpu-background=50ms", false, "assists are 66.7% of its marking"},
		{slowstop, "the last thread to stop had no CPU", "runqueue=2s → runqueue=300ms", true, "!whether the program delays its stops"},
		{failures, "half of the answers", "ops=1000 failed=500 → ops=300 failed=4\nn=500 → n=4", true, ""},
		{hotmutex, "sixteen workers start at once", "early=19s → early=18.3s", false, "first tenth"},
		{hotmutex, "sixteen workers start at once", "early=19s → early=18.1s", true, ""},
		{hotmutex, "half of what an operation takes", "rate=1500 mean=1ms → rate=1500 mean=2.2ms", true, "spend 25.7% of their time"},
		{hotmutex, "half of what an operation takes", "rate=1500 mean=1ms → rate=1500 mean=2.4ms", false, ""},
		{hotmutex, "half of what an operation takes", "count=1840 total=4.24s → count=40000 total=4.24s", true, "106 µs each time"},
		{hotmutex, "half of what an operation takes", "count=1840 total=4.24s → count=45000 total=4.24s", false, ""},
		{hotmutex, "delays of which two thirds", "delay=60s → delay=20s", true, "wait for locks, by the mutex profile"},
		{poolmisuse, "what is taken comes back", "bytes=20MiB → bytes=20KiB", false, "fine: pools"},
		{deeprecursion, "two functions that call each other", "stack=deep count=400 time=4s → stack=deep count=70 time=700ms\nstack=work count=590 time=5.9s → stack=work count=920 time=9.2s", false, ""},
		{memoryprofiler, sampled, "count=440 time=4.4s → count=110 time=1.1s\ncount=40 time=400ms → count=5 time=50ms\nstack=work count=390 time=3.9s → stack=work count=755 time=7.55s", true, ""},
		{retainedslice, "a key of each line", "use=0.0002 → use=0.2", true, "20.0% are in use"},
		{allocchurn, "a fresh buffer for each file", "objects=30000 bytes=1920MiB → objects=61000 bytes=1920MiB", true, "!a remark"},
		{allocchurn, "a fresh buffer for each file", "objects=30000 bytes=1920MiB → objects=62000 bytes=1920MiB", true, "a remark"},
		{allocchurn, "a fresh buffer for each file", "bytes=1920MiB live=1MiB → bytes=1920MiB live=95MiB", true, "!a remark"},
		{allocchurn, "a fresh buffer for each file", "bytes=1920MiB live=1MiB → bytes=1920MiB live=97MiB", true, "a remark"},
		{allocchurn, "a fresh buffer for each file", "objects=90000 bytes=9MiB → objects=900000 bytes=3000MiB", true, "!a remark"},
		{allocchurn, "a fresh buffer for each file", "objects=90000 bytes=9MiB → objects=900000 bytes=5000MiB", true, "a remark"},
		{growingslices, "lines with as many samples each", "stack=a count=10 time=100ms → stack=a count=16 time=160ms", true, "!a remark"},
		{growingslices, "lines with as many samples each", "stack=a count=10 time=100ms → stack=a count=14 time=140ms", true, "a remark"},
		{stringbuilding, "bytes become strings", "runtime.rawbyteslice < runtime.stringtoslicebyte → runtime.rawstring < runtime.slicebytetostring", true, "a remark"},
		{broadcastclose, "most of those called have nothing to do", "run=900ms → run=140ms", false, ""},
		{stalled, "nobody moved while a trace was taken, and the holder waits for another lock whose holder sleeps", "watched=4s → watched=700ms", false, ""},
		{hotmutex, "whoever holds it computes, and is", "stack=sum group=main.worker count=133 → stack=sum group=main.worker count=31", true, "preempted there 31 times"},
		{hotmutex, "whoever holds it computes, and is", "stack=sum group=main.worker count=133 → stack=sum group=main.worker count=29", true, "!preempted"},
		{idleprocs, "the same with Ps to spare", "run=60ms runnable=20ms \"blocked.chan send\"=1.92s → run=860ms runnable=40ms \"blocked.chan send\"=1.1s\ncount=4000 total=1.92s → count=4000 total=1.1s", true, "main.work takes from the last full channel"},
		{idleprocs, "the same with Ps to spare", "run=60ms runnable=20ms \"blocked.chan send\"=1.92s → run=1060ms runnable=40ms \"blocked.chan send\"=900ms\ncount=4000 total=1.92s → count=4000 total=900ms", false, "waits for goroutines that work"},
		{gcassist, "by the lines of gctrace alone", "mark=50ms → mark=50ms elided=true", false, "!fine"},
		{gcassist, "by the lines of gctrace alone", "procs=12 →", false, "!fine"},
		{retainedslice, "a key of each line", "metric /gc/gogc:percent 0s=18446744073709551615", true, "bound, direction for memory, share 0.963: not in use\nGOGC is off"},
		{heldmemory, "a map of sessions", "reached=304MiB → reached=550MiB", true, "156 MiB more at least"},
		{heldmemory, "a map of sessions", "reached=304MiB → reached=540MiB", true, "240 MiB more in"},
		{sparsemap, "a million slots", "stack else internal/runtime/maps.(*Iter).Next@table.go:1042 < main.all@all.go:9 < main.main@main.go:30\nsample stack=else count=50 time=500ms", true, "bound, direction for cpu, share 0.772"},
		{waitchain, "the goroutine works", "link other goroutine=main.run count=900 for=1100 time=2s", false, "hardly waits for the clock"},
		{waitchain, "the goroutine works", "link other goroutine=main.run count=900 for=1100 time=3s", false, "!fine"},
		{spinloop, "who waits for a flag", morePs + "gives count=260 time=2600ms → gives count=160 time=1600ms\nprints count=110 time=1100ms → prints count=590 time=5900ms", true, "which takes 0.800 cores"},
		{spinloop, "who waits for a flag", morePs + "gives count=260 time=2600ms → gives count=144 time=1440ms\nprints count=110 time=1100ms → prints count=606 time=6060ms", false, ""},
		{spinloop, "who waits for a flag", "gives count=260 time=2600ms → gives count=104 time=1040ms\nprints count=110 time=1100ms → prints count=266 time=2660ms", true, ""},
		{spinloop, "who waits for a flag", "gives count=260 time=2600ms → gives count=96 time=960ms\nprints count=110 time=1100ms → prints count=274 time=2740ms", false, ""},
		{spinloop, "who waits for a flag", "stack=other group=main.till count=1000 → stack=other group=main.till count=490000", true, "main.(*gate).lock tries again 1,000,000 times"},
		{spinloop, "who waits for a flag", "stack=other group=main.till count=1000 → stack=other group=main.till count=510000", false, ""},
		{spinloop, "who waits for a flag", "wait sched reason= stack=prints group=main.till count=900000 total=1s", true, "main.(*gate).lock tries again 1,000,000 times"},
		{blockedfinalizer, "finalizers that each wait a little", "total=4.5s → total=4.1s", true, "82.0% of its time"},
		{blockedfinalizer, "finalizers that each wait a little", "total=4.5s → total=3.9s", false, ""},
		{blockedfinalizer, "finalizers that each wait a little", "count=400 → count=20", true, ""},
		{blockedfinalizer, "finalizers that each wait a little", "count=400 → count=19", false, ""},
		{blockedfinalizer, "finalizers that each wait a little", "total=4.5s → total=2.5s\n" + closing + "wait sync reason=\"chan send\" stack=close count=10 total=2s", true, "where main.(*ledger).add\n!where main.(*ledger).close"},
		{blockedfinalizer, "finalizers that each wait a little", "total=4.5s → total=2s\n" + closing + "wait sync reason=\"chan send\" stack=close count=90 total=2.5s", true, "where main.(*ledger).close"},
		{blockedfinalizer, "finalizers that each wait a little", "runtime.runFinalizers@mfinal.go:255 → main.writer@ledger.go:90", false, ""},
		{blockedfinalizer, "finalizers that each wait a little", "main.(*ledger).add@ledger.go:12 < main.open.func1@codec.go:30 < runtime → runtime", false, ""},
		{timeouts, "a look-up asks", "loops=true → sleeps=true", false, "!time-outs"},
		{timeouts, "a look-up asks", "expired=900 → expired=19\nserial stack=read root=1 done=900 calls=1800 waited=38s took=39s expired=17 lost=36s", false, "time-outs: 1.0% of the calls"},
		{timeouts, "a look-up asks", "serial stack=read root=1 done=900 calls=4000 waited=38s took=39s expired=800 lost=30s", true, "50.0% of the calls"},
		{timeouts, "a look-up asks", "serial stack=read root=1 done=900 calls=4000 waited=38s took=39s expired=1000 lost=37s", true, "25.0% of the calls"},
		{heapgrowth, "a window of messages", "38100,38200,38300,38400 → 38100,38200,39200,40400", false, "is level since"},
		{heapgrowth, "a window of messages", "38100,38200,38300,38400 → 38100,38200,39800,40800", true, ""},
		{heapgrowth, "a window of messages", more + "objects=0,0,0,0,0,0,0,0,5000,10000,20000,40000", true, ""},
		{heapgrowth, "one line keeps", keeps("a", "900") + keeps("b", "800") + keeps("c", "700"), true, "where main.(*memo).plan\nwhere main.a\nwhere main.b\n!where main.c"},
		{slowstage, "one of eight subscribers", "waited=1.94s seen=2s taken=395 takentime=1.93s → waited=1.02s seen=2s taken=395 takentime=1.01s", true, "0.510 goroutines stand"},
		{slowstage, "one of eight subscribers", "waited=1.94s seen=2s taken=395 takentime=1.93s → waited=980ms seen=2s taken=395 takentime=980ms", false, ""},
		{slowstage, "one of eight subscribers", "takentime=1.93s → takentime=1.56s", true, "80.4% of that time"},
		{slowstage, "one of eight subscribers", "takentime=1.93s → takentime=1.54s", false, ""},
		{slowstage, "one of eight subscribers", "idle=10ms lived → idle=390ms lived", true, ""},
		{slowstage, "one of eight subscribers", "idle=10ms lived → idle=410ms lived", false, ""},
		{slowstage, "one of eight subscribers", "peersidle=13.92s → peersidle=7.1s", true, "50.7% of their time"},
		{slowstage, "one of eight subscribers", "peersidle=13.92s → peersidle=6.9s", false, ""},
		{slowstage, "one of eight subscribers", "peers=7 → peers=2", true, "The other 2 are"},
		{slowstage, "one of eight subscribers", "handover stack=send taker=recv waits=400 → handover stack=send taker=recv waits=20", true, ""},
		{slowstage, "one of eight subscribers", "handover stack=send taker=recv waits=400 → handover stack=send taker=recv waits=19", false, ""},
		{slowstage, "one of eight subscribers", "given=2800 → given=1383", true, "are given as much"},
		{slowstage, "one of eight subscribers", "given=2800 → given=1382", true, "get next to nothing"},
		{slowstage, "one of eight subscribers", "count=400 total=1.95s → count=400 total=1010ms", true, "where main.(*subscriber).write"},
		{slowstage, "one of eight subscribers", "count=400 total=1.95s → count=400 total=990ms", true, "!where main.(*subscriber).write"},
		{slowstage, "one of eight subscribers", zips + "wait sched stack=zip group=main.(*subscriber).run count=400 total=3s", true, "!where main.(*subscriber).zip"},
		{slowstage, "one of eight subscribers", zips + "wait other reason=sleep stack=zip group=main.(*subscriber).run count=400 total=3s", true, "where main.(*subscriber).zip\n!where main.(*subscriber).write"},
		{slowstage, "one of eight subscribers", zips + "wait other reason=sleep stack=zip group=main.(*subscriber).run count=400 total=1.5s", true, "!where main.(*subscriber).zip"},
		{slowstage, "each message waits", "gaveup=88 → gaveup=20", true, "gives up to send 20 times"},
		{slowstage, "each message waits", "gaveup=88 → gaveup=19", false, ""},
		{slowstage, "each message waits", "gaveuptime=4.5s → gaveuptime=2.6s", true, "52.0% of its time"},
		{slowstage, "each message waits", "gaveuptime=4.5s → gaveuptime=2.4s", false, ""},
		{slowstage, "each message waits", "waits=60 waited=4.8s → waits=20 waited=2.6s", true, "0.520 goroutines stand before it"},
		{slowstage, "each message waits", "waits=60 waited=4.8s → waits=19 waited=2.6s", false, ""},
		{slowstage, "each message waits", "waits=60 waited=4.8s → waits=20 waited=2.4s", false, ""},
		{slowstage, "each message waits", "handover stack=send taker=give → handover stack=send taker=recv", false, ""},
		{heldmemory, "eight bytes", "reached=124MiB → reached=204MiB", true, "part of the heap's growth = 0.5062"},
		{heldmemory, "eight bytes", "reached=124MiB → reached=208MiB", false, ""},
		{heldmemory, "eight bytes", "reached=124MiB → reached=84MiB", true, ""},
		{heldmemory, "eight bytes", "reached=124MiB → reached=82MiB", false, ""},
		{heldmemory, "eight bytes", "reached=42MiB → reached=12MiB\nbytes=40MiB → bytes=10MiB\nbytes=122MiB → bytes=14400KiB\nreached=124MiB → reached=18MiB", true, ""},
		{heldmemory, "eight bytes", "reached=42MiB → reached=12MiB\nbytes=40MiB → bytes=10MiB\nbytes=122MiB → bytes=14200KiB\nreached=124MiB → reached=18MiB", false, ""},
		{heldmemory, "eight bytes", "reached=42MiB → reached=102MiB\nbytes=40MiB → bytes=100MiB\nbytes=122MiB → bytes=121MiB", true, ""},
		{heldmemory, "eight bytes", "reached=42MiB → reached=102MiB\nbytes=40MiB → bytes=100MiB\nbytes=122MiB → bytes=119MiB", false, ""},
		{heldmemory, "eight bytes", "at=41s → at=31s", true, ""},
		{heldmemory, "eight bytes", "at=41s → at=29s", false, "whether main.seen keeps growing"},
		{heldmemory, "eight bytes", "at=41s → at=5100ms", false, "whether main.seen keeps growing"},
		{heldmemory, "eight bytes", "at=41s → at=4900ms", false, "!main.seen"},
		{heldmemory, "eight bytes", "metric /gc/heap/live:bytes 0s=40MiB 30s=100MiB", true, ""},
		{heldmemory, "eight bytes", "metric /gc/heap/live:bytes 0s=40MiB 10s=60MiB 30s=50MiB 40s=60MiB", false, "whether main.seen keeps growing"},
		{heldmemory, "eight bytes", "bytes=120MiB use=0.9 → bytes=120MiB use=0.01", true, "Copy what is a small part"},
		{heldmemory, "eight bytes", "bytes=2MiB use=0.7 → bytes=2MiB use=0.01", true, "!Copy what is a small part"},
		{heldmemory, "five seconds", "bytes=20MiB → bytes=27MiB", false, ""},
		{heldmemory, "one line of a heap that is level", "at=8200ms → at=8010ms", true, ""},
		{heldmemory, "one line of a heap that is level", "at=8200ms → at=7990ms", false, ""},
		{heldmemory, "five seconds", "bytes=20MiB → bytes=25MiB", false, ""},
		{heldmemory, "a cache that is full", "bytes=192MiB → bytes=193MiB", false, "fine: holders"},
		{heldmemory, "a cache that is full", "bytes=192MiB → bytes=195MiB", false, "!fine"},
		{heldmemory, "a cache that is full", "at=61s → at=31s", false, "fine: holders"},
		{heldmemory, "a cache that is full", "at=61s → at=29s", false, "!fine"},
		{heldmemory, "a cache that is full", "reached=202MiB → reached=202MiB partial=true", false, "!fine"},
		{heldmemory, "one look near", "bytes=280MiB → bytes=223MiB", true, ""},
		{heldmemory, "one look near", "bytes=280MiB → bytes=221MiB", false, ""},
		{timerstorm, "seven thousand a second", "run=56ms → run=69ms", true, "runs for 4.93 µs"},
		{timerstorm, "seven thousand a second", "run=56ms → run=71ms", false, "5.07 µs of work"},
		{timerstorm, "seven thousand a second", "fire count=8 time=80ms → fire count=2 time=20ms", true, ""},
		{timerstorm, "seven thousand a second", "fire count=8 time=80ms → fire count=1 time=10ms", false, "4.7% of the CPU in timers"},
		{timerstorm, "seven thousand a second", "woken=sleep count=13000 → woken=sleep count=9100", true, "5,050 times a second"},
		{timerstorm, "seven thousand a second", "woken=sleep count=13000 → woken=sleep count=8900", false, "!timers"},
		{timerstorm, "links that read", "run=380ms → run=399ms", true, "runs for 9.97 µs"},
		{timerstorm, "links that read", "run=380ms → run=401ms", false, "10.0 µs of work"},
		{timerstorm, "sessions read", "run=56ms → run=79ms", true, "runs for 1.98 µs"},
		{timerstorm, "sessions read", "run=56ms → run=81ms", false, "unchecked what 19,900 wake-ups"},
		{timerstorm, "sessions read", "group main.work count=2 peak=2 run=100ms start=main.go:70 runs=9900", true, "80.2% of the runs"},
		{timerstorm, "sessions read", "group main.work count=2 peak=2 run=100ms start=main.go:70 runs=10100", false, "unchecked what 19,900 wake-ups"},
		{timerstorm, "sessions read", "process n=21 at=0s..2s user=200ms system=100ms rss=16MiB..16MiB →", false, "unchecked what 19,900 wake-ups"},
		{lockedio, "the wait is not that of most", "count=300 total=1s → count=199 total=1s", true, ""},
		{lockedio, "the wait is not that of most", "count=300 total=1s → count=201 total=1s", false, ""},
		{lockedio, "a lock that is held while a file", "count=750 total=1200ms → count=501 total=1200ms", true, ""},
		{lockedio, "a lock that is held while a file", "count=750 total=1200ms → count=499 total=1200ms", false, ""},
		{lockedio, "a lock that is held while a file", "total=1200ms → total=690ms", true, ""},
		{lockedio, "a lock that is held while a file", "total=1200ms → total=680ms", false, ""},
		{lockedio, "a lock that is held while a file", "total=1200ms → total=2190ms", true, ""},
		{lockedio, "a lock that is held while a file", "total=1200ms → total=2210ms", false, ""},
		{lockedio, "a lock that is held while a file", "run=500ms → run=680ms", true, ""},
		{lockedio, "a lock that is held while a file", "run=500ms → run=690ms", false, ""},
		{heapgrowth, "the heap as a whole", tenLooks + "at=0s,2s,4s,6s,8s,10s objects=0,4000,8000,12000,16000,20000", true, "from 3.91 MiB by 15.6 MiB in 8.00 s"},
		{heapgrowth, "the heap as a whole", tenLooks + "at=0s,4s,7s,10s objects=0,8000,14000,20000", false, ""},
		{heapgrowth, "the heap as a whole", "0s,1s,2s,3s,4s,5s,6s,7s,8s,9s,10s → 0s,250ms,500ms,750ms,1s,1300ms,1600ms,1900ms,2100ms,2300ms,2510ms", true, "in 2.01 s"},
		{heapgrowth, "the heap as a whole", "0s,1s,2s,3s,4s,5s,6s,7s,8s,9s,10s → 0s,250ms,500ms,750ms,1s,1300ms,1600ms,1900ms,2100ms,2300ms,2490ms", false, ""},
		{heapgrowth, "the heap as a whole", tenLooks + tens + "objects=74000,76000,78000,80000,82000,84000,86000,88000,90000,92000,94000", true, "from 76.2 MiB"},
		{heapgrowth, "the heap as a whole", tenLooks + tens + "objects=80000,82000,84000,86000,88000,90000,92000,94000,96000,98000,100000", false, ""},
		{heapgrowth, "the heap as a whole", "each=1KiB → each=1MiB\n" + tenLooks + tens + "objects=0,2,4,6,8,10,12,14,16,18,20", true, ""},
		{heapgrowth, "the heap as a whole", "each=1KiB → each=1MiB\n" + tenLooks + tens + "objects=0,2,4,6,8,10,12,14,16,18,19", false, ""},
		{heapgrowth, "the heap as a whole", tenLooks + tens + "objects=0,1500,3000,4500,6000,7500,9000,12000,14500,14800,15200", false, ""},
		{heapgrowth, "the heap as a whole", tenLooks + tens + "objects=0,1500,3000,4500,6000,7500,9000,12000,14500,14900,15300", true, ""},
		{heapgrowth, "the heap as a whole", tenLooks + tens + "objects=0,0,0,1000,2000,11500,12000,14000,16000,18000,20000", true, ""},
		{heapgrowth, "the heap as a whole", tenLooks + tens + "objects=0,0,0,1000,2000,15000,15500,16000,18000,19000,20000", false, ""},
		{idleprocs, "the last in the row syncs", "count=800 total=1.71s → count=9000 total=1.71s", false, "!waits 85"},
		{goroutinegrowth, "a client for each tenant, whose", "metric /sched/goroutines:goroutines 0s=25 30s=6025 every=100ms noise=3 →\nwindow 30s → window 0s", true, "2,985 more connections of HTTP clients\nwait for an answer are 3: the"},
		{memorylimit, "the lines of gctrace", "every=5ms at=1s → every=90ms at=1s\nevery=5ms cycle=201 at=2s → every=90ms cycle=201 at=19s\n" + dearer, true, ""},
		{memorylimit, "the lines of gctrace", "every=5ms at=1s → every=110ms at=1s\nevery=5ms cycle=201 at=2s → every=110ms cycle=201 at=23s\n" + dearer, false, ""},
		{printedprofile, "a benchmark whose memory", "gentraceback flat=2.4s → gentraceback flat=0.1s", true, "takes 64.0% of the CPU time"},
		{printedprofile, "a benchmark whose memory", "stkbucket flat=0.3s → stkbucket flat=0.01s", true, "in runtime.stkbucket, 1.6%"},
		{slowstart, "a server reads", "count=0 open=1 → count=1 open=1", true, "83.3% of that in main.load"},
		{gccost, "little is allocated", "0s=120MiB 10s=120MiB → 0s=77MiB 10s=77MiB", true, "allocchurn\nKeep fewer pointers"},
		{gccost, "little is allocated", "0s=120MiB 10s=120MiB → 0s=74MiB 10s=74MiB", true, "!allocchurn\n!Keep fewer pointers"},
		{fsyncbound, "each row is a transaction", "stack log syscall.write@zsyscall.go:9 < main.log@log.go:5\nwait syscall stack=log group=main.log count=10 total=50ms", true, "calls that ended = 1.62 seconds"},
		{fsyncbound, "each row is a transaction", "wait syscall group=main.write count=1 total=30ms", true, "calls that ended = 1.62 seconds"},
		{goroutinegrowth, "four hundred that wait for the end, by", "count=396 created=396 ended=396 peak=340 → count=180 created=180 ended=180 peak=180", false, "as a load does that stops"},
		{goroutinegrowth, "four hundred that wait for the end, by", "count=396 created=396 ended=396 peak=340 → count=205 created=205 ended=205 peak=205", true, ""},
		{heapgrowth, "one line keeps", tenLooks + tens + "objects=0,1500,3000,4500,6000,7500,9000,12000,14500,14900,15300", true, "second half grows by 1.54 MiB/s, the whole by 1.50 MiB/s"},
		{heldmemory, "one look near", "count=1 objects=290000 → count=40 objects=290000", true, "remedy Let the goroutines end when their work does"},
		{memorylimit, "the lines of gctrace", "goal=49MiB → goal=51MiB", true, "room that the goal leaves, of what is alive = 0.0"},
		{retainedslice, "eight bytes", "step []byte objects=2700 → step []byte objects=16", true, ""},
		{retainedslice, "eight bytes", "step []byte objects=2700 → step []byte objects=15", false, ""},
		{stalled, "of who runs there is no stack, and the CPU", "standing stack=holds holds=main.catalogue.mu frame=0 sure=true", true, "!75.0% of the CPU in use"},
		{heapgrowth, "four megabytes a second, and two", "0s=60MiB 60s=300MiB → 0s=60MiB 30s=200MiB 60s=300MiB", true, "second half grows by 3.33 MiB/s, the whole by 3.63 MiB/s"},
		{heapgrowth, "a leak under GOGC=100 doubles", "8s=65MiB 16s=128MiB → 8s=65MiB 16s=112MiB", true, "half it grew by 5.88 MiB/s, and by 6.86 MiB/s in all"},
		{nativememory, "the program maps a file", "0s=8MiB 5s=8MiB → 0s=8MiB 3s=20MiB 5s=20MiB", true, "second half grows by 12.0 MiB/s, the whole by 10.3 MiB/s"},
		{nativememory, "memory is mapped again", "0s=8MiB 20s=8MiB → 0s=8MiB 12s=30MiB 20s=30MiB", true, "second half grows by 6.00 MiB/s, the whole by 5.21 MiB/s"},
		{nativememory, "the program maps a file", "count=900 → count=100\ncount=600 → count=80", true, ""},
		{nativememory, "the program maps a file", "count=900 → count=100\ncount=600 → count=81", false, ""},
		{nativememory, "the program maps a file", "count=600 → count=809", true, ""},
		{nativememory, "the program maps a file", "count=600 → count=811", false, ""},
		{unboundedspawn, "a goroutine for each packet", "window 6s → window 2.9s", true, "confidence low: one kind of evidence, the trace, with 441,703"},
		{unboundedspawn, "a goroutine for each packet", "window 6s → window 3.1s", true, "confidence medium"},
		{poolmisuse, "as many large objects", "liveheap end stack=new objects=180 → liveheap end stack=new objects=100\nobjects=4000 bytes=30MiB → objects=4000 bytes=11000MiB", true, ""},
		{poolmisuse, "as many large objects", "liveheap end stack=new objects=180 → liveheap end stack=new objects=100\nobjects=4000 bytes=30MiB → objects=4000 bytes=12000MiB", false, ""},
		{poolmisuse, "as many large objects", "liveheap end stack=new objects=180 → liveheap end stack=new objects=140", false, ""},
		{poolmisuse, "as many large objects", "liveheap end stack=new objects=180 → liveheap end stack=new objects=130", true, ""},
		{connectionchurn, "a client and its server in one process", "net/http.(*Server).Serve@server.go:3300 → main.listen@srv.go:3\nnet/http.(*conn).serve@server.go:2000 → main.answer@srv.go:5", true,
			"a handler that closes after an answer\n!SetKeepAlivesEnabled"},
		{connectionchurn, "a client for each request", "stack first " + saves + "\nstack second runtime.gopark < " + saves, true, "!SetMaxIdleConns"},
		{stalled, "who answered has ended", "by=answers → by=answers,late,last\nstack late main.(*desk).late@desk.go:51\nstack last main.(*desk).last@desk.go:61", true, "where main.(*desk).late\n!where main.(*desk).last"},
		{gccost, "an object with a finalizer", "10s=90000 → 10s=10100\n10s=60000 → 10s=6000", true, "objects a second are queued"},
		{gccost, "an object with a finalizer", "10s=90000 → 10s=9900\n10s=60000 → 10s=6000", true, "!objects a second are queued"},
		{heapgrowth, "few collections, each of which", "20s=4300KiB 28s=4100KiB →\nwindow 30s → window 60s", false, "unchecked whether the live heap grows: 3 collections"},
		{slowstart, "a server reads", "load count=250 time=2.5s → load count=100 time=1s\nwork count=690 time=6.9s → work count=840 time=8.4s", true, ""},
		{hotmutex, "whoever holds the lock sleeps, and", "count=900 total=1.8s → count=900 total=210ms", true, "Whoever holds it sleeps at store.go:34"},
		{hotmutex, "whoever holds the lock sleeps, and", "count=900 total=1.8s → count=900 total=190ms", true, "!Whoever holds it sleeps at store.go:34"},
		{stackgrowth, "the samples of growing name nobody, and a", "deep count=400 time=4s → deep count=20 time=200ms\nwork count=290 time=2900ms → work count=670 time=6700ms", true, "!calls itself"},
		{fsyncbound, "each row is a transaction", "syscall=1.5s sysblocked=200ms → syscall=500ms sysblocked=200ms", true, "and around it = 1.62 seconds, computed smallest"},
	})
}
