// Package seq has helpers for iterators.
package seq

import "iter"

// Filter yields what all of the conditions hold for.
func Filter[T any](in iter.Seq[T], conds ...func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
	next:
		for v := range in {
			for _, c := range conds {
				if !c(v) {
					continue next
				}
			}
			if !yield(v) {
				return
			}
		}
	}
}

// Map yields f of each.
func Map[T, U any](in iter.Seq[T], f func(T) U) iter.Seq[U] {
	return func(yield func(U) bool) {
		for v := range in {
			if !yield(f(v)) {
				return
			}
		}
	}
}

// Count counts.
func Count[T any](in iter.Seq[T]) (n int) {
	for range in {
		n++
	}
	return n
}
