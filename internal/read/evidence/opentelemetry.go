package evidence

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/wire"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// Profiles of OpenTelemetry are what a profiler of a host sends, and what a collector writes
// into a file. Each has one column: those of one process and time are put together, and then
// read as a profile in pprof's format is. Parts of one run that follow each other add up.

// Fields of an ExportProfilesServiceRequest.
const (
	resourceProfiles = 1
	dictionaryOfAll  = 2
)

// isOTLP reports whether data is such a request. One has two kinds of fields, and scopes in
// the first; a profile in pprof's format always has strings, which are a third.
func isOTLP(data []byte) bool {
	scopes := false
	other := errors.New("another field")
	err := wire.EachField(data, func(f wire.Field) error {
		switch {
		case f.Kind != wire.Bytes || f.Number != resourceProfiles && f.Number != dictionaryOfAll:
			return other
		case f.Number == resourceProfiles && !scopes:
			return wire.Messages(f.Body, 2, func(scope []byte) error {
				return wire.Messages(scope, 2, func([]byte) error {
					scopes = true
					return nil
				})
			})
		}
		return nil
	})
	return err == nil && scopes
}

var otlpBegin = regexp.MustCompile(`^\s*\{\s*"(?:resource(?:P|_p)rofiles"\s*:\s*\[|dictionary"\s*:\s*\{\s*"(?:mapping|location|function|link|string|attribute|stack)(?:T|_t)able"\s*:)`)

// isOTLPText accepts a request in JSON.
func isOTLPText(head []byte) bool { return otlpBegin.Match(head) }

// readOTLPText reads requests in JSON, as a collector writes them, one in a line.
func (l *loader) readOTLPText(s source) error {
	data, err := l.readAll(s, maxProfile)
	if data == nil {
		return err
	}
	o := otlpReader{l: l, name: s.name}
	for len(bytes.TrimSpace(data)) > 0 {
		var request []byte
		if request, data, err = opentelemetry.FromJSON(data, maxProfile); err == nil {
			err = o.request(request)
		}
		if err != nil && len(o.parts) > 0 {
			l.note("%s: what follows the first %d profiles cannot be read: %v", s.name, len(o.parts), err)
			break
		}
		if err != nil {
			return l.pass(o.problem(err))
		}
	}
	return o.fold()
}

// otlp reads a request in the wire form.
func (l *loader) otlp(name string, data []byte) error {
	o := otlpReader{l: l, name: name}
	if err := o.request(data); err != nil {
		return l.pass(o.problem(err))
	}
	return o.fold()
}

func (o *otlpReader) problem(err error) *problem.Error {
	return problem.New(problem.Failure, "gowhy record -o run.gowhy -d 5s --url http://HOST:PORT", "%q has profiles of OpenTelemetry that cannot be read: %w", o.name, err)
}

// An otlpReader puts profiles together.
type otlpReader struct {
	l       *loader
	name    string
	parts   []*otlpPart
	known   map[otlpPartKey]*otlpPart
	scopes  int
	ids     uint64 // of locations and functions
	samples int
	places  int // of stacks
	bad     int // samples
}

// An otlpPart is the columns of one scope that are of one process and time.
type otlpPart struct {
	otlpPartKey
	p  *profile.Profile
	at map[otlpKey]*profile.Sample
}

type otlpPartKey struct {
	scope          int
	process        string // what its samples say of it
	columns        string // which belong together
	kind           string
	period         opentelemetry.ValueType
	every          int64
	time, duration uint64
}

type otlpKey struct {
	stack  *otlpStack
	labels string
}

type otlpStack struct {
	locations []*profile.Location
	kernel    bool
}

type otlpDictionary = opentelemetry.Dictionary[*otlpPlace, *otlpStack]

type otlpPlace struct {
	location profile.Location
	kernel   bool
}

