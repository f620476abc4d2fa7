// Package clearance works out what a shipment owes.
package clearance

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"time"

	"customscodes/internal/goods"
	"customscodes/internal/tariff"
)

type line struct {
	Code string `xml:"code,attr"`
	Duty int64  `xml:"duty"`
	VAT  int64  `xml:"vat"`
	Text string `xml:"text"`
}

type document struct {
	XMLName xml.Name `xml:"clearance"`
	Lines   []line   `xml:"line"`
}

// Screening is the service that looks for sanctioned senders.
type Screening struct{ Latency time.Duration }

func (s *Screening) check() { time.Sleep(s.Latency) }

// Office clears shipments.
type Office struct {
	Tariff    *tariff.Client
	Screening *Screening
}

// Clear returns what is due and the seal of the document.
func (o *Office) Clear(items []goods.Item) (due int64, seal string, err error) {
	o.Screening.check()
	var doc document
	for _, it := range items {
		d, err := o.Tariff.Lookup(it.Code, it.Country)
		if err != nil {
			return 0, "", err
		}
		duty := it.Cents * int64(d.PerMille) / 1000
		vat := (it.Cents + duty) * int64(d.VAT) / 100
		doc.Lines = append(doc.Lines, line{Code: it.Code, Duty: duty, VAT: vat, Text: it.Text})
		due += duty + vat
	}
	b, err := xml.MarshalIndent(doc, "", " ")
	if err != nil {
		return 0, "", err
	}
	sum := sha256.Sum256(b)
	return due, hex.EncodeToString(sum[:8]), nil
}
