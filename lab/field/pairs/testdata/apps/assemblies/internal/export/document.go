package export

import (
	"encoding/json"

	"assemblies/internal/bom"
)

type document struct {
	Schema  string  `json:"schema"`
	Lines   int     `json:"lines"`
	Weight  float64 `json:"weight"`
	Product any     `json:"product"`
}

// Exporter encodes products.
type Exporter struct {
	Records bool
}

// Encode returns the interchange document of a product.
func (x Exporter) Encode(it *bom.Item) ([]byte, error) {
	doc := document{Schema: "bom/3", Lines: it.Count(), Weight: it.Weight()}
	if x.Records {
		doc.Product = newRecord(it)
	} else {
		doc.Product = newElement(it)
	}
	return json.Marshal(doc)
}
