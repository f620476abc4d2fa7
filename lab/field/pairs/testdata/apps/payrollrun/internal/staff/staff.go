// Package staff holds the companies and the people they pay.
package staff

import (
	"fmt"
	"math/rand/v2"
)

// Contract is one contract of a person.
type Contract struct {
	Grade    string
	Cents    int64
	Hours    float64
	Benefits []*Benefit
}

// Benefit is what a contract gives besides pay.
type Benefit struct {
	Kind  string
	Cents int64
}

// Person is paid by a company.
type Person struct {
	Name      string
	Class     int
	Children  int
	Contracts []*Contract
}

// Company pays people.
type Company struct {
	Name   string
	Region string
	People []*Person
}

var kinds = []string{"meal", "travel", "pension", "bicycle"}

// Register makes the companies of an office.
func Register(companies, people int) []*Company {
	rnd := rand.New(rand.NewPCG(21, 4))
	out := make([]*Company, companies)
	for i := range out {
		c := &Company{Name: fmt.Sprintf("company %d", i), Region: fmt.Sprintf("R%d", i%16)}
		for n := range people/2 + rnd.IntN(people) {
			p := &Person{Name: fmt.Sprintf("person %d/%d", i, n), Class: 1 + rnd.IntN(5), Children: rnd.IntN(4)}
			for range 1 + rnd.IntN(2) {
				k := &Contract{Grade: fmt.Sprintf("E%d", 5+rnd.IntN(10)), Cents: int64(1400 + rnd.IntN(4000)), Hours: 60 + rnd.Float64()*110}
				for range rnd.IntN(3) {
					k.Benefits = append(k.Benefits, &Benefit{kinds[rnd.IntN(len(kinds))], int64(rnd.IntN(9000))})
				}
				p.Contracts = append(p.Contracts, k)
			}
			c.People = append(c.People, p)
		}
		out[i] = c
	}
	return out
}
