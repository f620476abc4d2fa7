// Package parish reads parish registers.
package parish

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
)

// Person is an entry of a register.
type Person struct {
	ID     int
	Name   string
	Born   int
	Parish string
	Father *Person
	Mother *Person
	Kids   []*Person
}

// Register writes the baptisms of many generations, oldest first.
func Register(seed uint64, n int) []byte {
	rnd := rand.New(rand.NewPCG(seed, 6))
	first := []string{"Anna", "Jens", "Karen", "Niels", "Maren", "Peder", "Kirsten", "Hans"}
	var b bytes.Buffer
	for i := range n {
		f, m := -1, -1
		if i > 2000 {
			f, m = i-1-rnd.IntN(2000), i-1-rnd.IntN(2000)
		}
		fmt.Fprintf(&b, "%d|%s %ssen|%d|sogn %d|%d|%d\n", i, first[rnd.IntN(8)], first[rnd.IntN(8)], 1600+i*300/n, rnd.IntN(900), f, m)
	}
	return b.Bytes()
}

// Read builds the families of a register.
func Read(data []byte) ([]*Person, error) {
	var all []*Person
	for line := range bytes.Lines(data) {
		f := bytes.Split(bytes.TrimSpace(line), []byte{'|'})
		if len(f) != 6 {
			return nil, fmt.Errorf("register: %q", line)
		}
		p := &Person{Name: string(f[1]), Parish: string(f[3])}
		var num [4]int
		for i, k := range []int{0, 2, 4, 5} {
			n, err := strconv.Atoi(string(f[k]))
			if err != nil {
				return nil, err
			}
			num[i] = n
		}
		p.ID, p.Born = num[0], num[1]
		if num[2] >= 0 && num[3] >= 0 {
			p.Father, p.Mother = all[num[2]], all[num[3]]
			p.Father.Kids = append(p.Father.Kids, p)
			p.Mother.Kids = append(p.Mother.Kids, p)
		}
		all = append(all, p)
	}
	return all, nil
}
