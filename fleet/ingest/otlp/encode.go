package otlp

import (
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// Encode returns an ExportProfilesServiceRequest with all that batches have. [Handler] makes the
// same sums of it, of the same processes; their labels have service.version and
// service.instance.id besides, which is where other receivers look.
func Encode(batches ...*store.Batch) []byte {
	e := newEncoder()
	var out []byte
	for _, b := range batches {
		out = appendBody(out, 1, e.resource(b))
	}
	return appendBody(out, 2, e.dictionary())
}

// entries are those of a table of the dictionary, each once. Entry 0 of each is empty.
type entries[K comparable] struct {
	number protowire.Number // of the table
	known  map[K]int32
	out    []byte
}

// at returns the index of an entry, which encode makes when it is new.
func (t *entries[K]) at(key K, encode func() []byte) uint64 {
	i, ok := t.known[key]
	if !ok {
		body := encode()
		i = int32(len(t.known))
		t.known[key] = i
		t.out = appendBody(t.out, t.number, body)
	}
	return uint64(i)
}

func tableOf[K comparable](number protowire.Number) *entries[K] {
	t := &entries[K]{number: number, known: map[K]int32{}}
	var empty K
	t.at(empty, func() []byte { return nil })
	return t
}

// An encoder writes the dictionary beside the profiles that refer to it.
type encoder struct {
	strings    *entries[string]
	functions  *entries[store.Frame]
	locations  *entries[store.Frame]
	stacks     *entries[store.StackID]
	attributes *entries[opentelemetry.Attribute]
}

func newEncoder() *encoder {
	return &encoder{tableOf[string](opentelemetry.DictionaryStrings), tableOf[store.Frame](opentelemetry.DictionaryFunctions), tableOf[store.Frame](opentelemetry.DictionaryLocations),
		tableOf[store.StackID](opentelemetry.DictionaryStacks), tableOf[opentelemetry.Attribute](opentelemetry.DictionaryAttributes)}
}

// dictionary has all tables, those without anything to say included: receivers look for
// entry 0 of each.
func (e *encoder) dictionary() (out []byte) {
	out = appendBody(out, opentelemetry.DictionaryMappings, nil)
	out = append(out, e.locations.out...)
	out = append(out, e.functions.out...)
	out = appendBody(out, opentelemetry.DictionaryLinks, nil)
	out = append(out, e.strings.out...)
	out = append(out, e.attributes.out...)
	return append(out, e.stacks.out...)
}

// resource returns a ResourceProfiles.
func (e *encoder) resource(b *store.Batch) []byte {
	var resource, scope []byte
	for _, a := range attributesOf(b.Source) {
		keyValue := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), plain(a.Name))
		resource = appendBody(resource, 1, appendBody(keyValue, 2, textValue(a.Text)))
	}
	for _, p := range b.Profiles {
		scope = appendBody(scope, 2, e.profile(b, p))
	}
	return appendBody(appendBody(nil, 1, resource), 2, scope)
}

// attributesOf returns those of a resource: what [sourceOf] makes the same source of.
func attributesOf(s store.Source) []opentelemetry.Attribute {
	all := []opentelemetry.Attribute{{Name: serviceName, Text: s.Service}}
	own := map[string]bool{serviceName: true, ingest.LabelService: true}
	for _, l := range s.Labels {
		if !own[l.Name] {
			own[l.Name] = true
			all = append(all, opentelemetry.Attribute{Name: l.Name, Text: l.Value})
		}
	}
	for _, a := range []opentelemetry.Attribute{{Name: "service.version", Text: s.Version}, {Name: "service.instance.id", Text: s.Instance}} {
		if a.Text != "" && !own[a.Name] {
			all = append(all, a)
		}
	}
	return all
}

// profile returns a Profile.
func (e *encoder) profile(b *store.Batch, of store.Profile) (out []byte) {
	parts := append(strings.SplitN(string(of.Type), ":", 5), "", "", "", "")
	p := profile{Sample: opentelemetry.ValueType{Name: parts[1], Unit: parts[2]}, Period: opentelemetry.ValueType{Name: parts[3], Unit: parts[4]}}
	out = appendBody(out, opentelemetry.ProfileSampleType, e.valueType(p.Sample))
	for _, s := range of.Samples {
		stack := e.stacks.at(s.Stack, func() []byte { return e.stack(b.Stacks[s.Stack]) })
		sample := appendNumber(nil, 1, stack)
		out = appendBody(out, opentelemetry.ProfileSample, appendBody(sample, 4, protowire.AppendVarint(nil, uint64(s.Value))))
	}
	out = protowire.AppendFixed64(protowire.AppendTag(out, opentelemetry.ProfileTime, protowire.Fixed64Type), uint64(max(0, b.From.UnixNano())))
	out = appendNumber(out, opentelemetry.ProfileDuration, uint64(max(0, b.Until.Sub(b.From))))
	out = appendBody(out, opentelemetry.ProfilePeriodType, e.valueType(p.Period))
	if said, times, err := p.kind(); err != nil || said != of.Type || times != 1 {
		kind := e.attributes.at(opentelemetry.Attribute{Name: opentelemetry.KindAttribute, Text: parts[0]}, func() []byte {
			return appendBody(appendNumber(nil, 1, e.text(opentelemetry.KindAttribute)), 2, textValue(parts[0]))
		})
		out = appendBody(out, opentelemetry.ProfileAttributes, protowire.AppendVarint(nil, kind))
	}
	return out
}

func (e *encoder) valueType(t opentelemetry.ValueType) []byte {
	return appendNumber(appendNumber(nil, 1, e.text(t.Name)), 2, e.text(t.Unit))
}

// stack returns a Stack, with a location for each line of a function.
func (e *encoder) stack(frames []*store.Frame) []byte {
	var places []byte
	for _, f := range frames {
		place := e.locations.at(*f, func() []byte {
			of := e.functions.at(store.Frame{Function: f.Function, File: f.File}, func() []byte {
				return appendNumber(appendNumber(nil, 1, e.text(f.Function)), 3, e.text(f.File))
			})
			return appendBody(nil, 3, appendNumber(appendNumber(nil, 1, of), 2, uint64(f.Line)))
		})
		places = protowire.AppendVarint(places, place)
	}
	if len(places) == 0 {
		return nil
	}
	return appendBody(nil, 1, places)
}

func (e *encoder) text(s string) uint64 {
	s = plain(s)
	return e.strings.at(s, func() []byte { return []byte(s) })
}

// plain returns a text as protocol buffers have it: receivers refuse the whole request else.
func plain(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// textValue returns an AnyValue.
func textValue(s string) []byte {
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), plain(s))
}

func appendBody(out []byte, number protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(out, number, protowire.BytesType), body)
}

// appendNumber leaves out 0, which is what is not set.
func appendNumber(out []byte, number protowire.Number, n uint64) []byte {
	if n == 0 {
		return out
	}
	return protowire.AppendVarint(protowire.AppendTag(out, number, protowire.VarintType), n)
}
