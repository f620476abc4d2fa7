package hostagent

import (
	"maps"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
)

const (
	// ofBudget is the share of what the agent may take of the host that recordings may.
	ofBudget = 0.5
	// saved is over how long what recordings may take of the host adds up.
	saved = time.Hour
	day   = 24 * time.Hour
	// leastPause is between two recordings of a host.
	leastPause = 5 * time.Minute
	// What a recording costs before one was made, of the host and of the program, on the
	// safe side: two seconds of a busy program took 0.06 to 0.3 s of a CPU here, and 0.5 MB.
	firstHost, firstShare, firstFixed = time.Second, 0.05, 20 * time.Millisecond
	// firstBytes is what it has.
	firstBytes = 4 << 20
)

// Why a program is not recorded.
const (
	overPause   = api.Pause
	overHost    = "host"
	overBytes   = "bytes"
	overDisk    = "disk"
	overProgram = "program"
	notRecorded = "failed"
)

// A cost is what one recording took.
type cost struct {
	host    time.Duration // CPU time of this process, and of the kernel's timers
	program time.Duration // more than it would have used
	bytes   int64
}

// A ledger is what recordings may take, and what they took. Use it from one goroutine.
type ledger struct {
	rate  float64 // CPU seconds a second, of the host
	share float64 // of a program's CPU time
	daily int64   // bytes
	pause time.Duration

	at     time.Time     // of what is saved
	saved  time.Duration // may be negative: a recording may cost more than one thought
	last   time.Time     // the end of the last recording
	sent   []amount      // within a day
	mean   cost          // of the recordings so far; zero before
	spent  map[process]time.Duration
	shares map[string]float64 // what recordings took of what programs used meanwhile, by service and version
}

// A process is one program; numbers are used again.
type process struct {
	pid   int
	start time.Duration
}

type amount struct {
	at    time.Time
	bytes int64
}

func newLedger(o *Options, cpus int, now time.Time) *ledger {
	return &ledger{rate: o.Budget * ofBudget * float64(cpus), share: o.RecordingShare, daily: o.RecordingBytes, pause: leastPause, at: now, last: now,
		spent: map[process]time.Duration{}, shares: map[string]float64{}}
}

// host returns why nothing can be recorded now, "" when something can.
func (l *ledger) host(now time.Time) string {
	most := time.Duration(l.rate * float64(saved))
	if d := now.Sub(l.at); d > 0 {
		l.saved = min(most, l.saved+time.Duration(l.rate*float64(d)))
		l.at = now
	}
	// Where one takes more than is ever saved it is made when all of that is there, and the
	// rest is a debt.
	need := l.mean
	if need == (cost{}) {
		need = cost{host: firstHost, bytes: firstBytes}
	}
	switch {
	case now.Sub(l.last) < l.pause:
		return overPause
	case l.saved < min(need.host, most):
		return overHost
	case l.left(now) < min(need.bytes, l.daily):
		return overBytes
	}
	return ""
}

// left returns how many bytes may still be sent now.
func (l *ledger) left(now time.Time) int64 {
	l.sent = slices.DeleteFunc(l.sent, func(a amount) bool { return now.Sub(a.at) >= day })
	left := l.daily
	for _, a := range l.sent {
		left -= a.bytes
	}
	return left
}

// program reports whether a program can bear a recording: all of its recordings together take
// a share of the CPU time that it has used.
func (l *ledger) program(p *recordable, length time.Duration) bool {
	share, known := l.shares[p.key()]
	if !known {
		share = firstShare
	}
	need := time.Duration(share*p.cores*float64(length)) + firstFixed
	return l.spent[p.process]+need <= time.Duration(l.share*float64(p.cpu))
}

// took notes a recording, also one that came to nothing.
func (l *ledger) took(now time.Time, p *recordable, c cost, used time.Duration) {
	l.last = now
	l.saved -= c.host
	l.spent[p.process] += c.program
	if c.bytes == 0 { // nothing to learn from
		return
	}
	if c.bytes <= l.left(now) { // what is beyond is not sent
		l.sent = append(l.sent, amount{now, c.bytes})
	}
	if l.mean == (cost{}) {
		l.mean = cost{host: c.host, bytes: c.bytes}
	} else { // what was seen last counts most
		l.mean = cost{host: (l.mean.host + c.host) / 2, bytes: (l.mean.bytes + c.bytes) / 2}
	}
	if used > 0 {
		share := min(1, c.program.Seconds()/used.Seconds())
		if before, known := l.shares[p.key()]; known {
			share = (before + share) / 2
		}
		l.shares[p.key()] = share
	}
}

// keep forgets programs that ended.
func (l *ledger) keep(here []*recordable) {
	alive, keys := map[process]bool{}, map[string]bool{}
	for _, p := range here {
		alive[p.process], keys[p.key()] = true, true
	}
	maps.DeleteFunc(l.spent, func(p process, _ time.Duration) bool { return !alive[p] })
	maps.DeleteFunc(l.shares, func(key string, _ float64) bool { return !keys[key] })
}
