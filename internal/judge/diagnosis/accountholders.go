package diagnosis

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// holdersAccount lists who holds the heap, and by how much each grew where there are two looks.
func holdersAccount(p fact.Meter) *Account {
	looks := p.Model.Run.Holders
	look := looks[len(looks)-1]
	if look.Reached.Bytes == 0 || len(look.Holders) == 0 {
		return nil
	}
	list := slices.Clone(look.Holders)
	slices.SortStableFunc(list, func(a, b model.Holder) int { return cmp.Compare(b.Bytes, a.Bytes) })
	total := p.Look("what is reached on the heap", "reached")
	a := &Account{}
	for i := range list[:min(len(list), accountRows)] {
		h := &list[i]
		value := p.Held(h.Words(), "bytes", h)
		row := AccountRow{Name: h.Words(), Value: value, Share: ratio(value.Value, total.Value), Note: strings.TrimPrefix(h.Steps(), " → ")}
		if grew := p.Held("growth since the first look", "grew", h); grew.Value > 0 {
			row.Note = note(fact.Sentence("%s of it since the first look", grew), row.Note)
		}
		a.Rows = append(a.Rows, row)
	}
	share, name := mostOf(a.Rows)
	a.Text = fact.Sentence("%s reached on the heap; %s of it held by %s", total, share, name)
	if over := p.Look("time between the looks", "over"); over.Value > 0 {
		grew := p.Held("growth of what grew most", "grew", &look.Holders[0])
		if grew.Value > 0 {
			a.Text += fact.Sentence(". In %s %s grew most, by %s", over, fact.Name(look.Holders[0].Words()), grew)
		}
	}
	a.Text += "."
	return a
}
