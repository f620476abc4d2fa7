// Package ledger carries the balance of a loan from month to month.
package ledger

import (
	"math/big"
	"time"

	"loanstatements/internal/contracts"
)

// Posting is what happened in a month.
type Posting struct {
	Date     time.Time
	Days     int
	Interest string
	Payment  string
	Balance  string
}

// Ledger posts months; places is how many decimals a balance carries on, none for as they come.
type Ledger struct {
	places int
	unit   *big.Int
}

// New returns a ledger.
func New(places int) *Ledger {
	l := &Ledger{places: places}
	if places > 0 {
		l.unit = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)
	}
	return l
}

// Run returns all postings of the contract.
func (l *Ledger) Run(c *contracts.Contract) []Posting {
	out := make([]Posting, 0, c.Months)
	balance := new(big.Rat).Set(c.Amount)
	for m := range c.Months {
		from := c.Start.AddDate(0, m, 0)
		to := c.Start.AddDate(0, m+1, 0)
		days := int(to.Sub(from).Hours() / 24)
		interest := l.interest(balance, rate(c, m), from, days)
		balance.Add(balance, interest)
		payment := c.Payment
		if balance.Cmp(payment) < 0 {
			payment = new(big.Rat).Set(balance)
		}
		balance.Sub(balance, payment)
		if l.places > 0 {
			l.settle(balance)
		}
		out = append(out, Posting{
			Date:     to,
			Days:     days,
			Interest: interest.FloatString(2),
			Payment:  payment.FloatString(2),
			Balance:  balance.FloatString(2),
		})
		if balance.Sign() == 0 {
			break
		}
	}
	return out
}

func (l *Ledger) interest(balance, rate *big.Rat, from time.Time, days int) *big.Rat {
	year := int64(365)
	if y := from.Year(); y%4 == 0 && (y%100 != 0 || y%400 == 0) {
		year = 366
	}
	part := big.NewRat(int64(days), year)
	part.Mul(part, rate)
	return part.Mul(part, balance)
}

func (l *Ledger) settle(x *big.Rat) {
	n := new(big.Int).Mul(x.Num(), l.unit)
	n.Quo(n, x.Denom())
	x.SetFrac(n, l.unit)
}

func rate(c *contracts.Contract, month int) *big.Rat {
	r := c.Rates[0].Rate
	for _, ch := range c.Rates[1:] {
		if ch.Month <= month {
			r = ch.Rate
		}
	}
	return r
}
