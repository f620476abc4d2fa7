// Package note is what nurses and doctors write about patients.
package note

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// Note is one entry of a record.
type Note struct {
	Patient int      `json:"patient"`
	Author  string   `json:"author"`
	Text    string   `json:"text"`
	Values  []Value  `json:"values"`
	Tags    []string `json:"tags"`
}

// Value is something measured.
type Value struct {
	Name string  `json:"name"`
	X    float64 `json:"x"`
}

var phrases = strings.Split("slept well;refused breakfast;wound dry;walks with help;pain less than before;asks for daughter;drip changed;to be seen by surgeon", ";")

// Random makes a note.
func Random(rng *rand.Rand) Note {
	n := Note{Patient: rng.IntN(4000), Author: fmt.Sprintf("N%03d", rng.IntN(300))}
	var b strings.Builder
	for range 10 + rng.IntN(40) {
		b.WriteString(phrases[rng.IntN(len(phrases))])
		b.WriteString(". ")
	}
	n.Text = b.String()
	for _, v := range []string{"pulse", "systolic", "diastolic", "temperature", "oxygen"} {
		n.Values = append(n.Values, Value{v, 30 + 100*rng.Float64()})
	}
	return n
}

// Index puts the tags on a note.
func (n *Note) Index() {
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(n.Text), func(r rune) bool { return r == ' ' || r == '.' }) {
		if len(w) > 4 && !seen[w] {
			seen[w] = true
			n.Tags = append(n.Tags, w)
		}
	}
}

// Pack returns the note as it is stored.
func (n *Note) Pack() ([]byte, error) {
	j, err := json.Marshal(n)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := zlib.NewWriterLevel(&b, zlib.HuffmanOnly)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(j); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}
