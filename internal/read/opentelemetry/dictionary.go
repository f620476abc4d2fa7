package opentelemetry

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/wire"
)

// Limits refuse what is too much of a request.
type Limits interface {
	Entry(what string, n int) error // the nth of something
	Text(n, bytes int) error        // the nth string
	Lines(n int) error              // of all locations
	Stack(frames int) error
}

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

// at returns the entry of an index. Entry 0 of a table without any is empty: it stands for what
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

// A Dictionary is what all profiles of a request refer to. Places and stacks are in the form of
// who reads: a place is made of each [Location] that a stack has, a stack of its places.
type Dictionary[Place, Stack any] struct {
	limits     Limits
	strings    table[string]
	mappings   table[string] // their files
	functions  table[function]
	locations  table[Place]
	stacks     table[Stack]
	attributes table[Attribute]
	place      func(Location) Place
	stack      func([]Place) (Stack, error)
	lines      int // of all locations that were read
}

type function struct{ name, file string }

// A Location is a place in a program: the lines that were inlined into each other there,
// the innermost first, or no line but its address in a file.
type Location struct {
	Address uint64
	File    string // that was mapped there
	Kernel  bool
	Lines   []Line
}

// A Line is a function's. Who wrote it may not have known the name.
type Line struct {
	Function, File string
	Number         int64
}

// Numbers of fields in ProfilesDictionary.
const (
	DictionaryMappings   = 1
	DictionaryLocations  = 2
	DictionaryFunctions  = 3
	DictionaryLinks      = 4
	DictionaryStrings    = 5
	DictionaryAttributes = 6
	DictionaryStacks     = 7
)

// NewDictionary has no entries yet. Place keeps no list that it gets, and stack neither.
func NewDictionary[Place, Stack any](l Limits, place func(Location) Place, stack func([]Place) (Stack, error)) *Dictionary[Place, Stack] {
	d := &Dictionary[Place, Stack]{limits: l, place: place, stack: stack}
	d.strings = table[string]{what: "string", read: func(body []byte) (string, error) { return clean(body), nil }}
	d.mappings = table[string]{what: "mapping", read: d.mapping}
	d.functions = table[function]{what: "function", read: d.function}
	d.locations = table[Place]{what: "location", read: d.location}
	d.stacks = table[Stack]{what: "stack", read: d.stackOf}
	d.attributes = table[Attribute]{what: "attribute", read: d.attribute}
	return d
}

// clean returns a text as UTF-8: protocol buffers have no other.
func clean(text []byte) string { return strings.ToValidUTF8(string(text), "\uFFFD") }

// String returns the text of an index.
func (d *Dictionary[Place, Stack]) String(index int32) (string, error) { return d.strings.at(index) }

// Stack returns the stack of an index.
func (d *Dictionary[Place, Stack]) Stack(index int32) (Stack, error) { return d.stacks.at(index) }

// Attribute returns the attribute of an index.
func (d *Dictionary[Place, Stack]) Attribute(index int32) (Attribute, error) {
	return d.attributes.at(index)
}

// Add notes the entries of a ProfilesDictionary.
func (d *Dictionary[Place, Stack]) Add(data []byte) error {
	return wire.EachField(data, func(f wire.Field) error {
		if f.Kind != wire.Bytes {
			return nil
		}
		var bodies *[][]byte
		switch f.Number {
		case DictionaryMappings:
			bodies = &d.mappings.bodies
		case DictionaryLocations:
			bodies = &d.locations.bodies
		case DictionaryFunctions:
			bodies = &d.functions.bodies
		case DictionaryStrings:
			if err := d.limits.Text(len(d.strings.bodies), len(f.Body)); err != nil {
				return err
			}
			bodies = &d.strings.bodies
		case DictionaryAttributes:
			bodies = &d.attributes.bodies
		case DictionaryStacks:
			bodies = &d.stacks.bodies
		default:
			return nil
		}
		*bodies = append(*bodies, f.Body)
		return d.limits.Entry("entries in a table of the dictionary", len(*bodies))
	})
}

// index returns an index as protocol buffers read an int32: its lower half.
func index(value uint64) int32 { return int32(uint32(value)) }

// indices sets those that a message has as numbers, each at the number of its field.
func indices(body []byte, at *[5]int32) error {
	return wire.EachField(body, func(f wire.Field) error {
		if f.Number < len(at) && f.Kind == wire.Varint {
			at[f.Number] = index(f.Value)
		}
		return nil
	})
}

func (d *Dictionary[Place, Stack]) mapping(body []byte) (string, error) {
	var at [5]int32
	if err := indices(body, &at); err != nil {
		return "", err
	}
	return d.strings.at(at[4])
}

