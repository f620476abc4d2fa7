// Package machines stands for the machines that send lines.
package machines

import (
	"context"
	"fmt"
	"net"
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
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for range rate / 500 {
			line = fmt.Appendf(line[:0], "<13>host%d app %s: unit %d is done", n%40, levels[n%4], n)
			_, _ = c.Write(line) // what is lost is lost
			n++
		}
	}
}
