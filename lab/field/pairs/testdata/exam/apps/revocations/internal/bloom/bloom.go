// Package bloom tells of a key whether a table may have it.
package bloom

// A Filter is a set of hashes that may know more than was added.
type Filter struct {
	words  []uint64
	bits   uint64
	probes int
}

// New returns a filter for a number of keys with some bits for each.
func New(keys, perKey int) *Filter {
	n := uint64(max(keys, 64) * perKey)
	n = (n + 63) &^ 63
	return &Filter{words: make([]uint64, n/64), bits: n, probes: max(1, perKey*69/100)}
}

// Add puts a hash into the filter.
func (f *Filter) Add(h uint64) {
	step := h>>33 | 1
	for range f.probes {
		at := h % f.bits
		f.words[at/64] |= 1 << (at % 64)
		h += step
	}
}

// Has reports whether a hash may have been added.
func (f *Filter) Has(h uint64) bool {
	step := h>>33 | 1
	for range f.probes {
		at := h % f.bits
		if f.words[at/64]&(1<<(at%64)) == 0 {
			return false
		}
		h += step
	}
	return true
}
