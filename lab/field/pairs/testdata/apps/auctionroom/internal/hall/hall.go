// Package hall brings bidders into the auction.
package hall

import (
	"encoding/json"
	"hash/crc32"
	"math/rand/v2"
	"time"

	"auctionroom/internal/bus"
	"auctionroom/internal/lot"
	"auctionroom/internal/watch"
)

type Hall struct {
	Bus   *bus.Bus
	House *lot.House
	Lots  int
	Swap  bool
}

type visit struct {
	Bidder int    `json:"bidder"`
	Title  string `json:"title"`
	Bids   int    `json:"bids"`
	Sum    uint32 `json:"sum"`
}

type Result struct{ Visits, Bids, Bytes int }

// Run lets one visitor after the other watch a lot and bid until end.
func (h *Hall) Run(seed uint64, end time.Time) (res Result, err error) {
	r := rand.New(rand.NewPCG(seed, 21))
	for time.Now().Before(end) {
		bidder, n := r.IntN(1<<20), r.IntN(h.Lots)
		s := watch.Start(h.Bus, bidder, n, h.Swap)
		bids := 2 + r.IntN(6)
		for k := range bids {
			if k == 1 && bidder%10 == 0 {
				s.Follow()
			}
			if err := h.House.Bid(n, bidder, 100+int64(r.IntN(900))); err != nil {
				return res, err
			}
		}
		doc, err := json.Marshal(visit{bidder, h.House.Title(n), bids, crc32.ChecksumIEEE(s.Close())})
		if err != nil {
			return res, err
		}
		res.Visits++
		res.Bids += bids
		res.Bytes += len(doc)
	}
	return res, nil
}
