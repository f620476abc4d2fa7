// Package quote is what exchanges tell.
package quote

// A Quote is what somebody bids and asks.
type Quote struct {
	Symbol   int
	Seq      int
	Bid, Ask int64 // in hundredths of a cent
	Size     int32
}

// Mid is the middle.
func (q Quote) Mid() float64 { return float64(q.Bid+q.Ask) / 2 }
