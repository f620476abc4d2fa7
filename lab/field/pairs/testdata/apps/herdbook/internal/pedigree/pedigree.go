// Package pedigree holds the descent of a breed.
package pedigree

import "math/rand"

type Animal struct {
	ID     int32
	Sire   int32
	Dam    int32
	Born   int16
	Flaw   bool
	Region uint8
}

// Book is the herd book; unknown parents are -1.
type Book struct {
	Animals []Animal
	first   []int32
}

// Generate makes up generations of cows and a few bulls.
func Generate(generations, cows, bulls int) *Book {
	rng := rand.New(rand.NewSource(17))
	b := &Book{}
	var dams, sires []int32
	for g := range generations {
		var nextDams, nextSires []int32
		b.first = append(b.first, int32(len(b.Animals)))
		for i := range cows + bulls {
			a := Animal{ID: int32(len(b.Animals)), Sire: -1, Dam: -1, Born: int16(1960 + 4*g),
				Flaw: rng.Intn(150) == 0, Region: uint8(rng.Intn(16))}
			if g > 0 {
				a.Sire, a.Dam = sires[rng.Intn(len(sires))], dams[rng.Intn(len(dams))]
			}
			b.Animals = append(b.Animals, a)
			if i < bulls {
				nextSires = append(nextSires, a.ID)
			} else {
				nextDams = append(nextDams, a.ID)
			}
		}
		dams, sires = nextDams, nextSires
	}
	return b
}

// Calves gives the range of the youngest generation.
func (b *Book) Calves() (from, to int32) {
	return b.first[len(b.first)-1], int32(len(b.Animals))
}

// Descent is what the certificate says about the ancestors.
type Descent struct {
	Ancestors []int32
	Founders  int
	Flawed    int
	Regions   [16]int
}

// Tracer collects ancestors; it is used by one goroutine at a time.
type Tracer struct {
	book  *Book
	mark  []uint32
	round uint32
	queue []int32
	once  bool
}

func NewTracer(b *Book, once bool) *Tracer {
	return &Tracer{book: b, mark: make([]uint32, len(b.Animals)), once: once}
}

// Trace collects the ancestors of an animal.
func (t *Tracer) Trace(id int32) *Descent {
	t.round++
	d := new(Descent)
	t.queue = append(t.queue[:0], id)
	for len(t.queue) > 0 {
		a := &t.book.Animals[t.queue[len(t.queue)-1]]
		t.queue = t.queue[:len(t.queue)-1]
		if a.ID != id {
			t.count(d, a)
		}
		t.push(a.Sire)
		t.push(a.Dam)
	}
	return d
}

func (t *Tracer) push(id int32) {
	if id < 0 || t.once && t.mark[id] == t.round {
		return
	}
	t.queue = append(t.queue, id)
	if t.once {
		t.mark[id] = t.round
	}
}

func (t *Tracer) count(d *Descent, a *Animal) {
	if !t.once {
		if t.mark[a.ID] == t.round {
			return
		}
		t.mark[a.ID] = t.round
	}
	d.Ancestors = append(d.Ancestors, a.ID)
	d.Regions[a.Region]++
	if a.Flaw {
		d.Flawed++
	}
	if a.Sire < 0 {
		d.Founders++
	}
}
