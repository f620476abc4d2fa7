// Package wardb is a stand-in for the clinic's database server.
package wardb

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"time"
)

// Listen starts the server and gives its address.
func Listen() (addr string, err error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			go serve(nc)
		}
	}()
	return ln.Addr().String(), nil
}

func serve(nc net.Conn) {
	defer nc.Close()
	r, w := bufio.NewReader(nc), bufio.NewWriter(nc)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		var patient int
		verb, rest, _ := strings.Cut(line, " ")
		fmt.Sscanf(rest, "%d", &patient)
		time.Sleep(1200 * time.Microsecond)
		switch verb {
		case "patient":
			fmt.Fprintf(w, "%d|Patient %d|knee,shoulder,gait\n.\n", patient, patient)
		case "orders":
			for i := range 10 + patient%20 {
				fmt.Fprintf(w, "%d|%s|%d\n", i, []string{"gait training", "water therapy", "massage", "ergometer"}[(patient+i)%4], 20+(i*patient)%40)
			}
			fmt.Fprint(w, ".\n")
		}
		if w.Flush() != nil {
			return
		}
	}
}
