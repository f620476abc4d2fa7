package desk

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"time"

	"tickerplant/internal/quote"
)

// Risk keeps the margin of each symbol, which the clearer tells.
type Risk struct {
	conn    net.Conn
	answers *bufio.Reader
	margins map[int]string
	asked   int
	err     error
}

// NewRisk makes a desk that asks the clearer at an address.
func NewRisk(addr string) (*Risk, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Risk{conn: c, answers: bufio.NewReader(c), margins: make(map[int]string)}, nil
}

// Name is that of the desk.
func (r *Risk) Name() string { return "risk" }

// On asks for the margin at a quote.
func (r *Risk) On(q quote.Quote) {
	if r.err != nil {
		return
	}
	r.asked++
	if _, r.err = fmt.Fprintf(r.conn, "MARGIN %d %.1f\n", q.Symbol, q.Mid()); r.err != nil {
		return
	}
	var line string
	line, r.err = r.answers.ReadString('\n')
	r.margins[q.Symbol] = strings.TrimSpace(line)
}

// Summary says what the desk did.
func (r *Risk) Summary() string {
	return fmt.Sprintf("risk: %d margins of %d symbols, error %v", r.asked, len(r.margins), r.err)
}

// A Clearer tells margins.
type Clearer struct {
	l     net.Listener
	takes time.Duration
}

// StartClearer starts a clearer, which takes so long for a margin.
func StartClearer(takes time.Duration) (*Clearer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	c := &Clearer{l: l, takes: takes}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go c.serve(conn)
		}
	}()
	return c, nil
}

// Addr is where the clearer is.
func (c *Clearer) Addr() string { return c.l.Addr().String() }

// Close closes the clearer.
func (c *Clearer) Close() error { return c.l.Close() }

func (c *Clearer) serve(conn net.Conn) {
	defer conn.Close()
	for in := bufio.NewScanner(conn); in.Scan(); {
		var symbol int
		var mid float64
		if _, err := fmt.Sscanf(in.Text(), "MARGIN %d %f", &symbol, &mid); err != nil {
			return
		}
		time.Sleep(c.takes)
		fmt.Fprintf(conn, "%.1f\n", mid*0.08)
	}
}
