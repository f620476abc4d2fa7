//go:build !linux

package live

import "time"

// sinceBoot is never asked where there are no processes to watch.
func sinceBoot() time.Duration { return 0 }
