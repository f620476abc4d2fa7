// Schoolreports prints the reports of all years of the schools of a district.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"schoolreports/internal/layout"
	"schoolreports/internal/press"
	"schoolreports/internal/school"
)

func main() {
	years := flag.Int("years", 60, "years to print")
	rate := flag.Int("rate", 10, "years that come to the press in a second")
	pupils := flag.Int("pupils", 320, "pupils of a year")
	style := flag.String("style", "compact", "layout of the reports: compact or wide")
	out := flag.String("out", "", "file to print to")
	flag.Parse()
	if err := run(*years, *rate, *pupils, *style, *out); err != nil {
		fmt.Fprintln(os.Stderr, "schoolreports:", err)
		os.Exit(1)
	}
}

func run(years, rate, pupils int, style, out string) error {
	l, err := layout.Named(style)
	if err != nil {
		return err
	}
	to := io.Discard
	if out != "" {
		f, err := os.Create(out)
		if err != nil {
			return err
		}
		defer f.Close()
		to = f
	}
	p := press.Start(l, to)
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for i := range years {
		p.Print(school.Generate(i, pupils))
		<-tick.C
	}
	n, err := p.Close()
	if err != nil {
		return err
	}
	fmt.Printf("bytes: %d\n", n)
	fmt.Printf("operations: %d\n", years)
	return nil
}
