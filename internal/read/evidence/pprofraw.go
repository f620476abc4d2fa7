package evidence

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// What go tool pprof -raw prints is the whole profile: its samples by the numbers of their
// locations, then the locations, each with the functions that were inlined there.

var (
	rawTypes  = regexp.MustCompile(`^\S+/\S+( \S+/\S+)*$`)
	rawSample = regexp.MustCompile(`^ *(-?[0-9]+(?: +-?[0-9]+)*): ([0-9 ]*)$`)
	rawLabel  = regexp.MustCompile(`(\S+?):\[([^\]]*)\]`)
	// "     4: 0x4780d2 M=1 runtime.callers.func1 /usr/lib/go/src/runtime/traceback.go:1105:0 s=1103",
	// and below it who inlined that. Older ones have no column.
	rawLocation = regexp.MustCompile(`^ *([0-9]+): 0x([0-9a-f]+) (?:M=[0-9]+ )?(?:\[F\] )?(.*)$`)
	rawFunction = regexp.MustCompile(`^ *(\S.*) (\S*?):([0-9]+)(?::[0-9]+)? s=-?[0-9]+(?:\(.*\))?$`)
)

// maxRawSamples is how many samples, and how many locations, of a printed profile are kept.
const maxRawSamples = 1 << 20

// isPprofRaw accepts what begins as such a text does.
func isPprofRaw(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PeriodType: ")) && bytes.Contains(head, []byte("\nSamples:"))
}

// readPprofRaw folds the profile that was printed. How many samples could not be read is in a note.
func (l *loader) readPprofRaw(s source) error {
	p := newRawProfile()
	if err := l.lines(s, func(line []byte) error { p.line(string(line)); return nil }); err != nil {
		return err
	}
	p.join()
	if len(p.profile.Sample) == 0 {
		return l.pass(notEvidence(artifact.Text, s.name, nil))
	}
	if p.bad > 0 {
		l.note("%s: %d samples could not be read", s.name, p.bad)
	}
	return l.foldProfile(&pprofFile{Profile: p.profile, name: s.name, member: s.member, kindStated: true})
}

// A rawProfile is read line by line.
type rawProfile struct {
	profile   *profile.Profile
	places    *stacks.Writer
	section   func(*rawProfile, string)
	chains    [][]uint64                     // of the samples: numbers of locations
	locations map[uint64][]*profile.Location // one for each function of it
	number    uint64                         // of the last location
	address   uint64
	bad       int
}

func newRawProfile() *rawProfile {
	p := &rawProfile{profile: &profile.Profile{}, locations: map[uint64][]*profile.Location{}, section: (*rawProfile).header}
	p.places = stacks.NewWriter(p.profile)
	return p
}

func (p *rawProfile) line(line string) {
	switch line {
	case "Samples:":
		p.section = (*rawProfile).types
	case "Locations":
		p.section = (*rawProfile).location
	case "Mappings":
		p.section = func(*rawProfile, string) {}
	default:
		p.section(p, line)
	}
}

// header reads a line before the samples.
func (p *rawProfile) header(line string) {
	name, value, _ := strings.Cut(line, ": ")
	switch name {
	case "PeriodType":
		kind, unit, _ := strings.Cut(value, " ")
		p.profile.PeriodType = &profile.ValueType{Type: kind, Unit: unit}
	case "Period":
		p.profile.Period, _ = strconv.ParseInt(value, 10, 64)
	case "Time":
		if at, err := time.Parse("2006-01-02 15:04:05.999999999 -0700 MST", value); err == nil {
			p.profile.TimeNanos = at.UnixNano()
		}
	case "Duration":
		if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < maxSeconds {
			p.profile.DurationNanos = int64(seconds * 1e9)
		}
	}
}

// maxSeconds is the longest duration that is believed, a year.
const maxSeconds = 366 * 86400

// types reads the line with the names of a sample's values.
func (p *rawProfile) types(line string) {
	p.section = (*rawProfile).sample
	if !rawTypes.MatchString(line) {
		return // and no sample has as many values
	}
	for _, name := range strings.Fields(line) {
		name, standard := strings.CutSuffix(name, "[dflt]")
		kind, unit, _ := strings.Cut(name, "/")
		p.profile.SampleType = append(p.profile.SampleType, &profile.ValueType{Type: kind, Unit: unit})
		if standard {
			p.profile.DefaultSampleType = kind
		}
	}
}

// sample reads a sample, or the labels of the last one.
func (p *rawProfile) sample(line string) {
	m := rawSample.FindStringSubmatch(line)
	if m == nil {
		p.labels(line)
		return
	}
	values, okay := wholeNumbers(m[1])
	chain, known := wholeNumbers(m[2])
	if !okay || !known || len(values) != len(p.profile.SampleType) || len(chain) > maxStackFrames || len(p.chains) >= maxRawSamples {
		p.bad++
		return
	}
	ids := make([]uint64, len(chain))
	for i, id := range chain {
		ids[i] = uint64(id)
	}
	p.profile.Sample = append(p.profile.Sample, &profile.Sample{Value: values})
	p.chains = append(p.chains, ids)
}

// labels reads those of the last sample: names:[values], of which the size of objects is a number.
func (p *rawProfile) labels(line string) {
	if len(p.profile.Sample) == 0 {
		return
	}
	s := p.profile.Sample[len(p.profile.Sample)-1]
	for _, m := range rawLabel.FindAllStringSubmatch(line, -1) {
		if size, err := strconv.ParseInt(m[2], 10, 64); err == nil && m[1] == "bytes" {
			s.NumLabel = map[string][]int64{m[1]: {size}}
			continue
		}
		if s.Label == nil {
			s.Label = map[string][]string{}
		}
		s.Label[m[1]] = []string{m[2]}
	}
}

// location reads a location, or a function more of the last one.
func (p *rawProfile) location(line string) {
	place := line
	if m := rawLocation.FindStringSubmatch(line); m != nil {
		p.number, _ = strconv.ParseUint(m[1], 10, 64)
		p.address, _ = strconv.ParseUint(m[2], 16, 64)
		place = m[3]
	}
	if len(p.profile.Location) >= maxRawSamples {
		return
	}
	f := stacks.Frame{PC: p.address}
	if m := rawFunction.FindStringSubmatch(place); m != nil {
		f.Func, f.File = clipName(m[1]), clipName(m[2])
		f.Line, _ = strconv.Atoi(m[3])
	}
	p.locations[p.number] = append(p.locations[p.number], p.places.Location(f))
}

// join gives the samples their stacks. One whose stack is not whole is left out, and counted.
func (p *rawProfile) join() {
	whole := p.profile.Sample[:0]
	for i, s := range p.profile.Sample {
		for _, id := range p.chains[i] {
			s.Location = append(s.Location, p.locations[id]...)
			if len(p.locations[id]) == 0 || len(s.Location) > maxStackFrames {
				s.Location = nil
				break
			}
		}
		if len(s.Location) == 0 && len(p.chains[i]) > 0 {
			p.bad++
			continue
		}
		whole = append(whole, s)
	}
	p.profile.Sample = whole
}

// wholeNumbers reads whole numbers with spaces between them; ok is false where one is none.
func wholeNumbers(text string) (list []int64, ok bool) {
	for _, word := range strings.Fields(text) {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}
