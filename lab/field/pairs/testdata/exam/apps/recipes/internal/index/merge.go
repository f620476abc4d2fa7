package index

import "recipes/internal/segment"

// A Policy says which segments, from one on to the last, are to become one; from the number
// of segments on there is nothing to do.
type Policy func(segments []*segment.Segment) (from int)

// AtMost keeps no more segments than a number.
func AtMost(n int) Policy {
	return func(s []*segment.Segment) int {
		if len(s) <= n {
			return len(s)
		}
		return n - 1
	}
}

// Tiers merges segments when there are so many of about the same size.
func Tiers(width int) Policy {
	return func(s []*segment.Segment) int {
		from, run := len(s), 0
		for size := s[from-1].Docs; ; {
			i, docs := from, 0
			for ; i > 0 && s[i-1].Docs <= 2*size; i-- {
				docs += s[i-1].Docs
				run++
			}
			if run < width {
				return from
			}
			if from < len(s) {
				docs += size
			}
			from, run, size = i, 1, docs
		}
	}
}