// request reads one request with its dictionary.
func (o *otlpReader) request(data []byte) error {
	functions := map[profile.Function]*profile.Function{}
	d := opentelemetry.NewDictionary(otlpLimits{}, func(l opentelemetry.Location) *otlpPlace { return o.placeOf(l, functions) }, o.stackOf)
	if err := wire.Messages(data, dictionaryOfAll, d.Add); err != nil {
		return err
	}
	return wire.Messages(data, resourceProfiles, func(resource []byte) error {
		of, err := otlpResource(d, resource)
		if err != nil {
			return err
		}
		return wire.Messages(resource, 2, func(body []byte) error {
			o.scopes++
			return wire.Messages(body, 2, func(body []byte) error { return o.profile(d, of, body) })
		})
	})
}

func otlpResource(d *otlpDictionary, data []byte) (of otlpLabels, err error) {
	err = wire.Messages(data, 1, func(resource []byte) error {
		return wire.Messages(resource, 1, func(body []byte) error {
			a, err := d.KeyValue(body)
			of.add(a)
			return err
		})
	})
	of.labels = nil // those of a whole process tell nothing apart in it
	return of, err
}

// placeOf makes a location of pprof's. Its ID is its own in all requests.
func (o *otlpReader) placeOf(l opentelemetry.Location, functions map[profile.Function]*profile.Function) *otlpPlace {
	o.ids++
	p := &otlpPlace{location: profile.Location{ID: o.ids, Address: l.Address}, kernel: l.Kernel}
	for _, line := range l.Lines {
		key := profile.Function{Name: line.Function, Filename: line.File}
		if key.Name == "" {
			key.Name = hexName(l.Address)
		}
		if l.Kernel {
			key.Filename = kernelFile
		}
		f := functions[key]
		if f == nil {
			o.ids++
			f = &profile.Function{ID: o.ids, Name: key.Name, Filename: key.Filename}
			functions[key] = f
		}
		p.location.Line = append(p.location.Line, profile.Line{Function: f, Line: line.Number})
	}
	return p
}

func (o *otlpReader) stackOf(places []*otlpPlace) (*otlpStack, error) {
	if o.places += len(places); o.places > maxProfileFrames {
		return nil, fmt.Errorf("%w: more than %d places in all stacks", wire.ErrLong, maxProfileFrames)
	}
	s := &otlpStack{kernel: len(places) > 0 && places[0].kernel}
	for _, p := range places {
		s.locations = append(s.locations, &p.location)
	}
	return s, nil
}

// otlpColumns are the types of samples that belong to one profile, where the period does not
// say so, as it does of samples and their CPU time.
var otlpColumns = map[string]string{"alloc_objects": "alloc", "alloc_space": "alloc", "inuse_objects": "inuse", "inuse_space": "inuse",
	"contentions": "contention", "delay": "contention"}

// otlpUnits are the names of units as pprof has them, of those that UCUM has others for.
var otlpUnits = map[string]string{"By": "bytes", "1": "count", "{count}": "count"}

// profile reads a Profile of a process, as far as its resource names that.
func (o *otlpReader) profile(d *otlpDictionary, of otlpLabels, data []byte) error {
	head, err := d.Head(data)
	if err != nil {
		return err
	}
	if head.Sample.Name == "" {
		return errors.New("a profile does not say what its samples are, as those of older versions of the protocol")
	}
	times := unitOf(&head.Sample)
	every := unitOf(&head.Period)
	if head.Every > math.MaxInt64/every {
		return errors.New("a period is out of range")
	}
	head.Every *= every
	columns := cmp.Or(otlpColumns[head.Sample.Name], head.Period.Name, head.Sample.Name)
	switch {
	case head.Time > math.MaxInt64 || head.Duration > math.MaxInt64-head.Time:
		return errors.New("the time of a profile is out of range")
	case columns == "inuse" || columns == "goroutine": // of a moment, whatever time it is filed under
		head.Time, head.Duration = head.Time+head.Duration, 0
	}
	if head.Duration == 0 && columns == "alloc" {
		columns = "inuse" // since the start of the program, as a heap profile has them
	}
	key := otlpPartKey{scope: o.scopes, columns: columns, kind: head.Kind, period: head.Period, every: head.Every, time: head.Time, duration: head.Duration}
	return wire.Messages(data, opentelemetry.ProfileSample, func(body []byte) error { return o.sample(d, of, key, head.Sample, times, body) })
}

