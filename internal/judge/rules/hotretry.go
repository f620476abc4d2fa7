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

//go:embed hotretry.md
var hotretryPage string

var hotretry = &diagnosis.Rule{
	Name:     "hotretry",
	Title:    "Failing calls are retried without a pause",
	Doc:      hotretryPage,
	Needs:    []model.Source{model.SyscallLog},
	Instead:  []model.Source{model.Trace},
	Explains: []string{"syscallbound", "connectionchurn", "reopen", "allocchurn"}, // only where it takes most of the CPU
	Check:    checkHotretry,
}

const (
	// retryRate is how often a second one call must fail with one error. A
	// client without backoff made 12,000 to 37,000 attempts a second at a port
	// where nobody listened, on a machine that it shared, and a search for a file
	// that is not there 250,000; with a backoff of 10 ms they are 100.
	retryRate = 1000
	// retrySuccess is the part of the calls that may succeed: a search along a
	// path, or a read that finds nothing until something comes, succeeds in the end.
	retrySuccess = 0.01
	// retryMost is the part of the CPU from which other findings about the same
	// calls are its symptoms.
	retryMost = 0.5
)

// expectedErrors are errors that are answers: of a lock in the kernel, of a
// connection that goes on being made, of a signal, and where what is wanted is so already, as when a deferred
// os.Remove finds that its file was renamed.
var expectedErrors = map[string][]string{
	"futex": nil, // whatever it says
	"*":     {"EINPROGRESS", "EALREADY", "EINTR", "ERESTARTSYS"},
	"wait4": {"ECHILD"}, "waitid": {"ECHILD"},
	"unlink": {"ENOENT"}, "unlinkat": {"ENOENT"}, "rmdir": {"ENOENT"}, "mkdir": {"EEXIST"}, "mkdirat": {"EEXIST"},
	"epoll_ctl": {"EPERM"}, // os.Open asks whether a file can be waited for, and one on a disk cannot
}

// A retry is a call that hardly ever succeeds.
type retry struct {
	call, errno string
	rate        fact.Fact // of that error, a second
	success     fact.Fact // share of the calls
	concluded   string    // how the error was, where it is not the kernel's word
}

func checkHotretry(p *diagnosis.Pass) {
	if p.Model.Syscalls != nil && p.Model.Syscalls.Window > 0 && failsAgain(p) {
		return
	}
	again := againAtOnce(p)
	switch {
	case again != nil:
		p.Report(again.finding(p))
	case p.Model.Syscalls == nil:
		p.Unchecked("whether system calls fail and are tried again", "they were not counted", p.HowToGet(model.SyscallLog))
	}
}

// failsAgain reports the system calls that hardly ever succeed, and whether there are any.
func failsAgain(p *diagnosis.Pass) (found bool) {
	worst := fact.Fact{}
	short := false // for want of something: a cause at any rate, and no call that is fine
	for _, c := range p.Model.Syscalls.Calls {
		for errno, n := range c.Errors {
			short = short || n > 0 && exhausts(c.Name, errno)
		}
		r, ok := failing(p, &c)
		if c.Name == "connect" && !ok {
			r, ok = findRefused(p, &c)
		}
		switch {
		case !ok:
			continue
		case r.rate.Value >= retryRate && r.success.Value < retrySuccess:
			found = true
			p.Report(retryFinding(p, &r))
			continue
		case r.isSearch():
			if f, costly := searchFinding(p, &r); costly {
				found = true
				p.Report(f)
				continue
			}
		}
		worst = worst.Larger(r.rate)
	}
	switch {
	case found, short:
	case worst.Value == 0:
		p.Fine("failing system calls: none has an error that is no answer")
	default:
		p.Fine(fact.Sentence("failing system calls: none is tried again without success %s times a second; "+
			"the most frequent error comes at a rate of %s", fact.Name(fact.Count.Format(retryRate)), worst.Number()))
	}
	return found
}

// failing returns the error that a call has most often and that is no answer.
func failing(p *diagnosis.Pass, c *model.Syscall) (r retry, ok bool) {
	if expected, listed := expectedErrors[c.Name]; listed && expected == nil {
		return r, false
	}
	answers := append(slices.Clone(expectedErrors[c.Name]), expectedErrors["*"]...)
	if asksOnce(p.Model.Syscalls, c) {
		answers = append(answers, "EAGAIN")
	}
	for _, errno := range statistics.Largest(c.Errors) {
		if !slices.Contains(answers, errno) {
			fails := fact.Quotient.Of(c.Name+": share that fails", fact.Ratio,
				p.Syscalls("calls that fail", "errors", c.Name), p.Syscalls("calls", "calls", c.Name))
			return retry{
				call: c.Name, errno: errno, rate: cpu.CallRate(p, c.Name+" with "+errno, "errno:"+errno, c.Name),
				success: fact.Rest.Of(c.Name+": share that succeeds", fact.Ratio, fails),
			}, true
		}
	}
	return r, false
}

