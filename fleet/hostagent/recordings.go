package hostagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/client"
	"github.com/gowhy/gowhy/internal/sense/record"
	"github.com/gowhy/gowhy/internal/watch/budget"
)

const (
	// askEvery is how often the agent asks the server what to record.
	askEvery = time.Minute
	// unplanned is after how long the agent asks a server again that plans no recordings.
	unplanned = time.Hour
	// mostOffered programs are offered to the server.
	mostOffered = 1000
	// Bounds of what a server can ask for, and the usual.
	leastLength, usualLength, mostLength = time.Second, 5 * time.Second, time.Minute
	// traceLimit bounds the largest part of a recording.
	traceLimit = 64 << 20
	// failedFor is how long a program is left alone that could not be recorded.
	failedFor = time.Hour
	// kernelHz is the rate at which recordings sample, which is the cost of others.
	kernelHz = 199
	// Attempts of an upload.
	uploadTries = 4
	// Recordings are made in directories of such names. One that is older than any
	// recording takes is nobody's.
	tempPrefix, tempAge = "gowhy-agent-", 2 * time.Hour
)

// A recordable is a program as it was when the host was last looked at.
type recordable struct {
	process
	service, version, instance string
	cores                      float64
	cpu                        time.Duration
	url                        string // its address
}

func (p *recordable) key() string { return p.service + "\x00" + p.version }

// offer notes which programs there are, for who records them.
func (a *Agent) offer() {
	var all []*recordable
	for _, p := range a.programs.all() {
		s := &p.scraping
		s.mu.Lock()
		url := s.url
		s.mu.Unlock()
		// The server knows it by its labels.
		all = append(all, &recordable{process{p.pid, p.start}, printable(p.service), printable(p.version), printable(p.instance), p.cores, p.cpu, url})
	}
	a.recordables.Store(&all)
}

// A recorder records one program after the other, as the server asks and the budget
// allows.
type recorder struct {
	a      *Agent
	ledger *ledger
	dir    string
	// record is gowhy's own.
	record func(ctx context.Context, p *recordable, o record.Options) (*record.Result, error)
	own    func() time.Duration // CPU time of this process
	free   func(dir string) (bytes uint64, known bool)
	failed map[process]time.Time // until when a program is left alone
	made   map[process]time.Time // when it was recorded last
	length time.Duration         // that the server asked for last
	every  time.Duration         // when the agent asks the server
	until  time.Time             // it is not, for it plans nothing
}

func newRecorder(a *Agent) *recorder {
	return &recorder{a: a, ledger: newLedger(&a.o, a.cpus, a.now()), dir: os.TempDir(), record: recordProgram,
		own: budget.OwnCPU, free: record.FreeSpace, failed: map[process]time.Time{}, made: map[process]time.Time{}, length: usualLength, every: askEvery}
}

// recordProgram records a program at its endpoint, or from the kernel's side.
func recordProgram(ctx context.Context, p *recordable, o record.Options) (*record.Result, error) {
	// Without an endpoint its ports were looked at already, or are not to be.
	o.Piece = p.url == ""
	return record.Run(ctx, record.Target{PID: p.pid, URL: p.url}, o)
}

// run records until the context ends.
func (r *recorder) run(ctx context.Context) {
	r.clean()
	for {
		// Agents that began together are not to ask together.
		r.a.send.wait(ctx, r.every/2+rand.N(r.every))
		if ctx.Err() != nil {
			return
		}
		r.turn(ctx)
	}
}

// clean removes what agents left that were killed.
func (r *recorder) clean() {
	left, _ := filepath.Glob(filepath.Join(r.dir, tempPrefix+"*"))
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && r.a.now().Sub(info.ModTime()) > tempAge {
			_ = os.RemoveAll(dir) // it may be another user's
		}
	}
}

// turn asks the server, and records what it says.
func (r *recorder) turn(ctx context.Context) {
	all := r.a.recordables.Load()
	if all == nil || len(*all) == 0 || r.a.now().Before(r.until) {
		return
	}
	offers := r.offers(*all)
	answer, err := r.ask(ctx, offers)
	var status *client.Status
	switch {
	case errors.As(err, &status) && status.Code == http.StatusNotFound: // a Pyroscope, say
		r.until = r.a.now().Add(unplanned)
		r.a.o.Log.Info("the server plans no recordings", "asked_again_in", unplanned)
		return
	case err != nil:
		if ctx.Err() == nil {
			r.a.count.recordingErrors.Add(1)
			r.a.o.Log.Debug("the server does not say what to record", "error", err)
		}
		return
	}
	for _, m := range answer.Missed {
		r.a.count.noteMissed(m.Not)
	}
	if answer.Record == nil {
		return
	}
	p := r.choose(*all, offers, answer.Record)
	if p == nil {
		r.a.o.Log.Warn("the server asks for a recording that was not offered", "service", answer.Record.Service)
		return
	}
	r.make(ctx, p, answer.Record)
}

