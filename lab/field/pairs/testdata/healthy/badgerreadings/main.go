// Badgerreadings stores the readings of sensors in badger, in batches, and sums the last ones of a sensor.
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"math"
	"os/signal"
	"syscall"
	"time"

	"github.com/dgraph-io/badger/v4"
)

const sensors = 50

// A key is a sensor and a time, so that the readings of a sensor are together.
func key(sensor, at int) []byte {
	k := binary.BigEndian.AppendUint16(make([]byte, 0, 10), uint16(sensor))
	return binary.BigEndian.AppendUint64(k, uint64(at))
}

// store writes one reading of each sensor.
func store(db *badger.DB, at int) error {
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	for s := range sensors {
		v := math.Float64bits(20 + 5*math.Sin(float64(at*s)))
		if err := batch.Set(key(s, at), binary.BigEndian.AppendUint64(nil, v)); err != nil {
			return err
		}
	}
	return batch.Flush()
}

// mean is that of the last readings of a sensor.
func mean(db *badger.DB, sensor, from, to int) (m float64, err error) {
	err = db.View(func(txn *badger.Txn) error {
		options := badger.DefaultIteratorOptions
		options.PrefetchSize = 50
		it := txn.NewIterator(options)
		defer it.Close()
		n := 0
		for it.Seek(key(sensor, from)); it.Valid() && n < to-from; it.Next() {
			if err := it.Item().Value(func(v []byte) error {
				m += math.Float64frombits(binary.BigEndian.Uint64(v))
				return nil
			}); err != nil {
				return err
			}
			n++
		}
		m /= float64(max(n, 1))
		return nil
	})
	return m, err
}

func main() {
	rate := flag.Int("rate", 10, "rounds of readings a second")
	dir := flag.String("dir", "readings", "where the database is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	options := badger.DefaultOptions(*dir).WithLoggingLevel(badger.ERROR).WithMemTableSize(16 << 20).WithBlockCacheSize(16 << 20)
	db, err := badger.Open(options)
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	last := 0.0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("mean: %.2f\noperations: %d\n", last, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		if err := store(db, n); err != nil {
			log.Fatal(err)
		}
		if last, err = mean(db, n%sensors, max(0, n-50), n+1); err != nil {
			log.Fatal(err)
		}
	}
}
