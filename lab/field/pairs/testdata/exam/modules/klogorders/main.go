// Klogorders takes orders at several counters and writes a log of them with klog. Lines
// about payments are on disk before the payment is confirmed.
package main

import (
	"flag"
	"fmt"
	"hash/crc32"
	"log"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

type shop struct{ name string }

// order is what each counter does all day.
func (s *shop) order(counter, i int) uint32 {
	klog.V(1).InfoS("Order arrived", "shop", s.name, "counter", counter, "order", i)
	sum := uint32(0)
	for line := range 20 {
		sum += crc32.ChecksumIEEE([]byte(strings.Repeat(fmt.Sprint("article ", line), 20)))
	}
	klog.InfoS("Order priced", "shop", s.name, "counter", counter, "order", i, "sum", sum)
	klog.InfoS("Order handed over", "shop", s.name, "counter", counter, "order", i)
	return sum
}

// pay is at a till, where bills are paid.
func (s *shop) pay(i int) {
	klog.InfoS("Bill paid", "shop", s.name, "bill", i)
	klog.Flush()
}

func main() {
	dir := flag.String("dir", ".", "where the log is")
	orders := flag.Int("orders", 35000, "orders at each counter")
	tills := flag.Int("tills", 6, "where bills are paid")
	flag.Parse()
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{
		"logtostderr": "false", "alsologtostderr": "false", "log_file": filepath.Join(*dir, "shop.log"),
	} {
		if err := flags.Set(name, value); err != nil {
			log.Fatal(err)
		}
	}
	s := &shop{name: "Station Road"}
	closed := make(chan struct{})
	var till, counters sync.WaitGroup
	for range *tills {
		till.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-closed:
					return
				case <-time.After(time.Millisecond): // the next customer
					s.pay(i)
				}
			}
		})
	}
	for counter := range 4 {
		counters.Go(func() {
			for i := range *orders {
				s.order(counter, i)
			}
		})
	}
	counters.Wait()
	close(closed)
	till.Wait()
	klog.Flush()
	fmt.Println("operations:", 4**orders)
}
