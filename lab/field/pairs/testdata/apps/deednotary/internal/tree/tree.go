// Package tree computes the hash tree over a batch of deeds.
package tree

import "crypto/sha256"

// Hash of a node.
type Hash [sha256.Size]byte

// Leaf hashes an entry.
func Leaf(entry []byte) Hash {
	b := make([]byte, 1, 256)
	return sha256.Sum256(append(b, entry...))
}

func node(l, r Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], l[:])
	copy(b[1+sha256.Size:], r[:])
	return sha256.Sum256(b[:])
}

func split(n int) int {
	k := 1
	for k*2 < n {
		k *= 2
	}
	return k
}

// Builder computes roots and paths.
type Builder struct {
	Grain int
}

// Root of the tree over leaves.
func (b *Builder) Root(leaves []Hash) Hash {
	switch len(leaves) {
	case 0:
		return sha256.Sum256(nil)
	case 1:
		return leaves[0]
	}
	k := split(len(leaves))
	if len(leaves) <= b.Grain {
		return node(b.Root(leaves[:k]), b.Root(leaves[k:]))
	}
	left := make(chan Hash, 1)
	go func() { left <- b.Root(leaves[:k]) }()
	right := b.Root(leaves[k:])
	return node(<-left, right)
}

// Path proves that leaf i is in the tree, with hashes from the leaf upwards.
func (b *Builder) Path(leaves []Hash, i int) []Hash {
	if len(leaves) <= 1 {
		return nil
	}
	k := split(len(leaves))
	if i < k {
		return append(b.Path(leaves[:k], i), b.Root(leaves[k:]))
	}
	return append(b.Path(leaves[k:], i-k), b.Root(leaves[:k]))
}

// Verify recomputes the root from a path.
func Verify(leaf Hash, i, n int, path []Hash) Hash {
	if n <= 1 {
		return leaf
	}
	k, last := split(n), len(path)-1
	if i < k {
		return node(Verify(leaf, i, k, path[:last]), path[last])
	}
	return node(path[last], Verify(leaf, i-k, n-k, path[:last]))
}
