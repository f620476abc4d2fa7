//go:build !unix

package live

import "time"

// ownCPU is the CPU time of this process so far.
func ownCPU() time.Duration { return 0 }
