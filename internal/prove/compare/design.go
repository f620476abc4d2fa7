package compare

import (
	"fmt"
	"math"
	"slices"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/model"
)

// doubtRuns warns of designs that find differences where there are none, and
// of those that can find none.
func (c *Comparison) doubtRuns(a, b []model.Benchmark) {
	timed, least, n, runs := 0, 1.0, math.MaxInt, [2]int{}
	for _, r := range c.Benchmarks {
		if r.P == nil {
			continue
		}
		timed++
		if m := min(r.RunsA, r.RunsB); m < n {
			n, runs = m, [2]int{r.RunsA, r.RunsB}
		}
		least = min(least, 2/choose(r.RunsA+r.RunsB, r.RunsA))
	}
	if timed == 0 {
		return
	}
	if n < fewRuns || least*float64(timed) >= alpha {
		c.Warnings = append(c.Warnings, fmt.Sprintf("too few runs: with %s p cannot be below %.2g, and %s judged together; use -count=10",
			runsText(runs[0], runs[1]), min(1, 2/choose(runs[0]+runs[1], n)), figures.Plural(timed, "row is", "rows are")))
	}
	if rounds(a) && rounds(b) {
		c.Warnings = append(c.Warnings, "p holds only if the rounds of A and B took turns")
		return
	}
	how := "was"
	if lone(a) || lone(b) {
		how = "was perhaps"
	}
	c.Warnings = append(c.Warnings, "each side "+how+" run in one block: 13 to 32% of identical programs compared this way differ \"significantly\", of programs that "+
		"took turns 3 to 5%")
	c.Next = append(c.Next, Command{"for i in 1 2 3 4 5 6 7 8 9 10; do ./old.test -test.bench . >> old.txt; ./new.test -test.bench . >> new.txt; done",
		"take turns (go test -c -o new.test builds such a program)"}, Command{"gowhy gate", "does it all against a git revision"})
}

func runsText(a, b int) string {
	if a == b {
		return fmt.Sprintf("%d of each side", a)
	}
	return fmt.Sprintf("%d of A and %d of B", a, b)
}

// rounds reports whether the lines are of whole runs one after the other, as a
// loop around go test writes them; -count repeats each benchmark at once.
func rounds(list []model.Benchmark) bool {
	seen := map[string]bool{}
	last := ""
	for _, b := range list {
		name := b.Package + "\x00" + b.Name
		if name != last && seen[name] {
			return true
		}
		seen[name] = true
		last = name
	}
	return false
}

// lone reports whether there is no second benchmark to tell the order by.
func lone(list []model.Benchmark) bool {
	return !slices.ContainsFunc(list, func(b model.Benchmark) bool { return b.Name != list[0].Name || b.Package != list[0].Package })
}