// unitOf gives a type pprof's name of its unit and returns how many of these one of its own is.
func unitOf(t *opentelemetry.ValueType) int64 {
	if n := opentelemetry.Nanoseconds[t.Unit]; n > 0 {
		t.Unit = "nanoseconds"
		return n
	}
	t.Unit = cmp.Or(otlpUnits[t.Unit], t.Unit)
	return 1
}

func (o *otlpReader) sample(d *otlpDictionary, of otlpLabels, key otlpPartKey, column opentelemetry.ValueType, times int64, data []byte) error {
	if o.samples++; o.samples > maxOTLPSamples {
		return fmt.Errorf("%w: more than %d samples", wire.ErrLong, maxOTLPSamples)
	}
	of.process, of.labels = slices.Clip(of.process), slices.Clip(of.labels)
	s, err := opentelemetry.ReadSample(data, func(index int32) error {
		a, err := d.Attribute(index)
		of.add(a)
		return err
	})
	if err != nil {
		return err
	}
	if s.Negative || s.Values+s.Timestamps == 0 || s.Sum > math.MaxInt64/times {
		o.bad++
		return nil
	}
	stack, err := d.Stack(s.Stack)
	if err != nil {
		return err
	}
	if stack == nil { // of a dictionary without stacks
		stack = &otlpStack{}
	}
	key.process = of.name()
	part, err := o.part(key)
	if err == nil {
		part.add(column, stack, of, s.Sum*times)
	}
	return err
}

// maxOTLPSamples bounds the samples of a file: a host of 128 CPUs has 150,000 in a minute.
const maxOTLPSamples = 4 << 20

// maxOTLPParts bounds the processes and times: a host has hundreds of processes, and a file of
// an hour 720 times.
const maxOTLPParts = 1 << 17

// part returns where samples belong that say so of themselves.
func (o *otlpReader) part(key otlpPartKey) (*otlpPart, error) {
	if part := o.known[key]; part != nil {
		return part, nil
	}
	if len(o.parts) == maxOTLPParts {
		return nil, fmt.Errorf("%w: more than %d processes and times", wire.ErrLong, maxOTLPParts)
	}
	part := &otlpPart{otlpPartKey: key, at: map[otlpKey]*profile.Sample{}}
	part.p = &profile.Profile{TimeNanos: int64(key.time), DurationNanos: int64(key.duration), Period: key.every, PeriodType: &profile.ValueType{Type: key.period.Name, Unit: key.period.Unit}}
	if o.known == nil {
		o.known = map[otlpPartKey]*otlpPart{}
	}
	o.known[key] = part
	o.parts = append(o.parts, part)
	return part, nil
}

func (p *otlpPart) add(column opentelemetry.ValueType, stack *otlpStack, of otlpLabels, value int64) {
	i := slices.IndexFunc(p.p.SampleType, func(t *profile.ValueType) bool { return t.Type == column.Name })
	if i < 0 {
		i = len(p.p.SampleType)
		p.p.SampleType = append(p.p.SampleType, &profile.ValueType{Type: column.Name, Unit: column.Unit})
	}
	key := otlpKey{stack, strings.Join(of.labels, "\x00")}
	s := p.at[key]
	if s == nil {
		s = &profile.Sample{Location: stack.locations}
		if len(of.labels) > 0 || stack.kernel { // few have any, and maps are large
			s.Label = map[string][]string{}
		}
		for j := 0; j+1 < len(of.labels); j += 2 {
			s.Label[of.labels[j]] = []string{of.labels[j+1]}
		}
		if stack.kernel {
			s.Label["mode"] = []string{"kernel"}
		}
		p.at[key] = s
		p.p.Sample = append(p.p.Sample, s)
	}
	for len(s.Value) <= i {
		s.Value = append(s.Value, 0)
	}
	if s.Value[i] += value; s.Value[i] < 0 {
		s.Value[i] = math.MaxInt64
	}
}

