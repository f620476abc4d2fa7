// Paymentlimit takes payments and passes them on to a bank, not faster than agreed.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// A limiter lets so many through each second, one after the other.
type limiter struct {
	mu    sync.Mutex
	next  time.Time
	every time.Duration
}

// reserve is how long the caller has to wait for its turn.
func (l *limiter) reserve(now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next.Before(now) {
		l.next = now
	}
	wait := l.next.Sub(now)
	l.next = l.next.Add(l.every)
	return wait
}

func (l *limiter) wait(ctx context.Context) error {
	t := time.NewTimer(l.reserve(time.Now()))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type bank struct {
	limit *limiter
	key   []byte
}

// pay sends a payment and returns its receipt.
func (b *bank) pay(ctx context.Context, from string, cents int) (string, error) {
	if err := b.limit.wait(ctx); err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, b.key)
	fmt.Fprintf(mac, "%s %d", from, cents)
	time.Sleep(3 * time.Millisecond)
	return hex.EncodeToString(mac.Sum(nil)), nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	rate := flag.Int("per-second", 2000, "how many payments the bank takes each second")
	flag.Parse()
	b := &bank{&limiter{every: time.Second / time.Duration(*rate)}, []byte("a secret of the bank")}
	http.HandleFunc("POST /pay", func(w http.ResponseWriter, r *http.Request) {
		cents, err := strconv.Atoi(r.FormValue("cents"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		receipt, err := b.pay(r.Context(), r.FormValue("from"), cents)
		if err != nil {
			http.Error(w, err.Error(), http.StatusGatewayTimeout)
			return
		}
		fmt.Fprintln(w, receipt)
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
