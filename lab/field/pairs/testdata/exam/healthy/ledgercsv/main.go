// Ledgercsv adds up the postings of ledgers that are CSV, by account.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

const accounts = 250 // that a ledger has, about

// A balance is what an account has in cents, and how many postings it took.
type balance struct {
	account  string
	cents    int64
	postings int
}

// cents parses an amount like -12.50.
func cents(s string) (int64, error) {
	whole, part, ok := strings.Cut(s, ".")
	if !ok || len(part) != 2 {
		return 0, fmt.Errorf("amount %q", s)
	}
	w, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return 0, err
	}
	p, err := strconv.ParseUint(part, 10, 8)
	if err != nil {
		return 0, err
	}
	if whole[0] == '-' {
		return w*100 - int64(p), nil
	}
	return w*100 + int64(p), nil
}

// A clerk adds up one ledger after another.
type clerk struct {
	in       *bufio.Reader
	places   map[string]int // of accounts among the balances
	balances []balance
	record   [3]string
	report   bytes.Buffer
	out      *csv.Writer // of report
}

func newClerk() *clerk {
	c := &clerk{in: bufio.NewReaderSize(nil, 64<<10), places: make(map[string]int, accounts), balances: make([]balance, 0, accounts)}
	c.out = csv.NewWriter(&c.report)
	return c
}

// sum adds up the postings that r has.
func (c *clerk) sum(r io.Reader) error {
	clear(c.places)
	c.balances = c.balances[:0]
	c.in.Reset(r)
	in := csv.NewReader(c.in)
	in.ReuseRecord, in.FieldsPerRecord = true, 4
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		amount, err := cents(record[2])
		if err != nil {
			line, _ := in.FieldPos(2)
			return fmt.Errorf("line %d: %w", line, err)
		}
		at, ok := c.places[record[1]]
		if !ok {
			at = len(c.balances)
			account := strings.Clone(record[1]) // without the rest of its line
			c.places[account] = at
			c.balances = append(c.balances, balance{account: account})
		}
		c.balances[at].cents += amount
		c.balances[at].postings++
	}
}

// write writes the report: the balances, sorted by account.
func (c *clerk) write() error {
	c.report.Reset()
	slices.SortFunc(c.balances, func(a, b balance) int { return strings.Compare(a.account, b.account) })
	for _, b := range c.balances {
		c.record[0], c.record[1], c.record[2] = b.account, strconv.FormatInt(b.cents, 10), strconv.Itoa(b.postings)
		if err := c.out.Write(c.record[:]); err != nil {
			return err
		}
	}
	c.out.Flush()
	return c.out.Error()
}

// sample is a ledger of n postings.
func sample(n int, rnd *rand.Rand) []byte {
	out := make([]byte, 0, n*64)
	for i := range n {
		out = fmt.Appendf(out, "%d,CH-%05d,%d.%02d,\"rent, heating %d\"\n", i, rnd.IntN(accounts), rnd.IntN(4000)-2000, rnd.IntN(100), i%12+1)
	}
	return out
}

func main() {
	postings := flag.Int("postings", 3000, "how many a ledger has")
	flag.Parse()
	rnd := rand.New(rand.NewPCG(5, 5))
	ledgers := make([][]byte, 40)
	for i := range ledgers {
		ledgers[i] = sample(*postings, rnd)
	}
	clerks := make([]*clerk, runtime.GOMAXPROCS(0))
	for i := range clerks {
		clerks[i] = newClerk()
	}
	pace(len(clerks), func(_ context.Context, w, n int) error {
		c := clerks[w]
		if err := c.sum(bytes.NewReader(ledgers[n%len(ledgers)])); err != nil {
			return err
		}
		return c.write()
	})
}
