// Package beat says when to do again what is done all the time: at moments that all
// parts of this process share.
//
// It hides where these moments are. To wake up costs a program more than the little
// that it then does, most of all one in Go, whose runtime looks for work on several
// threads each time. Parts that know nothing of each other, and do something once or
// twice a second, wake it once when they do so together. The moments are other ones in
// each process, so that not all programs of a machine wake together.
package beat

import "time"

var start = time.Now()

// UntilNext returns how long it is until the next moment for what is done at an interval: a half
// of that at least, so that what was done between two moments, because somebody asked for it,
// is not done again at once.
func UntilNext(every time.Duration) time.Duration { return until(time.Since(start), every) }

func until(now, every time.Duration) time.Duration {
	if every <= 0 {
		return 0
	}
	wait := every - now%every
	if wait < every/2 {
		wait += every
	}
	return wait
}
