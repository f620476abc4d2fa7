// Package journal writes the entries of the general ledger.
package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"

	"ledgermatch/internal/recon"
)

type Journal struct {
	buf     []byte
	digest  [32]byte
	Entries int
	Bytes   int
}

// Post writes debit and credit of each match and chains their digest.
func (j *Journal) Post(ms []recon.Match) {
	for i := range ms {
		m := &ms[i]
		j.buf = append(j.buf[:0], j.digest[:8]...)
		j.entry("1200", m.Reference, m.Amount)
		j.entry("1400", m.Debtor, -m.Amount)
		if m.Short > 0 {
			j.entry("8730", m.Debtor, m.Short)
		}
		if m.LateDays > 30 {
			j.entry("2650", m.Debtor, int64(m.LateDays)*m.Amount/36500)
		}
		j.digest = sha256.Sum256(j.buf)
		j.Entries++
		j.Bytes += len(j.buf)
	}
}

func (j *Journal) entry(account, text string, amount int64) {
	j.buf = append(j.buf, account...)
	j.buf = append(j.buf, ';')
	j.buf = strconv.AppendQuote(j.buf, text)
	j.buf = append(j.buf, ';')
	j.buf = strconv.AppendInt(j.buf, amount, 10)
	j.buf = append(j.buf, '\n')
}

func (j *Journal) Seal() uint64 { return binary.BigEndian.Uint64(j.digest[:]) }
