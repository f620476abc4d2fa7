package otlp

import (
	"errors"
	"fmt"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/profiles/wire"
	"github.com/gowhy/gowhy/fleet/store"
)

// errRequest is what an error is of a request of which nothing can be kept.
var errRequest = errors.New("the request cannot be kept")

// A table is one of the dictionary's. Its entries are read when they are used, and once.
type table[T any] struct {
	what    string
	bodies  [][]byte
	entries []entry[T]
	read    func([]byte) (T, error)
}

type entry[T any] struct {
	value T
	err   error
	done  bool
}

// at is the entry of an index. Entry 0 of a table without any is empty: it stands for what
// is not set.
func (t *table[T]) at(index int32) (v T, err error) {
	if len(t.bodies) == 0 {
		t.bodies = [][]byte{nil}
	}
	if index < 0 || int(index) >= len(t.bodies) {
		return v, fmt.Errorf("%s %d is not in the dictionary, which has %d", t.what, index, len(t.bodies))
	}
	if t.entries == nil {
		t.entries = make([]entry[T], len(t.bodies))
	}
	e := &t.entries[index]
	if !e.done {
		e.value, e.err = t.read(t.bodies[index])
		e.done = true
	}
	return e.value, e.err
}

// A dictionary is what all profiles of a request refer to.
type dictionary struct {
	limits     profiles.Limits
	strings    table[string]
	mappings   table[string] // their files
	functions  table[function]
	locations  table[*profiles.Place]
	stackTable table[store.StackID]
	attributes table[attribute]
	stacks     *profiles.Stacks
	lines      int // of all locations that were read
}

type function struct{ name, file string }

// Numbers of fields in ProfilesDictionary.
const (
	dictionaryMappings   = 1
	dictionaryLocations  = 2
	dictionaryFunctions  = 3
	dictionaryLinks      = 4
	dictionaryStrings    = 5
	dictionaryAttributes = 6
	dictionaryStacks     = 7
)

func newDictionary(l profiles.Limits) *dictionary {
	d := &dictionary{limits: l, stacks: profiles.NewStacks(l)}
	d.strings = table[string]{what: "string", read: func(body []byte) (string, error) { return profiles.Clean(body), nil }}
	d.mappings = table[string]{what: "mapping", read: d.mapping}
	d.functions = table[function]{what: "function", read: d.function}
	d.locations = table[*profiles.Place]{what: "location", read: d.location}
	d.stackTable = table[store.StackID]{what: "stack", read: d.stack}
	d.attributes = table[attribute]{what: "attribute", read: d.attribute}
	return d
}

// add notes the entries of a ProfilesDictionary.
func (d *dictionary) add(data []byte) error {
	return wire.Each(data, func(f wire.Field) error {
		if f.Kind != protowire.BytesType {
			return nil
		}
		var bodies *[][]byte
		switch f.Number {
		case dictionaryMappings:
			bodies = &d.mappings.bodies
		case dictionaryLocations:
			bodies = &d.locations.bodies
		case dictionaryFunctions:
			bodies = &d.functions.bodies
		case dictionaryStrings:
			if err := d.limits.Text(len(d.strings.bodies), len(f.Body)); err != nil {
				return err
			}
			bodies = &d.strings.bodies
		case dictionaryAttributes:
			bodies = &d.attributes.bodies
		case dictionaryStacks:
			bodies = &d.stackTable.bodies
		default:
			return nil
		}
		*bodies = append(*bodies, f.Body)
		return d.limits.Entry("entries in a table of the dictionary", len(*bodies))
	})
}

// index is an index as protocol buffers read an int32: its lower half.
func index(value uint64) int32 { return int32(uint32(value)) }

// indices sets those that a message has as numbers, each at the number of its field.
func indices(body []byte, at *[5]int32) error {
	return wire.Each(body, func(f wire.Field) error {
		if f.Number < len(at) && f.Kind == protowire.VarintType {
			at[f.Number] = index(f.Value)
		}
		return nil
	})
}

func (d *dictionary) mapping(body []byte) (string, error) {
	var at [5]int32
	if err := indices(body, &at); err != nil {
		return "", err
	}
	return d.strings.at(at[4])
}

func (d *dictionary) function(body []byte) (f function, err error) {
	var at [5]int32
	if err = indices(body, &at); err != nil {
		return f, err
	}
	if f.name, err = d.strings.at(at[1]); err == nil && f.name == "" {
		f.name, err = d.strings.at(at[2])
	}
	if err == nil {
		f.file, err = d.strings.at(at[3])
	}
	return f, err
}

