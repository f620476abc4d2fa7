// Shelfhashes compares what lies on the shelves of a store with what should lie there.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"slices"
)

type shelf struct {
	Row, Column int
	Boxes       []box
	Labels      map[string]string
}

type box struct {
	Article string
	Count   int
	Weight  float64
}

func hash(s shelf) string {
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func sameHash(a, b shelf) bool { return hash(a) == hash(b) }

func same(a, b shelf) bool {
	if a.Row != b.Row || a.Column != b.Column || !slices.Equal(a.Boxes, b.Boxes) || len(a.Labels) != len(b.Labels) {
		return false
	}
	for name, v := range a.Labels {
		if b.Labels[name] != v {
			return false
		}
	}
	return true
}

func store(moved int) (all []shelf) {
	for i := range 1000 {
		s := shelf{Row: i / 40, Column: i % 40, Labels: map[string]string{"zone": fmt.Sprint(i % 5), "cold": fmt.Sprint(i%7 == 0)}}
		for k := range 6 {
			s.Boxes = append(s.Boxes, box{fmt.Sprintf("article %d", i*k), 1 + k, float64(i) / 10})
		}
		if moved > 0 && i%moved == 0 {
			s.Boxes[i%6].Count++
		}
		all = append(all, s)
	}
	return all
}

func main() {
	hashes := flag.Bool("hashes", false, "compare shelves by their hashes")
	rounds := flag.Int("rounds", 100, "how often the store is looked at")
	flag.Parse()
	equal, wrong := same, 0
	if *hashes {
		equal = sameHash
	}
	wanted, found := store(0), store(50)
	for range *rounds {
		for i := range wanted {
			if !equal(wanted[i], found[i]) {
				wrong++
			}
		}
	}
	fmt.Println("wrong shelves:", wrong / *rounds)
	fmt.Printf("operations: %d\n", *rounds*len(wanted))
}
