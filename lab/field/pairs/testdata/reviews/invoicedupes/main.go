// Invoicedupes reads a ledger of invoices and reports which numbers were booked twice.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"strconv"
	"strings"
)

type invoice struct {
	number   string
	customer int
	cents    int64
}

// ledger writes a month of invoices, some of them twice.
func ledger(w io.Writer, n int) error {
	b := bufio.NewWriter(w)
	for i := range n {
		number := i
		if i%97 == 0 {
			number = i / 2
		}
		fmt.Fprintf(b, "2026/%07d;%d;%d\n", number, i%400, 1000+i*37%90000)
	}
	return b.Flush()
}

func parse(line string) (invoice, error) {
	fields := strings.Split(line, ";")
	if len(fields) != 3 {
		return invoice{}, fmt.Errorf("%d fields in %q", len(fields), line)
	}
	customer, err := strconv.Atoi(fields[1])
	if err != nil {
		return invoice{}, err
	}
	cents, err := strconv.ParseInt(fields[2], 10, 64)
	return invoice{fields[0], customer, cents}, err
}

func read(r io.Reader) (all []invoice, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		one, err := parse(lines.Text())
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, lines.Err()
}

func contains(booked []string, number string) bool {
	for _, b := range booked {
		if b == number {
			return true
		}
	}
	return false
}

func duplicatesInList(all []invoice) (twice []invoice) {
	var booked []string
	for _, one := range all {
		if contains(booked, one.number) {
			twice = append(twice, one)
			continue
		}
		booked = append(booked, one.number)
	}
	return twice
}

func duplicatesInSet(all []invoice) (twice []invoice) {
	booked := map[string]bool{}
	for _, one := range all {
		if booked[one.number] {
			twice = append(twice, one)
		}
		booked[one.number] = true
	}
	return twice
}

func main() {
	list := flag.Bool("list", false, "look booked numbers up in a list")
	size := flag.Int("invoices", 5000, "invoices in a month")
	months := flag.Int("months", 60, "how many months are checked")
	flag.Parse()
	duplicates, sum := duplicatesInSet, int64(0)
	if *list {
		duplicates = duplicatesInList
	}
	for range *months {
		r, w := io.Pipe()
		go func() { w.CloseWithError(ledger(w, *size)) }()
		all, err := read(r)
		if err != nil {
			log.Fatal(err)
		}
		for _, one := range duplicates(all) {
			sum += one.cents
		}
	}
	fmt.Println("booked twice, in cents:", sum)
	fmt.Printf("operations: %d\n", *months**size)
}
