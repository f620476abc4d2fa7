// Package hostagent collects the profiles of all Go programs of a host, and sends them to
// a server with Pyroscope's push protocol.
//
// It hides how programs are found and told apart while they come, go and change; how each
// is sampled from the kernel's side for ten seconds of a minute, and asked for its other
// profiles where it serves net/http/pprof; which are recorded whole for some seconds, as
// the server asks; how little of the host that may take; and what happens while the server
// is away. Its types are [Options] and [Agent].
//
// # What it costs
//
// The budget is a share of the whole host. Against it stand this process's own CPU time
// and what the kernel's timer costs others: an interrupt of some 15 µs on each CPU for
// each sample, also for those of other programs. While the last minute was near or beyond
// the budget nothing is begun, and what is left out is counted.
//
// Whole recordings are made one at a time. What they may take of the host, of the program
// and of a day's bytes is kept in a ledger, with what past ones took as the estimate of the
// next: one that is beyond it is not made, and is counted where the server wanted it.
//
// It stops no program and writes to none. It dials no address but those at which a program
// of this host listens, and the server's.
package hostagent

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/watch/budget"
)

// Options say what to collect, and where to send it. Only Server must be set.
type Options struct {
	Server string // URL
	Tenant string // sent as X-Scope-OrgID
	Token  string // sent as a bearer token
	// Roots are the certificates that the server's must be signed by; nil is the system's.
	Roots *x509.CertPool
	// Budget is the share of the whole host that all of it may take; 0 is
	// [DefaultBudget].
	Budget float64
	// Window is how often each program is sampled, and Sample for how long, Hz times a
	// second. 0 is a minute, 10 s and 49: not a round number, for a program that does
	// something 50 times a second would always be met at the same.
	Window, Sample time.Duration
	Hz             int
	// NoScrape leaves programs alone that serve net/http/pprof.
	NoScrape bool
	// Spool is how many bytes wait for a server that is away; 0 is 32 MiB.
	Spool int64
	// NoRecordings makes no whole recordings for the server. Those take half of the Budget
	// at most, over an hour; RecordingShare of the CPU time of the program that is recorded,
	// 0 is 1%; and RecordingBytes in a day, 0 is 256 MiB.
	NoRecordings   bool
	RecordingShare float64
	RecordingBytes int64
	// RecordingText leaves in recordings what people wrote: command lines, environment, log
	// lines and labels, in which secrets may be.
	RecordingText bool
	// Moments is a directory whose recordings are uploaded; "" is none.
	Moments string
	Host    string // its name; "" is the system's
	Log     *slog.Logger
}

// DefaultBudget is half a percent of the host.
const DefaultBudget = 0.005

const (
	// meterWindow is over which time the budget is meant.
	meterWindow = time.Minute
	// scanEvery is how often programs are looked for. One that does not live that long
	// is never looked at.
	scanEvery = 15 * time.Second
	turnEvery = time.Second
	logEvery  = time.Minute
	// grace is how long what was collected may still be sent when the agent ends.
	grace = 500 * time.Millisecond
	// mostSessions is how many programs are sampled at once.
	mostSessions = 4
	// samplesShare is the part of the budget beyond which no sample is begun: the rest is
	// for scrapes, which samples would else leave nothing.
	samplesShare = 0.8
	// interrupt is what a sample costs a CPU, as measured on a virtual machine: see
	// package kernel.
	interrupt = 15 * time.Microsecond
)

// An Agent collects until its [Agent.Run] ends.
type Agent struct {
	o    Options
	cpus int
	now  func() time.Time
	host host
	// listening are the addresses of processes, and probe what answers there.
	listening func(pids ...int) map[int][]string
	probe     func(ctx context.Context, addrs []string, agent bool, asked map[string]bool) (url string)
	// sample takes a profile of a program's CPU time.
	sample func(ctx context.Context, pid int, d time.Duration, hz int) (*profile.Profile, error)

	meter *budget.Meter
	spool *spool
	send  *sender
	count counters

	programs *programs
	// recordables are the programs, as they were when the host was last looked at.
	recordables atomic.Pointer[[]*recordable]
	recorder    *recorder
	plan        plan
	work        sync.WaitGroup
	over        atomic.Bool // beyond the budget
	share       atomic.Int64
	elsewhere   atomic.Int64 // nanoseconds that sampling took of others
}

// New returns an agent, which [Agent.Run] starts. The error is [proc.ErrSystem] where nothing
// can be collected, or what is wrong with the options.
func New(o Options) (*Agent, error) {
	if runtime.GOOS != "linux" {
		return nil, proc.ErrSystem
	}
	o.Budget, o.Window, o.Sample = cmp.Or(o.Budget, DefaultBudget), cmp.Or(o.Window, time.Minute), cmp.Or(o.Sample, 10*time.Second)
	o.Hz, o.Spool = cmp.Or(o.Hz, 49), cmp.Or(o.Spool, 32<<20)
	o.RecordingShare, o.RecordingBytes = cmp.Or(o.RecordingShare, 0.01), cmp.Or(o.RecordingBytes, 256<<20)
	switch {
	case o.Budget < 0 || o.Budget > 1:
		return nil, errors.New("the budget is a share of the host, of 0 to 1")
	case o.RecordingShare < 0 || o.RecordingShare > 1 || o.RecordingBytes < 0:
		return nil, errors.New("recordings take a share of 0 to 1, and 0 bytes or more")
	case o.Sample < time.Second || o.Window < o.Sample:
		return nil, errors.New("a sample takes a second or more, and a window as long or longer")
	case o.Hz < 1 || o.Hz > 1000:
		return nil, errors.New("a rate is of 1 to 1000 samples a second")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Host == "" {
		name, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("the host has no name: %w", err)
		}
		o.Host = name
	}
	table, err := newSystem()
	if err != nil {
		return nil, err
	}
	a := &Agent{o: o, cpus: runtime.NumCPU(), now: time.Now, host: table, listening: proc.OwnListening, probe: record.Index, sample: sampleKernel}
	return a, a.ready()
}

