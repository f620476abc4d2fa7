// Package warehouse knows whose pallets are where.
package warehouse

import (
	"encoding/json"
	"hash/fnv"
	"strconv"
)

// Owners are the companies whose pallets are handled, by GS1 number.
type Owners struct {
	byNumber map[uint32]string
	byText   map[string]string
}

// NewOwners returns some owners.
func NewOwners() *Owners {
	o := &Owners{make(map[uint32]string), make(map[string]string)}
	for i := range uint32(30) {
		name := "shipper " + strconv.Itoa(int(i))
		o.byNumber[5000000+i] = name
		o.byText[strconv.Itoa(int(5000000+i))] = name
	}
	return o
}

// Number looks up a company.
func (o *Owners) Number(n uint32) (string, bool) { s, ok := o.byNumber[n]; return s, ok }

// Text looks up a company.
func (o *Owners) Text(n string) (string, bool) { s, ok := o.byText[n]; return s, ok }

// Move is a pallet's passing of a portal.
type Move struct {
	Label  string `json:"sscc"`
	Owner  string `json:"owner"`
	Portal uint16 `json:"portal"`
	Ms     uint32 `json:"ms"`
}

// Journal takes the moves.
type Journal struct {
	Moves  int
	Digest uint64
}

// Book writes a move.
func (j *Journal) Book(m Move) error {
	p, err := json.Marshal(m)
	if err != nil {
		return err
	}
	h := fnv.New64a()
	h.Write(p)
	j.Digest ^= h.Sum64()
	j.Moves++
	return nil
}
