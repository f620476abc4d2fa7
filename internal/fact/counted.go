package fact

import "github.com/gowhy/gowhy/internal/model"

// CountedFact is a number of what a tool counted: a column of the calls or events named.
func CountedFact(name string, c *model.Counts, v float64, u Unit, column string, names ...string) Fact {
	return fact(name, v, u, Origin{Kind: Counted, Source: model.Counted, Name: c.File, Columns: []string{column}, Names: names})
}
