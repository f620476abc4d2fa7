// Package payout makes and signs pay-outs.
package payout

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
)

type Payout struct {
	Ref   string `json:"ref"`
	IBAN  string `json:"iban"`
	Cents int64  `json:"cents"`
	Memo  string `json:"memo"`
}

var secret = []byte("sandbox-secret")

func Random(r *rand.Rand, n int) Payout {
	bban := fmt.Sprintf("%d%017d", r.IntN(12)*10/12, r.Int64N(1e17))
	return Payout{
		Ref:   fmt.Sprintf("P%08d", n),
		IBAN:  "DE" + check(bban) + bban,
		Cents: 100 + r.Int64N(500000),
		Memo:  fmt.Sprintf("settlement %d of shop %d", n, r.IntN(900)),
	}
}

// check gives the two check digits of an account number.
func check(bban string) string {
	n, _ := new(big.Int).SetString(bban+"131400", 10)
	m := new(big.Int).Mod(n, big.NewInt(97)).Int64()
	return fmt.Sprintf("%02d", 98-m)
}

func (p Payout) Encode() (body []byte, sig string, err error) {
	if body, err = json.Marshal(p); err != nil {
		return nil, "", err
	}
	key := secret
	for range 40 {
		h := hmac.New(sha256.New, key)
		h.Write(body)
		key = h.Sum(nil)
	}
	return body, hex.EncodeToString(key), nil
}