// offers returns the programs, those that were recorded last at the end, each with why it
// cannot be recorded.
func (r *recorder) offers(all []*recordable) []api.Program {
	now := r.a.now()
	r.ledger.keep(all)
	over := r.ledger.host(now)
	if over == "" && r.a.over.Load() {
		over = overHost
	}
	if free, known := r.free(r.dir); over == "" && known && free < 4*traceLimit {
		over = overDisk
	}
	slices.SortStableFunc(all, func(a, b *recordable) int {
		return cmp.Or(r.made[a.process].Compare(r.made[b.process]), cmp.Compare(b.cores, a.cores))
	})
	var offers []api.Program
	here := map[process]bool{}
	for _, p := range all {
		here[p.process] = true
		if len(offers) == mostOffered {
			continue
		}
		not := over
		switch {
		case now.Before(r.failed[p.process]):
			not = notRecorded
		case not == "" && !r.ledger.program(p, r.length):
			not = overProgram
		}
		offers = append(offers, api.Program{Service: p.service, Version: p.version, Instance: p.instance, Not: not})
	}
	for _, seen := range []map[process]time.Time{r.failed, r.made} {
		for p := range seen {
			if !here[p] {
				delete(seen, p)
			}
		}
	}
	return offers
}

// choose returns the program that the server means, nil if it may not be recorded.
func (r *recorder) choose(all []*recordable, offers []api.Program, o *api.Order) *recordable {
	for i, p := range offers {
		if p == (api.Program{Service: o.Service, Version: o.Version, Instance: o.Instance}) {
			return all[i]
		}
	}
	return nil
}

// ask has the server say what to record.
func (r *recorder) ask(ctx context.Context, offers []api.Program) (answer api.Wanted, err error) {
	body, err := json.Marshal(api.Offer{Agent: printable(r.a.o.Host), Programs: offers})
	if err != nil {
		return answer, err
	}
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	said, err := r.a.send.to.Post(ctx, api.WantedPath, map[string]string{"Content-Type": "application/json"}, body)
	if err == nil {
		err = json.Unmarshal(said, &answer)
	}
	return answer, err
}

// place returns where a recording is made, and what removes it; "" where there is no place.
func (a *Agent) place(in string) (file string, remove func()) {
	dir, err := os.MkdirTemp(in, tempPrefix)
	if err != nil {
		a.count.recordingErrors.Add(1)
		a.o.Log.Warn("there is no place for a recording", "error", err)
		return "", nil
	}
	return filepath.Join(dir, "recording.gowhy"), func() { os.RemoveAll(dir) }
}

// make records a program and uploads that.
func (r *recorder) make(ctx context.Context, p *recordable, o *api.Order) {
	file, remove := r.a.place(r.dir)
	if file == "" {
		return
	}
	defer remove()
	r.length = min(max(o.Length, leastLength), mostLength)
	r.a.o.Log.Info("recording", "service", p.service, "version", p.version, "pid", p.pid, "for", r.length, "why", o.Why)
	before, left := r.own(), r.ledger.left(r.a.now())
	how := record.Options{Out: file, Duration: r.length, TraceLimit: min(traceLimit, left), Redact: !r.a.o.RecordingText, HolderBudget: holderBudget}
	if o.Holders {
		how.Holders = record.Looks
	}
	res, err := r.record(ctx, p, how)
	c := cost{host: r.own() - before}
	var used time.Duration
	if res != nil {
		timers := time.Duration(res.Duration.Seconds() * kernelHz * float64(r.a.cpus) * float64(interrupt))
		used = time.Duration(res.Cost.TargetCPU * float64(time.Second))
		c.host += timers
		c.program = extra(res) + time.Duration(used.Seconds()*kernelHz*float64(interrupt))
		r.a.elsewhere.Add(int64(timers + c.program))
	}
	if info, serr := os.Stat(file); serr == nil {
		c.bytes = info.Size()
	}
	now := r.a.now()
	r.ledger.took(now, p, c, used)
	r.made[p.process] = now
	switch {
	case ctx.Err() != nil:
		return
	case err != nil || res == nil || !res.Written:
		r.failed[p.process] = now.Add(failedFor)
		r.a.count.recordingErrors.Add(1)
		r.a.o.Log.Warn("a program cannot be recorded", "pid", p.pid, "service", p.service, "error", err)
		return
	case c.bytes > left:
		r.failed[p.process] = now.Add(failedFor)
		r.a.count.noteMissed(overBytes)
		r.a.o.Log.Warn("a recording is not sent: it has more bytes than are left of the day's", "bytes", c.bytes, "left", left)
		return
	}
	r.upload(ctx, file, url.Values{"service": {p.service}, "version": {p.version}, "instance": {p.instance}, "why": {o.Why}})
}

// extra returns the CPU time that a program used while it was recorded, beyond what it used
// just before.
func extra(res *record.Result) time.Duration {
	c := res.Cost
	if c.TargetBeforeWall <= 0 {
		return 0
	}
	return time.Duration(max(0, c.TargetCPU-c.TargetBefore/c.TargetBeforeWall*c.TargetWall) * float64(time.Second))
}

// upload sends a recording, and gives up after some time: there will be another.
func (r *recorder) upload(ctx context.Context, file string, q url.Values) {
	wait := leastWait
	for try := 1; ; try++ {
		err := r.a.upload(ctx, file, q)
		switch {
		case err == nil:
			r.a.count.recordings.Add(1)
			return
		case ctx.Err() != nil:
			return
		case isHopeless(err), try == uploadTries:
			r.a.count.recordingsRefused.Add(1)
			r.a.o.Log.Warn("the server does not take a recording", "error", fmt.Errorf("after %d tries: %w", try, err))
			return
		}
		r.a.send.wait(ctx, wait)
		wait = min(4*wait, mostWait)
	}
}
