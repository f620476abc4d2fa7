// Package lookup answers lists of questions.
package lookup

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"genealogies/internal/kin"
	"genealogies/internal/memory"
	"genealogies/internal/parish"
)

// Answer is the relation of two persons.
type Answer struct {
	A, B     string
	Common   string `json:",omitempty"`
	Parish   string `json:",omitempty"`
	Distance int    `json:",omitempty"`
}

// Result counts what was answered.
type Result struct {
	Lists, Related, Bytes int64
}

// Run lets the workers answer lists until d is over.
func Run(all []*parish.Person, b memory.Budget, d time.Duration) Result {
	var lists, related, size atomic.Int64
	var wg sync.WaitGroup
	end := time.Now().Add(d)
	for w := range b.Workers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 12))
			zw, _ := flate.NewWriter(nil, flate.BestSpeed)
			for time.Now().Before(end) {
				out := bytes.NewBuffer(make([]byte, 0, b.Scratch()))
				answers := list(all, rnd, 40)
				for _, a := range answers {
					if a.Common != "" {
						related.Add(1)
					}
				}
				zw.Reset(out)
				json.NewEncoder(zw).Encode(answers)
				zw.Close()
				size.Add(int64(out.Len()))
				lists.Add(1)
			}
		})
	}
	wg.Wait()
	return Result{lists.Load(), related.Load(), size.Load()}
}

func list(all []*parish.Person, rnd *rand.Rand, n int) []Answer {
	out := make([]Answer, 0, n)
	for range n {
		i := len(all)/2 + rnd.IntN(len(all)/2-600)
		p, q := all[i], all[i+rnd.IntN(600)]
		a := Answer{A: p.Name, B: q.Name}
		if c, dist := kin.Common(p, q, 6); c != nil {
			a.Common, a.Parish, a.Distance = c.Name, c.Parish, dist
		}
		out = append(out, a)
	}
	return out
}
