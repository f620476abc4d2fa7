// Package sampling decides which processes of a fleet are recorded whole, when and why.
//
// At any moment few are, each for seconds, so that each version of each service has a
// fresh recording: in turn, and at once on a [Trigger]. [Plan] is its type. It hides who
// comes first, and the leases that keep two agents from recording the same at the same
// time. An agent says what runs beside it and what it could record; the plan names one
// process of these, for how long and why, and no more: how, and whether, is the agent's
// decision.
//
// A lease ends when the recording arrives, when its agent asks again (it records one at a
// time), or by itself. All of this is in memory. After a restart a version whose lease was
// lost is recorded once more, and an operator asks again; what is fresh is known from the
// recordings that are kept.
package sampling

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
)

// Options are how much is recorded. The zero value records nothing in turn, and one
// process at once, on a trigger.
type Options struct {
	// Every is how old the last recording of a version may be; 0 has none made in turn.
	Every time.Duration
	// Length is of one recording.
	Length time.Duration
	// Most are made at once, over all tenants.
	Most int
}

// Usual are the options where a configuration says nothing.
var Usual = Options{Every: time.Hour, Length: 5 * time.Second, Most: 4}

const (
	// transfer is how long after the end of a recording its lease lasts: it is packed and
	// sent then.
	transfer = 5 * time.Minute
	// patience is how long what an operator asks for waits for an agent that can do it.
	patience = time.Hour
	// present is how long after an agent asked its programs count as there.
	present = 10 * time.Minute
	// What is remembered is bounded, for names come from requests: wishes of a tenant and of
	// all, and versions.
	mostWishes, mostOfAll, mostKnown = 100, 1000, 20_000
)

// A Subject is what one recording is wanted of.
type Subject struct{ Tenant, Service, Version string }

// A Trigger is a reason to record a version at once.
type Trigger struct {
	Subject
	Why string
	// Since is when the reason began, and Seen when it was known: a recording that began
	// after Seen has it, and so has one made for the same reason since it began.
	Since, Seen time.Time
}

// A Last is the newest recording of a version.
type Last struct {
	At  time.Time // it began, by the server's clock
	Why string    // it was wanted
}

// Recordings tells the newest recordings of a version, the newest first.
type Recordings func(Subject) []Last

// A Plan hands out what is to be recorded. Any number of goroutines may use it.
type Plan struct {
	now   func() time.Time
	kept  Recordings
	count Counts

	mu       sync.Mutex
	options  Options
	triggers map[string][]Trigger // by tenant
	growing  map[string][]Subject // the same; their heaps
	wishes   []wish
	leases   map[Subject]lease
	lapsed   map[Subject]lapse
	seen     map[Subject]presence
	asked    map[string]time.Time // tenants, by when an agent asked last
	swept    time.Time            // when what is old was forgotten last
}

// Counts are what a plan has handed out, and what came of it.
type Counts struct{ Orders, Arrived, Lapsed, Missed int64 }

// A wish is an operator's; its Version may be "", for any.
type wish struct {
	Subject
	at time.Time
}

type lease struct {
	agent      string
	began, end time.Time
}

// A lapse is of leases that ended by themselves, one after the other.
type lapse struct {
	n     int
	until time.Time // when it is tried again
}

type presence struct {
	at  time.Time
	not string
}

// New returns a plan over recordings that are kept elsewhere.
func New(o Options, kept Recordings, now func() time.Time) *Plan {
	return &Plan{now: now, kept: kept, options: o, triggers: map[string][]Trigger{}, growing: map[string][]Subject{}, leases: map[Subject]lease{},
		lapsed: map[Subject]lapse{}, seen: map[Subject]presence{}, asked: map[string]time.Time{}}
}

// Set changes the options; leases that are held stay.
func (p *Plan) Set(o Options) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.options = o
}

// Trigger replaces the triggers of a tenant.
func (p *Plan) Trigger(tenant string, all []Trigger) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(all) == 0 {
		delete(p.triggers, tenant)
		return
	}
	p.triggers[tenant] = all
}

// Growing replaces the versions of a tenant whose heap grows. Who records one of these looks at
// who holds it, too, for as long as it grows.
func (p *Plan) Growing(tenant string, all []Subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(all) == 0 {
		delete(p.growing, tenant)
		return
	}
	p.growing[tenant] = all
}

// Tenants returns those whose agents asked lately.
func (p *Plan) Tenants() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for tenant, at := range p.asked {
		if p.now().Sub(at) < present {
			names = append(names, tenant)
		}
	}
	slices.Sort(names)
	return names
}

