// Exprdiscounts finds the discounts of orders with rules that expr compiled once.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

type item struct {
	Name  string
	Price float64
	Count int
}

type order struct {
	Customer string
	Years    int
	Items    []item
	Country  string
}

var texts = []string{
	`sum(Items, .Price * .Count) > 500 ? 5 : 0`,
	`Years > 3 and Country in ["CH", "DE", "AT"] ? 3 : 0`,
	`any(Items, .Name startsWith "set" and .Count >= 2) ? 4 : 0`,
	`len(filter(Items, .Price < 10)) > 3 ? 1 : 0`,
}

func compile() (rules []*vm.Program, err error) {
	for _, text := range texts {
		p, err := expr.Compile(text, expr.Env(&order{}), expr.AsInt())
		if err != nil {
			return nil, err
		}
		rules = append(rules, p)
	}
	return rules, nil
}

// discount sums what the rules say of an order.
func discount(machine *vm.VM, rules []*vm.Program, o *order) (percent int, err error) {
	for _, r := range rules {
		v, err := machine.Run(r, o)
		if err != nil {
			return 0, err
		}
		percent += v.(int)
	}
	return percent, nil
}

func orders() (out []*order) {
	for i := range 100 {
		o := &order{Customer: fmt.Sprintf("customer %d", i), Years: i % 9, Country: []string{"CH", "FR", "DE"}[i%3]}
		for k := range 5 + i%5 {
			o.Items = append(o.Items, item{fmt.Sprintf("%s %d", []string{"set", "part"}[k%2], k), float64((i * k) % 60), 1 + k%3})
		}
		out = append(out, o)
	}
	return out
}

func main() {
	rate := flag.Int("rate", 10, "hundreds of orders a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	rules, err := compile()
	if err != nil {
		log.Fatal(err)
	}
	all := orders()
	machine := &vm.VM{}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	total := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("percent: %d\noperations: %d\n", total, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		for _, o := range all {
			percent, err := discount(machine, rules, o)
			if err != nil {
				log.Fatal(err)
			}
			total += percent
		}
	}
}
