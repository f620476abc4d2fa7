package opentelemetry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/wire"
)

// A shape is the fields of a message by their names in JSON, those that are read.
type shape map[string]field

type field struct {
	number int
	kind   kind
	many   bool
	of     shape // of a message
}

type kind int

const (
	message  kind = iota
	text          // bytes, too: only whether they are the same matters
	index32       // int32
	integer       // int64
	unsigned      // uint64
	fixed         // fixed64
	truth         // bool
)

// requestShape is that of an ExportProfilesServiceRequest.
var requestShape = func() shape {
	one := func(n int, k kind) field { return field{number: n, kind: k} }
	many := func(n int, k kind) field { return field{number: n, kind: k, many: true} }
	sub := func(n int, of shape) field { return field{number: n, of: of} }
	subs := func(n int, of shape) field { return field{number: n, of: of, many: true} }
	anyValue := shape{"stringValue": one(1, text), "boolValue": one(2, truth), "intValue": one(3, integer), "stringValueStrindex": one(8, index32)}
	valueType := shape{"typeStrindex": one(1, index32), "unitStrindex": one(2, index32)}
	sample := shape{"stackIndex": one(1, index32), "attributeIndices": many(2, index32), "values": many(4, integer), "timestampsUnixNano": many(5, fixed)}
	profile := shape{"sampleType": sub(ProfileSampleType, valueType), "samples": subs(ProfileSample, sample),
		"timeUnixNano": one(ProfileTime, fixed), "durationNano": one(ProfileDuration, unsigned),
		"periodType": sub(ProfilePeriodType, valueType), "period": one(ProfilePeriod, integer), "profileId": one(ProfileID, text), "attributeIndices": many(ProfileAttributes, index32)}
	resource := shape{"attributes": subs(1, shape{"key": one(1, text), "value": sub(2, anyValue), "keyStrindex": one(3, index32)})}
	line := shape{"functionIndex": one(1, index32), "line": one(2, integer)}
	tables := shape{
		"mappingTable":   subs(DictionaryMappings, shape{"filenameStrindex": one(4, index32)}),
		"locationTable":  subs(DictionaryLocations, shape{"mappingIndex": one(1, index32), "address": one(2, unsigned), "lines": subs(3, line), "attributeIndices": many(4, index32)}),
		"functionTable":  subs(DictionaryFunctions, shape{"nameStrindex": one(1, index32), "systemNameStrindex": one(2, index32), "filenameStrindex": one(3, index32)}),
		"stringTable":    many(DictionaryStrings, text),
		"attributeTable": subs(DictionaryAttributes, shape{"keyStrindex": one(1, index32), "value": sub(2, anyValue)}),
		"linkTable":      subs(DictionaryLinks, shape{}), // of which nothing is kept
		"stackTable":     subs(DictionaryStacks, shape{"locationIndices": many(1, index32)}),
	}
	return shape{
		"resourceProfiles": subs(1, shape{"resource": sub(1, resource), "scopeProfiles": subs(2, shape{"profiles": subs(2, profile)})}),
		"dictionary":       sub(2, tables),
	}
}()

// FromJSON returns the wire form of the request in JSON that data begin with, of most bytes,
// and what follows it. An error is [wire.ErrLong] where it has more.
func FromJSON(data []byte, most int) (request, rest []byte, err error) {
	t := &transcoder{Decoder: json.NewDecoder(bytes.NewReader(data)), most: most}
	t.UseNumber()
	if err = t.delim('{'); err == nil {
		request, err = t.object(nil, requestShape)
	}
	return request, data[t.InputOffset():], err
}

// A transcoder writes as a protocol buffer what it reads as JSON.
type transcoder struct {
	*json.Decoder
	most int
}

// object appends the fields of an object that has begun.
func (t *transcoder) object(out []byte, s shape) ([]byte, error) {
	for t.More() {
		token, err := t.Token()
		if err != nil {
			return out, err
		}
		name, _ := token.(string)
		f, known := s[camel(name)]
		if !known {
			var skipped json.RawMessage
			err = t.Decode(&skipped)
		} else {
			out, err = t.field(out, f)
		}
		if err != nil {
			return out, err
		}
	}
	return out, t.delim('}')
}

// camel returns a name as JSON has it, which may also be written as in the .proto file.
func camel(name string) string {
	if !strings.Contains(name, "_") {
		return name
	}
	var b strings.Builder
	for i, part := range strings.Split(name, "_") {
		if i > 0 && part != "" {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

func (t *transcoder) field(out []byte, f field) ([]byte, error) {
	if !f.many {
		return t.value(out, f)
	}
	token, err := t.Token()
	if err != nil || token == nil { // null is not set
		return out, err
	}
	if token != json.Delim('[') {
		return out, fmt.Errorf("%.40q is no list", fmt.Sprint(token))
	}
	for t.More() {
		before := len(out)
		if out, err = t.value(out, f); err != nil {
			return out, err
		}
		if len(out) == before {
			return out, errors.New("a list has null in it")
		}
	}
	return out, t.delim(']')
}

// value appends one value, with its tag; nothing for null.
func (t *transcoder) value(out []byte, f field) ([]byte, error) {
	if len(out) > t.most {
		return out, fmt.Errorf("%w: more than %d bytes", wire.ErrLong, t.most)
	}
	token, err := t.Token()
	switch {
	case err != nil || token == nil:
		return out, err
	case f.kind != message:
		return scalar(out, f, token)
	case token != json.Delim('{'):
		return out, fmt.Errorf("%.40q is no object", fmt.Sprint(token))
	}
	body, err := t.object(nil, f.of)
	return wire.AppendBytes(out, f.number, body), err
}

func (t *transcoder) delim(want json.Delim) error {
	token, err := t.Token()
	if err == nil && token != want {
		err = fmt.Errorf("%.40q where %v is expected", fmt.Sprint(token), want)
	}
	return err
}

// scalar appends a string, a number or a truth. Numbers may be written as strings.
func scalar(out []byte, f field, token json.Token) ([]byte, error) {
	var value uint64
	var digits string
	switch token := token.(type) {
	case string:
		if f.kind == text {
			return wire.AppendBytes(out, f.number, token), nil
		}
		digits = token
	case json.Number:
		digits = token.String()
	case bool:
		if f.kind == truth {
			if token {
				value = 1
			}
			return wire.AppendVarint(out, f.number, value), nil
		}
	}
	var err error
	switch f.kind {
	case index32, integer:
		var n int64
		n, err = strconv.ParseInt(digits, 10, map[kind]int{index32: 32, integer: 64}[f.kind])
		value = uint64(n)
	case unsigned, fixed:
		value, err = strconv.ParseUint(digits, 10, 64)
	default:
		err = strconv.ErrSyntax
	}
	if err != nil {
		return out, fmt.Errorf("%.40q is no value of field %d", fmt.Sprint(token), f.number)
	}
	if f.kind == fixed {
		return wire.AppendFixed64(out, f.number, value), nil
	}
	return wire.AppendVarint(out, f.number, value), nil
}
