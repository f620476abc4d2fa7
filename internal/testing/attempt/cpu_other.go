//go:build !unix

package attempt

import "time"

var began = time.Now()

// CPU returns how long this process has run, which is no less than its tests take alone.
func CPU() time.Duration { return time.Since(began) }
