package embedded

import (
	"math/bits"
	"math/rand/v2"

	"github.com/gowhy/gowhy/fleet/store"
)

// Clients choose the values, and must not be able to choose those that collide.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64() | 1}

func hash(value int64) int {
	high, low := bits.Mul64(uint64(value)^seeds[0], seeds[1])
	return int(high ^ low)
}

// A dictionary numbers integers in the order in which they come. It is a hash table with
// open addressing: a Go map takes four times as long, and each row is looked up twice.
type dictionary struct {
	values []int64
	slots  []int32 // 1 + the number of a value; 0 where there is none
}

func newDictionary() *dictionary {
	d := &dictionary{}
	d.resize(1 << 8)
	return d
}

func (d *dictionary) resize(slots int) {
	d.slots = make([]int32, slots)
	for i, v := range d.values {
		d.slots[d.find(v)] = int32(i + 1)
	}
}

// find returns the slot of a value, or where it goes.
func (d *dictionary) find(value int64) int {
	mask := len(d.slots) - 1
	i := hash(value) & mask
	for d.slots[i] != 0 && d.values[d.slots[i]-1] != value {
		i = (i + 1) & mask
	}
	return i
}

// number returns that of a value, which it may give one.
func (d *dictionary) number(value int64) int32 {
	i := d.find(value)
	if d.slots[i] == 0 {
		d.values = append(d.values, value)
		d.slots[i] = int32(len(d.values))
		if 2*len(d.values) > len(d.slots) {
			d.resize(2 * len(d.slots))
			return int32(len(d.values) - 1)
		}
	}
	return d.slots[i] - 1
}

// reset forgets all values.
func (d *dictionary) reset() {
	d.values = d.values[:0]
	clear(d.slots)
}

// A set has integers in a hash table without anything else: of a large one a look-up costs
// what memory takes to answer, once.
type set struct {
	slots   []int64 // 0 where there is none
	size    int
	hasZero bool
}

// find returns the slot of a value, or where it goes.
func (s *set) find(value int64) int {
	mask := len(s.slots) - 1
	i := hash(value) & mask
	for s.slots[i] != 0 && s.slots[i] != value {
		i = (i + 1) & mask
	}
	return i
}

func (s *set) has(value int64) bool {
	if value == 0 || s.size == 0 {
		return value == 0 && s.hasZero
	}
	return s.slots[s.find(value)] != 0
}

// add adds a value that is not there.
func (s *set) add(value int64) {
	if value == 0 {
		s.hasZero = true
		return
	}
	if 2*(s.size+1) > len(s.slots) {
		old := s.slots
		s.slots = make([]int64, max(1<<8, 2*len(old)))
		for _, v := range old {
			if v != 0 {
				s.slots[s.find(v)] = v
			}
		}
	}
	s.slots[s.find(value)] = value
	s.size++
}

// sums are values by stack.
type sums struct {
	stacks *dictionary
	values []int64
}

func newSums() *sums { return &sums{stacks: newDictionary()} }

func (s *sums) add(stack, value int64) {
	n := s.stacks.number(stack)
	if int(n) == len(s.values) {
		s.values = append(s.values, 0)
	}
	s.values[n] = store.Add(s.values[n], value)
}

func (s *sums) reset() {
	s.stacks.reset()
	s.values = s.values[:0]
}

// addAll adds other sums.
func (s *sums) addAll(other *sums) {
	for i, stack := range other.stacks.values {
		s.add(stack, other.values[i])
	}
}