// ready makes what an agent consists of.
func (a *Agent) ready() (err error) {
	a.meter = budget.NewMeter(meterWindow, a.now, func() time.Duration { return budget.OwnCPU() + time.Duration(a.elsewhere.Load()) })
	a.spool = newSpool(a.o.Spool, &a.count)
	a.programs = newPrograms(a.o.Host)
	a.plan = plan{window: a.o.Window, most: mostSessions}
	a.recorder = newRecorder(a)
	a.send, err = newSender(a.o, a.spool, &a.count)
	return err
}

// Run collects until the context ends. What it has then it sends, for half a second.
func (a *Agent) Run(ctx context.Context) {
	defer a.host.close()
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var sent sync.WaitGroup
	sent.Go(func() { a.send.run(ctx, sending) })
	if a.o.Moments != "" {
		a.work.Go(func() { a.watchMoments(ctx) })
	}
	if !a.o.NoRecordings {
		a.work.Go(func() { a.recorder.run(ctx) })
		a.work.Go(func() { newMemoryWatch(a).run(ctx) })
	}
	turn, report := time.NewTicker(turnEvery), time.NewTicker(logEvery)
	defer turn.Stop()
	defer report.Stop()
	a.turn(ctx)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-turn.C:
			a.turn(ctx)
		case <-report.C:
			a.o.Log.Info("collecting", a.count.words(a)...)
		}
	}
	a.programs.stop()
	last := time.AfterFunc(grace, stop)
	defer last.Stop()
	ended := make(chan struct{})
	go func() {
		a.work.Wait() // sessions notice that the context ended
		sent.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(grace + grace/2): // what still hangs ends with the process
	}
	if n := a.spool.left(); n > 0 {
		a.o.Log.Warn("not sent when the agent ended", "profiles", n)
	}
}

// turn looks for programs when that is due, and begins what the budget allows.
func (a *Agent) turn(ctx context.Context) {
	now := a.now()
	share := a.meter.Share() / float64(a.cpus)
	a.share.Store(int64(share * 1e9))
	a.over.Store(share > a.o.Budget)
	full := share > samplesShare*a.o.Budget
	if a.programs.due(now) {
		a.scan(ctx, now)
	}
	begin, late := a.plan.next(now, a.programs.all(), full)
	for _, p := range begin {
		a.work.Go(func() { a.session(ctx, p) })
	}
	if full {
		a.count.skippedBudget.Add(int64(late))
	} else { // too many programs for the sessions that there are
		a.count.skippedSlots.Add(int64(late))
	}
}

// scan looks for programs, and has those scraped that can be.
func (a *Agent) scan(ctx context.Context, now time.Time) {
	found, unseen, err := a.host.list()
	if err != nil {
		a.count.scanErrors.Add(1)
		a.o.Log.Warn("the processes of the host cannot be listed", "error", err)
		return
	}
	a.count.unseen.Store(int64(unseen))
	a.programs.update(now, found)
	a.count.programs.Store(int64(len(a.programs.all())))
	a.offer()
	if !a.o.NoScrape {
		a.scrape(ctx, now)
	}
}

// session samples one program and hands on what it saw.
func (a *Agent) session(ctx context.Context, p *program) {
	began := a.now()
	prof, err := a.sample(ctx, p.pid, a.o.Sample, a.o.Hz)
	took := a.now().Sub(began)
	a.elsewhere.Add(int64(took.Seconds() * float64(a.o.Hz*a.cpus) * float64(interrupt)))
	a.plan.noteEnd(p, err)
	switch {
	case ctx.Err() != nil, errors.Is(err, syscall.ESRCH):
		return // it is cut short, or the program has ended
	case err != nil:
		a.count.refused.Add(1)
		a.o.Log.Debug("a program cannot be sampled", "pid", p.pid, "error", err)
		return
	}
	a.count.samples.Add(1)
	if len(prof.Sample) == 0 { // it did not run
		a.count.idle.Add(1)
		return
	}
	a.push(p, cpuKind, prof)
}

// push hands a profile to who sends it.
func (a *Agent) push(p *program, kind string, prof *profile.Profile) {
	body, err := encode(p.labels(kind), prof)
	if err != nil {
		a.count.broken.Add(1)
		a.o.Log.Warn("a profile cannot be written", "pid", p.pid, "kind", kind, "error", err)
		return
	}
	a.spool.add(body)
}

// ServeHTTP answers with what the agent counts, as Prometheus reads it.
func (a *Agent) ServeHTTP(w http.ResponseWriter, _ *http.Request) { a.count.write(w, a) }
