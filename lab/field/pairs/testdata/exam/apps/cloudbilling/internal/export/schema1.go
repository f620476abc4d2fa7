package export

import (
	"encoding/json"

	"cloudbilling/internal/rollup"
)

// A Level shows a node of the tree, with the levels below it.
type Level struct{ *rollup.Node }

// MarshalJSON implements json.Marshaler.
func (l Level) MarshalJSON() ([]byte, error) {
	below := make([]Level, len(l.Below))
	for i, n := range l.Below {
		below[i] = Level{n}
	}
	return json.Marshal(struct {
		Name  string             `json:"name"`
		Cost  string             `json:"cost"`
		Lines int                `json:"lines"`
		Units map[string]float64 `json:"units,omitempty"`
		Below []Level            `json:"below,omitempty"`
	}{l.Name, money(l.Micros), l.Lines, l.Units, below})
}
