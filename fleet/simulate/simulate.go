// Package simulate generates what a fleet sends, the same for the same [Plan].
//
// Tests, benchmarks and demonstrations need a fleet of which the truth is known: which
// service costs more since which version, by how much and in which function. The package
// hides how values come about: weights that fall like Zipf's, hosts of different speed, a
// load that moves over time and noise of each process. All of it is integer arithmetic
// over a seeded PCG, so that no two machines disagree. It never reads a clock.
package simulate

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"math/bits"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// A Plan is a fleet.
type Plan struct {
	Seed     uint64
	Tenant   string
	Start    time.Time
	Length   time.Duration // how long it runs
	Step     time.Duration // how often a process sends; 15 s where it is 0
	Services []Service
}

// A Service is processes that run the same program. Process i of every service runs on
// host i, so that a slow host is slow for all of them.
type Service struct {
	Name      string
	Processes int
	Versions  []Version // by Deploy; the first runs from the start
	Stacks    []Shape   // what a process sends; Usual where it is empty
}

// A Version is what a service runs from a time on.
type Version struct {
	Name    string
	Deploy  time.Duration // after the start, on the first host
	Rollout time.Duration // how much later the last host has it
	Changes []Change      // against the first version
	Causes  []Cause       // besides what the first version does
	Levels  []Level       // what it keeps
	Restart time.Duration // how long a process runs until another instance begins; 0 for ever
}

// A Level is what a function of the service keeps, besides what it keeps under its load.
type Level struct {
	Type     store.Type
	Function string         // see [Service.Function]
	Calls    []*store.Frame // what it calls, the leaf first
	Hourly   int64          // that a process adds
	Most     int64          // that there will ever be, as in a cache that fills; 0 for no end
}

// after returns the bytes that are kept of a process of an age. A cache fills at the hourly
// pace first; each time that would fill it at that pace leaves half of its room.
func (l Level) after(age time.Duration) int64 {
	if l.Most == 0 {
		return scale(l.Hourly, int64(age), int64(time.Hour))
	}
	fill := time.Duration(scale(int64(time.Hour), l.Most, l.Hourly))
	room := l.Most >> min(62, age/fill)
	return l.Most - room + scale(room/2, int64(age%fill), int64(fill))
}

// A Cause is work of other packages that a function of the service calls for.
type Cause struct {
	Type     store.Type
	Function string         // see [Service.Function]
	Calls    []*store.Frame // what it calls, the leaf first
	Sum      int64          // a minute, on a host of usual speed under usual load
}

// A Change makes the stacks of a type that have a function cost more, or less.
type Change struct {
	Type     store.Type
	Function string // see [Service.Function]
	Percent  int64  // 50 is half as much again, -100 nothing any more
	// From and Until are after the start, 0 for all the time that the version runs: other
	// things than deploys change what a program costs.
	From, Until time.Duration
}

// A Shape is how many stacks of a type a process has and what they sum to.
type Shape struct {
	Type  store.Type
	Count int
	Sum   int64 // a minute, on a host of usual speed under usual load
	Unit  int64 // values are multiples of it, as a sampler's are
}

// Usual is about 900 rows a process and minute: half a core, 600 MB of allocations.
var Usual = []Shape{
	{Type: store.CPU, Count: 300, Sum: 30e9, Unit: 10e6},
	{Type: store.AllocSpace, Count: 400, Sum: 600 << 20, Unit: 512},
	{Type: store.MutexDelay, Count: 50, Sum: 2e9, Unit: 1},
	{Type: store.BlockDelay, Count: 50, Sum: 8e9, Unit: 1},
	{Type: store.Goroutines, Count: 80, Sum: 2000, Unit: 1},
}

const (
	functions = 120 // of a service
	usualStep = 15 * time.Second
	// operations are a process's in a minute under usual load.
	operations = 60_000
	// percent is how far a process's values are from the mean of its host, at most.
	noise = 20
)

// Function returns the name of one of a service's 120 functions. Function 0 is where all its
// stacks begin; the others are in few or many of them.
func (s Service) Function(i int) string {
	return fmt.Sprintf("example.com/%s/order.step%03d", s.Name, i%functions)
}

