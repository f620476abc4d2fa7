// Bboltfreelist keeps measurements in a bbolt database, out of which most were deleted.
package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"log"
	"path/filepath"

	"go.etcd.io/bbolt"
)

var bucket = []byte("measurements")

func key(n int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// fill writes measurements and deletes most of them again.
func fill(db *bbolt.DB, n int) error {
	value := make([]byte, 3000)
	for from := 0; from < n; from += 5000 {
		err := db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucket)
			for i := from; i < from+5000 && err == nil; i++ {
				err = b.Put(key(i), value)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket)
		for i := range n {
			if i%3 != 0 {
				if err := b.Delete(key(i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func measure(db *bbolt.DB, n int) error {
	return db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).Put(key(n%3000*3), fmt.Appendf(nil, "%d degrees", n%40))
	})
}

func main() {
	dir := flag.String("dir", ".", "where the database is")
	old := flag.Int("old", 60000, "measurements of last year")
	puts := flag.Int("puts", 1500, "measurements of today")
	flag.Parse()
	db, err := bbolt.Open(filepath.Join(*dir, "measurements.db"), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType, NoSync: true})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := fill(db, *old); err != nil {
		log.Fatal(err)
	}
	for i := range *puts {
		if err := measure(db, i); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("operations: %d\n", *puts)
}
