// Package track writes the track of subtitles.
package track

import (
	"crypto/sha1"
	"fmt"
	"hash"
	"strings"
)

// Writer appends cues in the order of the film.
type Writer struct {
	at   int
	cues int
	sum  hash.Hash
	buf  strings.Builder
}

// New returns an empty track.
func New() *Writer { return &Writer{sum: sha1.New()} }

// Add writes the words of the next scene.
func (w *Writer) Add(seconds int, words []string) {
	for len(words) > 0 {
		n := min(7, len(words))
		w.buf.Reset()
		fmt.Fprintf(&w.buf, "%d\n%02d:%02d:%02d,000 --> %02d:%02d:%02d,000\n%s\n\n", w.cues+1, w.at/3600, w.at/60%60, w.at%60,
			(w.at+seconds)/3600, (w.at+seconds)/60%60, (w.at+seconds)%60, strings.Join(words[:n], " "))
		w.sum.Write([]byte(w.buf.String()))
		words = words[n:]
		w.cues++
	}
	w.at += seconds
}

// Cues returns the number of cues and the digest of the track.
func (w *Writer) Cues() (int, []byte) { return w.cues, w.sum.Sum(nil) }
