// Package flora makes up names of plants, and gardeners who type them.
package flora

import "fmt"

var (
	genera   = []string{"Salvia", "Rosa", "Acer", "Quercus", "Iris", "Aster", "Allium", "Viola", "Geranium", "Hosta", "Ilex", "Lilium", "Paeonia", "Primula", "Sedum", "Thymus"}
	species  = []string{"alba", "montana", "officinalis", "vulgaris", "japonica", "sylvatica", "maritima", "nigra", "palustris", "orientalis"}
	adjects  = []string{"Late", "Golden", "Silent", "Crimson", "Northern", "Little", "Royal", "Early", "Silver", "Wild", "Gentle", "Morning"}
	nouns    = []string{"Lantern", "Harbour", "Duchess", "Meadow", "Whisper", "Dancer", "Prairie", "Snow", "Ember", "Pearl", "River"}
	breeders = []string{"Ås", "Bély", "Čapek", "Dürr", "Evans", "Fauré", "Gómez", "Hågen"}
)

// Generate makes up names, no two alike.
func Generate(n int) []string {
	out := make([]string, n)
	for i := range out {
		h := uint32(i)*2654435761 + 12345
		pick := func(of []string) string {
			h = h*1664525 + 1013904223
			return of[int(h>>16)%len(of)]
		}
		out[i] = fmt.Sprintf("%s %s '%s %s' %s %d", pick(genera), pick(species), pick(adjects), pick(nouns), pick(breeders), i)
	}
	return out
}

// A Typist types the beginnings of names, key after key.
type Typist struct {
	names []string
	at    int
	keys  int
}

// NewTypist makes one.
func NewTypist(names []string) *Typist { return &Typist{names: names} }

// Next is what stands in the field after the next key.
func (t *Typist) Next() string {
	name := t.names[t.at]
	t.keys++
	if t.keys > 16 {
		t.keys = 3
		t.at = (t.at + 7919) % len(t.names)
		name = t.names[t.at]
	}
	for i := range name {
		if i >= t.keys {
			return name[:i]
		}
	}
	return name
}
