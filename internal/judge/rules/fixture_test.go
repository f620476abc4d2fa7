package rules

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A fixture is one case of a rule; testdata/README.md has the language.
type fixture struct {
	kind, story string
	line        int // of the header
	model       *model.Model
	goal        diagnosis.Goal
	source      []string // lines before the golden, header included
	want        []string
}

// parseFixtures reads a file of cases; head is what stands before the first.
func parseFixtures(text string) (head []string, cases []*fixture, err error) {
	var c *fixture
	var b *builder
	golden := false
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if title, ok := strings.CutPrefix(line, "== "); ok {
			kind, story, ok := strings.Cut(title, ": ")
			if !ok || !slices.Contains(caseKinds, kind) {
				return nil, nil, fmt.Errorf("line %d: a case begins with == and one of %v, a colon and its story", i+1, caseKinds)
			}
			b = &builder{m: &model.Model{}, stacks: map[string]model.Stack{}}
			c = &fixture{kind: kind, story: story, line: i + 1, model: b.m}
			cases, golden = append(cases, c), false
		}
		switch {
		case c == nil:
			head = append(head, line)
		case line == "want":
			golden = true
		case golden:
			c.want = append(c.want, line)
		default:
			c.source = append(c.source, line)
			if err := b.line(line, c); err != nil {
				return nil, nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	return head, cases, nil
}

var caseKinds = []string{"sick", "well", "look-alike"}

// A builder fills a model from lines.
type builder struct {
	m      *model.Model
	stacks map[string]model.Stack
	held   string // the holder that steps are of
}

func (b *builder) line(line string, c *fixture) error {
	words, err := split(line)
	if err != nil {
		return err
	}
	if len(words) == 0 || strings.HasPrefix(words[0].text, "#") || words[0].text == "==" {
		return nil
	}
	if words[0].text == "stack" {
		return b.stack(words[1:])
	}
	a := &attrs{kv: map[string]string{}}
	for _, w := range words[1:] {
		if w.equals < 0 {
			a.pos = append(a.pos, w.text)
			continue
		}
		a.kv[w.text[:w.equals]] = w.text[w.equals+1:]
	}
	f := directives[words[0].text]
	if f == nil {
		f = evidenceDirectives[words[0].text]
	}
	if f == nil {
		return fmt.Errorf("no evidence is called %q", words[0].text)
	}
	f(b, a, c)
	for _, k := range slices.Sorted(maps.Keys(a.kv)) {
		a.fail("%s has no attribute %q", words[0].text, k)
	}
	if len(a.pos) > 0 {
		a.fail("%s: what is %q?", words[0].text, a.pos[0])
	}
	return a.err
}

func (b *builder) stack(words []word) error {
	if len(words) < 2 {
		return fmt.Errorf("stack NAME FRAME < FRAME …")
	}
	var frames []model.Frame
	for i, w := range words[1:] {
		if i%2 == 1 {
			if w.text != "<" {
				return fmt.Errorf("stack: %q between frames, want <", w.text)
			}
			continue
		}
		text, times, repeated := strings.Cut(w.text, "×")
		n, err := strconv.Atoi(times)
		if repeated && err != nil {
			return fmt.Errorf("stack: %q frames", times)
		}
		frames = append(frames, slices.Repeat([]model.Frame{frame(text)}, max(n, 1))...)
	}
	if _, dup := b.stacks[words[0].text]; dup {
		return fmt.Errorf("stack %s is defined twice", words[0].text)
	}
	b.stacks[words[0].text] = b.m.Stacks.Add(frames)
	return nil
}

// frame reads FUNC@FILE:LINE or FUNC.
func frame(s string) model.Frame {
	fn, at, _ := strings.Cut(s, "@")
	f := model.Frame{Func: fn}
	f.File, f.Line = fileLine(at)
	return f
}

func fileLine(s string) (string, int) {
	file, line, _ := strings.Cut(s, ":")
	n, _ := strconv.Atoi(line)
	return file, n
}

func (b *builder) sched() *model.Sched {
	if b.m.Sched == nil {
		b.m.Sched = &model.Sched{AllKept: true}
	}
	return b.m.Sched
}

func (b *builder) gc() *model.GC {
	b.sched()
	if b.m.GC == nil {
		b.m.GC = &model.GC{}
	}
	return b.m.GC
}

func (b *builder) tasks() *model.Tasks {
	if b.m.Tasks == nil {
		b.m.Tasks = &model.Tasks{}
	}
	return b.m.Tasks
}

var directives = map[string]func(*builder, *attrs, *fixture){
	"window": func(b *builder, a *attrs, _ *fixture) {
		b.m.Run.Duration = a.parseDur(a.word())
		b.m.Run.Procs = int(a.int("procs"))
		b.m.Run.Go = a.str("go")
	},
	"run": func(b *builder, a *attrs, _ *fixture) {
		b.m.Run.Command = strings.Fields(a.word())
		b.m.Run.Recording, b.m.Run.URL = a.str("recording"), a.str("url")
		b.m.Run.Ended, b.m.Run.Untold = a.bool("ended"), a.bool("untold")
		if b.m.Run.Recording != "" {
			b.m.Run.Files = []string{b.m.Run.Recording}
		}
	},
	"goal": func(_ *builder, a *attrs, c *fixture) { c.goal = diagnosis.Goal(a.word()) },
	"note": func(b *builder, a *attrs, _ *fixture) {
		b.m.Run.Coverage.Notes = append(b.m.Run.Coverage.Notes, a.word())
	},
	"killed": func(b *builder, a *attrs, _ *fixture) {
		b.m.Run.Killed = &model.Kill{At: b.m.Run.Start.Add(a.dur("at")), Limit: uint64(a.bytes("limit"))}
	},
	"coverage": func(b *builder, a *attrs, _ *fixture) {
		b.m.Run.Coverage = model.Coverage{
			Bytes: a.bytes("bytes"), LostBytes: a.bytes("lost"), Events: a.int("events"), LostEvents: a.int("lost-events"),
			Generations: int(a.int("generations")), Damaged: int(a.int("damaged")), Forced: a.int("forced"),
			Lost: a.dur("lost-time"), Unknown: a.dur("unknown"),
			Overlap: a.dur("overlap"), MaxOverlap: a.dur("max-overlap"),
		}
	},
	"group": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.Groups = append(s.Groups, model.Group{
			Name: a.word(), System: a.bool("system"), Start: b.start(a), Creator: b.ref(a, "creator"),
			Count: int(a.int("count")), Created: int(a.int("created")), Ended: int(a.int("ended")), Peak: int(a.int("peak")),
			Times: a.times(), Ranges: a.prefixed("range."),
			Runs: a.int("runs"), Delay: a.hist("delay"), RunningEach: a.hist("running"), Life: a.hist("life"),
		})
		g := &s.Groups[len(s.Groups)-1]
		g.Start.Func = g.Name
	},
	"goroutine": func(b *builder, a *attrs, _ *fixture) {
		id, err := strconv.ParseInt(a.word(), 10, 64)
		if err != nil {
			a.fail("goroutine: %v", err)
		}
		s := b.sched()
		s.Goroutines = append(s.Goroutines, model.Goroutine{
			ID: id, Group: a.str("group"), Created: a.dur("created"), First: a.dur("first"), Ended: a.dur("ended"),
			Runs: a.int("runs"), Times: a.times(), Ranges: a.prefixed("range."),
		})
	},
	"proc": func(b *builder, a *attrs, _ *fixture) {
		id, err := strconv.Atoi(a.word())
		if err != nil {
			a.fail("proc: %v", err)
		}
		s := b.sched()
		s.Procs = append(s.Procs, model.Proc{
			ID: id, User: a.dur("user"), GC: a.dur("gc"), GCIdle: a.dur("gcidle"), Syscall: a.dur("syscall"),
			Scheduler: a.dur("scheduler"), Idle: a.dur("idle"), Unknown: a.dur("unknown"), Starts: a.int("starts"),
		})
	},
	"bucket": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		n, width := max(1, a.int("n")), a.dur("width")
		bucket := model.Bucket{Width: width, Running: a.float("running"), Held: a.float("held"), Runnable: a.float("runnable")}
		if len(s.Timeline) > 0 {
			last := s.Timeline[len(s.Timeline)-1]
			bucket.Start = last.Start + last.Width
		}
		for range n {
			s.Timeline = append(s.Timeline, bucket)
			bucket.Start += width
		}
	},
	"wait": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.Waits = append(s.Waits, model.Wait{
			Kind: model.WaitKind(a.word()), Reason: a.str("reason"), Stack: b.ref(a, "stack"), Group: a.str("group"),
			Count: a.int("count"), Total: a.dur("total"), Open: a.int("open"), Parked: a.int("parked"), OpenTotal: a.dur("open-total"), Early: a.dur("early"),
		})
	},
	"wake": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.Wakes = append(s.Wakes, model.Wake{Waker: b.ref(a, "waker"), Woken: b.ref(a, "woken"), Count: a.int("count")})
	},
	"holding": func(b *builder, a *attrs, _ *fixture) {
		s, at := b.sched(), b.ref(a, "stack")
		if s.Holding == nil {
			s.Holding = map[model.Stack][]model.HeldLine{}
		}
		s.Holding[at] = append(s.Holding[at], model.HeldLine{At: frame(a.str("at")), Taken: frame(a.str("taken"))})
	},
	"burst": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.Bursts = append(s.Bursts, model.Burst{
			Waker: b.ref(a, "waker"), Count: a.int("count"), Woken: a.int("woken"), Max: int(a.int("max")), Futile: a.int("futile"),
		})
	},
	"serial": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		stack := b.ref(a, "stack")
		frames := b.m.Stacks.Frames(stack)
		s.Serial = append(s.Serial, model.Serial{Operation: frames[len(frames)-1-int(a.int("root"))], Stack: stack, Sleeps: a.bool("sleeps"), Polls: a.bool("polls"), Loops: a.bool("loops"),
			Done: a.int("done"), Calls: a.int("calls"), Waited: a.dur("waited"), Took: a.dur("took"), Expired: a.int("expired"), Lost: a.dur("lost")})
	},
	"chain": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		stack := b.ref(a, "stack")
		frames := b.m.Stacks.Frames(stack)
		s.Chains = append(s.Chains, model.Chain{Operation: frames[len(frames)-1-int(a.int("root"))], Stack: stack, Loops: a.bool("loops"), Own: a.bool("own"),
			Done: a.int("done"), Waits: a.int("waits"), Waited: a.dur("waited"), Took: a.dur("took"), Followed: a.int("followed"),
			Peers: a.int("peers"), PeersTime: a.dur("peerstime")})
	},
	"link": func(b *builder, a *attrs, _ *fixture) {
		c := &b.sched().Chains[len(b.sched().Chains)-1]
		kind := map[string]model.LinkKind{"clock": model.LinkClock, "answer": model.LinkAnswer, "peer": model.LinkPeer, "runs": model.LinkRuns, "syscall": model.LinkSyscall, "other": model.LinkOther}[a.word()]
		l := model.ChainLink{Kind: kind, Goroutine: model.Frame{Func: a.str("goroutine")}, Gathers: a.bool("gathers"),
			Count: a.int("count"), For: a.int("for"), Asked: a.int("asked"), Timer: a.bool("timer"), Time: a.dur("time")}
		if l.Goroutine.Func == "" {
			l.Stack = b.ref(a, "stack")
			frames := b.m.Stacks.Frames(l.Stack)
			l.Goroutine = frames[len(frames)-1]
		}
		c.Links = append(c.Links, l)
	},
	"retry": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		stack := b.ref(a, "stack")
		s.Retries = append(s.Retries, model.Retry{Stack: stack, Calls: a.int("calls"), Again: a.int("again"), Between: a.dur("between"),
			Loop: b.m.Stacks.Frames(stack)[a.int("loop")]})
	},
	"lives": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.Lives = append(s.Lives, model.Lives{Function: a.word(), Ended: a.int("ended"), First: a.dur("first"), Last: a.dur("last")})
	},
	"handover": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		stack := b.ref(a, "stack")
		frames, taker := b.m.Stacks.Frames(stack), b.m.Stacks.Frames(b.ref(a, "taker"))
		s.Handovers = append(s.Handovers, model.Handover{Stack: stack, Waits: a.int("waits"), Waited: a.dur("waited"), Seen: a.dur("seen"),
			Giver: frames[len(frames)-1], Sends: a.bool("sends"), GaveUp: a.int("gaveup"), GaveUpTime: a.dur("gaveuptime"),
			Taker: taker[len(taker)-1], Taken: a.int("taken"), TakenTime: a.dur("takentime"), Idle: a.dur("idle"), Lived: a.dur("lived"),
			Peers: int(a.int("peers")), PeersWaits: a.int("given"), PeersIdle: a.dur("peersidle"), PeersLived: a.dur("peerslived")})
	},
	"caller": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		stack := b.ref(a, "stack")
		frames := b.m.Stacks.Frames(stack)
		s.Callers = append(s.Callers, model.Caller{ID: int64(len(s.Callers) + 1), Root: frames[len(frames)-1-int(a.int("root"))], Stack: stack,
			Calls: a.int("calls"), Most: a.int("most"), Waited: a.dur("waited"), Pauses: a.int("pauses"), Paused: a.dur("paused"),
			Took: a.dur("took"), Asked: a.int("asked"), From: a.dur("from"), To: a.dur("to"), MostWaited: a.dur("mostwaited"),
			Held: a.int("held"), HeldTime: a.dur("heldtime")})
		if w := a.str("wrote"); w != "" {
			s.Callers[len(s.Callers)-1].Wrote = b.stacks[w]
		}
	},
	"writerow": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.WriteRows = append(s.WriteRows, model.CallRow{Stack: b.ref(a, "stack"), Rows: a.int("rows"), Calls: a.int("writes")})
	},
	"readrow": func(b *builder, a *attrs, _ *fixture) {
		s := b.sched()
		s.ReadRows = append(s.ReadRows, model.CallRow{Stack: b.ref(a, "stack"), Rows: a.int("rows"), Calls: a.int("reads")})
	},
	"delay":   func(b *builder, a *attrs, _ *fixture) { b.sched().Delay = a.parseHist(a.word()) },
	"slice":   func(b *builder, a *attrs, _ *fixture) { b.sched().Slice = a.parseHist(a.word()) },
	"threads": func(b *builder, a *attrs, _ *fixture) { b.sched().Threads = int(a.parseInt(a.word())) },
	"cycle": func(b *builder, a *attrs, _ *fixture) {
		g := b.gc()
		g.Cycles = append(g.Cycles, model.Cycle{Seq: uint64(len(g.Cycles) + 1), Begin: a.dur("begin"), End: a.dur("end")})
	},
	"heap": func(b *builder, a *attrs, _ *fixture) {
		g := b.gc()
		g.Heap = append(g.Heap, model.HeapSample{At: a.dur("at"), Alloc: uint64(a.bytes("alloc")), Goal: uint64(a.bytes("goal"))})
	},
	"pause": func(b *builder, a *attrs, _ *fixture) {
		g := b.gc()
		g.Pauses = append(g.Pauses, model.Pause{Kind: a.word(), At: a.dur("at"), Duration: a.dur("for"), Stack: b.ref(a, "stack")})
	},
	"load": func(b *builder, a *attrs, _ *fixture) {
		kinds := map[string]model.LoadKind{
			"stw": model.LoadSTW, "background": model.LoadBackground, "assist": model.LoadAssist,
			"sweep": model.LoadSweep, "procs": model.LoadProcs,
		}
		name := a.str("kind")
		kind, ok := kinds[name]
		if !ok {
			a.fail("load: no kind %q", name)
		}
		g := b.gc()
		g.Load = append(g.Load, model.LoadChange{
			At: a.dur("at"), Proc: int32(a.int("proc")), Kind: kind, Dedicated: a.bool("dedicated"), Delta: int32(a.int("delta")),
		})
	},
	"task": func(b *builder, a *attrs, _ *fixture) {
		t := b.tasks()
		h := a.hist("latency")
		t.Tasks = append(t.Tasks, model.TaskType{Name: a.word(), Count: h.N, Complete: h.N, Latency: h})
	},
	"region": func(b *builder, a *attrs, _ *fixture) {
		t := b.tasks()
		h := a.hist("latency")
		t.Regions = append(t.Regions, model.RegionType{Name: a.word(), Count: h.N, Open: a.int("open"), Latency: h, Times: a.times()})
	},
	"cpu": func(b *builder, a *attrs, _ *fixture) {
		b.m.CPU = &model.Profile{
			Types:    []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "cpu", Unit: "nanoseconds"}},
			Duration: a.dur("duration"), FromTrace: a.bool("fromtrace"),
		}
	},
	"sample": func(b *builder, a *attrs, _ *fixture) {
		if b.m.CPU == nil {
			a.fail("sample before cpu")
			return
		}
		b.m.CPU.Samples = append(b.m.CPU.Samples, model.Sample{
			Stack: b.ref(a, "stack"), Group: a.str("group"), Values: []int64{a.int("count"), int64(a.dur("time"))},
		})
	},
	"wall": func(b *builder, a *attrs, _ *fixture) {
		if b.m.Wall == nil {
			b.m.Wall = &model.Profile{Types: []model.ValueType{{Name: "samples", Unit: "count"}, {Name: "wall", Unit: "nanoseconds"}}}
		}
		b.m.Wall.Samples = append(b.m.Wall.Samples, model.Sample{
			Stack: b.ref(a, "stack"), Values: []int64{a.int("count"), int64(a.dur("time"))}, Labels: map[string]string{"state": a.str("state")},
		})
	},
	"alloc": func(b *builder, a *attrs, _ *fixture) {
		if b.m.Heap == nil {
			b.m.Heap = &model.Profile{Types: []model.ValueType{
				{Name: "alloc_objects", Unit: "count"}, {Name: "alloc_space", Unit: "bytes"},
				{Name: "inuse_objects", Unit: "count"}, {Name: "inuse_space", Unit: "bytes"},
			}}
		}
		b.m.Heap.Samples = append(b.m.Heap.Samples, model.Sample{
			Stack: b.ref(a, "stack"), Values: []int64{a.int("objects"), a.bytes("bytes"), a.int("live-objects"), a.bytes("live")},
		})
	},
}

