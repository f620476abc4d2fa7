// Package record records what a program does: its traces, profiles, metrics and
// logs, and what /proc and the kernel say of it, all of it at once.
//
// It hides where net/http/pprof, gowhy's agent or a test binary's flags have to be used and
// in which order, how a process, its ports and its children are found, and how what was
// refused is told from what was not. Its function is [Run]; what went wrong for a reason that
// the user can change is a [problem.Error].
//
// record never judges, never prints, and connects to no host but those the user names and the
// ports of the program that it starts.
package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// A Target is what to record. Give one of its fields; PID may go with URL, for
// a program whose process cannot be told from its port.
type Target struct {
	// URL is a server that has net/http/pprof's handlers or gowhy's agent:
	// http://host:port with or without the path at which they are.
	URL string
	// PID is a running process. Its ports are searched for handlers.
	PID int
	// AgentSocket, if set, is the one that PID was started with: it answers there.
	AgentSocket *AgentSocket
	// Command is a program to start. A Go test binary is given the flags that
	// make it record itself; one that has the agent is recorded from before its
	// main function; of any other the ports are searched for handlers.
	Command []string
}

// Options say how to record.
type Options struct {
	Out string // the recording to write
	// Duration is how long is recorded. 0 means 5 s for a program that is
	// already running, and to its end for a command. A test binary is always
	// recorded from its start to its end.
	Duration time.Duration
	// Startup is how long a started program that has net/http/pprof may take to
	// open its port; 0 means 10 s.
	Startup time.Duration
	// Only and Without choose among [SourceNames]; empty means all.
	Only, Without []string
	// Load is the output of a load generator, a file or an http URL, that is
	// taken into the recording at its end.
	Load string
	// TraceLimit is the size in bytes at which the execution trace stops; 0
	// means [DefaultTraceLimit].
	TraceLimit int64
	// OutputLogs keeps the command's output in the recording.
	OutputLogs bool
	// NoGodebug leaves a started program's GODEBUG and its standard error as
	// they are, and so goes without gctrace and schedtrace.
	NoGodebug bool
	// UntilMemory, if it is not zero, waits until the program's memory reaches a mark, and keeps
	// the evidence of then; see [Mark]. Duration is the longest wait, 0 for as long as it runs.
	UntilMemory Mark
	// Kept, if set, is called when evidence of such a moment is on the disk, at Out.
	Kept func(recording.Event)
	// Piece is set when this is one of many recordings of the same program: what the program
	// uses unrecorded is not measured first, and its ports are not searched. Target.URL names
	// what answers.
	Piece bool
	// Outside leaves the ports of a process alone: it is read from outside only, at once.
	Outside bool
	// Memory, if set, is where its goroutines are read, instead of its endpoint, and without
	// an endpoint what its runtime counts and samples.
	Memory Memory
	// Procs is the program's GOMAXPROCS, where somebody knows it already.
	Procs int
	// Holders is whether who holds the heap is read, too: before the recording and behind it, of a command in
	// it, with UntilMemory when evidence was kept.
	Holders HolderLooks
	// HolderBudget is how many bytes of memory that may take where it was asked for; 0 means [heap.Budget].
	HolderBudget uint64
	// Looks, if set, are at who held the heap shortly before: they are kept in the recording.
	Looks *artifact.HeapLooks
	// Redact leaves out command line, environment, log lines and labels.
	Redact bool
	// Foreground is set when an interrupt that ends the recording also goes to
	// the command, from the terminal that both have.
	Foreground bool
	// Env is added to the command's environment, as NAME=VALUE, and Dir is where
	// it runs, the current directory when empty; a relative path of the program
	// is from there.
	Env []string
	Dir string
	// Fixed goes into the manifest: how the command runs with its problem fixed.
	Fixed []string
	// Began, if set, is called with the number of the command's process once that is recorded.
	Began func(pid int)
	// Started is called once, when everything that will be recorded is being
	// recorded. It may be nil.
	Started func()
	// Stdin, Stdout and Stderr are the command's.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Log is called with what happens, in words for the user. It may be nil.
	Log func(string)
	// Progress is called now and then with how much time is left, negative when that
	// is not known, and what was seen so far. It may be nil.
	Progress func(left time.Duration, seen Seen)
	// unwatched is how long the target is measured before it is recorded.
	unwatched time.Duration
}

// DefaultTraceLimit is some ten to hundred seconds of a busy program.
const DefaultTraceLimit = 512 << 20

const defaultDuration = 5 * time.Second

