package export

import (
	"strconv"

	"cloudbilling/internal/rollup"
)

// A statement is a node of the tree as it is written.
type statement struct {
	Name  string             `json:"name"`
	Cost  string             `json:"cost"`
	Lines int                `json:"lines"`
	Units map[string]float64 `json:"units,omitempty"`
	Below []statement        `json:"below,omitempty"`
}

func newStatement(n *rollup.Node) statement {
	s := statement{Name: n.Name, Cost: money(n.Micros), Lines: n.Lines, Units: n.Units}
	if len(n.Below) > 0 {
		s.Below = make([]statement, len(n.Below))
	}
	for i, c := range n.Below {
		s.Below[i] = newStatement(c)
	}
	return s
}

// money writes millionths as an amount with four digits.
func money(micros int64) string {
	return strconv.FormatFloat(float64(micros)/1e6, 'f', 4, 64)
}
