package fact

import "github.com/gowhy/gowhy/internal/know/model"

// CountedFact returns a number of what a tool counted: a column of the calls or events named.
func CountedFact(name string, c *model.Counts, v float64, u Unit, column string, names ...string) Fact {
	return fact(name, v, u, Origin{Kind: Counted, Source: model.Counted, Name: c.File, Columns: []string{column}, Names: names})
}

// ShortageFact returns the number of lines of logs about what the kernel refused: all those, or
// of the errors and calls named.
func ShortageFact(name string, lines int64, names ...string) Fact {
	return fact(name, float64(lines), Count, Origin{Kind: Counted, Source: model.ShortageLog, Text: "lines of the log", Columns: []string{"lines"}, Names: names})
}

// ShortageTime returns the time from the first of these lines to the last.
func ShortageTime(name string, r *model.Shortage) Fact {
	return fact(name, r.Over.Seconds(), Seconds, Origin{Kind: Counted, Source: model.ShortageLog, Text: "times in the log", Name: r.File, Columns: []string{"time"}, Names: []string{r.Errno, r.Call}})
}
