package statistics

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Largest returns the keys of sums, the largest sum first and equal ones in their own order.
func Largest[K, V cmp.Ordered](sums map[K]V) []K {
	return slices.SortedFunc(maps.Keys(sums), func(a, b K) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
}

// Total adds up sums.
func Total[K comparable, V int64 | time.Duration](sums map[K]V) (total V) {
	for _, v := range sums {
		total += v
	}
	return total
}
