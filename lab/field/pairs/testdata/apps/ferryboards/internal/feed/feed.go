// Package feed reads sailing messages and applies them to the boards.
package feed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"ferryboards/internal/boards"
)

var (
	ports   = []string{"Harwich", "Esbjerg", "Rosslare", "Cherbourg", "Tallinn", "Piraeus", "Bastia"}
	remarks = []string{"", "", "boarding", "gate closed", "delayed by weather", "foot passengers only"}
)

// Berth names the i-th berth.
func Berth(i int) string { return fmt.Sprintf("B%03d", i) }

func message(r *rand.Rand, berths int) string {
	leaves := time.Now().Add(time.Duration(r.IntN(7200)) * time.Second)
	return strings.Join([]string{
		"SAIL", Berth(r.IntN(berths)), fmt.Sprintf("MV-%02d", r.IntN(40)),
		ports[r.IntN(len(ports))], leaves.Format(time.RFC3339), remarks[r.IntN(len(remarks))],
	}, "|")
}

func parse(line string) (string, boards.Sailing, error) {
	f := strings.Split(line, "|")
	if len(f) != 6 || f[0] != "SAIL" {
		return "", boards.Sailing{}, fmt.Errorf("feed: bad message %q", line)
	}
	leaves, err := time.Parse(time.RFC3339, f[4])
	if err != nil {
		return "", boards.Sailing{}, fmt.Errorf("feed: %w", err)
	}
	return f[1], boards.Sailing{Vessel: f[2], To: f[3], Leaves: leaves, Remark: f[5]}, nil
}

// Run applies messages at a rate until ctx is over.
func Run(ctx context.Context, store *boards.Store, berths, rate int) (applied, rejected int) {
	r := rand.New(rand.NewPCG(7, 11))
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return applied, rejected
		case <-tick.C:
		}
		berth, sail, err := parse(message(r, berths))
		if err == nil {
			err = store.Apply(berth, sail)
		}
		if err != nil {
			rejected++
			continue
		}
		applied++
	}
}