// Services returns those of a tenant of which an agent sees a program, sorted.
func (p *Plan) Services(tenant string) (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for of, at := range p.seen {
		if of.Tenant == tenant && p.now().Sub(at.at) < present {
			names = append(names, of.Service)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Counts returns what happened so far, and how many leases are held.
func (p *Plan) Counts() (c Counts, leases int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	return p.count, len(p.leases)
}

// Wish has the next agent that can record a version of a service, any where it is "".
// There is no room for more than a number of wishes; then ok is false.
func (p *Plan) Wish(s Subject) (w api.Wish, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expire()
	w = api.Wish{Service: s.Service, Version: s.Version}
	for of, at := range p.seen {
		if s.has(of) && p.now().Sub(at.at) < present {
			if !w.Agents || at.not == "" {
				w.Not = at.not
			}
			w.Agents = true
		}
	}
	at := slices.IndexFunc(p.wishes, func(w wish) bool { return w.Subject == s })
	mine := 0
	for _, w := range p.wishes {
		if w.Tenant == s.Tenant {
			mine++
		}
	}
	switch {
	case at >= 0:
		p.wishes[at].at = p.now()
	case mine >= mostWishes || len(p.wishes) >= mostOfAll:
		return w, false
	default:
		p.wishes = append(p.wishes, wish{s, p.now()})
	}
	return w, true
}

// has reports whether a subject, perhaps of any version, is another's.
func (s Subject) has(o Subject) bool {
	return s.Tenant == o.Tenant && s.Service == o.Service && (s.Version == "" || s.Version == o.Version)
}

// EndLease ends the lease of a recording that is here, and what an operator wished of it.
func (p *Plan) EndLease(s Subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l, ok := p.leases[s]
	if !ok {
		return
	}
	p.count.Arrived++
	delete(p.leases, s)
	delete(p.lapsed, s)
	p.wishes = slices.DeleteFunc(p.wishes, func(w wish) bool { return w.has(s) && !w.at.After(l.began) })
}

// Ask gives an agent one of its programs to record, and a lease on its version, or
// nothing.
func (p *Plan) Ask(tenant string, a api.Offer) (answer api.Wanted) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	p.expire()
	for s, l := range p.leases { // it asks again: it records no more
		if s.Tenant == tenant && l.agent == a.Agent {
			p.lapse(s)
		}
	}
	if _, known := p.asked[tenant]; known || len(p.asked) < mostKnown {
		p.asked[tenant] = now
	}
	var wanted []candidate
	missed := map[Subject]api.Missed{}
	for i, one := range a.Programs {
		s := Subject{tenant, one.Service, one.Version}
		if had, known := p.seen[s]; known || len(p.seen) < mostKnown {
			if !known || had.at.Before(now) || one.Not == "" { // of several processes one that can counts
				p.seen[s] = presence{now, one.Not}
			}
		}
		c, ok := p.wants(s)
		if _, leased := p.leases[s]; !ok || leased || now.Before(p.lapsed[s].until) {
			continue
		}
		if one.Not == api.Pause {
			continue
		}
		if one.Not != "" {
			missed[s] = api.Missed{Service: one.Service, Version: one.Version, Not: one.Not}
			continue
		}
		c.at = i
		wanted = append(wanted, c)
	}
	for _, c := range wanted { // another process of it can be recorded
		delete(missed, c.Subject)
	}
	for _, m := range missed {
		answer.Missed = append(answer.Missed, m)
	}
	p.count.Missed += int64(len(missed))
	slices.SortFunc(answer.Missed, func(a, b api.Missed) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Version, b.Version))
	})
	if len(wanted) == 0 || len(p.leases) >= max(1, p.options.Most) {
		return answer
	}
	slices.SortStableFunc(wanted, candidate.compare)
	first := wanted[0]
	one := a.Programs[first.at]
	p.leases[first.Subject] = lease{a.Agent, now, now.Add(p.options.Length + transfer)}
	p.count.Orders++
	answer.Record = &api.Order{Service: one.Service, Version: one.Version, Instance: one.Instance, Length: p.options.Length, Why: first.why,
		Holders: slices.Contains(p.growing[tenant], first.Subject)}
	return answer
}

// A candidate is a version that is to be recorded.
type candidate struct {
	Subject
	why  string
	rank int       // the most urgent first
	last time.Time // the newest recording; zero where there is none
	at   int       // of the program in the question
}

// The ranks of candidates.
const (
	wished = iota
	triggered
	inTurn
)

// compare puts first what is most urgent, and then what waits longest.
func (c candidate) compare(o candidate) int {
	return cmp.Or(cmp.Compare(c.rank, o.rank), c.last.Compare(o.last))
}

// wants reports whether a version is to be recorded, and why.
func (p *Plan) wants(s Subject) (c candidate, ok bool) {
	c.Subject = s
	kept := p.kept(s)
	if len(kept) > 0 {
		c.last = kept[0].At
	}
	if slices.ContainsFunc(p.wishes, func(w wish) bool { return w.has(s) }) {
		c.why, c.rank = "an operator asked for it", wished
		return c, true
	}
	for _, t := range p.triggers[s.Tenant] {
		if t.Subject == s && !slices.ContainsFunc(kept, t.answered) {
			c.why, c.rank = t.Why, triggered
			return c, true
		}
	}
	if p.options.Every == 0 || !c.last.IsZero() && p.now().Sub(c.last) < p.options.Every {
		return c, false
	}
	c.why, c.rank = "no recording yet", inTurn
	if !c.last.IsZero() {
		c.why = "no recording for " + words(p.options.Every)
	}
	return c, true
}

// answered reports whether a recording shows what a trigger is about.
func (t *Trigger) answered(l Last) bool {
	return !l.At.Before(t.Seen) || l.Why == t.Why && !l.At.Before(t.Since)
}
