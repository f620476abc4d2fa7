// Package machines stands for the machines that send lines.
package machines

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"
)

// Send sends lines at a rate.
func Send(ctx context.Context, to string, rate int) {
	c, err := net.Dial("udp", to)
	if err != nil {
		return
	}
	defer c.Close()
	levels := []string{"info", "error", "debug", "warning"}
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	var line []byte
	detail := strings.Repeat(" at step 17 of 40;", 60) // machines are talkative
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for range rate / 500 {
			line = fmt.Appendf(line[:0], "<13>host%d app %s: unit %d is done%s", n%40, levels[n%4], n, detail)
			_, _ = c.Write(line) // what is lost is lost
			n++
		}
	}
}