// isSearch reports whether calls that fail are a search: the rest of them finds something.
func (r *retry) isSearch() bool {
	return r.rate.Value >= retryRate && r.success.Value >= retrySuccess && r.success.Value <= 1-searchFails &&
		slices.Contains(lookups, r.call) && slices.Contains(absences, r.errno)
}

// receives are the calls that take what came.
var receives = []string{"read", "readv", "recvfrom", "recvmsg", "recvmmsg"}

// asksOnce reports whether a call finds nothing no more often than others of the process find
// something: pools ask a connection whether its peer has closed it before they hand it out, and that
// nothing came is what they hope for. Of a Redis client 33,000 of these stood beside 70,000 reads;
// who asks again and again has hardly any.
func asksOnce(all *model.Syscalls, c *model.Syscall) bool {
	found := int64(0)
	for _, name := range receives {
		if call := all.Call(name); name != c.Name {
			found += call.Count
			for _, n := range call.Errors {
				found -= n
			}
		}
	}
	return slices.Contains(receives, c.Name) && c.Errors["EAGAIN"] <= found
}

// findRefused looks at connections that are made without waiting: connect then only
// says that it has begun, and whether it came to anything shows in what follows.
// Go's net asks each one that is there for its peer, and nothing else does.
func findRefused(p *diagnosis.Pass, c *model.Syscall) (r retry, ok bool) {
	begun := p.Syscalls("connections begun", "errno:EINPROGRESS", c.Name)
	r = retry{
		call: c.Name, errno: "ECONNREFUSED",
		rate: cpu.CallRate(p, "connections begun", "errno:EINPROGRESS", c.Name),
		success: withPeer.Of(c.Name+": share that succeeds", fact.Ratio,
			p.Syscalls("calls", "calls", c.Name), begun, p.Syscalls("connections that have a peer", "good", "getpeername")),
		concluded: "of connections that are made without waiting the kernel's answer is not seen: that they are " +
			"refused " +
			"is concluded from none of them having a peer, and from how fast they end",
	}
	return r, begun.Value > 0 && r.success.Value < retrySuccess
}

// withPeer is the share of the calls that were made at once, or begun and then
// had a peer.
var withPeer = &fact.Formula{Name: "with peer", Words: "({0} − {1} + {2}) ÷ {0}",
	Value: func(x []float64) float64 { return statistics.Quotient(x[0]-x[1]+x[2], x[0]) }}

// attempts say what a program wants that makes the call.
var attempts = map[string]string{
	"connect": "connecting", "openat": "opening a file", "open": "opening a file", "accept4": "accepting a connection",
	"sendto": "sending", "sendmsg": "sending", "write": "writing", "read": "reading", "recvfrom": "receiving", "recvmsg": "receiving",
	"newfstatat": "looking at a file", "statx": "looking at a file", "access": "looking for a file", "faccessat": "looking for a file",
	"bind": "taking an address", "kill": "sending a signal", "unlinkat": "removing a file", "mkdirat": "making a directory",
}

func retryFinding(p *diagnosis.Pass, r *retry) diagnosis.Finding {
	places, stacks := r.places(p)
	how, confidence := cpu.CallCountMethod(p)
	tried := attempts[r.call]
	if tried == "" {
		tried = r.call
	}
	f := diagnosis.Finding{
		Where:      places,
		Evidence:   []fact.Fact{r.rate, r.success},
		Confidence: confidence,
		Reasons:    []string{"the kernel reports errors; " + how},
		RuledOut: []string{
			"errors that are answers: a connection that goes on being made, an interrupted call, the kernel's locks",
			"reads that find nothing until something comes, and searches along a path: some of these succeed, " +
				"here " + r.succeeding(),
		},
		Stacks: stacks,
		Groups: code.GroupsOfStacks(p.Model, stacks),
		Remedy: backOff(retryAdvice(r.errno)),
		Experiment: codeChange(diagnosis.CPUPerOp, "", "The number of failed calls is a count: in `gowhy ledger --by "+
			"syscall after.gowhy` "+
			"of a new recording it must be a few a second. With what was missing back, it must still connect, open "+
			"or send within the longest wait."),
	}
	f.Say("%s fails %s times a second with %s, and is tried again at once; %s.",
		fact.Name(sentence(tried)), r.rate.Number(), fact.Name(r.errno), fact.Name(r.succeeding()))
	if r.concluded != "" {
		f.Reasons = append(f.Reasons, r.concluded)
	}
	f.Cost, f.Bound = r.price(p, places)
	if f.Cost.Share < retryMost {
		f.Explains = []string{}
	}
	return f
}

