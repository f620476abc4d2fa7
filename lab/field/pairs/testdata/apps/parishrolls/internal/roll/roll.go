// Package roll holds the registers of parishes.
package roll

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
)

// Entry is one line of a register.
type Entry struct {
	Year   int
	Kind   string
	Name   string
	Parent string
	Folio  int
}

// Register is the register of one parish.
type Register struct {
	Parish  string
	Entries []Entry
}

var (
	kinds = []string{"baptism", "marriage", "burial"}
	first = []string{"Agnes", "John", "Margery", "Thomas", "Alice", "William", "Joan", "Robert"}
	last  = []string{"Fletcher", "Cooper", "Webb", "Tanner", "Shepherd", "Wright", "Carter", "Mason"}
)

// Make makes the register of the n-th parish.
func Make(n, size int) *Register {
	rnd := rand.New(rand.NewPCG(uint64(n), 17))
	r := &Register{Parish: fmt.Sprintf("parish-%03d", n)}
	for i := range size {
		r.Entries = append(r.Entries, Entry{
			Year:   1620 + i/4,
			Kind:   kinds[rnd.IntN(len(kinds))],
			Name:   first[rnd.IntN(8)] + " " + last[rnd.IntN(8)],
			Parent: first[rnd.IntN(8)] + " " + last[rnd.IntN(8)],
			Folio:  i / 20,
		})
	}
	return r
}

// WriteCSV writes the entries as comma-separated lines.
func (r *Register) WriteCSV(w io.Writer) error {
	cw := csv.NewWriter(w)
	for _, e := range r.Entries {
		if err := cw.Write([]string{strconv.Itoa(e.Year), e.Kind, e.Name, e.Parent, strconv.Itoa(e.Folio)}); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}