// Result says what came of a recording.
type Result struct {
	// Written is set when there is a recording at Out.
	Written bool
	// Test is set when the command was a test binary.
	Test bool
	// ExitCode is the command's: 128 and the signal's number when one ended
	// it, 0 when the command was ended because the recording was over.
	ExitCode int
	// Duration is what was recorded.
	Duration time.Duration
	// Members are the pieces of the recording with their sizes.
	Members []recording.Member
	// Refused is what was asked for and not had.
	Refused []artifact.Refusal
	// Cost is what recording took.
	Cost recording.Cost
	// Event is the mark of memory that was reached, and Ended how the program ended while that
	// was waited for; nil without.
	Event *recording.Event
	Ended *recording.Ending
}

// SourceNames returns the names of all sources that can be recorded.
func SourceNames() []string { return artifact.SourceNames() }

// Run records a target. When ctx is cancelled, the recording ends and what
// there is of it is kept, without an error. When nothing could be recorded,
// the error is a [problem.Error], and the result still tells the command's exit code.
func Run(ctx context.Context, t Target, o Options) (*Result, error) {
	if err := check(t, &o); err != nil {
		return nil, err
	}
	var at *endpoint
	switch {
	case t.URL != "":
		var err error
		if at, err = find(ctx, t.URL); err != nil {
			return nil, err
		}
	case t.AgentSocket != nil:
		at, _ = t.AgentSocket.endpoint(ctx) // a program without the agent has ports, perhaps
	}
	w, err := recording.Create(o.Out)
	if err != nil {
		return nil, problem.New(problem.Failure, "choose another file with -o", "cannot write %q: %w", o.Out, err)
	}
	r := &recorder{o: o, w: w, box: newBlackBox(o.UntilMemory), clock: newWall(), usage: selfCPU()}
	r.man = recording.Manifest{Start: r.clock.now(), Command: t.Command, Fixed: o.Fixed, Clock: []recording.Anchor{anchor()}, Asked: r.wantedSources()}
	if len(t.Command) > 0 {
		r.man.Dir, _ = os.Getwd() // without it the command is run where the user is
		if o.Dir != "" {
			r.man.Dir, _ = filepath.Abs(o.Dir)
		}
	}
	if !o.Redact { // else somebody could finish it with all that was to be left out
		if err := w.Begin(r.man); err != nil {
			return nil, errors.Join(problem.New(problem.Failure, "choose another file with -o", "cannot write %q: %w", o.Out, err), w.Discard())
		}
	}
	stop := r.report()
	var res Result
	switch {
	case r.box != nil:
		res.ExitCode, err = r.untilMemory(ctx, t, at)
	case len(t.Command) == 0:
		err = r.attach(ctx, t, at)
	case testBinary(t.Command[0]):
		res.Test = true
		res.ExitCode, err = r.test(ctx, t.Command)
	default:
		res.ExitCode, err = r.command(ctx, t.Command)
	}
	stop()
	return &res, r.finish(&res, err)
}

// check refuses what cannot be recorded before anything is started.
func check(t Target, o *Options) error {
	o.Startup, o.TraceLimit = cmp.Or(o.Startup, 10*time.Second), cmp.Or(o.TraceLimit, DefaultTraceLimit)
	o.unwatched = cmp.Or(o.unwatched, beforeWindow)
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Started == nil {
		o.Started = func() {}
	}
	if len(t.Command) > 0 == (t.URL != "" || t.PID != 0) {
		return errors.New("record: a target is either a running program or a command")
	}
	if o.UntilMemory != (Mark{}) && len(o.Only) == 0 {
		o.Only = MarkSources
	}
	for _, name := range slices.Concat(o.Only, o.Without) {
		if !slices.Contains(SourceNames(), name) {
			return problem.New(problem.Misuse, "one of "+strings.Join(SourceNames(), ", "), "%q is no source", name)
		}
	}
	switch {
	case t.URL != "":
		return checkURL(t.URL)
	case t.PID != 0:
		return checkPID(t.PID)
	}
	return checkCommand(t.Command, o.Dir)
}

func checkPID(pid int) error {
	if pid <= 0 || !alive(pid) {
		return problem.New(problem.Absence, "gowhy list", "there is no process %d", pid)
	}
	return nil
}

// A recorder is the state of one recording.
type recorder struct {
	o     Options
	w     *recording.Writer
	clock wall
	usage time.Duration // CPU time of this process at the beginning
	seen  *observer     // of the process, when there is one on this machine
	box   *blackBox     // when a mark of memory is waited for
	// target is what the process used before it was recorded.
	target struct{ before, beforeWall time.Duration }

	mu      sync.Mutex
	man     recording.Manifest
	refused []artifact.Refusal
	until   time.Time // the end of the window; zero when it is not known
}

// wants reports whether a source was asked for.
func (r *recorder) wants(source string) bool {
	return (len(r.o.Only) == 0 || slices.Contains(r.o.Only, source)) && !slices.Contains(r.o.Without, source)
}

func (r *recorder) wantedSources() []string {
	var names []string
	for _, s := range SourceNames() {
		if r.wants(s) {
			names = append(names, s)
		}
	}
	return names
}

