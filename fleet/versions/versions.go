// Package versions says which deploys made a service dearer, by how much and where.
//
// It compares the versions of a service that follow each other, with processes as
// replicates: a mean over all of them would take one busy host for a change. It hides
// the tests behind that. It asks a [store.Reader] and keeps nothing.
package versions

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/statistics"
)

const (
	// alpha is how often a fleet in which nothing changed may have any change claimed,
	// over all deploys that are judged together.
	alpha = 0.05
	// family is how many these are at least. Who asks about a span of time judges the deploys
	// in it, and asks about the next span after it: twenty services that deploy each working
	// day have a thousand deploys in ten weeks. With the family of one span, one of 180
	// deploys that changed nothing was claimed.
	family = 1000
	// looks are those at one deploy that tell more than the ones before, for each of which it is
	// one more of the family: each time that its head has run for twice as long. From three
	// minutes on eight make half a day. With one, 5% of all held for a single look alone.
	looks = 8
	// longer is how many times as long one version ran as the other from which on their means are
	// of different things: what happens rarely is in that of the longer one, and in the other's of
	// few hosts, so that the rest of them look cheaper, all alike. Of 280 deploys that changed
	// nothing, asked about from three minutes on, six were claimed so, all on 40 hosts or more.
	longer = 1.1
	// pairs is the least number of hosts that ran both versions for these to be compared
	// host by host: with fewer no signed-rank test can reach 5%, whatever they show.
	pairs = 6
	// least is the least change that is worth a claim, however sure it is.
	least = 0.02
	// mostReplicates of a side are compared, drawn evenly: the interval is from all their
	// differences.
	mostReplicates = 400
	// minCovered is how much of a process's time must have been profiled for its rate to
	// be one: ten seconds are a thousand samples of a busy core.
	minCovered = 10 * time.Second
)

// A Change is what one version of a service costs beside the one before it.
type Change struct {
	Service, Base, Head string
	Since               time.Time  // the first that was seen of the head
	Type                store.Type // that costs
	Unit                Unit
	// Was and Is are the medians of the replicates in the unit.
	Was, Is float64
	// Ratio is how many times the base's cost the head's is, with its 95% interval.
	Ratio, Low, High float64
	BaseN, HeadN     int  // replicates
	Paired           bool // host by host
	// P is the probability of such a difference where there is none, corrected for all
	// comparisons that are judged together (Holm): a thousand deploys at least, looked at again
	// and again.
	P float64
	// Too few replicates, or none with a denominator, decide nothing: Why says so.
	Why     string
	Missing store.Missing
}

// A Unit is what a cost is counted in.
type Unit string

// The units of CPU. Where operations are counted a cost is one operation's: a busy hour is
// no change then.
const (
	PerSecond    Unit = "cores"         // seconds of CPU for each second that was profiled
	PerOperation Unit = "CPU/operation" // seconds
)

// A kind is a type of which costs are compared, in its units, with how many of its values
// make one of them.
type kind struct {
	store.Type
	second, operation Unit
	scale             float64
}

// kinds are all that are compared; the first is what a version is judged by.
var kinds = []kind{
	{store.CPU, PerSecond, PerOperation, 1e9},
	{store.AllocSpace, "bytes/second", "bytes/operation", 1},
	{store.AllocObjects, "objects/second", "objects/operation", 1},
	{store.MutexDelay, "waiting for locks", "waiting for locks/operation", 1e9},
	{store.BlockDelay, "waiting", "waiting/operation", 1e9},
}

func kindOf(t store.Type) kind {
	return kinds[max(0, slices.IndexFunc(kinds, func(k kind) bool { return k.Type == t }))]
}

// counted tells whether a unit is of one operation.
func (k kind) counted(u Unit) bool { return u == k.operation }

// Worse tells whether the head is dearer beyond doubt.
func (c *Change) Worse() bool { return c.sure() && c.Ratio >= 1+least }

// Better tells whether it is cheaper beyond doubt.
func (c *Change) Better() bool { return c.sure() && c.Ratio <= 1/(1+least) }

func (c *Change) sure() bool { return c.Why == "" && c.P < alpha }

// Changes compares all versions in a span of time, those of each service in the order
// in which they came. What got worse comes first, by how much.
func Changes(ctx context.Context, r store.Reader, s store.Selection) ([]Change, error) {
	all, err := r.Instances(ctx, s)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for _, service := range byService(all.Instances) {
		for i := 1; i < len(service); i++ {
			c, err := judge(ctx, r, s, service[i-1], service[i])
			if err != nil {
				return nil, err
			}
			c.Missing = slices.Compact(slices.Sorted(slices.Values(append(c.Missing, all.Missing...))))
			changes = append(changes, c)
		}
	}
	correct(changes, looks*max(len(changes), family))
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(b.rank(), a.rank()) })
	return changes, nil
}

