//go:build !unix

package budget

import "time"

// OwnCPU returns the CPU time of this process so far.
func OwnCPU() time.Duration { return 0 }
