// Package segment is a part of an index that does not change: for each word the documents
// that have it.
package segment

import (
	"encoding/binary"
	"slices"
	"strings"
)

// A Document is a text and its number.
type Document struct {
	ID   uint32
	Text string
}

// A Segment has documents whose numbers rise.
type Segment struct {
	postings map[string][]byte // differences of numbers and how often, as varints
	words    []string          // in order
	Docs     int
	lengths  map[uint32]int
}

// Words returns the words of a text.
func Words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == ' ' || r == ',' || r == '.' })
}

type writer struct {
	data []byte
	last uint32
}

func (w *writer) add(id uint32, n int) {
	w.data = binary.AppendUvarint(w.data, uint64(id-w.last))
	w.data = binary.AppendUvarint(w.data, uint64(n))
	w.last = id
}

// each calls f with the documents of a list.
func each(data []byte, f func(id uint32, n int)) {
	var id uint32
	for len(data) > 0 {
		d, a := binary.Uvarint(data)
		n, b := binary.Uvarint(data[a:])
		data = data[a+b:]
		id += uint32(d)
		f(id, int(n))
	}
}

func seal(lists map[string]*writer, lengths map[uint32]int) *Segment {
	s := &Segment{postings: make(map[string][]byte, len(lists)), lengths: lengths, Docs: len(lengths)}
	for w, l := range lists {
		s.postings[w] = l.data
		s.words = append(s.words, w)
	}
	slices.Sort(s.words)
	return s
}

// Build makes a segment of documents.
func Build(docs []Document) *Segment {
	lists := map[string]*writer{}
	lengths := make(map[uint32]int, len(docs))
	for _, d := range docs {
		words := Words(d.Text)
		lengths[d.ID] = len(words)
		counts := make(map[string]int, len(words))
		for _, w := range words {
			counts[w]++
		}
		for w, n := range counts {
			l := lists[w]
			if l == nil {
				l = &writer{}
				lists[w] = l
			}
			l.add(d.ID, n)
		}
	}
	return seal(lists, lengths)
}

// Merge makes one segment of those that follow each other.
func Merge(parts []*Segment) *Segment {
	lists := map[string]*writer{}
	lengths := map[uint32]int{}
	for _, p := range parts {
		for id, n := range p.lengths {
			lengths[id] = n
		}
		for _, word := range p.words {
			l := lists[word]
			if l == nil {
				l = &writer{}
				lists[word] = l
			}
			each(p.postings[word], l.add)
		}
	}
	return seal(lists, lengths)
}

// Find calls f with the documents that have a word, how often, and how long they are.
func (s *Segment) Find(word string, f func(id uint32, n, length int)) {
	each(s.postings[word], func(id uint32, n int) { f(id, n, s.lengths[id]) })
}
