// Package billing makes invoices of treatments.
package billing

import (
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"

	"vetinvoices/internal/record"
	"vetinvoices/internal/table"
)

type Animal struct {
	Owner   string `json:"-" col:"owner"`
	Name    string `json:"animal" col:"animal"`
	Species string `json:"species" col:"species"`
}

type Charge struct {
	Units     int     `json:"units" col:"units"`
	UnitPrice float64 `json:"unit_price" col:"unit_price"`
	VAT       float64 `json:"vat" col:"vat"`
}

// Treatment is a row of the practice's journal.
type Treatment struct {
	ID int `json:"id" col:"id"`
	Animal
	Treatment string `json:"treatment" col:"treatment"`
	Charge
	Emergency bool `json:"emergency,omitempty" col:"emergency"`
}

// Invoice is what an owner gets in a month.
type Invoice struct {
	Owner string      `json:"owner"`
	Lines []Treatment `json:"lines"`
	Total float64     `json:"total"`
}

// Read returns the treatments of a result set.
func Read(m *record.Mapper, data []byte) ([]Treatment, error) {
	rows, err := table.Open(data)
	if err != nil {
		return nil, err
	}
	var out []Treatment
	for {
		row, err := rows.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		var t Treatment
		if err == nil {
			err = m.Fill(&t, rows.Columns, row)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
}

// Month makes the encoded invoices of all owners.
func Month(ts []Treatment) (docs [][]byte, total float64, err error) {
	slices.SortStableFunc(ts, func(a, b Treatment) int { return cmp.Compare(a.Owner, b.Owner) })
	for i := 0; i < len(ts); {
		inv := Invoice{Owner: ts[i].Owner}
		k := i
		for ; k < len(ts) && ts[k].Owner == inv.Owner; k++ {
			inv.Total += float64(ts[k].Units) * ts[k].UnitPrice * (1 + ts[k].VAT)
		}
		inv.Lines = ts[i:k]
		b, err := json.Marshal(inv)
		if err != nil {
			return nil, 0, err
		}
		docs, total, i = append(docs, b), total+inv.Total, k
	}
	return docs, total, nil
}
