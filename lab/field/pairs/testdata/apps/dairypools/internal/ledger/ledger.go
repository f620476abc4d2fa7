// Package ledger sums what the farms are owed.
package ledger

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"dairypools/internal/lab"
)

type account struct {
	litres, cents int
	grades        [3]int
	seal          uint64
}

// Ledger holds the farms' accounts.
type Ledger struct {
	farms map[int]*account
}

// New returns an empty ledger.
func New() *Ledger { return &Ledger{farms: map[int]*account{}} }

// Book adds a collection.
func (l *Ledger) Book(g lab.Graded) {
	a := l.farms[g.Farm]
	if a == nil {
		a = &account{}
		l.farms[g.Farm] = a
	}
	a.litres += g.Litres
	a.cents += g.Cents
	a.grades[g.Grade-'A']++
	a.seal ^= g.Seal
}

// Statement writes the accounts in the order of the farms.
func (l *Ledger) Statement(w io.Writer) error {
	ids := make([]int, 0, len(l.farms))
	for id := range l.farms {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	bw := bufio.NewWriter(w)
	for _, id := range ids {
		a := l.farms[id]
		fmt.Fprintf(bw, "%05d %8d l %10d ct %v %016x\n", id, a.litres, a.cents, a.grades, a.seal)
	}
	return bw.Flush()
}
