// Pricefiles answers for the prices of a shop, which are in a file.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

type prices map[string]int

func read(name string) (prices, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, lines := prices{}, bufio.NewScanner(f)
	for lines.Scan() {
		article, cents, ok := strings.Cut(lines.Text(), ";")
		n, err := strconv.Atoi(cents)
		if !ok || err != nil {
			return nil, fmt.Errorf("%s: %q: %w", name, lines.Text(), err)
		}
		all[article] = n
	}
	return all, lines.Err()
}

func write(name string, n int) error {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "article %d;%d\n", i, 100+i*37%9000)
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

// A list has the prices that are in a file.
type list struct {
	name    string
	lasting time.Duration // how long what was read is good
	mu      sync.Mutex
	all     prices
	read    time.Time
}

func (l *list) price(article string) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil || time.Since(l.read) >= l.lasting {
		all, err := read(l.name)
		if err != nil {
			return 0, err
		}
		l.all, l.read = all, time.Now()
	}
	cents, ok := l.all[article]
	if !ok {
		return 0, fmt.Errorf("no %q", article)
	}
	return cents, nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	lasting := flag.Duration("lasting", 2*time.Second, "how long prices are good")
	dir := flag.String("dir", ".", "where the file is")
	flag.Parse()
	l := &list{name: filepath.Join(*dir, "prices.csv"), lasting: *lasting}
	if err := write(l.name, 2000); err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("GET /price", func(w http.ResponseWriter, r *http.Request) {
		cents, err := l.price(r.FormValue("article"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		fmt.Fprintf(w, "%d.%02d\n", cents/100, cents%100)
	})
	at, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", at.Addr())
	log.Fatal(http.Serve(at, nil))
}
