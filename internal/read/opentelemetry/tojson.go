package opentelemetry

import (
	"encoding/json"
	"strconv"

	"github.com/gowhy/gowhy/internal/ground/wire"
)

// ToJSON returns a request as JSON has it, of fields that are known here. Entries of a list must be
// beside each other, as most writers have them.
func ToJSON(request []byte) []byte { return requestShape.appendJSON(nil, request) }

// appendJSON writes an object.
func (s shape) appendJSON(out, data []byte) []byte {
	out = append(out, '{')
	var last field
	end := func() {
		if last.many {
			out = append(out, ']')
		}
	}
	_ = wire.EachField(data, func(f wire.Field) error {
		if last.number != f.Number {
			name, of := s.numbered(f.Number)
			if name == "" {
				return nil
			}
			end()
			if last.number != 0 {
				out = append(out, ',')
			}
			last = of
			out = append(appendQuoted(out, name), ':')
			if last.many {
				out = append(out, '[')
			}
		} else {
			out = append(out, ',')
		}
		out = last.appendJSON(out, f)
		return nil
	})
	end()
	return append(out, '}')
}

// numbered returns the field of a number, and its name; empty for one that is not known here.
func (s shape) numbered(n int) (string, field) {
	for name, f := range s {
		if f.number == n {
			return name, f
		}
	}
	return "", field{}
}

// appendJSON writes a value, or all those of a packed list.
func (f field) appendJSON(out []byte, v wire.Field) []byte {
	switch f.kind {
	case message:
		return f.of.appendJSON(out, v.Body)
	case text:
		return appendQuoted(out, string(v.Body))
	}
	begin := len(out)
	_ = v.Varints(func(n uint64) error {
		if len(out) > begin {
			out = append(out, ',')
		}
		out = f.appendNumber(out, n)
		return nil
	})
	if v.Kind == wire.Fixed64 {
		out = f.appendNumber(out, v.Value)
	}
	return out
}

// appendNumber writes numbers of 64 bits as strings, as JSON has them.
func (f field) appendNumber(out []byte, n uint64) []byte {
	switch f.kind {
	case index32:
		return strconv.AppendInt(out, int64(index(n)), 10)
	case integer:
		return append(strconv.AppendInt(append(out, '"'), int64(n), 10), '"')
	}
	return append(strconv.AppendUint(append(out, '"'), n, 10), '"')
}

func appendQuoted(out []byte, s string) []byte {
	quoted, _ := json.Marshal(s) // of a text
	return append(out, quoted...)
}
