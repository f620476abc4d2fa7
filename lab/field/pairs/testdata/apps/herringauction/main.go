// Command herringauction settles the days of a fish auction.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	"herringauction/internal/catch"
	"herringauction/internal/rules"
	"herringauction/internal/sheet"
	"herringauction/internal/summary"
)

func settle(file string, mapped bool) (*summary.Day, string, error) {
	s, err := sheet.Open(strings.NewReader(file), mapped)
	if err != nil {
		return nil, "", err
	}
	day := summary.New()
	err = catch.Read(s, func(l *catch.Lot) error {
		fee, err := rules.Fee(l)
		if err != nil {
			return err
		}
		return day.Add(l, fee)
	})
	if err != nil {
		return nil, "", err
	}
	_, seal, err := day.Bill()
	return day, seal, err
}

func main() {
	d := flag.Duration("for", 5*time.Second, "how long to run")
	mapped := flag.Bool("mapped", true, "second edition of the sheet reader")
	flag.Parse()

	var files []string
	for i := range 8 {
		files = append(files, catch.File(uint64(i), 1500))
	}
	end := time.Now().Add(*d)
	ops, lots := 0, 0
	var seal string
	for time.Now().Before(end) {
		day, s, err := settle(files[ops%len(files)], *mapped)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		lots += day.Lots
		seal = s
		ops++
	}
	fmt.Printf("operations: %d\n", ops)
	fmt.Printf("lots sold: %d, last seal %s\n", lots, seal[:12])
}
