// Package ledger writes the slips and the transfers of a company.
package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/xml"
	"fmt"
)

// Slip is the slip of a person.
type Slip struct {
	XMLName xml.Name `xml:"Slip"`
	Name    string   `xml:"Nm"`
	Gross   int64    `xml:"Amt>Gross"`
	Tax     int64    `xml:"Amt>Tax"`
	Social  int64    `xml:"Amt>Soc"`
	Net     int64    `xml:"Amt>Net"`
	Lines   []string `xml:"Ln"`
}

// Book collects the slips of one company.
type Book struct {
	Company string
	slips   []*Slip
	sum     int64
}

// Add puts a slip into the book.
func (b *Book) Add(s *Slip) {
	b.slips = append(b.slips, s)
	b.sum += s.Net
}

// Close writes the transfers and returns their size and seal.
func (b *Book) Close() (int, [32]byte, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "<Transfers company=%q count=\"%d\" sum=\"%d\">\n", b.Company, len(b.slips), b.sum)
	enc := xml.NewEncoder(&out)
	for _, s := range b.slips {
		if err := enc.Encode(s); err != nil {
			return 0, [32]byte{}, err
		}
	}
	out.WriteString("\n</Transfers>\n")
	return out.Len(), sha256.Sum256(out.Bytes()), nil
}
