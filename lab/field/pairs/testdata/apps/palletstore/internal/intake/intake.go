// Package intake reads the delivery notes of lorries.
package intake

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand"

	"palletstore/internal/bays"
	"palletstore/internal/labels"
)

// Read returns the pallets of a note.
func Read(r io.Reader) ([]bays.Pallet, error) {
	var out []bays.Pallet
	for dec := json.NewDecoder(r); ; {
		var p bays.Pallet
		switch err := dec.Decode(&p); err {
		case nil:
		case io.EOF:
			return out, nil
		default:
			return nil, err
		}
		if err := labels.Check(p.SSCC); err != nil {
			return nil, fmt.Errorf("pallet %s: %w", p.SSCC, err)
		}
		out = append(out, p)
	}
}

// Lorry makes the note of a lorry of n pallets.
func Lorry(rng *rand.Rand, n int) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for range n {
		sscc := fmt.Sprintf("3%016d", rng.Int63n(1e16))
		zone := []string{"dry", "dry", "cool", "frozen", "bulk", "adr"}[rng.Intn(6)]
		enc.Encode(bays.Pallet{
			SSCC:   sscc + string(labels.Digit(sscc)),
			Zone:   zone,
			Kg:     60 + rng.Intn(240),
			Height: 90 + rng.Intn(90),
			Width:  2 + rng.Intn(3),
			Goods:  fmt.Sprintf("%s goods, lot %d", zone, rng.Intn(10000)),
		})
	}
	return b.Bytes()
}
