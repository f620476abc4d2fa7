// Package partner talks to the hotels, coach firms and guides.
package partner

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"time"

	"tourpackages/internal/tour"
)

// Quote is the answer of a partner.
type Quote struct {
	Ref   string `json:"ref"`
	Cents int    `json:"cents"`
	Terms string `json:"terms"`
}

// Desk is the way to all partners.
type Desk struct{ Latency time.Duration }

// Confirm asks a partner for a part.
func (d *Desk) Confirm(p tour.Part) (Quote, error) {
	raw := d.remote(p)
	body, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		return Quote{}, fmt.Errorf("partner: %s: %w", p.Ref, err)
	}
	var q Quote
	return q, json.Unmarshal(body, &q)
}

func (d *Desk) remote(p tour.Part) []byte {
	h := crc32.ChecksumIEEE([]byte(p.Ref))
	time.Sleep(d.Latency + time.Duration(h%8)*time.Millisecond)
	var buf bytes.Buffer
	z, _ := flate.NewWriter(&buf, flate.HuffmanOnly)
	fmt.Fprintf(z, `{"ref":%q,"cents":%d,"terms":"day %d, %d places, to be paid %d days ahead"}`, p.Ref, 2000+h%60000, p.Day, h%50, h%30)
	z.Close()
	return buf.Bytes()
}
