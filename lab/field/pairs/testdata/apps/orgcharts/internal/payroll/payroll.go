// Package payroll sums salaries.
package payroll

import (
	"sync"

	"orgcharts/internal/chart"
)

// A Run sums companies.
type Run struct{ Deep bool }

type sums struct{ grades [16]int }

// Company is the sum of a company in a month.
func (r Run) Company(top *chart.Post, month int) (total int) {
	var wg sync.WaitGroup
	wg.Go(func() {
		if r.Deep {
			s := deep(top, month)
			total = s.grades[0]
			return
		}
		total = down(top, month)
	})
	wg.Wait()
	return total
}

func deep(p *chart.Post, month int) sums {
	var s sums
	s.grades[0] = p.Cents + month%12
	for _, b := range p.Below {
		below := deep(b, month)
		for i := range s.grades {
			s.grades[i] += below.grades[i]
		}
	}
	return s
}

func down(top *chart.Post, month int) (total int) {
	for open := []*chart.Post{top}; len(open) > 0; {
		p := open[len(open)-1]
		open = append(open[:len(open)-1], p.Below...)
		total += p.Cents + month%12
	}
	return total
}
