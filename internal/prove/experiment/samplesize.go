package experiment

import (
	"math"

	"github.com/gowhy/gowhy/internal/ground/statistics"
)

// need is about how many pairs would decide: those that find the difference as
// it was estimated, or those that show it to be within the margin, whichever
// are fewer. 0 when nothing can be said.
func (j *judge) need(e Effect) int {
	sd := e.pairSD()
	if e.Pairs < leastPairs || !(sd > 0) {
		return 0
	}
	centre := math.Abs(math.Log(e.Ratio))
	need := statistics.PairsNeeded(sd, centre, j.alpha(e.Metric), power)
	if room := math.Log1p(j.sameWithin(e.Metric)) - centre; room > 0 {
		need = min(need, toWithin(sd, room))
	}
	return max(need, e.Pairs+1)
}

// pairSD returns the standard deviation of one pair's log ratio as far as it matters
// to the estimate: from the width of the interval.
func (e Effect) pairSD() float64 {
	half := (math.Log(e.High) - math.Log(e.Low)) / 2
	return half / statistics.Normal((1+level)/2) * math.Sqrt(float64(e.Pairs))
}

// toWithin returns how many pairs make half of the interval as small as room.
func toWithin(sd, room float64) int {
	n := math.Pow(statistics.Normal((1+level)/2)*sd/room, 2)
	return int(math.Ceil(min(n, 1<<30)))
}
