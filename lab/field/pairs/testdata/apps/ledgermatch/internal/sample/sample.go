// Package sample makes up a month of invoices and the statement that pays them.
package sample

import (
	"fmt"
	"math/rand"
	"strconv"
	"time"

	"ledgermatch/internal/recon"
)

func Month(n int, seed int64) ([]recon.Item, []byte) {
	rng := rand.New(rand.NewSource(seed))
	day := time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	items := make([]recon.Item, n)
	for i := range items {
		net := int64(1000 + rng.Intn(400000))
		it := &items[i]
		it.Reference = "RF" + strconv.Itoa(18000000+i*7)
		it.Debtor = fmt.Sprintf("D%05d", rng.Intn(40000))
		it.Contract = fmt.Sprintf("K%07d", rng.Intn(1e7))
		it.Currency = "EUR"
		it.Net, it.Tax = net, net*19/100
		it.Amount = it.Net + it.Tax
		it.Discount = it.Amount * int64(rng.Intn(3)) / 100
		it.Due = day.Add(time.Duration(i) * 28 * 24 * time.Hour / time.Duration(n))
		it.Issued = it.Due.AddDate(0, 0, -30)
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	for i := range order {
		j := min(n-1, i+rng.Intn(8))
		order[i], order[j] = order[j], order[i]
	}
	var raw []byte
	for _, i := range order {
		if rng.Intn(400) == 0 {
			continue
		}
		it := &items[i]
		pay := it.Amount - it.Discount
		if rng.Intn(30) == 0 {
			pay -= 500
		}
		raw = fmt.Appendf(raw, ":61:%sC%d,%02dEUR//%s?%s\n", it.Due.AddDate(0, 0, rng.Intn(40)).Format("060102"), pay/100, pay%100, it.Reference, it.Debtor)
	}
	return items, raw
}
