package clickhouse

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
)

// unquote reads a literal as ClickHouse does, those escapes that quote may write.
func unquote(literal string) (string, error) {
	inner, begins := strings.CutPrefix(literal, "'")
	inner, ends := strings.CutSuffix(inner, "'")
	if !begins || !ends {
		return "", errors.New("no quotes")
	}
	var text []byte
	for inner != "" {
		c := inner[0]
		inner = inner[1:]
		switch {
		case c == '\'' || c < ' ' || c > '~':
			return "", errors.New("a byte that ends it, or is not plain")
		case c == '\\':
			if len(inner) < 3 || inner[0] != 'x' {
				return "", errors.New("an escape that is not \\xHH")
			}
			value, err := strconv.ParseUint(inner[1:3], 16, 8)
			if err != nil {
				return "", err
			}
			c, inner = byte(value), inner[3:]
		}
		text = append(text, c)
	}
	return string(text), nil
}

// nasty are strings that end a literal where quoting is careless.
var nasty = []string{
	"", "plain", "it's", `\`, `\\`, `\'`, `' OR 1 = 1 --`, "a\x00b", "\n\r\t\b\f\a\v\x1a", "\xff\xfe", "é", "/* */", `\x41`, "{a:String}", "`", "\"", "%s ?",
}

func FuzzQuote(f *testing.F) {
	for _, text := range nasty {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		literal := quote(text)
		if back, err := unquote(literal); err != nil || back != text {
			t.Errorf("%q is %s, which is %q, %v", text, literal, back, err)
		}
	})
}

// The server reads each literal as the bytes that were quoted.
func TestQuoteServer(t *testing.T) {
	s := mustOpen(t, options(t, 1))
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, text := range append(nasty, string(every), strings.Repeat("x", 100_000)) {
		if got := statement(t, s, "SELECT toUInt8(1), "+quote(text)); got != text {
			t.Errorf("%q comes back as %q", text, got)
		}
	}
}

// A query has as many IDs as it may, all of them as long as they become.
func TestLongQueries(t *testing.T) {
	s := mustOpen(t, options(t, 1))
	b := batchOf(0)
	b.Profiles, b.Stacks = nil, map[store.StackID][]*store.Frame{}
	var samples []store.Sample
	for i := range int64(mostAsked + 1) {
		id := store.StackID(math.MaxInt64 - i)
		samples = append(samples, store.Sample{Stack: id, Value: 1})
		b.Stacks[id] = []*store.Frame{{Function: "main.f"}}
	}
	b.Profiles = []store.Profile{{Type: store.CPU, Samples: samples}}
	if err := s.Write(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU})
	if err != nil || len(stacks.Samples) != len(samples) || len(stacks.Frames) != len(samples) {
		t.Errorf("%d samples, %d with frames, %v, want %d of both", len(stacks.Samples), len(stacks.Frames), err, len(samples))
	}
	var ids []string
	for i := range mostAsked {
		ids = append(ids, quote(string(binary.BigEndian.AppendUint64([]byte("\x00\xff\xff\xff\xff\xff\xff\xff"), uint64(i)))))
	}
	known, err := s.shards[0].has(t.Context(), map[string][]string{"": append(ids[1:], quote(string(b.ID[:])))})
	if err != nil || len(known) != 1 || known[0].id != b.ID {
		t.Errorf("%v, %v, want the ID of the batch", known, err)
	}
}