// otlpLabels are what attributes say of a sample: of which process it is, and what else.
type otlpLabels struct{ process, labels []string }

// otlpNames are the attributes that tell processes apart, the first that there is for people.
var otlpNames = []string{"service.name", "process.executable.name", "service.instance.id", "k8s.pod.name", "container.id", "host.name", "process.pid"}

// maxOTLPLabels bounds what is kept of a sample's attributes.
const maxOTLPLabels = 16

// add notes an attribute. A name with a dot is one of OpenTelemetry's own; of these the name
// of a thread is a label, as the program's own are.
func (o *otlpLabels) add(a opentelemetry.Attribute) {
	switch {
	case a.Text == "":
	case slices.Contains(otlpNames, a.Name):
		if len(o.process) < 2*len(otlpNames) {
			o.process = append(o.process, a.Name, clipName(a.Text))
		}
	case len(o.labels) >= 2*maxOTLPLabels:
	case a.Name == "thread.name":
		o.labels = append(o.labels, "thread", clipName(a.Text))
	case !strings.Contains(a.Name, "."):
		o.labels = append(o.labels, clipName(a.Name), clipName(a.Text))
	}
}

// name returns the process as people know it, and what tells it from others.
func (o *otlpLabels) name() string {
	var parts []string
	for _, n := range otlpNames {
		for i := 0; i+1 < len(o.process); i += 2 {
			if o.process[i] == n && !slices.Contains(parts, o.process[i+1]) {
				parts = append(parts, o.process[i+1])
			}
		}
	}
	return strings.Join(parts, " ")
}

// fold reads what the busiest process has.
func (o *otlpReader) fold() error {
	if len(o.parts) == 0 {
		return o.l.pass(problem.New(problem.Absence, "gowhy record -o run.gowhy -- CMD", "%q has profiles of OpenTelemetry with no samples", o.name))
	}
	if o.bad > 0 {
		o.l.note("%s: %d samples have no value, one below 0 or one that is out of range", o.name, o.bad)
	}
	var runs [][]*pprofFile // of one kind
	for _, part := range o.busiest() {
		p, err := part.finish(o.name)
		if err != nil {
			return o.l.pass(o.problem(err))
		}
		i := slices.IndexFunc(runs, func(run []*pprofFile) bool { return sameKind(run[0], p) })
		if i < 0 {
			runs = append(runs, []*pprofFile{p})
		} else {
			runs[i] = append(runs[i], p)
		}
	}
	for _, run := range runs {
		for _, p := range o.joined(run) {
			if err := o.l.foldProfile(p); err != nil {
				return err
			}
		}
	}
	return nil
}

// busiest returns the parts of the process with most CPU time, or else with most samples: a
// diagnosis is of one.
func (o *otlpReader) busiest() []*otlpPart {
	type weight struct{ cpu, samples float64 }
	weights := map[string]weight{}
	var names []string
	var all weight
	for _, part := range o.parts {
		w, known := weights[part.process]
		if !known {
			names = append(names, part.process)
		}
		if isCPU(part.p) {
			for _, s := range part.p.Sample {
				w.cpu += float64(s.Value[0])
				all.cpu += float64(s.Value[0])
			}
		}
		w.samples += float64(len(part.p.Sample))
		all.samples += float64(len(part.p.Sample))
		weights[part.process] = w
	}
	if len(names) == 1 {
		return o.parts
	}
	most := slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(weights[a].cpu, weights[b].cpu), cmp.Compare(weights[a].samples, weights[b].samples))
	})
	share, of := weights[most].samples/all.samples, "samples"
	if all.cpu > 0 {
		share, of = weights[most].cpu/all.cpu, "CPU time"
	}
	o.l.note("%s has profiles of %d processes; only those of %q were read, which has %s of the %s", o.name, len(names),
		cmp.Or(most, "one without a name"), figures.Percent(share), of)
	return slices.DeleteFunc(o.parts, func(p *otlpPart) bool { return p.process != most })
}