func (b *builder) ref(a *attrs, key string) model.Stack {
	name := a.str(key)
	if name == "" {
		return 0
	}
	s, ok := b.stacks[name]
	if !ok {
		a.fail("no stack is called %q", name)
	}
	return s
}

func (b *builder) start(a *attrs) (f model.Frame) {
	f.File, f.Line = fileLine(a.str("start"))
	return f
}

// attrs are the attributes of one line; reading one takes it out, so that
// what is left over is a misspelling. The first error is kept.
type attrs struct {
	kv  map[string]string
	pos []string
	err error
}

func (a *attrs) fail(format string, args ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, args...)
	}
}

func (a *attrs) word() string {
	if len(a.pos) == 0 {
		a.fail("a word is missing")
		return ""
	}
	w := a.pos[0]
	a.pos = a.pos[1:]
	return w
}

func (a *attrs) str(key string) string {
	v := a.kv[key]
	delete(a.kv, key)
	return v
}

func (a *attrs) int(key string) int64 { return a.parseInt(a.str(key)) }

func (a *attrs) parseInt(v string) int64 {
	if v == "" {
		return 0
	}
	n, err := strconv.ParseInt(strings.ReplaceAll(v, ",", ""), 10, 64)
	if err != nil {
		a.fail("%v", err)
	}
	return n
}

