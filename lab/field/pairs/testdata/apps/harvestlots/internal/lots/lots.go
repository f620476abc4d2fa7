// Package lots makes and packs the samples of delivered lots.
package lots

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

// Sample is one measurement of a lot.
type Sample struct {
	Moisture float64 `json:"moisture"`
	Protein  float64 `json:"protein"`
	Broken   float64 `json:"broken"`
}

// Lot is a delivery as the weighbridge sends it.
type Lot struct {
	ID      string   `json:"id"`
	Farm    string   `json:"farm"`
	Tonnes  float64  `json:"tonnes"`
	Samples []Sample `json:"samples"`
}

// Messages makes n encoded lots.
func Messages(r *rand.Rand, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		l := Lot{ID: fmt.Sprintf("L%06d", i), Farm: fmt.Sprintf("farm-%03d", r.IntN(400)), Tonnes: 5 + 20*r.Float64()}
		for range 12 + r.IntN(8) {
			l.Samples = append(l.Samples, Sample{10 + 6*r.Float64(), 9 + 5*r.Float64(), 4 * r.Float64()})
		}
		out[i], _ = json.Marshal(l)
	}
	return out
}

// Decode reads one message.
func Decode(b []byte) (Lot, error) {
	var l Lot
	err := json.Unmarshal(b, &l)
	return l, err
}
