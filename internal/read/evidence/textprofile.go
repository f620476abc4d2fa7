package evidence

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/internal/ground/stacks"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// The text form of profiles, which net/http/pprof gives with debug=1 and people
// save because they can read it. All kinds have one shape: a first line that
// names the kind, then records of values, "@" and addresses, each with its
// frames on lines that begin with "#".

// A textKind is one kind of profile in text form.
type textKind struct {
	begin  string // of the first line
	source model.Source
	once   bool     // a run has one, not one at each end
	types  []string // name and unit of each column
	values func(p *textParser, fields []string) []int64
}

func textKinds() []textKind {
	contention := []string{"contentions", "count", "delay", "nanoseconds"}
	return []textKind{
		{"goroutine profile:", model.GoroutineProfile, false, []string{"goroutine", "count"}, (*textParser).count},
		{"threadcreate profile:", model.ThreadCreate, true, []string{"threadcreate", "count"}, (*textParser).count},
		{"goroutineleak profile:", model.Leak, true, []string{"goroutineleak", "count"}, (*textParser).count},
		{"heap profile:", model.Heap, false, []string{"alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "count", "inuse_space", "bytes"}, (*textParser).heap},
		{"--- mutex:", model.Mutex, false, contention, (*textParser).contention},
		{"--- contention:", model.Block, false, contention, (*textParser).contention},
	}
}

// textProfileBegin is the first line of a profile in text form.
var textProfileBegin = regexp.MustCompile(`^(?:heap profile: +\d+: +\d+ \[ *\d+: +\d+\] @ \w+(?:/\d+)?|(?:goroutine|threadcreate|goroutineleak) profile: total \d+|--- (?:mutex|contention):)\r?(?:\n|$)`)

func textKindOf(head []byte) (textKind, bool) {
	if !textProfileBegin.Match(head) {
		return textKind{}, false
	}
	all := textKinds()
	i := slices.IndexFunc(all, func(k textKind) bool { return bytes.HasPrefix(head, []byte(k.begin)) })
	if i < 0 {
		return textKind{}, false
	}
	return all[i], true
}

func isTextProfile(head []byte) bool {
	_, ok := textKindOf(head)
	return ok
}

// readTextProfile turns a text into the profile that it was printed from.
func (l *loader) readTextProfile(s source) error {
	data, err := l.readAll(s, maxProfile)
	if data == nil {
		return err
	}
	kind, ok := textKindOf(data)
	if !ok {
		return l.pass(notEvidence(artifact.Text, s.name, data))
	}
	p := newTextParser(kind)
	for line := range bytes.Lines(data) {
		p.line(string(bytes.TrimRight(line, "\r\n")))
	}
	p.flush()
	return l.foldText(kind.source, p.file(s.name, s.member))
}

// file returns what was read, as a file.
func (p *textParser) file(name, member string) *pprofFile {
	return &pprofFile{Profile: p.p, name: name, member: member, kindStated: true, bad: p.bad, stats: p.memStats()}
}

// foldText folds a profile of a source that was read from text.
func (l *loader) foldText(src model.Source, p *pprofFile) error {
	if p.bad > 0 {
		l.note("%s: %d records could not be read", p.name, p.bad)
	}
	all := formats()
	f := all[slices.IndexFunc(all, func(f format) bool { return f.source == src && f.fold != nil })]
	return f.fold(l, f, p)
}

// A textParser builds a profile from the lines of its text form.
type textParser struct {
	kind      textKind
	p         *profile.Profile
	places    *stacks.Writer
	sample    *profile.Sample // the record that frames belong to
	addresses []uint64        // of that record, used when no frames follow
	rate      float64         // heap: mean bytes between samples
	hertz     float64         // contention: cycles in a second
	bad       int
	stats     model.MemStats     // heap: what the text ends with
	fields    map[string]float64 // those of the statistics, by name
}

func newTextParser(kind textKind) *textParser {
	p := &textParser{kind: kind, p: &profile.Profile{}}
	p.places = stacks.NewWriter(p.p)
	for i := 0; i+1 < len(kind.types); i += 2 {
		p.p.SampleType = append(p.p.SampleType, &profile.ValueType{Type: kind.types[i], Unit: kind.types[i+1]})
	}
	return p
}

func (p *textParser) line(line string) {
	switch {
	case textFrameLine.MatchString(line):
		p.frame(strings.TrimLeft(line, "# \t"))
	case strings.HasPrefix(line, "# labels: {"):
		p.labels(line[len("# labels: {"):])
	case len(line) > 0 && line[0] == '#': // the heap's statistics at the end
		p.statistic(line)
	case len(p.kind.begin) <= len(line) && line[:len(p.kind.begin)] == p.kind.begin:
		p.header(line)
	default:
		p.record(line)
	}
}

// header reads the sampling rate of a heap profile, which ends its first line
// doubled: "@ heap/1048576".
func (p *textParser) header(line string) {
	if _, rate, ok := cutLast(line, "heap/"); ok {
		if n, err := strconv.ParseInt(rate, 10, 64); err == nil && n > 1 {
			p.rate = float64(n) / 2
		}
	}
}

// record begins a record, or ends one when the line is none.
func (p *textParser) record(line string) {
	p.flush()
	if hz, ok := strings.CutPrefix(line, "cycles/second="); ok {
		p.hertz, _ = strconv.ParseFloat(hz, 64)
		return
	}
	values, addresses, ok := strings.Cut(line, " @")
	if !ok {
		return
	}
	v := p.kind.values(p, strings.Fields(values))
	if len(v) != len(p.p.SampleType) {
		p.bad++
		return
	}
	p.sample = &profile.Sample{Value: v}
	for _, a := range strings.Fields(addresses) {
		if pc, err := strconv.ParseUint(a, 0, 64); err == nil && len(p.addresses) < maxStackFrames {
			p.addresses = append(p.addresses, pc)
		}
	}
}

// textFrameLine is one frame of a stack. Where a text was pasted its tabs can be spaces,
// and the sign before each frame a list's or a heading's, and gone.
var textFrameLine = regexp.MustCompile(`^(?:#\t|#? +0x[0-9a-f]+[ \t])`)

// column cuts the first of columns that tabs or several spaces part.
func column(s string) (first, rest string) {
	i := strings.IndexByte(s, '\t')
	if j := strings.Index(s, "  "); j >= 0 && (i < 0 || j < i) {
		i = j
	}
	if i < 0 {
		return s, ""
	}
	return s[:i], strings.TrimLeft(s[i:], " \t")
}

// frame reads "0x47e0f4	main.work+0x34	/src/work.go:12".
func (p *textParser) frame(line string) {
	if p.sample == nil || len(p.sample.Location) >= maxStackFrames {
		return
	}
	pc, rest := column(line)
	name, place := column(rest)
	name, _, _ = cutLast(name, "+0x")
	f := stacks.Frame{Func: strings.TrimSpace(name)}
	f.PC, _ = strconv.ParseUint(pc, 0, 64)
	file, number, ok := cutLast(strings.TrimSpace(place), ":")
	if f.File = file; ok {
		f.Line, _ = strconv.Atoi(number)
	}
	p.sample.Location = append(p.sample.Location, p.places.Location(f))
}

// labels reads those of the program that a record has, before its frames.
func (p *textParser) labels(list string) {
	if p.sample == nil {
		return
	}
	labels := map[string]string{}
	readLabels(list, labels)
	p.sample.Label = map[string][]string{}
	for k, v := range labels {
		if !slices.Contains(model.StandingLabels, k) { // as which it would be read
			p.sample.Label[k] = []string{v}
		}
	}
}

// flush ends the record.
func (p *textParser) flush() {
	if s := p.sample; s != nil {
		if len(s.Location) == 0 {
			for _, pc := range p.addresses {
				s.Location = append(s.Location, p.places.Location(stacks.Frame{PC: pc}))
			}
		}
		if p.kind.source == model.GoroutineProfile && p.parked(s) {
			if s.Label == nil {
				s.Label = map[string][]string{}
			}
			s.Label[stateLabel] = []string{model.StateWaiting}
		}
		p.p.Sample = append(p.p.Sample, s)
	}
	p.sample, p.addresses = nil, p.addresses[:0]
}

// parked reports whether the text leaves frames of the runtime out at the leaf of a
// goroutine: it waits then, and nothing tells for what. A frame is printed with the
// address before the one to return to.
func (p *textParser) parked(s *profile.Sample) bool {
	return len(s.Location) > 0 && len(p.addresses) > 1 && p.addresses[0] != s.Location[0].Address && p.addresses[0] != s.Location[0].Address+1
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// count reads "7".
func (p *textParser) count(f []string) []int64 { return integers(f, 1) }

// contention reads "cycles count".
func (p *textParser) contention(f []string) []int64 {
	v := integers(f, 2)
	if v == nil {
		return nil
	}
	if p.hertz > 0 {
		v[0] = int64(float64(v[0]) / p.hertz * 1e9)
	}
	return []int64{v[1], v[0]}
}

// heap reads "in-use objects: bytes [allocated objects: bytes]". The text has
// what was sampled; runtime/pprof scales it up for its other format, by the
// chance that an object of the mean size is sampled, and so does this.
func (p *textParser) heap(f []string) []int64 {
	for i := range f {
		f[i] = strings.Trim(f[i], ":[]")
	}
	v := integers(f, 4)
	if v == nil {
		return nil
	}
	inuse, inuseBytes := p.scale(v[0], v[1])
	alloc, allocBytes := p.scale(v[2], v[3])
	return []int64{alloc, allocBytes, inuse, inuseBytes}
}

func (p *textParser) scale(count, size int64) (int64, int64) {
	if count == 0 || size == 0 || p.rate <= 1 {
		return count, size
	}
	mean := float64(size) / float64(count)
	s := 1 / (1 - math.Exp(-mean/p.rate))
	return int64(float64(count) * s), int64(float64(size) * s)
}

// integers reads exactly n numbers that are not negative; nil when that is not
// what there is.
func integers(f []string, n int) []int64 {
	if len(f) != n {
		return nil
	}
	v := make([]int64, n)
	for i := range f {
		var err error
		if v[i], err = strconv.ParseInt(f[i], 10, 64); err != nil || v[i] < 0 {
			return nil
		}
	}
	return v
}