// Batches yields what the fleet sends, in order of time, then as the services are in the
// plan.
func (p Plan) Batches() iter.Seq[*store.Batch] {
	step := p.Step
	if step <= 0 {
		step = usualStep
	}
	return func(yield func(*store.Batch) bool) {
		programs := make([]*program, len(p.Services))
		for i, s := range p.Services {
			programs[i] = p.program(s)
		}
		for from := time.Duration(0); from+step <= p.Length; from += step {
			for _, program := range programs {
				for process := range program.service.Processes {
					if !yield(p.batch(program, process, from, step)) {
						return
					}
				}
			}
		}
	}
}

// A program is the stacks of a service.
type program struct {
	service Service
	shapes  []shape
	stacks  map[store.StackID][]*store.Frame
}

// A shape is the stacks of a type, by weight.
type shape struct {
	Shape
	ids     []store.StackID
	weights []int64 // a million together, about
}

func (p Plan) program(s Service) *program {
	if len(s.Stacks) == 0 {
		s.Stacks = Usual
	}
	made := &program{service: s, stacks: map[store.StackID][]*store.Frame{}}
	for _, usual := range s.Stacks {
		made.add(p.random("stacks", s.Name, string(usual.Type)), usual)
	}
	return made
}

func (p *program) add(r *rand.Rand, usual Shape) {
	made := shape{Shape: usual}
	harmonic := int64(0)
	for i := range usual.Count {
		harmonic += 1e6 / int64(i+1)
	}
	for i := range usual.Count {
		frames := append(leaf(usual.Type), p.frames(r, i)...)
		id := store.IDOf(frames)
		p.stacks[id] = frames
		made.ids = append(made.ids, id)
		made.weights = append(made.weights, 1e6*(1e6/int64(i+1))/harmonic)
	}
	p.shapes = append(p.shapes, made)
}

// frames returns a stack, the leaf first: function 0 calls one that a tenth of the stacks
// share, that calls any. The line of the leaf makes each stack another.
func (p *program) frames(r *rand.Rand, number int) []*store.Frame {
	frames := []*store.Frame{p.frame(0, 10), p.frame(1+number%10, 20)}
	for range 4 + r.IntN(24) {
		frames = append(frames, p.frame(11+r.IntN(functions-11), 30))
	}
	frames[len(frames)-1].Line = int32(1000 + number)
	slices.Reverse(frames)
	return frames
}

// leaf returns where the runtime counts a type: who gives a lock back has waits of others.
func leaf(t store.Type) []*store.Frame {
	switch t {
	case store.MutexDelay:
		return []*store.Frame{{Function: "sync.(*Mutex).Unlock", File: "sync/mutex.go", Line: 65}}
	case store.BlockDelay:
		return []*store.Frame{{Function: "runtime.chanrecv1", File: "runtime/chan.go", Line: 505}}
	}
	return nil
}

func (p *program) frame(function, line int) *store.Frame {
	name := p.service.Function(function)
	return &store.Frame{
		Function: name,
		File:     fmt.Sprintf("example.com/%s/order/step%02d.go", p.service.Name, function/10),
		Line:     int32(line + function),
	}
}

func (p Plan) batch(g *program, process int, from, step time.Duration) *store.Batch {
	host := fmt.Sprintf("host-%03d", process)
	version, since := g.service.version(process, from)
	age, instance := from-since, host
	if version.Restart > 0 {
		// Each at a time of its own.
		age += version.Restart * time.Duration(process) / time.Duration(g.service.Processes)
		instance = fmt.Sprintf("%s/%d", host, age/version.Restart)
		age %= version.Restart
	}
	source := store.Source{
		Tenant: p.Tenant, Service: g.service.Name, Version: version.Name, Instance: instance,
		Labels: []store.Label{
			{Name: "region", Value: [...]string{"east", "west"}[process%2]},
			{Name: "zone", Value: fmt.Sprintf("zone-%d", process%3)},
		},
	}
	b := &store.Batch{
		Source: source, From: p.Start.Add(from), Until: p.Start.Add(from + step),
		Stacks: map[store.StackID][]*store.Frame{},
	}
	moment := fmt.Sprint(int64(from))
	r := p.random("values", p.Tenant, g.service.Name, host, moment)
	binary.LittleEndian.PutUint64(b.ID[:8], r.Uint64())
	binary.LittleEndian.PutUint64(b.ID[8:], r.Uint64())
	load := p.load(from)
	speed := p.speed(host)
	for _, s := range g.shapes {
		amount := scale(s.Sum, int64(step), int64(time.Minute))
		b.Profiles = append(b.Profiles, s.profile(r, g, version, amount*load/100*speed/100, from, age, b.Stacks))
	}
	done := scale(operations, int64(step), int64(time.Minute)) * load / 100
	b.Profiles = append(b.Profiles, store.Profile{Type: store.Operations, Samples: []store.Sample{{Value: done}}})
	return b
}

