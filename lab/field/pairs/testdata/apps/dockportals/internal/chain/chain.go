// Package chain makes moves of the readers' sights of tags: what is not ours
// is dropped, then what was seen at the portal already.
package chain

import (
	"fmt"

	"dockportals/internal/epc"
	"dockportals/internal/frames"
	"dockportals/internal/warehouse"
)

const window = 2000 // ms

// Chain handles the reads of a worker's portals.
type Chain struct {
	owners  *warehouse.Owners
	journal *warehouse.Journal

	seen   map[string]uint32
	passed map[pass]uint32
	Reads  int
}

type pass struct {
	code   epc.Code
	portal uint16
}

// New returns a chain.
func New(o *warehouse.Owners, j *warehouse.Journal) *Chain {
	return &Chain{owners: o, journal: j, seen: make(map[string]uint32), passed: make(map[pass]uint32)}
}

// Sight handles a read by its URN.
func (c *Chain) Sight(r *frames.Read) error {
	c.Reads++
	if r.RSSI < -70 {
		return nil
	}
	tag := epc.FromBytes(r.EPC[:])
	owner, ok := c.owner(tag)
	if !ok || c.again(tag, r) {
		return nil
	}
	urn, err := tag.URN()
	if err != nil {
		return err
	}
	company, serial, err := epc.Split(urn)
	if err != nil {
		return err
	}
	return c.journal.Book(warehouse.Move{Label: epc.Label(company, serial), Owner: owner, Portal: r.Antenna >> 2, Ms: r.Ms})
}

func (c *Chain) owner(tag epc.Hex) (string, bool) {
	urn, err := tag.URN()
	if err != nil {
		return "", false
	}
	company, _, err := epc.Split(urn)
	if err != nil {
		return "", false
	}
	return c.owners.Text(company)
}

func (c *Chain) again(tag epc.Hex, r *frames.Read) bool {
	urn, err := tag.URN()
	if err != nil {
		return true
	}
	k := fmt.Sprintf("%s@%d", urn, r.Antenna>>2)
	last, ok := c.seen[k]
	if ok && r.Ms-last < window {
		return true
	}
	if len(c.seen) > 20000 {
		clear(c.seen)
	}
	c.seen[k] = r.Ms
	return false
}

// Code handles a read by its decoded code.
func (c *Chain) Code(r *frames.Read) error {
	c.Reads++
	if r.RSSI < -70 {
		return nil
	}
	code, err := epc.Parse(r.EPC[:])
	if err != nil {
		return nil
	}
	owner, ok := c.owners.Number(code.Company)
	if !ok {
		return nil
	}
	k := pass{code, r.Antenna >> 2}
	if last, ok := c.passed[k]; ok && r.Ms-last < window {
		return nil
	}
	if len(c.passed) > 20000 {
		clear(c.passed)
	}
	c.passed[k] = r.Ms
	return c.journal.Book(warehouse.Move{Label: code.Label(), Owner: owner, Portal: k.portal, Ms: r.Ms})
}
