package rules

import (
	_ "embed"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed exhausted.md
var exhaustedPage string

// exhausted has no threshold: a call that is refused for want of a descriptor, a thread or
// memory was not done, and a server that is out of them refuses a few calls a second only
// because net/http waits between attempts.
var exhausted = &diagnosis.Rule{
	Name:    "exhausted",
	Title:   "The kernel has no descriptor, thread or memory left for the program",
	Doc:     exhaustedPage,
	Needs:   []model.Source{model.SyscallLog},
	Instead: []model.Source{model.ShortageLog},
	Whole:   true,
	Check:   checkExhausted,
}

// A shortage is something limited that a call did not get.
type shortage struct {
	errno string
	calls []string // that mean this by the error; nil for all
	title string
	lacks string // a clause
	means string
	text  string // of the remedy
	code  string
}

// startingCalls make threads and processes: of all others EAGAIN is an answer.
var startingCalls = []string{"clone", "clone3", "fork", "vfork"}

const closeCode = "resp, err := client.Do(req)\nif err != nil {\n\treturn err\n}\ndefer resp.Body.Close()"

var shortages = []shortage{
	{"EMFILE", nil, "The process has no descriptor left", "no descriptor is left", "What the program opens and dials fails until others are closed",
		"See who keeps them: `ls -l /proc/PID/fd` has files by name and how many sockets, and a recording of a minute " +
			"whether they become more. Close the body of each response, rows of databases and files, also where an error returns " +
			"early; bound pools (SetMaxOpenConns, MaxConnsPerHost) and give a server's connections an IdleTimeout. " +
			"Where the number is what the load needs, raise the limit: LimitNOFILE= of systemd, ulimit -n.", closeCode},
	{"ENFILE", nil, "The machine has no descriptor left", "the machine has no descriptor left",
		"All its programs are refused, whichever of them has the files",
		"See who keeps them: /proc/sys/fs/file-nr has how many are open and allowed, and `ls /proc/PID/fd | wc -l` of each " +
			"process whose they are. Close them there, or raise fs.file-max.", ""},
	{"EAGAIN", startingCalls, "No thread or process could be started", "the process may not have more threads or processes",
		"A command is not run; a thread that the runtime itself needs ends the program",
		"See how many there are (`ls /proc/PID/task | wc -l`), and what keeps them: calls into C and into the kernel " +
			"that wait, each with a thread. Bound how many run at once. Else raise the limit: TasksMax= of systemd, " +
			"pids.max of the control group, ulimit -u.", "sem := make(chan struct{}, runtime.GOMAXPROCS(0))\nsem <- struct{}{}\ndefer func() { <-sem }()"},
	{"ENOMEM", []string{"mmap", "mprotect", "munmap", "brk", "clone", "clone3", "fork", "vfork", "execve", "socket", "accept", "accept4", "openat"},
		"The kernel has no memory left for the program", "there is no memory left for the process",
		"A command is not run, a file not opened; where it is the heap that does not get it, the program ends",
		"See what holds it: /proc/meminfo, the control group's memory.max, ulimit -v, and vm.max_map_count where many files are " +
			"mapped. With vm.overcommit_memory=2 a large process cannot start another. Bound the heap by GOMEMLIMIT, or give " +
			"the program more.", ""},
}

func checkExhausted(p *diagnosis.Pass) {
	found := false
	for i := range shortages {
		s := shortages[i].seen(p)
		if s.refused.Value > 0 || s.lines.Value > 0 {
			found = true
			p.Report(s.finding(p))
		}
	}
	if !found && p.Model.Syscalls != nil && p.Model.Syscalls.Window > 0 && p.Model.Syscalls.Exact() {
		p.Fine("limits of the kernel: no call was refused for want of descriptors, threads or memory")
	}
}

// A lack is a shortage and how often it was seen.
type lack struct {
	shortage
	calls   []string  // that were refused
	refused fact.Fact // of them; 0 where calls were not counted
	made    fact.Fact
	lines   fact.Fact // of the log that say it
	said    []*model.Shortage
}

func (s *shortage) seen(p *diagnosis.Pass) lack {
	l := lack{shortage: *s}
	if p.Model.Syscalls != nil {
		counts := map[string]int64{}
		for i := range p.Model.Syscalls.Calls {
			c := &p.Model.Syscalls.Calls[i]
			if n := c.Errors[s.errno]; n > 0 && (s.calls == nil || slices.Contains(s.calls, c.Name)) {
				counts[c.Name] = n
			}
		}
		if l.calls = statistics.Largest(counts); len(l.calls) > 0 {
			l.refused = p.Syscalls("calls that fail with "+s.errno, "errno:"+s.errno, l.calls...)
			l.made = p.Syscalls("these calls", "calls", l.calls...)
		}
	}
	var lines int64
	for i := range p.Model.Shortages {
		if r := &p.Model.Shortages[i]; r.Errno == s.errno {
			lines += r.Lines
			l.said = append(l.said, r)
		}
	}
	l.lines = fact.ShortageFact("lines of the log that say "+s.errno, lines, s.errno)
	return l
}

// exhausts reports whether a call's error is one of the shortages.
func exhausts(call, errno string) bool {
	return slices.ContainsFunc(shortages, func(s shortage) bool {
		return s.errno == errno && (s.calls == nil || slices.Contains(s.calls, call))
	})
}

func (l *lack) finding(p *diagnosis.Pass) diagnosis.Finding {
	f := diagnosis.Finding{
		Title:      l.title,
		Fails:      true,
		Confidence: diagnosis.High,
		Remedy:     diagnosis.Remedy{Text: l.text, Code: l.code},
		Prove: "The count decides, under the same load: in a recording of the changed program with the kernel's counts of system calls, " +
			"and in its log, no call is refused.",
	}
	const note = "what the program would do with enough of them is not known"
	if l.refused.Value > 0 {
		share := fact.Quotient.Of("part of these calls that fails", fact.Ratio, l.refused, l.made)
		f.Evidence = append(f.Evidence, l.refused, l.made)
		how, _ := cpu.CallCountMethod(p)
		f.Reasons = append(f.Reasons, "the kernel reports errors; "+how)
		f.Cost, f.Bound = diagnosis.CostOf(l.refused, share.Value), diagnosis.NoLimit(share, diagnosis.Throughput, share.Value, note)
		f.RuledOut = append(f.RuledOut, "other errors of the same calls: "+l.errno+" alone is counted")
		f.Say("%s of %s calls of %s failed with %s: %s. %s.", l.refused, l.made, fact.Name(joinWords(l.calls)), fact.Name(l.errno),
			fact.Name(l.lacks), fact.Name(l.meaning()))
		l.places(p, &f)
	} else {
		f.Cost = diagnosis.CostOf(l.lines, 0)
		f.Bound = diagnosis.NoLimit(fact.Figure("part of the calls that fails", 0, fact.Ratio, "a log does not say how many succeed"), diagnosis.Throughput, 0, note)
		if heap := l.heap(); heap.Value > 0 {
			f.Evidence = append(f.Evidence, heap)
			f.Remedy.Text = "Take heap profiles some minutes apart: what grows holds it. Then: " + strings.ToLower(l.text[:1]) + l.text[1:]
			f.Say("The log says %s that %s: the heap had %s by then. That ended the program.", fact.Name(times(l.lines)), fact.Name(l.lacks), heap)
		} else {
			f.Say("The log says %s that %s, for %s. %s.", fact.Name(times(l.lines)), fact.Name(l.lacks),
				fact.Name(l.refusedRequest()), fact.Name(l.meaning()))
		}
	}
	if l.lines.Value > 0 {
		f.Evidence = append(f.Evidence, l.lines)
		f.Reasons = append(f.Reasons, `the log says: "`+l.said[0].Example+`"`)
		f.RuledOut = append(f.RuledOut, "the words in another sentence: they stand behind the call that failed, and end what is said")
		if l.said[0].Over > 0 {
			f.Evidence = append(f.Evidence, fact.ShortageTime("time from the first such line to the last", l.said[0]))
		}
	}
	if l.errno == "EAGAIN" {
		f.RuledOut = append(f.RuledOut, "reads and writes that would have to wait: they say the same, and are answers")
	}
	return f
}

// heap returns how much the heap had got when it got no more, 0 where the log does not say.
func (l *lack) heap() fact.Fact {
	var most int64
	for _, r := range l.said {
		most = max(most, r.HeapBytes)
	}
	return fact.Figure("memory that the heap had", float64(most), fact.Bytes, "the runtime's own words in the log")
}

// meaning says what follows for those who use the program.
func (l *lack) meaning() string {
	accepts := func(r *model.Shortage) bool { return r.Call == "accept" }
	if slices.Contains(l.calls, "accept4") || slices.Contains(l.calls, "accept") || slices.ContainsFunc(l.said, accepts) {
		return "Clients wait in the kernel's queue until the next attempt, or give up"
	}
	return l.means
}

// times says how often.
func times(n fact.Fact) string {
	if n.Value == 1 {
		return "once"
	}
	return fact.Sentence("%s times", n)
}

// refusedRequest names what the log refused.
func (l *lack) refusedRequest() string {
	var words []string
	for _, r := range l.said {
		if w := model.ShortCalls[r.Call]; w != "" && !slices.Contains(words, w) && len(words) < 3 {
			words = append(words, w)
		}
	}
	return joinWords(words)
}

// joinWords joins words as a sentence has them.
func joinWords(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// places adds the lines that make the refused calls, as far as samples or the trace have them.
func (l *lack) places(p *diagnosis.Pass, f *diagnosis.Finding) {
	if f.Where = cpu.KernelSites(p, cpu.MatchCalls(l.calls...)); len(f.Where) > 0 || !slices.Contains([]string{"EMFILE", "ENFILE"}, l.errno) {
		return
	}
	if places, opened, stacks := opener(p); opened.Value > 0 {
		f.Where, f.Stacks = code.Places(places...), stacks
		f.Evidence = append(f.Evidence, opened)
	}
}
