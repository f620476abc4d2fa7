// Package plan makes the day's work of the estates.
package plan

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"vineyardplots/internal/plot"
	"vineyardplots/internal/settings"
	"vineyardplots/internal/weather"
)

// Day judges all plots with the report and returns the plan as CSV.
func Day(plots []plot.Plot, report string, reg *settings.Registry) ([]byte, error) {
	hours, err := weather.Read(strings.NewReader(report))
	if err != nil {
		return nil, err
	}
	risks := make([]plot.Risk, 0, len(plots))
	for _, p := range plots {
		risks = append(risks, plot.Judge(p, hours, reg))
	}
	slices.SortFunc(risks, func(a, b plot.Risk) int {
		return cmp.Or(cmp.Compare(b.Frost+b.Mildew, a.Frost+a.Mildew), a.Plot-b.Plot)
	})
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	for _, r := range risks {
		rec := []string{strconv.Itoa(r.Plot)}
		for _, v := range []float64{r.Frost, r.Heat, r.Mildew, r.Wind} {
			rec = append(rec, strconv.FormatFloat(v, 'f', 3, 64))
		}
		if err := w.Write(rec); err != nil {
			return nil, err
		}
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// Season lets the estates ask for plans at a rate.
func Season(estates map[string][]plot.Plot, reg *settings.Registry, every, d time.Duration) (days, size int64) {
	var wg sync.WaitGroup
	var n, out atomic.Int64
	end := time.Now().Add(d)
	seed := uint64(0)
	for name, plots := range estates {
		seed++
		rnd := rand.New(rand.NewPCG(seed, 4))
		wg.Go(func() {
			tick := time.NewTicker(every)
			defer tick.Stop()
			for i := 1; time.Now().Before(end); i++ {
				<-tick.C
				if i%40 == 0 {
					reg.Change(name, func(e *settings.Estate) { e.Thresholds["frost"] += 0.01 })
				}
				b, err := Day(plots, weather.Report(rnd), reg)
				if err == nil {
					n.Add(1)
					out.Add(int64(len(b)))
				}
			}
		})
	}
	wg.Wait()
	return n.Load(), out.Load()
}
