// Package coupon makes the codes of coupons, which nobody is to guess.
package coupon

import (
	"bufio"
	"crypto/rand"
	"io"
	"math/big"
)

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789" // 32: no O, I, 0 and 1

// Length is how many letters a code has.
const Length = 16

// Draw makes a code letter by letter.
func Draw() (string, error) {
	code := make([]byte, Length)
	for i := range code {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			return "", err
		}
		code[i] = letters[n.Int64()]
	}
	return string(code), nil
}

// A Press makes codes out of random bytes that it reads in advance.
type Press struct{ random io.Reader }

// NewPress reads random bytes some thousand at a time.
func NewPress() *Press { return &Press{bufio.NewReader(rand.Reader)} }

// Draw makes a code.
func (p *Press) Draw() (string, error) {
	var code [Length]byte
	if _, err := io.ReadFull(p.random, code[:]); err != nil {
		return "", err
	}
	for i, b := range code {
		code[i] = letters[b%byte(len(letters))]
	}
	return string(code[:]), nil
}
