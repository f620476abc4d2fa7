// Package feed turns position sentences of vessels into delays.
package feed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"ferryboard/internal/timetable"
)

// Follow reads the sentences of one vessel.
func Follow(ctx context.Context, b *timetable.Board, vessel int, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		d, err := delay(sentence(vessel))
		if err != nil {
			continue
		}
		b.Shift(vessel, d)
	}
}

func sentence(vessel int) string {
	body := fmt.Sprintf("FERRY,%d,%.4f,N,%.4f,E,%d", vessel, 54+rand.Float64(), 10+rand.Float64(), rand.IntN(1200))
	return fmt.Sprintf("$%s*%02X", body, sum(body))
}

func sum(s string) (x byte) {
	for i := range len(s) {
		x ^= s[i]
	}
	return x
}

func delay(line string) (time.Duration, error) {
	body, cs, ok := strings.Cut(strings.TrimPrefix(line, "$"), "*")
	if !ok {
		return 0, fmt.Errorf("sentence %q", line)
	}
	if want, err := strconv.ParseUint(cs, 16, 8); err != nil || byte(want) != sum(body) {
		return 0, fmt.Errorf("checksum of %q", line)
	}
	f := strings.Split(body, ",")
	sec, err := strconv.Atoi(f[len(f)-1])
	return time.Duration(sec) * time.Second, err
}
