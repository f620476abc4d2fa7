// Package passport reads the machine-readable lines of passports.
package passport

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Chip is what the document's chip holds.
type Chip struct {
	Digest [32]byte
	Photo  []byte
}

// Document is a passport that lies on the reader.
type Document struct {
	Lines [2]string
	chip  Chip
}

var errLine = errors.New("passport: second line is damaged")

// Number reads the number from the second line and checks its digit.
func (d *Document) Number() (string, error) {
	l := d.Lines[1]
	if len(l) < 10 || digit(l[:9]) != int(l[9]-'0') {
		return "", errLine
	}
	return strings.TrimRight(l[:9], "<"), nil
}

func digit(s string) int {
	sum := 0
	for i, c := range []byte(s) {
		v := 0
		switch {
		case c >= '0' && c <= '9':
			v = int(c - '0')
		case c >= 'A' && c <= 'Z':
			v = int(c-'A') + 10
		}
		sum += v * [3]int{7, 3, 1}[i%3]
	}
	return sum % 10
}

// ReadChip talks to the chip by radio.
func (d *Document) ReadChip() *Chip {
	time.Sleep(8 * time.Millisecond)
	return &d.chip
}

// Verify compares the photo with the digest.
func (c *Chip) Verify() (string, bool) {
	sum := sha256.Sum256(c.Photo)
	return hex.EncodeToString(sum[:6]), sum == c.Digest
}

// Issue makes n documents.
func Issue(n int) []*Document {
	rnd := rand.New(rand.NewPCG(7, 7))
	docs := make([]*Document, n)
	for i := range docs {
		no := fmt.Sprintf("C%08d", rnd.IntN(99999999))
		d := &Document{Lines: [2]string{
			fmt.Sprintf("P<UTOTRAVELLER<<NUMBER<%d", i),
			fmt.Sprintf("%s%dUTO", no, digit(no)),
		}}
		d.chip.Photo = make([]byte, 48<<10)
		for j := range d.chip.Photo {
			d.chip.Photo[j] = byte(rnd.Uint32())
		}
		d.chip.Digest = sha256.Sum256(d.chip.Photo)
		docs[i] = d
	}
	return docs
}
