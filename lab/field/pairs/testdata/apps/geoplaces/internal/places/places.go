// Package places has places by their codes.
package places

import (
	"fmt"
	"strconv"
)

// A Place is somewhere.
type Place struct {
	Code   uint32
	Name   *string
	Region *string
	Tags   []string
	Next   *Place
}

// A Tree keeps places as they are read.
type Tree struct{ buckets map[uint32]*Place }

const spread = 4

// NewTree makes places up.
func NewTree(n int) *Tree {
	t := &Tree{map[uint32]*Place{}}
	for i := range n {
		name, region := fmt.Sprint("place ", i), fmt.Sprint("region ", i%900)
		p := &Place{Code: uint32(i), Name: &name, Region: &region, Tags: []string{"town" + strconv.Itoa(i%9)}}
		p.Next = t.buckets[p.Code/spread]
		t.buckets[p.Code/spread] = p
	}
	return t
}

// Name appends the name of a code.
func (t *Tree) Name(to []byte, code uint32) ([]byte, bool) {
	for p := t.buckets[code/spread]; p != nil; p = p.Next {
		if p.Code == code {
			return append(append(append(to, *p.Name...), ", "...), *p.Region...), true
		}
	}
	return to, false
}

// A Packed keeps names one after the other, and where each begins.
type Packed struct {
	text   []byte
	starts []uint32
}

// NewPacked makes the same places up.
func NewPacked(n int) *Packed {
	p := &Packed{}
	for i := range n {
		p.starts = append(p.starts, uint32(len(p.text)))
		p.text = fmt.Appendf(p.text, "place %d, region %d", i, i%900)
	}
	p.starts = append(p.starts, uint32(len(p.text)))
	return p
}

// Name appends the name of a code.
func (p *Packed) Name(to []byte, code uint32) ([]byte, bool) {
	if int(code)+1 >= len(p.starts) {
		return to, false
	}
	return append(to, p.text[p.starts[code]:p.starts[code+1]]...), true
}
