// Package replay sends the payments of a day to a handler again.
package replay

import (
	"bytes"
	"fmt"
	"net/http"
)

// A Day has payments for a handler.
type Day struct {
	Handler  http.Handler
	Payments int
}

// An answer is what the handler says.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) { a.status = status }

func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }

// payment is the body of a payment; one in a thousand is too large.
func payment(to []byte, n int) []byte {
	cents := 100 + n*37%90000
	if n%1000 == 7 {
		cents = 2_000_000
	}
	return fmt.Appendf(to, `{"cents":%d,"to":"CH93 0076 2011 6238 %04d 7","text":"rent of the garden, and of the shed behind it, for spring"}`, cents, n%10000)
}

// Run sends all payments and counts those that were paid and refused.
func (d *Day) Run() (paid, refused int, err error) {
	var body []byte
	for n := range d.Payments {
		body = payment(body[:0], n)
		r, err := http.NewRequest(http.MethodPost, "http://bank.example/pay", bytes.NewReader(body))
		if err != nil {
			return paid, refused, err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", "till/3.1")
		r.Header.Set("X-Till", fmt.Sprint(n%40))
		a := answer{header: http.Header{}, status: http.StatusOK}
		d.Handler.ServeHTTP(&a, r)
		switch {
		case a.status == http.StatusOK:
			paid++
		case a.status == http.StatusForbidden:
			refused++
		default:
			return paid, refused, fmt.Errorf("payment %d: %d %s", n, a.status, a.body.String())
		}
	}
	return paid, refused, nil
}
