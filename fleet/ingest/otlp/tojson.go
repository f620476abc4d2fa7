package otlp

import (
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/profiles/wire"
)

// JSON is a request of [Encode] as JSON has it.
func JSON(encoded []byte) []byte { return request.appendJSON(nil, encoded) }

// appendJSON writes an object. Entries of a list are beside each other, as Encode has them.
func (s shape) appendJSON(out, data []byte) []byte {
	out = append(out, '{')
	var last field
	end := func() {
		if last.many {
			out = append(out, ']')
		}
	}
	// What Encode wrote is whole.
	_ = wire.Each(data, func(f wire.Field) error {
		if last.number != protowire.Number(f.Number) {
			end()
			if last.number != 0 {
				out = append(out, ',')
			}
			var name string
			name, last = s.numbered(protowire.Number(f.Number))
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

// numbered is the field of a number; all that Encode writes are there.
func (s shape) numbered(n protowire.Number) (string, field) {
	for name, f := range s {
		if f.number == n {
			return name, f
		}
	}
	panic("otlp: Encode writes field " + strconv.Itoa(int(n)) + ", which has no name in JSON")
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
	_ = v.Varints(func(n uint64) error { // what Encode wrote is whole
		if len(out) > begin {
			out = append(out, ',')
		}
		out = f.appendNumber(out, n)
		return nil
	})
	if v.Kind == protowire.Fixed64Type {
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
