// Package intake registers applications and their papers.
package intake

import (
	"bytes"
	"fmt"
	"hash/crc64"
	"io"
	"net/http"
	"strings"
	"sync"
)

// A Paper is one document of an application.
type Paper struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Size  int64  `json:"size"`
	Lines int    `json:"lines"`
	Print string `json:"print"`
	Known bool   `json:"known,omitempty"`
}

// An Application is what somebody has sent.
type Application struct {
	Number int     `json:"number"`
	Name   string  `json:"name"`
	Post   string  `json:"post"`
	Papers []Paper `json:"papers"`
}

var table = crc64.MakeTable(crc64.ECMA)

// Kind tells the type of a document by its beginning.
func Kind(r io.Reader) (string, error) {
	head := make([]byte, 512)
	n, err := io.ReadFull(r, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return "", err
	}
	kind, _, _ := strings.Cut(http.DetectContentType(head[:n]), ";")
	return kind, nil
}

// block is how much of a document is summed up at a time.
const block = 64

// Inspect reads a document. Its print is the sum of those of its blocks, by which a document
// is known again whose pages were put into another order.
func Inspect(name, kind string, r io.Reader) (Paper, error) {
	p := Paper{Name: name, Type: kind, Lines: 1}
	var sum uint64
	buf := make([]byte, block)
	for {
		n, err := io.ReadFull(r, buf)
		p.Size += int64(n)
		p.Lines += bytes.Count(buf[:n], []byte("\n"))
		sum += crc64.Checksum(buf[:n], table)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return Paper{}, err
		}
	}
	p.Print = fmt.Sprintf("%016x", sum)
	return p, nil
}

// A Register numbers applications, and knows the papers of the last ones.
type Register struct {
	mu     sync.Mutex
	last   []Application
	number int
	prints map[string]int
	papers int
	same   int
}

// NewRegister returns a register of the last n applications.
func NewRegister(n int) *Register {
	return &Register{last: make([]Application, n), prints: map[string]int{}}
}

// Add numbers an application.
func (r *Register) Add(a Application) Application {
	r.mu.Lock()
	defer r.mu.Unlock()
	a.Number = r.number
	r.number++
	old := &r.last[a.Number%len(r.last)]
	for _, p := range old.Papers {
		if r.prints[p.Print]--; r.prints[p.Print] == 0 {
			delete(r.prints, p.Print)
		}
	}
	for i := range a.Papers {
		p := &a.Papers[i]
		p.Known = r.prints[p.Print] > 0
		if p.Known {
			r.same++
		}
		r.prints[p.Print]++
		r.papers++
	}
	*old = a
	return a
}

// Papers returns how many papers there were, and how many of them came again.
func (r *Register) Papers() (all, same int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.papers, r.same
}