func (d *Dictionary[Place, Stack]) function(body []byte) (f function, err error) {
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

// frameType is the attribute of a location that says what runs there.
const frameType = "profile.frame.type"

func (d *Dictionary[Place, Stack]) location(body []byte) (none Place, err error) {
	var l Location
	var mapping int32
	err = wire.EachField(body, func(f wire.Field) error {
		switch {
		case f.Number == 1 && f.Kind == wire.Varint:
			mapping = index(f.Value)
		case f.Number == 2 && f.Kind == wire.Varint:
			l.Address = f.Value
		case f.Number == 3 && f.Kind == wire.Bytes:
			d.lines++
			if err := d.limits.Lines(d.lines); err != nil {
				return err
			}
			if err := d.limits.Stack(len(l.Lines) + 1); err != nil {
				return err
			}
			line, err := d.line(f.Body)
			l.Lines = append(l.Lines, line)
			return err
		case f.Number == 4:
			return f.Varints(func(v uint64) error {
				a, err := d.Attribute(index(v))
				l.Kernel = l.Kernel || err == nil && a == Attribute{frameType, "kernel"}
				return nil // a place is one without them
			})
		}
		return nil
	})
	if err != nil {
		return none, err
	}
	if l.File, err = d.mappings.at(mapping); err != nil {
		return none, err
	}
	return d.place(l), nil
}

func (d *Dictionary[Place, Stack]) line(body []byte) (l Line, err error) {
	var of int32
	err = wire.EachField(body, func(f wire.Field) error {
		switch {
		case f.Kind != wire.Varint:
		case f.Number == 1:
			of = index(f.Value)
		case f.Number == 2:
			l.Number = int64(f.Value)
		}
		return nil
	})
	if err != nil {
		return l, err
	}
	fn, err := d.functions.at(of)
	l.Function, l.File = fn.name, fn.file
	return l, err
}

func (d *Dictionary[Place, Stack]) stackOf(body []byte) (none Stack, err error) {
	var places []Place
	err = wire.EachField(body, func(f wire.Field) error {
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
		return none, err
	}
	return d.stack(places)
}

// An Attribute is a name and a text; the text is "" where its value is none.
type Attribute struct{ Name, Text string }

// attribute reads a KeyValueAndUnit.
func (d *Dictionary[Place, Stack]) attribute(body []byte) (a Attribute, err error) {
	var name int32
	var value []byte
	err = wire.EachField(body, func(f wire.Field) error {
		switch {
		case f.Number == 1 && f.Kind == wire.Varint:
			name = index(f.Value)
		case f.Number == 2 && f.Kind == wire.Bytes:
			value = append(value, f.Body...) // of two, both count
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	if a.Name, err = d.strings.at(name); err == nil {
		a.Text, err = d.text(value)
	}
	return a, err
}

// KeyValue reads a KeyValue, as resources have them.
func (d *Dictionary[Place, Stack]) KeyValue(body []byte) (a Attribute, err error) {
	var name int32
	var value []byte
	err = wire.EachField(body, func(f wire.Field) error {
		switch {
		case f.Number == 1 && f.Kind == wire.Bytes:
			a.Name = clean(f.Body)
		case f.Number == 2 && f.Kind == wire.Bytes:
			value = append(value, f.Body...)
		case f.Number == 3 && f.Kind == wire.Varint:
			name = index(f.Value)
		}
		return nil
	})
	if err == nil && a.Name == "" {
		a.Name, err = d.strings.at(name)
	}
	if err == nil {
		a.Text, err = d.text(value)
	}
	return a, err
}

// text reads an AnyValue; texts, integers and truths have one.
func (d *Dictionary[Place, Stack]) text(body []byte) (text string, err error) {
	err = wire.EachField(body, func(f wire.Field) (err error) {
		switch {
		case f.Number == 1 && f.Kind == wire.Bytes:
			text = clean(f.Body)
		case f.Number == 2 && f.Kind == wire.Varint:
			text = strconv.FormatBool(f.Value != 0)
		case f.Number == 3 && f.Kind == wire.Varint:
			text = strconv.FormatInt(int64(f.Value), 10)
		case f.Number == 8 && f.Kind == wire.Varint:
			text, err = d.strings.at(index(f.Value))
		case f.Number == 4 && f.Kind == wire.Fixed64, f.Number >= 5 && f.Number <= 7 && f.Kind == wire.Bytes:
			text = "" // a fraction, a list, a map or bytes
		}
		return err
	})
	return text, err
}
