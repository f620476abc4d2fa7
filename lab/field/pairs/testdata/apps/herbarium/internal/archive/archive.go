// Package archive keeps sheets in packed drawers.
package archive

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"io"
	"math/rand/v2"

	"herbarium/internal/sheet"
)

// Archive is read-only after Open.
type Archive struct {
	drawers [][]byte
	byID    []*sheet.Sheet
}

// Open makes an archive with n drawers of per sheets each.
func Open(n, per int) (*Archive, error) {
	a := &Archive{}
	rnd := rand.New(rand.NewPCG(12, 5))
	for range n {
		var buf bytes.Buffer
		w, err := flate.NewWriter(&buf, flate.BestSpeed)
		if err != nil {
			return nil, err
		}
		enc := json.NewEncoder(w)
		for range per {
			s := sheet.Sample(rnd, len(a.byID))
			a.byID = append(a.byID, s)
			if err := enc.Encode(s); err != nil {
				return nil, err
			}
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		a.drawers = append(a.drawers, buf.Bytes())
	}
	return a, nil
}

// Drawers is the number of drawers.
func (a *Archive) Drawers() int { return len(a.drawers) }

// Drawer unpacks a drawer.
func (a *Archive) Drawer(i int) ([]*sheet.Sheet, error) {
	dec := json.NewDecoder(flate.NewReader(bytes.NewReader(a.drawers[i])))
	var all []*sheet.Sheet
	for {
		s := &sheet.Sheet{}
		if err := dec.Decode(s); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
}

// Sheet returns the sheet with an ID.
func (a *Archive) Sheet(id int) *sheet.Sheet { return a.byID[id%len(a.byID)] }
