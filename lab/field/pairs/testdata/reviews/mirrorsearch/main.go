// Mirrorsearch asks several mirrors for a package and answers with the first that knows
// it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"log"
	"net"
	"net/http"
	"time"
)

type found struct {
	mirror, file string
	err          error
}

// A mirror answers after a while.
type mirror struct {
	name string
	far  time.Duration
}

func (m mirror) look(pkg string) found {
	h := fnv.New32a()
	h.Write([]byte(m.name + pkg))
	time.Sleep(m.far + time.Duration(h.Sum32()%4)*time.Millisecond)
	if h.Sum32()%9 == 0 {
		return found{m.name, "", fmt.Errorf("%s has no %s", m.name, pkg)}
	}
	index := make([]byte, 4096) // of the mirror, as far as it was sent
	return found{m.name, fmt.Sprintf("%s/%x/%s.tar.gz", m.name, h.Sum(index[:0]), pkg), nil}
}

type searcher struct {
	mirrors []mirror
	room    int // for answers that nobody has taken
}

func (s *searcher) search(ctx context.Context, pkg string) (string, error) {
	answers := make(chan found, s.room)
	for _, m := range s.mirrors {
		go func() { answers <- m.look(pkg) }()
	}
	failed := errors.New("no mirror knows it")
	for range s.mirrors {
		select {
		case f := <-answers:
			if f.err == nil {
				return f.file, nil
			}
			failed = errors.Join(failed, f.err)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return "", failed
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	room := flag.Int("room", 0, "how many answers may wait to be taken")
	flag.Parse()
	s := &searcher{room: *room}
	for i, name := range []string{"zurich", "berlin", "oslo", "tokyo"} {
		s.mirrors = append(s.mirrors, mirror{name, time.Duration(1+i*i) * time.Millisecond})
	}
	http.HandleFunc("GET /packages/{name}", func(w http.ResponseWriter, r *http.Request) {
		file, err := s.search(r.Context(), r.PathValue("name"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusNotFound)
			return
		}
		http.Redirect(w, r, "/files/"+file, http.StatusSeeOther)
	})
	http.HandleFunc("GET /files/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, r.URL.Path) })
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
