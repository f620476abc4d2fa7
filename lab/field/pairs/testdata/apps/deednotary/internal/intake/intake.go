// Package intake takes batches of deeds and has them sealed.
package intake

import (
	"errors"
	"time"

	"deednotary/internal/deed"
	"deednotary/internal/ledger"
	"deednotary/internal/tree"
)

// Office seals batches.
type Office struct {
	Ledger *ledger.Ledger
	Tree   *tree.Builder
}

var errProof = errors.New("intake: proof does not hold")

// Batch parses, hashes, proves and seals some lines.
func (o *Office) Batch(lines []string) error {
	leaves := make([]tree.Hash, 0, len(lines))
	owners := make(map[string]int, len(lines))
	var price int64
	for _, l := range lines {
		d, err := deed.Parse(l)
		if err != nil {
			return err
		}
		price += d.Price
		owners[d.Buyer]++
		leaves = append(leaves, tree.Leaf(d.Bytes()))
	}
	root := o.Tree.Root(leaves)
	spot := int(price % int64(len(leaves)))
	path := o.Tree.Path(leaves, spot)
	if tree.Verify(leaves[spot], spot, len(leaves), path) != root {
		return errProof
	}
	o.Ledger.Seal(root, len(lines), price)
	return nil
}

// Work seals batches of size lines until the deadline.
func (o *Office) Work(lines []string, size int, until time.Time) (int, error) {
	n := 0
	for at := 0; time.Now().Before(until); at = (at + size) % (len(lines) - size) {
		if err := o.Batch(lines[at : at+size]); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
