// Package census joins the people of a town with their houses.
package census

// A Person lives in a house.
type Person struct {
	ID, House uint32
	Born      uint16
}

// A House stands in a street.
type House struct {
	ID, Street uint32
}

// A Join counts people by the streets they live in.
type Join struct{ Sized bool }

func (j *Join) index(houses []House) map[uint32]House {
	byID := map[uint32]House{}
	if j.Sized {
		byID = make(map[uint32]House, len(houses))
	}
	for _, h := range houses {
		byID[h.ID] = h
	}
	return byID
}

func (j *Join) residents(people []Person) map[uint32][]uint32 {
	out := map[uint32][]uint32{}
	if j.Sized {
		out = make(map[uint32][]uint32, len(people)/3)
	}
	for _, p := range people {
		if _, ok := out[p.House]; !ok && j.Sized {
			out[p.House] = make([]uint32, 0, 8)
		}
		out[p.House] = append(out[p.House], p.ID)
	}
	return out
}

// Streets counts people by streets.
func (j *Join) Streets(people []Person, houses []House) map[uint32]int {
	byID, counts := j.index(houses), map[uint32]int{}
	for house, all := range j.residents(people) {
		counts[byID[house].Street] += len(all)
	}
	return counts
}
