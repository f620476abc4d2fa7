// Package statement writes what the holder gets.
package statement

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"text/tabwriter"

	"loanstatements/internal/contracts"
	"loanstatements/internal/ledger"
)

// Writer makes statements, one after the other.
type Writer struct {
	text   bytes.Buffer
	packed bytes.Buffer
	zip    *gzip.Writer
}

// Statement is the result.
type Statement struct {
	Number string
	Digest [32]byte
	Lines  int
	Packed int
}

// NewWriter returns a writer.
func NewWriter() *Writer { return &Writer{zip: gzip.NewWriter(nil)} }

// Write makes the statement of one contract.
func (w *Writer) Write(c *contracts.Contract, list []ledger.Posting) (Statement, error) {
	w.text.Reset()
	w.packed.Reset()
	fmt.Fprintf(&w.text, "Loan %s\n%s\nAmount %s\n\n", c.Number, c.Holder, c.Amount.FloatString(2))
	tab := tabwriter.NewWriter(&w.text, 8, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tab, "date\tdays\tinterest\tpayment\tbalance\t\n")
	for _, p := range list {
		fmt.Fprintf(tab, "%s\t%d\t%s\t%s\t%s\t\n", p.Date.Format("02.01.2006"), p.Days, p.Interest, p.Payment, p.Balance)
	}
	if err := tab.Flush(); err != nil {
		return Statement{}, err
	}
	w.zip.Reset(&w.packed)
	w.zip.Write(w.text.Bytes())
	if err := w.zip.Close(); err != nil {
		return Statement{}, err
	}
	return Statement{Number: c.Number, Digest: sha256.Sum256(w.text.Bytes()), Lines: len(list), Packed: w.packed.Len()}, nil
}
