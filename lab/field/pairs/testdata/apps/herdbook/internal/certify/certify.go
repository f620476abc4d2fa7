// Package certify writes breeding certificates.
package certify

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"herdbook/internal/genome"
	"herdbook/internal/pedigree"
)

type Relative struct {
	ID     int32 `json:"id"`
	Shared int   `json:"shared"`
}

type Certificate struct {
	Animal    int32      `json:"animal"`
	Born      int        `json:"born"`
	Ancestors int        `json:"ancestors"`
	Founders  int        `json:"founders"`
	Flawed    int        `json:"flawed"`
	Regions   []int      `json:"regions"`
	Closest   []Relative `json:"closest"`
}

type Office struct {
	book  *pedigree.Book
	trace *pedigree.Tracer
	bank  *genome.Bank
}

func NewOffice(b *pedigree.Book, t *pedigree.Tracer, k *genome.Bank) *Office {
	return &Office{b, t, k}
}

// Issue writes and signs the certificate of an animal.
func (o *Office) Issue(id int32) ([]byte, string, error) {
	d := o.trace.Trace(id)
	c := Certificate{Animal: id, Born: int(o.book.Animals[id].Born), Ancestors: len(d.Ancestors),
		Founders: d.Founders, Flawed: d.Flawed, Regions: d.Regions[:]}
	own := o.bank.Of(id)
	rel := make([]Relative, 0, len(d.Ancestors))
	for _, a := range d.Ancestors {
		rel = append(rel, Relative{a, genome.Similarity(own, o.bank.Of(a))})
	}
	slices.SortFunc(rel, func(a, b Relative) int {
		if a.Shared != b.Shared {
			return b.Shared - a.Shared
		}
		return int(a.ID - b.ID)
	})
	c.Closest = rel[:min(40, len(rel))]
	b, err := json.Marshal(c)
	if err != nil {
		return nil, "", err
	}
	s := sha256.Sum256(b)
	return b, base64.RawURLEncoding.EncodeToString(s[:]), nil
}