// judge compares a version with the one before it. Where one of them ran for longer and a change
// is about to be claimed it compares them once more, in times of the same length: both must show it.
func judge(ctx context.Context, r store.Reader, s store.Selection, base, head *version) (Change, error) {
	c := compare(base, head, kinds[0], looks*family)
	if c.Why != "" || c.P*looks*family >= alpha {
		return c, nil
	}
	was, is := s, s
	was.Service, was.Version = base.service, base.name
	is.Service, is.Version = head.service, head.name
	base, head, missing, err := alike(ctx, r, base, head, was, is)
	if err != nil {
		return c, err
	}
	c.Missing = missing
	c.hold(compare(base, head, kinds[0], looks*family))
	return c, nil
}

// alike returns two versions in times of the same length: of the one that ran for longer the part
// next to the other. Was and is select them.
func alike(ctx context.Context, r store.Reader, base, head *version, was, is store.Selection) (*version, *version, store.Missing, error) {
	var missing store.Missing
	var err error
	switch b, h := base.length(), head.length(); {
	case float64(b) > longer*float64(h):
		end := base.last
		if head.last.Before(end) && !head.first.Before(base.first) {
			end = head.last
		}
		base, missing, err = base.within(ctx, r, was, end.Add(-h), end)
	case float64(h) > longer*float64(b):
		head, missing, err = head.within(ctx, r, is, head.first, head.first.Add(b))
	}
	return base, head, missing, err
}

// hold has a change claim no more than what the same comparison in other times shows too.
func (c *Change) hold(other Change) {
	switch {
	case other.Why != "":
		c.Why, c.P = other.Why, math.NaN()
	case (other.Ratio > 1) != (c.Ratio > 1):
		c.P = 1
	default:
		c.P = max(c.P, other.P)
	}
}

// rank orders changes: sure ones by their size, worse before better.
func (c *Change) rank() float64 {
	switch {
	case c.Worse():
		return c.Ratio
	case c.Better():
		return 1 - c.Ratio
	}
	return -1
}

// correct replaces each P by one for all comparisons together, and for as many more as make
// a family, of which nothing is known.
func correct(changes []Change, family int) {
	p := make([]float64, max(len(changes), family))
	for i := range p {
		p[i] = 1
	}
	for i := range changes {
		p[i] = math.NaN()
		if changes[i].Why == "" {
			p[i] = changes[i].P
		}
	}
	for i, v := range statistics.Holm(p)[:len(changes)] {
		if changes[i].Why == "" {
			changes[i].P = v
		}
	}
}

// A version is the processes of one version of a service.
type version struct {
	service, name string
	first, last   time.Time
	processes     []store.Instance
}

func (v *version) length() time.Duration { return v.last.Sub(v.first) }

// within returns a version as it was in a part of its time, which ends with a batch.
func (v *version) within(ctx context.Context, r store.Reader, s store.Selection, from, until time.Time) (*version, store.Missing, error) {
	s.From, s.Until = from.Add(time.Millisecond), until.Add(time.Millisecond) // a batch is where it ends
	a, err := r.Instances(ctx, s)
	return &version{service: v.service, name: v.name, first: from, last: until, processes: a.Instances}, a.Missing, err
}

// byService sorts processes into the versions of each service, the earliest first.
func byService(processes []store.Instance) (services [][]*version) {
	type key struct{ service, version string }
	known, at := map[key]*version{}, map[string]int{}
	for _, p := range processes {
		k := key{p.Service, p.Version}
		v := known[k]
		if v == nil {
			v = &version{service: p.Service, name: p.Version, first: p.First}
			known[k] = v
			i, ok := at[p.Service]
			if !ok {
				i = len(services)
				at[p.Service], services = i, append(services, nil)
			}
			services[i] = append(services[i], v)
		}
		if p.First.Before(v.first) {
			v.first = p.First
		}
		if p.Last.After(v.last) {
			v.last = p.Last
		}
		v.processes = append(v.processes, p)
	}
	for _, s := range services {
		slices.SortStableFunc(s, func(a, b *version) int {
			return cmp.Or(a.first.Compare(b.first), cmp.Compare(a.name, b.name))
		})
	}
	return services
}

