// Waitinglist is a server where people put themselves on the list of a course and are
// told which place they have.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strconv"
	"sync"
)

type person struct {
	mail string
	at   int
}

// A list knows the place of each who is on it.
type list struct {
	mu      sync.Mutex
	people  []person
	byMail  map[string]int
	indexed bool
	served  int
}

// place is the place of somebody who is on the list already, 0 for others.
func (l *list) place(mail string) int {
	if l.indexed {
		return l.byMail[mail]
	}
	for i := range l.people {
		if l.people[i].mail == mail {
			return l.people[i].at
		}
	}
	return 0
}

func (l *list) add(mail string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at := l.place(mail); at > 0 {
		return at
	}
	at := len(l.people) + 1
	l.people = append(l.people, person{mail, at})
	l.byMail[mail] = at
	return at
}

func (l *list) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	l.mu.Lock()
	l.served++
	n := l.served
	l.mu.Unlock()
	for i := range 10 { // a group comes together
		l.add("guest" + strconv.Itoa(n) + "." + strconv.Itoa(i) + "@example.org")
	}
	fmt.Fprintln(w, "welcome")
}

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen")
	indexed := flag.Bool("indexed", false, "find people by their addresses")
	flag.Parse()
	l := &list{byMail: map[string]int{}, indexed: *indexed}
	ln, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening")
	log.Fatal(http.Serve(ln, l))
}
