// Package ledger is the head office's server of balances, with a protocol of lines.
package ledger

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// A Ledger has accounts.
type Ledger struct {
	mu       sync.Mutex
	balances []int
	// Keep is how long a connection may be silent.
	Keep time.Duration
}

// New opens accounts.
func New(accounts int) *Ledger {
	l := &Ledger{balances: make([]int, accounts), Keep: 15 * time.Minute}
	for n := range l.balances {
		l.balances[n] = 10000 + n*37%5000
	}
	return l
}

// Serve takes connections until the listener is closed.
func (l *Ledger) Serve(ln net.Listener) error {
	for {
		c, err := ln.Accept()
		if err != nil {
			return err
		}
		go l.converse(c)
	}
}

func (l *Ledger) converse(c net.Conn) {
	defer c.Close()
	in := bufio.NewReaderSize(c, 1024)
	for {
		if err := c.SetReadDeadline(time.Now().Add(l.Keep)); err != nil {
			return
		}
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if _, err := c.Write(l.answer(strings.TrimSuffix(line, "\n"))); err != nil {
			return
		}
	}
}

// answer does what a line asks for.
func (l *Ledger) answer(line string) []byte {
	var account, cents int
	if _, err := fmt.Sscanf(line, "balance %d", &account); err != nil {
		if _, err := fmt.Sscanf(line, "book %d %d", &account, &cents); err != nil {
			return []byte("error what?\n")
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if account < 0 || account >= len(l.balances) {
		return []byte("error no such account\n")
	}
	l.balances[account] += cents
	return fmt.Appendf(nil, "ok %d %d\n", account, l.balances[account])
}