// refuse notes that a member could not be had, or is not whole.
func (r *recorder) refuse(member string, why artifact.Refusal) {
	why.Member = member
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused = append(r.refused, why)
}

func (r *recorder) refusedMember(member string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(r.refused, func(f artifact.Refusal) bool { return f.Member == member })
}

// has reports whether a member was written.
func (r *recorder) has(member string) bool { return r.size(member) > 0 }

func (r *recorder) size(member string) int64 {
	info, err := os.Stat(r.w.Path(member))
	if err != nil {
		return 0
	}
	return info.Size()
}

// keep writes a profile; data, if not nil, is its packed form.
func (r *recorder) keep(member string, p *profile.Profile, data []byte) {
	err := func() error {
		f, err := os.Create(r.w.Path(member))
		if err != nil {
			return err
		}
		if data != nil {
			_, err = f.Write(data)
		} else {
			err = p.Write(f)
		}
		return errors.Join(err, f.Close())
	}()
	if err != nil {
		os.Remove(r.w.Path(member))
		r.refuse(member, artifact.Refusal{Why: err.Error()})
	}
}

// attach records a program that somebody else started.
func (r *recorder) attach(ctx context.Context, t Target, at *endpoint) error {
	d := cmp.Or(r.o.Duration, defaultDuration)
	pid := t.PID
	if at == nil && !r.o.Piece && !r.o.Outside {
		if at = r.findIn(ctx, pid); at != nil {
			pid = r.listener(ctx, pid, at)
		}
	} else if pid == 0 {
		pid = r.processBehind(ctx, at)
	}
	r.refuseOfCommands()
	if at != nil {
		r.man.URL = at.redactedAddress()
		r.man.Command = at.cmdline(ctx)
	}
	r.describe(pid)
	r.man.Procs = r.o.Procs
	where := fmt.Sprintf("process %d", pid)
	if at != nil {
		where = at.redactedAddress()
	}
	if !r.o.Piece && !r.o.Outside {
		r.before(ctx, pid)
	}
	held := r.holders()
	held.look(ctx, pid)
	r.keepLooks()
	r.o.Log(fmt.Sprintf("recording %v of %s", d, where))
	var f *fetch
	if at != nil {
		f = &fetch{recorder: r, at: at}
		f.begin(ctx)
	}
	r.man.Start = r.clock.now()
	if pid != 0 {
		r.seen = r.observe(pid, false)
	}
	stop, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.seen.whenGone(cancel)
	if f == nil {
		r.o.Started() // there are no requests to wait for
	}
	counted := r.count(pid, f != nil)
	var course *heapCourse
	if f != nil { // else what is counted has it
		course = r.followHeapOf(pid)
	}
	r.window(stop, f, time.Now().Add(d), r.o.Started)
	course.end(r)
	counted.end()
	f.conclude(r.seen.isGone())
	held.conclude(pid, r.seen.isGone())
	return nil
}

// window records until a moment, or until stop when it is zero.
func (r *recorder) window(stop context.Context, f *fetch, until time.Time, started func()) {
	r.mu.Lock()
	r.until = until
	r.mu.Unlock()
	fetched := make(chan struct{})
	go func() {
		defer close(fetched)
		if f != nil {
			f.during(stop, until, started)
		}
	}()
	if r.seen == nil { // then the answers are all there is to wait for
		<-fetched
	} else {
		sleepUntil(stop, until)
	}
	r.man.End = r.clock.now()
	r.seen.end()
	<-fetched
}

