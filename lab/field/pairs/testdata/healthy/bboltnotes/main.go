// Bboltnotes is a service that finds the notes of a day in a bbolt database, which it fills first.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"encoding/json"
	"path/filepath"
	"strings"

	"go.etcd.io/bbolt"
)

var notes = []byte("notes")

// A key is a day and a number, so that the notes of a day are together.
func key(day, n int) []byte { return fmt.Appendf(nil, "2026-%03d/%04d", day, n) }

func fill(db *bbolt.DB) error {
	return db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(notes)
		if err != nil {
			return err
		}
		for day := range 365 {
			for n := range 120 {
				text := fmt.Sprintf("Note %d of day %d: %s", n, day, strings.Repeat("remember this. ", 4))
				if err := b.Put(key(day, n), []byte(text)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// find returns the notes whose keys begin with a day.
func find(db *bbolt.DB, day string) (found []string, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		c, begin := tx.Bucket(notes).Cursor(), []byte(day+"/")
		for k, v := c.Seek(begin); k != nil && bytes.HasPrefix(k, begin); k, v = c.Next() {
			found = append(found, string(v))
		}
		return nil
	})
	return found, err
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	dir := flag.String("dir", ".", "where the database is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	db, err := bbolt.Open(filepath.Join(*dir, "notes.db"), 0o600, &bbolt.Options{Timeout: time.Second})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	if err := fill(db); err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /notes/{day}", func(w http.ResponseWriter, r *http.Request) {
		found, err := find(db, r.PathValue("day"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(found)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
