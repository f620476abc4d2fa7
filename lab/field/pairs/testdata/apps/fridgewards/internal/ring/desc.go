package ring

import "slices"

func (d Desc) index() ([]uint32, map[uint32]owner) {
	tokens := make([]uint32, 0, len(d.Instances)*256)
	owners := make(map[uint32]owner, len(d.Instances)*256)
	for id, in := range d.Instances {
		tokens = append(tokens, in.Tokens...)
		for _, t := range in.Tokens {
			owners[t] = owner{id: id, zone: in.Zone}
		}
	}
	slices.Sort(tokens)
	return tokens, owners
}

func sameTokens(a, b Desc) bool {
	if len(a.Instances) != len(b.Instances) {
		return false
	}
	for id, x := range a.Instances {
		y, ok := b.Instances[id]
		if !ok || x.Zone != y.Zone || !slices.Equal(x.Tokens, y.Tokens) {
			return false
		}
	}
	return true
}
