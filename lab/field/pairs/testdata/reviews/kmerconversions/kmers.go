// Package kmers counts the short pieces that a genome is made of.
package kmers

// Complement turns a piece round and exchanges its bases.
func Complement(piece string) string {
	b := []byte(piece)
	for i, j := 0, len(b)-1; i <= j; i, j = i+1, j-1 {
		b[i], b[j] = other(b[j]), other(b[i])
	}
	return string(b)
}

func other(base byte) byte {
	switch base {
	case 'A':
		return 'T'
	case 'C':
		return 'G'
	case 'G':
		return 'C'
	}
	return 'A'
}

// CountText counts pieces of length k; one and its complement are the same.
func CountText(genome []byte, k int) map[string]int {
	counts := map[string]int{}
	for i := range len(genome) - k + 1 {
		piece := string(genome[i : i+k])
		counts[min(piece, Complement(piece))]++
	}
	return counts
}

// Count counts pieces of length k, in a buffer that is used for all of them.
func Count(genome []byte, k int) map[string]int {
	counts := map[string]*int{}
	turned := make([]byte, k)
	for i := range len(genome) - k + 1 {
		piece := genome[i : i+k]
		for j, base := range piece {
			turned[k-1-j] = other(base)
		}
		if string(turned) < string(piece) {
			piece = turned
		}
		n := counts[string(piece)]
		if n == nil {
			n = new(int)
			counts[string(piece)] = n
		}
		*n++
	}
	out := make(map[string]int, len(counts))
	for piece, n := range counts {
		out[piece] = *n
	}
	return out
}