// profile returns a shape's samples of one step that sum to about an amount, stacks that the
// sampler missed left out.
func (s shape) profile(r *rand.Rand, g *program, v Version, amount int64, at, age time.Duration, stacks map[store.StackID][]*store.Frame) store.Profile {
	made := store.Profile{Type: s.Type, Samples: make([]store.Sample, 0, len(s.ids))}
	amount = amount / 100 * (100 - noise + r.Int64N(2*noise+1))
	for i, id := range s.ids {
		value := scale(amount, s.weights[i], 1e6) * v.percent(s.Type, g.stacks[id], at) / 100
		value = value * (50 + r.Int64N(101)) / 100
		units := value / s.Unit
		if r.Int64N(s.Unit) < value%s.Unit {
			units++
		}
		if units == 0 {
			continue
		}
		stacks[id] = g.stacks[id]
		made.Samples = append(made.Samples, store.Sample{Stack: id, Value: units * s.Unit})
	}
	add := func(function string, calls []*store.Frame, value int64) {
		frames := g.calls(function, calls)
		id := store.IDOf(frames)
		stacks[id] = frames
		made.Samples = append(made.Samples, store.Sample{Stack: id, Value: value})
	}
	for _, c := range v.Causes {
		if value := scale(amount, c.Sum, s.Sum) / s.Unit * s.Unit; c.Type == s.Type && value > 0 {
			add(c.Function, c.Calls, value)
		}
	}
	for _, l := range v.Levels {
		if value := l.after(age) / s.Unit * s.Unit; l.Type == s.Type && value > 0 {
			add(l.Function, l.Calls, value)
		}
	}
	return made
}

// calls returns the stack of a function of the service and what it calls.
func (p *program) calls(function string, calls []*store.Frame) []*store.Frame {
	frames := slices.Clone(calls)
	for i := range functions {
		if p.service.Function(i) == function {
			frames = append(frames, p.frame(i, 30))
		}
	}
	return append(frames, p.frame(0, 10))
}

// percent returns the cost of a stack in a version at a time, in percent of its cost in the
// first.
func (v Version) percent(t store.Type, frames []*store.Frame, at time.Duration) int64 {
	cost := int64(100)
	for _, c := range v.Changes {
		if at < c.From || c.Until != 0 && at >= c.Until {
			continue
		}
		has := func(f *store.Frame) bool { return f.Function == c.Function }
		if c.Type == t && slices.ContainsFunc(frames, has) {
			cost = max(0, cost*(100+c.Percent)/100)
		}
	}
	return cost
}

// version returns the version that a process runs at a time after the start, and since when.
func (s Service) version(process int, at time.Duration) (runs Version, since time.Duration) {
	for i, v := range s.Versions {
		deployed := v.Deploy + v.Rollout*time.Duration(process)/time.Duration(max(1, s.Processes-1))
		if i == 0 || deployed <= at {
			runs, since = v, min(deployed, at)
		}
	}
	return runs, since
}

// speed returns the cost of the same work on a host, in percent: 75 to 135, as generations of
// machines differ.
func (p Plan) speed(host string) int64 { return 75 + p.random("speed", host).Int64N(61) }

// load returns how much there is to do in percent: 60 at night to 140 at noon, the same for
// the whole fleet.
func (p Plan) load(at time.Duration) int64 {
	minute := int64(p.Start.Add(at).Unix()/60%1440+1440) % 1440
	return 60 + 80*min(minute, 1440-minute)/720
}

// random returns a source of randomness of its own for each list of names, so that a service
// more in a plan changes nothing for the others.
func (p Plan) random(names ...string) *rand.Rand {
	h := fnv.New64a()
	for _, n := range names {
		fmt.Fprintf(h, "%d:%s", len(n), n)
	}
	return rand.New(rand.NewPCG(p.Seed, h.Sum64()))
}

// scale is x·a/b, none of them negative, in 128 bits on the way.
func scale(x, a, b int64) int64 {
	high, low := bits.Mul64(uint64(x), uint64(a))
	scaled, _ := bits.Div64(high, low, uint64(b))
	return int64(scaled)
}
