// Package broker stands for a broker: it stores what has come and sends receipts.
package broker

import (
	"bufio"
	"fmt"
	"net"
	"time"
)

// Serve serves connections; storing what is there takes a time.
func Serve(l net.Listener, store time.Duration) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go session(c, store)
	}
}

func session(c net.Conn, store time.Duration) {
	defer c.Close()
	in, out := bufio.NewReader(c), bufio.NewWriter(c)
	for n := 0; ; {
		if _, err := in.ReadString('\n'); err != nil {
			return
		}
		n++
		fmt.Fprintf(out, "ok %d\n", n)
		if in.Buffered() > 0 {
			continue // more came with it
		}
		time.Sleep(store)
		if out.Flush() != nil {
			return
		}
	}
}
