// Payrollwrites computes the wages of a company and writes them for the bank.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

type worker struct {
	name         string
	hours, wage  int
	allowance    int
	married      bool
	account, due int
}

func staff(n int) (all []worker) {
	for i := range n {
		all = append(all, worker{name: fmt.Sprintf("Worker %05d", i), hours: 120 + i%60, wage: 2000 + i%3000, married: i%2 == 0, account: 100000 + i})
	}
	return all
}

// pay computes what is due after taxes.
func (w *worker) pay(month int) {
	gross := w.hours*w.wage + month*10
	tax := 0
	for step, rate := range []int{5, 12, 19, 27} {
		if over := gross - step*150000; over > 0 {
			tax += min(over, 150000) * rate / 100
		}
	}
	if w.married {
		tax = tax * 9 / 10
	}
	w.due = gross - tax
}

func export(out io.Writer, all []worker) error {
	for _, w := range all {
		if _, err := fmt.Fprintf(out, "%d;%s;", w.account, w.name); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%d.%02d;CHF\n", w.due/100, w.due%100); err != nil {
			return err
		}
	}
	return nil
}

func month(name string, m int, all []worker, direct bool) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := range all {
		all[i].pay(m)
	}
	if direct {
		return export(f, all)
	}
	b := bufio.NewWriter(f)
	if err := export(b, all); err != nil {
		return err
	}
	return b.Flush()
}

func main() {
	direct := flag.Bool("direct", false, "write to the file as it is")
	months := flag.Int("months", 60, "how many months are paid")
	dir := flag.String("dir", ".", "where files are written")
	flag.Parse()
	all := staff(10000)
	for m := range *months {
		if err := month(filepath.Join(*dir, fmt.Sprintf("pay%02d.csv", m%12)), m, all, *direct); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("operations: %d\n", *months*len(all))
}
