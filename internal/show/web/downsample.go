package web

import (
	"slices"
)

// maxPoints is how many points of a line are sent: two to each pixel of a wide chart.
const maxPoints = 2000

// downsample leaves out points of lines that have more than a picture can show: of each
// line its own, of those that are added up the same moments. It reports whether it
// did. w is what is drawn of them.
func downsample(series []Series, together bool, w window) bool {
	if !together {
		some := false
		for i := range series {
			s := &series[i]
			some = pick(s, extremes(s.At, [][]*float64{s.Value}, w)) || some
		}
		return some
	}
	values := make([][]*float64, len(series))
	for i := range series {
		values[i] = series[i].Value
	}
	keep := extremes(series[0].At, values, w)
	for i := range series {
		pick(&series[i], keep)
	}
	return keep != nil
}

// extremes returns which points to keep of lines with common moments, at most
// maxPoints; nil is all. The time that is drawn of them is cut into equal
// stretches, of each of which the lowest and the highest point of each line and a
// gap are kept.
func extremes(at []int64, lines [][]*float64, w window) (keep []int) {
	n := len(at)
	if n <= maxPoints {
		return nil
	}
	// The points left and right of what is drawn may be far away.
	from, to := max(at[0], int64(w.from)), at[n-1]
	if !w.whole() {
		to = min(to, int64(w.to))
	}
	pieces := int64((maxPoints - 2) / (2*len(lines) + 1))
	span := max(to-from, 1)
	piece := func(i int) int64 {
		return min(max(int64(float64(at[i]-from)/float64(span)*float64(pieces)), 0), pieces-1)
	}
	keep = append(keep, 0)
	for i := 0; i < n; {
		j := i
		for j < n && piece(j) == piece(i) {
			j++
		}
		keep = append(keep, notable(lines, i, j)...)
		i = j
	}
	keep = append(keep, n-1)
	slices.Sort(keep)
	return slices.Compact(keep)
}

// notable returns the points of [i, j) that a picture must not lose.
func notable(lines [][]*float64, i, j int) (keep []int) {
	hole := -1
	for _, values := range lines {
		low, high := -1, -1
		for k := i; k < j; k++ {
			v := values[k]
			switch {
			case v == nil:
				hole = k
			case low < 0:
				low, high = k, k
			case *v < *values[low]:
				low = k
			case *v > *values[high]:
				high = k
			}
		}
		if low >= 0 {
			keep = append(keep, low, high)
		}
	}
	if hole >= 0 {
		keep = append(keep, hole)
	}
	return keep
}

// pick keeps some points of a series; nil keeps all, which it reports as false.
func pick(s *Series, keep []int) bool {
	if keep == nil {
		return false
	}
	at, value := make([]int64, len(keep)), make([]*float64, len(keep))
	for i, k := range keep {
		at[i], value[i] = s.At[k], s.Value[k]
	}
	s.At, s.Value = at, value
	return true
}
