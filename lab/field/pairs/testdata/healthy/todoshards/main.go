// Todoshards keeps the tasks of teams in shards of maps and serves them as JSON.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/maphash"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

type task struct {
	ID    int       `json:"id"`
	Title string    `json:"title"`
	Due   time.Time `json:"due"`
}

const shards = 32

type store struct {
	seed maphash.Seed
	all  [shards]struct {
		sync.RWMutex
		teams map[string][]task
	}
}

func newStore(teams int) *store {
	s := &store{seed: maphash.MakeSeed()}
	for i := range s.all {
		s.all[i].teams = map[string][]task{}
	}
	for i := range teams {
		for k := range 15 {
			s.add("team"+strconv.Itoa(i), fmt.Sprintf("task %d of %d", k, i))
		}
	}
	return s
}

func (s *store) shard(team string) int { return int(maphash.String(s.seed, team) % shards) }

func (s *store) add(team, title string) {
	one := &s.all[s.shard(team)]
	one.Lock()
	defer one.Unlock()
	list := one.teams[team]
	one.teams[team] = append(list, task{len(list), title, time.Now().Add(24 * time.Hour)})
}

// page appends a page of tasks to a list.
func (s *store) page(to []task, team string, from, n int) []task {
	one := &s.all[s.shard(team)]
	one.RLock()
	defer one.RUnlock()
	list := one.teams[team]
	from = min(from, len(list))
	return append(to, list[from:min(from+n, len(list))]...)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	flag.Parse()
	s := newStore(500)
	http.HandleFunc("GET /teams/{team}/tasks", func(w http.ResponseWriter, r *http.Request) {
		from, _ := strconv.Atoi(r.FormValue("from")) // the first page by default
		var room [10]task
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(s.page(room[:0], r.PathValue("team"), max(0, from), 10)); err != nil {
			log.Print(err)
		}
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
