// Package run pays the people of companies.
package run

import (
	"fmt"
	"runtime/debug"

	"payrollrun/internal/ledger"
	"payrollrun/internal/staff"
	"payrollrun/internal/tax"
)

// Office runs the payroll of one company after the other.
type Office struct {
	Companies []*staff.Company
	Compact   bool

	Slips  int
	Bytes  int
	Net    int64
	Sealed byte
}

// Month pays the people of one company.
func (o *Office) Month(n int) error {
	c := o.Companies[n%len(o.Companies)]
	b := &ledger.Book{Company: c.Name}
	for _, p := range c.People {
		s := slip(p)
		o.Net += s.Net
		b.Add(s)
	}
	size, seal, err := b.Close()
	if err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	o.Slips += len(c.People)
	o.Bytes += size
	o.Sealed ^= seal[0]
	o.finish()
	return nil
}

// finish gives back what the run of a company needed.
func (o *Office) finish() {
	if o.Compact {
		debug.FreeOSMemory()
	}
}

func slip(p *staff.Person) *ledger.Slip {
	s := &ledger.Slip{Name: p.Name}
	for _, k := range p.Contracts {
		pay := int64(float64(k.Cents) * k.Hours)
		for _, b := range k.Benefits {
			if b.Kind == "pension" {
				pay -= b.Cents
			} else {
				pay += b.Cents
			}
			s.Lines = append(s.Lines, b.Kind)
		}
		s.Gross += pay
		s.Lines = append(s.Lines, k.Grade)
	}
	s.Tax = tax.Income(s.Gross, p.Class, p.Children)
	s.Social = tax.Social(s.Gross, p.Children)
	s.Net = s.Gross - s.Tax - s.Social
	return s
}
