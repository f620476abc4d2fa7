// Package clubs is the directory of clubs and their members.
package clubs

import (
	"fmt"
	"time"
)

// Club wants notices at its own address, in its own way.
type Club struct {
	ID      int
	Name    string
	URL     string
	Secret  []byte
	Timeout time.Duration
	Members []Member
}

// Member of a club.
type Member struct {
	Name string
	Born int
	Side string
}

// Directory of all clubs.
type Directory struct{ list []*Club }

// Load makes the directory; the clubs use the given hosts.
func Load(n, members int, hosts []string) *Directory {
	d := &Directory{}
	sides := [...]string{"first team", "second team", "youth", "veterans"}
	for i := range n {
		c := &Club{ID: i, Name: fmt.Sprintf("SV %03d", i), Secret: fmt.Appendf(nil, "secret-%d", i*31), Timeout: time.Duration(2+i%5) * time.Second}
		c.URL = fmt.Sprintf("http://%s/clubs/%d/notices", hosts[i%len(hosts)], i)
		for m := range members {
			c.Members = append(c.Members, Member{Name: fmt.Sprintf("Member %d-%d", i, m), Born: 1950 + (m*7)%65, Side: sides[m%4]})
		}
		d.list = append(d.list, c)
	}
	return d
}

// Len counts the clubs.
func (d *Directory) Len() int { return len(d.list) }

// Club returns a club by number.
func (d *Directory) Club(i int) *Club { return d.list[i%len(d.list)] }
