// Package catalogue has the scores.
package catalogue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Score is a piece of sheet music.
type Score struct {
	ID         int
	Collection string
	Title      string
	Composer   string
	Year       int
	Parts      int
	Shelf      string
	Lender     string
	Price      int
	words      []string
}

// Catalogue is the scores with an index of words.
type Catalogue struct {
	scores []Score
	words  map[string][]int
}

// New returns a catalogue of n scores.
func New(n int) *Catalogue {
	forms := []string{"Sonata", "Mass", "Suite", "Fugue", "March", "Motet", "Overture"}
	who := []string{"Byrd", "Clarke", "Holst", "Smyth", "Elgar", "Purcell", "Boyce", "Arne"}
	sets := []string{"orchestra", "choir", "chamber", "organ", "opera", "band"}
	c := &Catalogue{words: map[string][]int{}}
	for i := range n {
		s := Score{ID: i, Collection: sets[i*7%len(sets)], Title: fmt.Sprintf("%s No. %d in %c", forms[i%len(forms)], i%40, 'A'+i%7),
			Composer: who[i*5%len(who)], Year: 1550 + i%400, Parts: 1 + i%24, Shelf: fmt.Sprintf("R%d/%d", i%30, i%9), Lender: fmt.Sprintf("lender %d", i%200), Price: 300 + i%4000}
		s.words = strings.Fields(strings.ToLower(s.Title + " " + s.Composer))
		for _, w := range s.words {
			c.words[w] = append(c.words[w], i)
		}
		c.scores = append(c.scores, s)
	}
	return c
}

// Search returns the best matches of a query.
func (c *Catalogue) Search(query string, limit int) []*Score {
	rank := map[int]int{}
	for _, w := range strings.Fields(strings.ToLower(query)) {
		for _, i := range c.words[w] {
			rank[i]++
		}
	}
	hits := make([]int, 0, len(rank))
	for i := range rank {
		hits = append(hits, i)
	}
	slices.SortFunc(hits, func(a, b int) int {
		return cmp.Or(rank[b]-rank[a], c.scores[b].Year-c.scores[a].Year, a-b)
	})
	var out []*Score
	for _, i := range hits[:min(limit, len(hits))] {
		out = append(out, &c.scores[i])
	}
	return out
}
