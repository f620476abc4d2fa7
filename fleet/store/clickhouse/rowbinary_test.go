package clickhouse

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/gowhy/gowhy/fleet/store"
)

// Whatever a server sends, decoding ends, and takes no more memory than what was sent is
// long.
func FuzzDecode(f *testing.F) {
	frames := appendFrames(appendUint64(appendInt64([]byte{mark}, 5), 7), []*store.Frame{{Function: "f", File: "g", Line: -1}})
	f.Add(frames)
	f.Add(append(frames, frames[:9]...))
	f.Add([]byte{mark, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8, 0xff, 0xff, 0xff, 0x0f})
	s := &Store{options: Options{}.orDefault()}
	one := finding(2)
	f.Add(s.appendFinding([]byte{mark}, &one))
	f.Fuzz(func(t *testing.T, body []byte) {
		entries := 0
		d := newDecoder(t.Context(), bytes.NewReader(body))
		err := d.each(func() { entries += 1 + len(decodeFrames(d).frames) })
		if err == nil && entries > len(body) {
			t.Errorf("%d entries of %d bytes", entries, len(body))
		}
		d = newDecoder(t.Context(), bytes.NewReader(body))
		_ = d.each(func() { decodeFinding(d) }) // ends
	})
}

func TestFindingRow(t *testing.T) {
	s := &Store{options: Options{}.orDefault()}
	want := finding(5)
	d := newDecoder(t.Context(), bytes.NewReader(s.appendFinding([]byte{mark}, &want)))
	var got store.Finding
	if err := d.each(func() { got = decodeFinding(d).Finding }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
