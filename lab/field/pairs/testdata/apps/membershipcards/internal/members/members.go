// Package members has the members of a club.
package members

import "fmt"

// A Member is in the club.
type Member struct {
	Name, Town string
	Since      int
	Sports     []string
	Friends    []*Member
}

// A Club is all members.
type Club struct{ all map[int]*Member }

// Load makes members up.
func Load(n int) *Club {
	c := &Club{all: make(map[int]*Member, n)}
	for i := range n {
		m := &Member{Name: fmt.Sprintf("Member %d", i), Town: fmt.Sprint("Town ", i%300), Since: 1960 + i%60}
		m.Sports = []string{"rowing", "chess"}[:1+i%2]
		for k := 1; k < 4 && k <= i; k++ {
			m.Friends = append(m.Friends, c.all[i-k])
		}
		c.all[i] = m
	}
	return c
}

// Member finds one.
func (c *Club) Member(n int) (*Member, bool) {
	m, ok := c.all[n]
	return m, ok
}