// sleepUntil waits for a moment, zero for ever, or until ctx is done.
func sleepUntil(ctx context.Context, t time.Time) {
	if t.IsZero() {
		<-ctx.Done()
		return
	}
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

var (
	errInterrupted = errors.New("the recording was ended early")
	errProgramGone = errors.New("the program ended first")
)

// errEnded returns why a recording stopped before its time.
func errEnded(stop context.Context) error {
	if programEnded(stop) {
		return errProgramGone
	}
	return errInterrupted
}

// report tells the progress until the returned function is called.
func (r *recorder) report() (stop func()) {
	if r.o.Progress == nil {
		return func() {}
	}
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		w := &watcher{r: r, cores: -1, cycles: -1}
		for {
			select {
			case <-tick.C:
				r.mu.Lock()
				left := time.Duration(-1)
				if !r.until.IsZero() {
					left = max(0, time.Until(r.until))
				}
				r.mu.Unlock()
				r.o.Progress(left, w.look())
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// bytes returns how much was recorded so far.
func (r *recorder) bytes() (n int64) {
	for _, m := range artifact.Members {
		n += r.size(m.Name)
	}
	return n
}

// finish packs what there is.
func (r *recorder) finish(res *Result, err error) error {
	if r.man.End.IsZero() {
		r.man.End = r.clock.now()
	}
	r.takeLoad()
	if r.o.Redact {
		r.redact()
	}
	r.man.Clock = append(r.man.Clock, anchor())
	res.Event, res.Ended = r.man.Event, r.man.Ended
	for _, m := range artifact.Members {
		if n := r.size(m.Name); n > 0 {
			res.Members = append(res.Members, recording.Member{Name: m.Name, Size: n})
		}
	}
	res.Duration = r.man.End.Sub(r.man.Start)
	res.Refused = r.refusals()
	for _, f := range res.Refused {
		r.man.Refused = append(r.man.Refused, recording.Refusal{Member: f.Member, Why: f.Why})
	}
	if !evidenceAmong(res.Members) {
		discard := r.w.Discard()
		if err == nil {
			err = r.nothing(res.Refused)
		}
		return errors.Join(err, discard)
	}
	r.cost(&res.Cost)
	r.man.Cost = &res.Cost
	finish := r.w.Finish
	if r.box != nil { // what it replaces is on the disk
		finish = func(m recording.Manifest) error { return errors.Join(r.w.Keep(m), r.w.Discard()) }
	}
	if ferr := finish(r.man); ferr != nil {
		return errors.Join(err, &problem.Error{What: "cannot write the recording: " + ferr.Error(), Hint: "gowhy " + shell.Word(filepath.Dir(r.w.Path(recording.TraceMember))) + "   # what there is of it; or record to another disk with -o", Err: ferr})
	}
	res.Written = true
	return err
}

// refusals are in the order of members, each once.
func (r *recorder) refusals() []artifact.Refusal {
	r.mu.Lock()
	defer r.mu.Unlock()
	place := func(f artifact.Refusal) int {
		return slices.IndexFunc(artifact.Members, func(m artifact.Member) bool { return m.Name == f.Member })
	}
	slices.SortStableFunc(r.refused, func(a, b artifact.Refusal) int { return cmp.Compare(place(a), place(b)) })
	return slices.CompactFunc(r.refused, func(a, b artifact.Refusal) bool { return a.Member == b.Member && a.Why == b.Why })
}

// evidenceAmong reports whether members say anything of a run.
func evidenceAmong(members []recording.Member) bool {
	return slices.ContainsFunc(members, func(m recording.Member) bool {
		switch m.Name {
		case recording.BuildMember, recording.LoadMember, recording.StdoutMember, recording.StderrMember:
			return false
		}
		return true
	})
}

func (r *recorder) nothing(refused []artifact.Refusal) error {
	p := problem.New(problem.Absence, pprofHint, "nothing was recorded")
	for i, f := range artifact.GroupRefusals(refused, nil) {
		p.What += "; " + f.Why
		if i == 0 && f.How != "" {
			p.Hint = f.How
		}
	}
	return p
}

const pprofHint = `import _ "net/http/pprof" in the program and serve HTTP, or record a test: go test -exec 'gowhy record --' -bench .`

// cost measures what the recording took of the machine.
func (r *recorder) cost(c *recording.Cost) {
	*c = r.seen.cost()
	c.RecorderCPU = (selfCPU() - r.usage).Seconds()
}

// takeLoad copies the result of a load generator.
func (r *recorder) takeLoad() {
	if r.o.Load == "" {
		return
	}
	if err := r.loadResult(r.o.Load); err != nil {
		r.refuse(recording.LoadMember, artifact.Refusal{Why: fmt.Sprintf("%q: %v", withoutSecretsOrPath(r.o.Load), cause(err)), How: "give it beside the recording: gowhy " + shell.Word(r.o.Out) + " LOAD-FILE"})
	}
}

const maxLoadFile = 1 << 30

func (r *recorder) loadResult(from string) error {
	if strings.HasPrefix(from, "http://") || strings.HasPrefix(from, "https://") {
		ctx, cancel := context.WithTimeout(context.Background(), snapshotLimit)
		defer cancel()
		e := &endpoint{client: remoteClient()}
		resp, err := e.request(ctx, from)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		_, err = r.fill(recording.LoadMember, resp.Body, maxLoadFile)
		return err
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := r.fill(recording.LoadMember, f, maxLoadFile)
	if err == nil && n == 0 {
		err = errors.New("it is empty")
	}
	return err
}

func withoutSecretsOrPath(s string) string {
	if strings.Contains(s, "://") {
		return withoutSecrets(s)
	}
	return s
}

// A wall is the clock that everything of a recording is stamped with: the wall
// time of its start, and from there the monotonic clock, which never steps.
type wall struct{ start time.Time }

func newWall() wall { return wall{time.Now()} }

func (w wall) now() time.Time { return w.start.Add(time.Since(w.start)).Round(0) }

func anchor() recording.Anchor {
	return recording.Anchor{Wall: time.Now().Round(0), Monotonic: monotonic()}
}
