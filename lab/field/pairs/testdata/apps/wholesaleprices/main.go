// Wholesaleprices prices large orders by lists that change now and then.
package main

import (
	"flag"
	"fmt"
	"sync"

	"wholesaleprices/internal/order"
	"wholesaleprices/internal/pricebook"
)

func main() {
	orders := flag.Int("orders", 6000, "orders to price")
	clerks := flag.Int("clerks", 4, "clerks who price at once")
	whole := flag.Bool("whole", false, "price an order in one go")
	flag.Parse()
	book := pricebook.New(5000)
	jobs := make(chan int, 64)
	sums := make([]int, *clerks*16)
	var wg sync.WaitGroup
	for c := range *clerks {
		wg.Go(func() {
			for i := range jobs {
				o := order.Generate(i)
				if *whole {
					sums[c*16] += book.Total(o.Articles)
				} else {
					sums[c*16] += order.Price(book, &o)
				}
				if i%500 == 0 {
					book.Set(i%5000, 100+i%900)
				}
			}
		})
	}
	for i := range *orders {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	total := 0
	for _, s := range sums {
		total += s
	}
	fmt.Println("total:", total)
	fmt.Printf("operations: %d\n", *orders)
}