func (a *attrs) float(key string) float64 {
	v := a.str(key)
	if v == "" {
		return 0
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		a.fail("%v", err)
	}
	return f
}

func (a *attrs) bool(key string) bool { return a.str(key) == "true" }

func (a *attrs) bytes(key string) int64 {
	v := a.str(key)
	for i, unit := range []string{"KiB", "MiB", "GiB"} {
		if n, ok := strings.CutSuffix(v, unit); ok {
			f, err := strconv.ParseFloat(n, 64)
			if err != nil {
				a.fail("%v", err)
			}
			return int64(f * float64(int64(1)<<(10*(i+1))))
		}
	}
	return a.parseInt(v)
}

func (a *attrs) dur(key string) time.Duration { return a.parseDur(a.str(key)) }

func (a *attrs) parseDur(v string) time.Duration {
	if v == "" {
		return 0
	}
	d, err := time.ParseDuration(v)
	if err != nil {
		a.fail("%v", err)
	}
	return d
}

func (a *attrs) hist(key string) model.Histogram { return a.parseHist(a.str(key)) }

// parseHist reads "90x1ms,10x2s".
func (a *attrs) parseHist(v string) (h model.Histogram) {
	for part := range strings.SplitSeq(v, ",") {
		if part == "" {
			continue
		}
		n, d, ok := strings.Cut(part, "x")
		if !ok {
			a.fail("%q is not COUNTxDURATION", part)
			return h
		}
		h.AddN(a.parseDur(d), a.parseInt(n))
	}
	return h
}