// location is a place: its lines, or its address in a file where it has none.
func (d *dictionary) location(body []byte) (*profiles.Place, error) {
	var mapping int32
	var address uint64
	var frames []*store.Frame
	var unnamed []int // frames
	err := wire.Each(body, func(f wire.Field) error {
		switch {
		case f.Number == 1 && f.Kind == protowire.VarintType:
			mapping = index(f.Value)
		case f.Number == 2 && f.Kind == protowire.VarintType:
			address = f.Value
		case f.Number == 3 && f.Kind == protowire.BytesType:
			d.lines++
			if err := d.limits.Lines(d.lines); err != nil {
				return err
			}
			if err := d.limits.Stack(len(frames) + 1); err != nil {
				return err
			}
			frame, err := d.line(f.Body)
			if frame.Function == "" {
				unnamed = append(unnamed, len(frames))
			}
			frames = append(frames, &frame)
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	file, err := d.mappings.at(mapping)
	if err != nil {
		return nil, err
	}
	if len(frames) == 0 {
		frames, unnamed = []*store.Frame{{File: file}}, []int{0}
	}
	for _, i := range unnamed {
		frames[i].Function = profiles.Address(address)
	}
	return profiles.PlaceOf(frames), nil
}

func (d *dictionary) line(body []byte) (store.Frame, error) {
	var of int32
	var number int64
	err := wire.Each(body, func(f wire.Field) error {
		switch {
		case f.Kind != protowire.VarintType:
		case f.Number == 1:
			of = index(f.Value)
		case f.Number == 2:
			number = int64(f.Value)
		}
		return nil
	})
	if err != nil {
		return store.Frame{}, err
	}
	fn, err := d.functions.at(of)
	return store.Frame{Function: fn.name, File: fn.file, Line: profiles.LineOf(number)}, err
}

func (d *dictionary) stack(body []byte) (store.StackID, error) {
	var places []*profiles.Place
	err := wire.Each(body, func(f wire.Field) error {
		if f.Number != 1 {
			return nil
		}
		return f.Varints(func(v uint64) error {
			p, err := d.locations.at(index(v))
			if err != nil {
				return err
			}
			places = append(places, p)
			return d.limits.Stack(len(places))
		})
	})
	if err != nil {
		return 0, err
	}
	return d.stacks.Add(places)
}

// An attribute is a name and a text; the text is "" where its value is none.
type attribute struct{ name, text string }

// attribute reads a KeyValueAndUnit.
func (d *dictionary) attribute(body []byte) (a attribute, err error) {
	var name int32
	var value []byte
	err = wire.Each(body, func(f wire.Field) error {
		switch {
		case f.Number == 1 && f.Kind == protowire.VarintType:
			name = index(f.Value)
		case f.Number == 2 && f.Kind == protowire.BytesType:
			value = append(value, f.Body...) // of two, both count
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	if a.name, err = d.strings.at(name); err == nil {
		a.text, err = d.text(value)
	}
	return a, err
}

// keyValue reads a KeyValue.
func (d *dictionary) keyValue(body []byte) (a attribute, err error) {
	var name int32
	var value []byte
	err = wire.Each(body, func(f wire.Field) error {
		switch {
		case f.Number == 1 && f.Kind == protowire.BytesType:
			a.name = profiles.Clean(f.Body)
		case f.Number == 2 && f.Kind == protowire.BytesType:
			value = append(value, f.Body...)
		case f.Number == 3 && f.Kind == protowire.VarintType:
			name = index(f.Value)
		}
		return nil
	})
	if err == nil && a.name == "" {
		a.name, err = d.strings.at(name)
	}
	if err == nil {
		a.text, err = d.text(value)
	}
	return a, err
}

// text reads an AnyValue; texts, integers and truths have one.
func (d *dictionary) text(body []byte) (text string, err error) {
	err = wire.Each(body, func(f wire.Field) (err error) {
		switch {
		case f.Number == 1 && f.Kind == protowire.BytesType:
			text = profiles.Clean(f.Body)
		case f.Number == 2 && f.Kind == protowire.VarintType:
			text = strconv.FormatBool(f.Value != 0)
		case f.Number == 3 && f.Kind == protowire.VarintType:
			text = strconv.FormatInt(int64(f.Value), 10)
		case f.Number == 8 && f.Kind == protowire.VarintType:
			text, err = d.strings.at(index(f.Value))
		case f.Number == 4 && f.Kind == protowire.Fixed64Type, f.Number >= 5 && f.Number <= 7 && f.Kind == protowire.BytesType:
			text = "" // a fraction, a list, a map or bytes
		}
		return err
	})
	return text, err
}
