// Package edifact reads interchanges: segments that end in an apostrophe.
package edifact

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// Partners with very long free text exist; this is what the agreement allows.
const maxSegment = 1 << 20

// Segment is a tag with its elements.
type Segment struct {
	Tag      string
	Elements []string
}

// Message is the segments between UNH and UNT.
type Message struct {
	Ref      string
	Kind     string
	Segments []Segment
}

var (
	errParts = errors.New("edifact: no UNH or UNT")
)

// Reader reads messages.
type Reader struct {
	room []byte
}

// NewReader returns a reader. With room it works in that space.
func NewReader(room int) *Reader {
	r := &Reader{}
	if room > 0 {
		r.room = make([]byte, 0, room)
	}
	return r
}

// Read reads one message.
func (rd *Reader) Read(src io.Reader) (*Message, error) {
	sc := bufio.NewScanner(src)
	if rd.room != nil {
		sc.Buffer(rd.room, maxSegment)
	} else {
		sc.Buffer(make([]byte, 0, maxSegment/4), maxSegment)
	}
	sc.Split(splitSegments)
	m := &Message{}
	ended := false
	for sc.Scan() {
		s := parse(strings.TrimSpace(sc.Text()))
		switch s.Tag {
		case "": // the end of the file
		case "UNH":
			m.Ref = s.at(0)
			m.Kind, _, _ = strings.Cut(s.at(1), ":")
		case "UNT":
			ended = true
		default:
			m.Segments = append(m.Segments, s)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	if m.Ref == "" || !ended {
		return nil, errParts
	}
	return m, nil
}

func parse(s string) Segment {
	tag, rest, _ := strings.Cut(s, "+")
	return Segment{Tag: tag, Elements: strings.Split(rest, "+")}
}

func (s Segment) at(i int) string {
	if i < len(s.Elements) {
		return s.Elements[i]
	}
	return ""
}

// Part returns component j of element i.
func (s Segment) Part(i, j int) string {
	e := s.at(i)
	for ; j > 0; j-- {
		var ok bool
		if _, e, ok = strings.Cut(e, ":"); !ok {
			return ""
		}
	}
	e, _, _ = strings.Cut(e, ":")
	return e
}

// splitSegments splits at apostrophes that are not released by a question mark.
func splitSegments(data []byte, atEOF bool) (int, []byte, error) {
	from := 0
	for {
		i := bytes.IndexByte(data[from:], '\'')
		if i < 0 {
			break
		}
		i += from
		if i == 0 || data[i-1] != '?' {
			return i + 1, data[:i], nil
		}
		from = i + 1
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