func (a *attrs) prefixed(prefix string) map[string]time.Duration {
	var out map[string]time.Duration
	for _, k := range slices.Sorted(maps.Keys(a.kv)) {
		if name, ok := strings.CutPrefix(k, prefix); ok {
			if out == nil {
				out = map[string]time.Duration{}
			}
			out[name] = a.dur(k)
		}
	}
	return out
}

func (a *attrs) times() model.Times {
	return model.Times{
		Running: a.dur("run"), Runnable: a.dur("runnable"), Syscall: a.dur("syscall"), SyscallBlocked: a.dur("sysblocked"),
		Unknown: a.dur("unknown"), Blocked: a.prefixed("blocked."),
	}
}

// A word is one field of a line, quotes taken off; equals is where its first
// unquoted = stands, or -1.
type word struct {
	text   string
	equals int
}

func split(line string) (words []word, err error) {
	var b strings.Builder
	w, open, quoted := word{equals: -1}, false, false
	for _, r := range line {
		switch {
		case r == '"':
			quoted, open = !quoted, true
		case unicode.IsSpace(r) && !quoted:
			if open {
				w.text = b.String()
				words = append(words, w)
			}
			b.Reset()
			w, open = word{equals: -1}, false
		default:
			if r == '=' && !quoted && w.equals < 0 && b.Len() > 0 {
				w.equals = b.Len()
			}
			b.WriteRune(r)
			open = true
		}
	}
	if quoted {
		return nil, fmt.Errorf("a quote is not closed")
	}
	if open {
		w.text = b.String()
		words = append(words, w)
	}
	return words, nil
}
