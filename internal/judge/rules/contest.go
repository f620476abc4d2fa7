package rules

import (
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

const (
	// contestOthers is the part of the machine that others must have, and contestThreads
	// how long threads must have waited for each second of CPU, for the longest waits in the
	// process to be theirs though some CPU was idle. Beside one spinning process on two CPUs
	// web servers that are well had 0.5 and 1, waits for a P of 20 ms and a stop of 14 ms.
	contestOthers  = 0.4
	contestThreads = 0.5
)

// threadsWait says that threads of the process waited for CPUs that others had, be the
// machine full or not; "" when they did not.
func threadsWait(p *diagnosis.Pass) string {
	c, ok := measureContest(p)
	if !ok || c.busy.Value < contestOthers || c.queueing.Value < contestThreads {
		return ""
	}
	return fact.Sentence("others used %s of the machine, and threads of this process waited %s for each second of CPU", c.busy, c.queueing)
}
