package exectrace

import "iter"

// pull makes a coroutine that counts from n.
func pull(n int) (func() (int, bool), func()) {
	return iter.Pull(func(yield func(int) bool) {
		for i := n; yield(i); i++ {
		}
	})
}