// finish makes a profile of a part. What it is its attribute says where its columns do not.
func (p *otlpPart) finish(name string) (*pprofFile, error) {
	for _, s := range p.p.Sample {
		for len(s.Value) < len(p.p.SampleType) {
			s.Value = append(s.Value, 0)
		}
	}
	p.number()
	if hasType("alloc_space", "alloc_objects")(p.p) && !hasType("inuse_space")(p.p) {
		p.p.DefaultSampleType = "alloc_space"
	}
	f := &pprofFile{Profile: p.p, name: name, member: map[string]string{"mutex": recording.MutexMember, "block": recording.BlockMember}[p.kind]}
	return f, p.p.CheckValid()
}

// number lists locations and functions as a profile has them.
func (p *otlpPart) number() {
	locations, functions := map[*profile.Location]bool{}, map[*profile.Function]bool{}
	for _, s := range p.p.Sample {
		for _, l := range s.Location {
			if locations[l] {
				continue
			}
			locations[l] = true
			p.p.Location = append(p.p.Location, l)
			for _, line := range l.Line {
				if !functions[line.Function] {
					functions[line.Function] = true
					p.p.Function = append(p.p.Function, line.Function)
				}
			}
		}
	}
}

// sameKind reports whether two profiles are of one kind.
func sameKind(a, b *pprofFile) bool {
	f, known := profileFormat(a)
	g, alsoKnown := profileFormat(b)
	return known && alsoKnown && f.source == g.source && f.what == g.what && a.DefaultSampleType == b.DefaultSampleType && (a.DurationNanos > 0) == (b.DurationNanos > 0)
}

// joined adds profiles of one kind up that are each of a time, and keeps the first and the last
// of those that are of moments.
func (o *otlpReader) joined(run []*pprofFile) []*pprofFile {
	slices.SortStableFunc(run, func(a, b *pprofFile) int { return cmp.Compare(a.TimeNanos, b.TimeNanos) })
	if len(run) == 1 {
		return run
	}
	if run[0].DurationNanos <= 0 {
		if len(run) > 2 {
			o.l.note("%s has %d %s profiles; the first and the last were read", o.name, len(run), typeName(run[0].Profile))
		}
		return []*pprofFile{run[0], run[len(run)-1]}
	}
	var list []*profile.Profile
	for _, p := range run {
		list = append(list, p.Profile)
	}
	sum, err := profile.Merge(list)
	if err != nil {
		o.l.note("%s has %s profiles that do not add up; the last was read: %v", o.name, typeName(run[0].Profile), err)
		return run[len(run)-1:]
	}
	sum.DurationNanos = covered(list)
	return []*pprofFile{{Profile: sum, name: o.name, member: run[0].member}}
}

// covered returns the time that profiles in their order are of, that of several once.
func covered(list []*profile.Profile) (sum int64) {
	until := int64(math.MinInt64)
	for _, p := range list {
		end := p.TimeNanos + p.DurationNanos
		sum += max(0, end-max(until, p.TimeNanos))
		until = max(until, end)
	}
	return sum
}

// otlpLimits bound the tables of a dictionary; what becomes of them is bounded where it is made.
type otlpLimits struct{}

func (otlpLimits) Entry(what string, n int) error { return notMore(n, maxOTLPSamples, what) }
func (otlpLimits) Text(int, int) error            { return nil }
func (otlpLimits) Lines(n int) error              { return notMore(n, maxProfileFrames, "lines") }
func (otlpLimits) Stack(n int) error              { return notMore(n, maxStackFrames, "frames of a stack") }

func notMore(n, most int, what string) error {
	if n > most {
		return fmt.Errorf("%w: more than %d %s", wire.ErrLong, most, what)
	}
	return nil
}
