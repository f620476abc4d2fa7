// Package orders knows what customers have ordered.
package orders

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// Line is one position of an order.
type Line struct {
	SKU   string
	Name  string
	Count int
	Cents int64
	Day   time.Time
}

// Account is a customer with the month's lines.
type Account struct {
	Number int
	Name   string
	Lines  []Line
}

var goods = []string{"Pipe clamp", "Hex bolt M8 & washer", "Cable tray 2m", "Junction box", "Sealant <white>", "Conduit bend", "Wall plug", "LED driver"}

// Generate makes up accounts with the orders of a month.
func Generate(n int) []*Account {
	rng := rand.New(rand.NewPCG(5, 8))
	first := time.Date(2031, 3, 1, 6, 0, 0, 0, time.UTC)
	accounts := make([]*Account, n)
	for i := range accounts {
		a := &Account{Number: 10000 + i, Name: fmt.Sprintf("Customer %c%c & Sons", 'A'+i%26, 'A'+i/26%26)}
		for range 250 + rng.IntN(900) {
			a.Lines = append(a.Lines, Line{
				SKU:   fmt.Sprintf("%04d-%02d", rng.IntN(10000), rng.IntN(100)),
				Name:  goods[rng.IntN(len(goods))],
				Count: 1 + rng.IntN(40),
				Cents: 15 + rng.Int64N(20000),
				Day:   first.Add(time.Duration(rng.IntN(31*24)) * time.Hour),
			})
		}
		accounts[i] = a
	}
	return accounts
}