// compare compares two versions, as one comparison of a family.
func compare(base, head *version, k kind, family int) Change {
	c := Change{Service: head.service, Base: base.name, Head: head.name, Since: head.first, Type: k.Type, Unit: k.operation, P: math.NaN()}
	was, is := base.costs(k, true), head.costs(k, true)
	if len(was) < 2 || len(is) < 2 {
		c.Unit = k.second
		was, is = base.costs(k, false), head.costs(k, false)
	}
	c.BaseN, c.HeadN = len(was), len(is)
	a, b := logs(was), logs(is)
	c.Was, c.Is = math.Exp(statistics.Median(a)), math.Exp(statistics.Median(b))
	d := differences(was, is)
	var shift, low, high float64
	if c.Paired = len(d) >= pairs; c.Paired {
		c.P, shift = chance(statistics.SignedRank(d), statistics.SignedRank(ones(len(d))), statistics.Student(d), family), statistics.HodgesLehmann(d)
		low, high = statistics.Bootstrap(len(d), statistics.Centre(d), 0.95, statistics.BootstrapOptions{Draws: 2000})
	} else {
		if c.Why = few(len(a), len(b)); c.Why != "" {
			return c
		}
		least := statistics.MannWhitney(make([]float64, len(a)), ones(len(b)))
		c.P, shift = chance(statistics.MannWhitney(a, b), least, statistics.Welch(a, b), family), statistics.Shift(a, b)
		low, high = shiftInterval(a, b)
	}
	c.Ratio, c.Low, c.High = math.Exp(shift), math.Exp(low), math.Exp(high)
	return c
}

// chance returns the probability of a difference where there is none. That of a test by rank
// assumes nothing of how costs vary, but few processes cannot make it small enough for a
// family: of six pairs it is 3% at least. There the test counts that takes logarithms of costs
// for normal, where that by rank does not contradict it.
func chance(rank, least, normal float64, family int) float64 {
	if least*float64(family) <= alpha/2 {
		return rank
	}
	if rank >= alpha {
		return max(rank, normal)
	}
	return normal
}

// few says why n replicates cannot decide: of three and three even the clearest difference
// has one chance in ten to be none.
func few(base, head int) string {
	if statistics.MannWhitney(make([]float64, base), ones(head)) < alpha {
		return ""
	}
	return "too few processes of both versions were profiled to tell a change from a difference between hosts"
}

func ones(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// costs returns the costs of processes by host.
func (v *version) costs(k kind, operation bool) map[string]float64 {
	type sums struct{ value, by float64 }
	hosts := map[string]*sums{}
	for i := range v.processes {
		p := &v.processes[i]
		if k.profiled(p) < minCovered {
			continue
		}
		s := hosts[p.Name]
		if s == nil {
			s = new(sums)
			hosts[p.Name] = s
		}
		s.value += float64(total(p.Totals, k.Type)) / k.scale
		s.by += k.denominator(p, operation)
	}
	costs := make(map[string]float64, len(hosts))
	for host, s := range hosts {
		if s.value > 0 && s.by > 0 {
			costs[host] = s.value / s.by
		}
	}
	return costs
}

// profiled is for how long a process counted a type: CPU while it was profiled, the others
// as long as it ran.
func (k kind) profiled(p *store.Instance) time.Duration {
	if k.Type == store.CPU {
		return p.Covered
	}
	return p.Last.Sub(p.First)
}

// denominator returns by what a process's values are divided.
func (k kind) denominator(p *store.Instance, operation bool) float64 {
	if operation {
		return float64(total(p.Totals, store.Operations))
	}
	return k.profiled(p).Seconds()
}

func total(totals []store.Total, t store.Type) int64 {
	for _, x := range totals {
		if x.Type == t {
			return x.Value
		}
	}
	return 0
}

// logs returns the logarithms of costs, of as many hosts as are compared: a host that is
// twice as slow is so in both versions, and what a change brings is a factor.
func logs(costs map[string]float64) (x []float64) {
	hosts := sortedHosts(costs)
	step := max(1, (len(hosts)+mostReplicates-1)/mostReplicates)
	for i := 0; i < len(hosts); i += step {
		x = append(x, math.Log(costs[hosts[i]]))
	}
	return x
}

// differences returns those of hosts that ran both.
func differences(was, is map[string]float64) (d []float64) {
	for _, host := range sortedHosts(was) {
		if b, ok := is[host]; ok {
			d = append(d, math.Log(b)-math.Log(was[host]))
		}
	}
	return d[:min(len(d), mostReplicates)]
}

func sortedHosts(costs map[string]float64) []string {
	hosts := make([]string, 0, len(costs))
	for host := range costs {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	return hosts
}

// shiftInterval returns the 95% interval of [statistics.Shift]: all differences between the
// sets in order, and those that as many lie beyond as the rank-sum test allows (Moses
// 1965), by its normal approximation.
func shiftInterval(a, b []float64) (low, high float64) {
	d := make([]float64, 0, len(a)*len(b))
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	slices.Sort(d)
	n, m := float64(len(a)), float64(len(b))
	k := int(math.Floor(n*m/2 - statistics.Normal(0.975)*math.Sqrt(n*m*(n+m+1)/12)))
	k = min(max(k, 0), len(d)-1)
	return d[k], d[len(d)-1-k]
}
