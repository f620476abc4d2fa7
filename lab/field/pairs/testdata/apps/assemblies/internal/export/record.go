package export

import "assemblies/internal/bom"

type record struct {
	Type     string    `json:"type"`
	Number   string    `json:"number"`
	Title    string    `json:"title"`
	Quantity int       `json:"quantity"`
	Mass     string    `json:"mass,omitempty"`
	Notes    []string  `json:"notes,omitempty"`
	Elements []*record `json:"elements,omitempty"`
}

func newRecord(it *bom.Item) *record {
	r := &record{
		Type:     it.Kind.String(),
		Number:   it.Number,
		Title:    it.Title,
		Quantity: it.Quantity,
		Notes:    it.Notes,
	}
	if it.Grams > 0 {
		r.Mass = mass(it.Grams)
	}
	for _, c := range it.Items {
		r.Elements = append(r.Elements, newRecord(c))
	}
	return r
}