func (r *retry) succeeding() string {
	if r.success.Value == 0 {
		return "none of the calls succeeds"
	}
	return "fewer than one call in a hundred succeeds"
}

func retryAdvice(errno string) string {
	switch errno {
	case "ECONNREFUSED":
		return "Nobody listens at that address: is it right, and does what should listen run?"
	case "ENOENT":
		return "The file is not there: remember that for a while, or wait for it with inotify."
	case "EMFILE", "ENFILE":
		return "The process has no descriptor left: find what does not close its own, or raise the limit; trying " +
			"again frees none."
	case "EAGAIN":
		return "There is nothing to be had yet: leave the waiting to the runtime's poller (os.NewFile and net take " +
			"non-blocking descriptors) in the place of asking again."
	case "ENOBUFS", "ENOMEM":
		return "The kernel has no room for it: send more slowly."
	}
	return ""
}

// places returns the user's lines that make the call, by the kernel's samples or by
// the names of functions in the CPU profile.
func (r *retry) places(p *diagnosis.Pass) (places []diagnosis.Place, stacks []model.Stack) {
	if places = cpu.KernelSites(p, cpu.MatchCalls(r.call)); len(places) > 0 {
		return places, nil
	}
	s, ok := cpu.UseOf(p)
	if !ok {
		return nil, nil
	}
	found := s.Functions(p.Model, r.calls)
	return cpu.Places(found, cpu.MostSites), cpu.Stacks(found, cpu.MostSites)
}

// calls matches stacks with the call's wrapper on them.
func (r *retry) calls(frames []model.Frame) bool {
	return code.ContainsFunc(frames, func(f string) bool {
		name := strings.ToLower(f[strings.LastIndexByte(f, '.')+1:])
		return code.StartsWith(f, []string{"syscall.", "golang.org/x/sys/unix.", "internal/syscall/unix."}) &&
			(name == r.call || name == strings.TrimRight(strings.TrimSuffix(r.call, "at"), "0123456789"))
	})
}

// price measures what the attempts take: all samples with the trying function on them.
func (r *retry) price(p *diagnosis.Pass, places []diagnosis.Place) (diagnosis.Cost, diagnosis.Bound) {
	const name = "CPU in trying"
	if s, ok := cpu.UseOf(p); ok && len(places) > 0 {
		tries := cpu.MatchFunctions(places...)
		return s.Cost(s.ShareIn(name, tries)), s.LimitWithout("trying", tries, "the function that tries, with all that it calls")
	}
	cpu := cpu.CallUseOf(p, name, cpu.MatchCalls(r.call))
	if cpu.Share.Value > 0 {
		return cpu.Cost(), diagnosis.Direction(cpu.Cores, diagnosis.CPUGoal, cpu.Share.Value, "inside the call alone: what leads to it is not sampled")
	}
	return diagnosis.CostOf(r.rate.Named("failed calls"), 0),
		diagnosis.Direction(cpu.Cores, diagnosis.CPUGoal, 0, "not measured: no samples of CPU time were recorded")
}

// backOff returns the remedy for what is tried again at once, with what helps against one error.
func backOff(beside string) diagnosis.Remedy {
	return diagnosis.Remedy{
		Text: strings.TrimSpace("Wait between attempts, twice as long after each failure up to a limit, with some of it " +
			"random so that many clients do not come back together; give up after a number of attempts and let the " +
			"caller know. Where many goroutines try the same, let one try for all (a circuit breaker). " + beside),
		Code: "for wait := 10 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {\n\tif conn, err = dial(ctx); err == nil {\n\t\tbreak\n\t}\n\tselect {\n\tcase <-ctx.Done():\n\t\treturn ctx.Err()\n\tcase <-time.After(wait/2 + rand.N(wait/2)):\n\t}\n}",
	}
}
