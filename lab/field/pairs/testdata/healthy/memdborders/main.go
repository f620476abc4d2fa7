// Memdborders keeps orders in go-memdb: new ones come at a rate, are moved on, and are counted by their state.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/hashicorp/go-memdb"
)

type order struct {
	ID       string
	Customer string
	State    string
	Sum      int
}

var schema = &memdb.DBSchema{Tables: map[string]*memdb.TableSchema{
	"orders": {
		Name: "orders",
		Indexes: map[string]*memdb.IndexSchema{
			"id":       {Name: "id", Unique: true, Indexer: &memdb.StringFieldIndex{Field: "ID"}},
			"customer": {Name: "customer", Indexer: &memdb.StringFieldIndex{Field: "Customer"}},
			"state":    {Name: "state", Indexer: &memdb.StringFieldIndex{Field: "State"}},
		},
	},
}}

// kept is how many orders there are at most: older ones are replaced.
const kept = 5000

func place(db *memdb.MemDB, n int) error {
	txn := db.Txn(true)
	defer txn.Abort()
	id := n % kept
	if err := txn.Insert("orders", &order{strconv.Itoa(id), "c" + strconv.Itoa(id%250), "new", n % 400}); err != nil {
		return err
	}
	if n >= 20 {
		old := (n - 20) % kept
		if err := txn.Insert("orders", &order{strconv.Itoa(old), "c" + strconv.Itoa(old%250), "sent", n % 400}); err != nil {
			return err
		}
	}
	txn.Commit()
	return nil
}

// account sums what a customer ordered.
func account(db *memdb.MemDB, customer string) (sum int, err error) {
	txn := db.Txn(false)
	defer txn.Abort()
	it, err := txn.Get("orders", "customer", customer)
	if err != nil {
		return 0, err
	}
	for o := it.Next(); o != nil; o = it.Next() {
		sum += o.(*order).Sum
	}
	return sum, nil
}

func main() {
	rate := flag.Int("rate", 100, "orders a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	db, err := memdb.NewMemDB(schema)
	if err != nil {
		log.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	start, n, total := time.Now(), 0, 0
	for {
		select {
		case <-ctx.Done():
			fmt.Printf("total: %d\noperations: %d\n", total, n)
			return
		case <-tick.C:
		}
		for due := int(time.Since(start).Seconds() * float64(*rate)); n < due && ctx.Err() == nil; n++ {
			if err := place(db, n); err != nil {
				log.Fatal(err)
			}
			sum, err := account(db, "c"+strconv.Itoa(n%250))
			if err != nil {
				log.Fatal(err)
			}
			total = max(total, sum)
		}
	}
}
