// Package office sends the letters of the day.
package office

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"sync"
	"time"

	"claimletters/internal/claims"
	"claimletters/internal/letters"
	"claimletters/internal/tenant"
)

// Day is what was sent.
type Day struct {
	mu      sync.Mutex
	Letters int
	Bytes   int
	Failed  int
}

// Clerk sends a letter at every tick until the end.
func (d *Day) Clerk(set *letters.Set, customers []tenant.Tenant, seed uint64, end time.Time) {
	r := rand.New(rand.NewPCG(seed, 4))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(end) {
		<-tick.C
		t := customers[r.IntN(len(customers))]
		n, err := send(set, t.Name, tenant.Kinds[r.IntN(len(tenant.Kinds))], t.Locales[r.IntN(len(t.Locales))], claims.Draw(r))
		d.mu.Lock()
		d.Letters++
		d.Bytes += n
		if err != nil {
			d.Failed++
		}
		d.mu.Unlock()
	}
}

func send(set *letters.Set, t, kind, locale string, c claims.Claim) (int, error) {
	var buf bytes.Buffer
	z, err := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
	if err != nil {
		return 0, err
	}
	if err := set.Render(z, t, kind, locale, c); err != nil {
		return 0, err
	}
	err = z.Close()
	return buf.Len(), err
}
