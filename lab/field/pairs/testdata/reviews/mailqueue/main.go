// Mailqueue takes mails and delivers them one by one.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

type mail struct {
	to   string
	text []byte
}

// A queue keeps mails until they are delivered.
type queue struct {
	mu    sync.Mutex
	some  sync.Cond
	mails []mail
	most  int // 0: as many as come
}

var errFull = errors.New("too many mails wait")

func (q *queue) put(m mail) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.most > 0 && len(q.mails) >= q.most {
		return errFull
	}
	q.mails = append(q.mails, m)
	q.some.Signal()
	return nil
}

func (q *queue) take() mail {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.mails) == 0 {
		q.some.Wait()
	}
	m := q.mails[0]
	q.mails[0] = mail{}
	q.mails = q.mails[1:]
	return m
}

// deliver brings a mail to its server.
func deliver(m mail) int {
	time.Sleep(4 * time.Millisecond)
	return bytes.Count(m.text, []byte("\n"))
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	most := flag.Int("most", 0, "how many mails may wait")
	flag.Parse()
	q := &queue{most: *most}
	q.some.L = &q.mu
	go func() {
		for lines := 0; ; {
			lines += deliver(q.take())
		}
	}()
	http.HandleFunc("POST /mail", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text = append(bytes.Repeat([]byte("Received: from somewhere by here\n"), 600), text...)
		if err := q.put(mail{r.FormValue("to"), text}); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
