package agent

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"time"
)

// The block profile reads the clock at the begin and the end of every wait,
// whatever its rate. Programs that do little but hand values over wait some
// millions of times a second, and took a quarter more CPU for it. So the rate
// is set for the whole window only where that is cheap: after a look at how
// often goroutines wait it is taken back as soon as the budget is spent, and
// what was counted stands for all of the window. It is one stretch and not many
// slices, because a wait that is longer than a slice would be in none.

const (
	// blockBudget is the share of the program's CPU time that the block profile
	// may take, or idleBudget the share of a CPU, whichever is more: a program that
	// sleeps would have no budget else, and costs nothing.
	blockBudget = 0.005
	idleBudget  = 0.0005
	// waitCost is what a wait costs more: BenchmarkBlockRate has two in 0.14 µs.
	waitCost = 70 * time.Nanosecond
	// rationLook is how long goroutines are watched before. It costs the
	// worst of programs a quarter of that.
	rationLook = 50 * time.Millisecond
	// trackedWaits is how many waits one in the runtime's histogram of
	// scheduling latencies stands for (gTrackingPeriod).
	trackedWaits = 8
)

// windowInBudget returns the part of a window for which waits may be counted, when in a look of
// some length n were seen and so much CPU time was taken.
func windowInBudget(window, look time.Duration, waits uint64, cpu time.Duration) time.Duration {
	cost := float64(waits) * waitCost.Seconds()
	if allowed := max(blockBudget*cpu.Seconds(), idleBudget*look.Seconds()); cost > allowed {
		return time.Duration(float64(window) * allowed / cost)
	}
	return window
}

// A ration ends the counting of waits when its budget is spent.
type ration struct {
	mu      sync.Mutex
	timer   *time.Timer
	began   time.Time
	counted time.Duration // 0 while counting goes on
	over    bool
	end     func() // the counting
}

// startRation begins to watch a window. end is called at most once.
func startRation(window time.Duration, end func()) *ration {
	r := &ration{began: time.Now(), end: end}
	cpu, ok := cpuTime()
	if !ok || window <= rationLook {
		return r
	}
	waits := waitsSoFar()
	r.timer = time.AfterFunc(rationLook, func() {
		now, _ := cpuTime()
		on := windowInBudget(window, time.Since(r.began), waitsSoFar()-waits, now-cpu)
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case r.over || on >= window:
		case on <= rationLook:
			r.spent()
		default:
			r.timer = time.AfterFunc(on-rationLook, func() {
				r.mu.Lock()
				defer r.mu.Unlock()
				if !r.over {
					r.spent()
				}
			})
		}
	})
	return r
}

func (r *ration) spent() {
	r.over, r.counted = true, time.Since(r.began)
	r.end()
}

// stop ends the watching, and returns the share of the window in which waits
// were counted: 1 when the budget was enough.
func (r *ration) stop() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
	}
	r.over = true
	if r.counted == 0 {
		return 1
	}
	return r.counted.Seconds() / time.Since(r.began).Seconds()
}

// waitsSoFar estimates how often goroutines have begun to run again.
func waitsSoFar() (n uint64) {
	s := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	if metrics.Read(s); s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return n * trackedWaits
}

// rationText is what a profile says that does not count all of its window. It
// has no figures, so that pieces of one profile say it once.
const rationText = "sampled part of the time and scaled up, to cost less than 0.5% of the program's CPU"

// block is the block profile with its rate set for the window.
type block struct {
	delta
	rate    int
	window  time.Duration // 0 counts all of it, whatever that costs
	unknown bool          // the program's own rate stays, whatever it is
	ration  *ration
	share   float64 // of the window in which waits were counted
}

func (b *block) start() error {
	err := b.startWith(func() {
		if b.unknown = blockProfiled(); !b.unknown {
			runtime.SetBlockProfileRate(b.rate)
		}
	}, b.restore)
	if err == nil && b.window > 0 && !b.unknown {
		b.ration = startRation(b.window, b.restore)
	}
	return err
}

func (b *block) restore() {
	if !b.unknown {
		runtime.SetBlockProfileRate(0)
	}
}

func (b *block) stop() ([]byte, error) {
	b.share = 1
	if b.ration != nil {
		b.share = b.ration.stop()
	}
	b.restore()
	b.comment = b.note()
	return b.stopWith(func(values []int64, _ time.Duration) bool {
		for i := range values {
			values[i] = int64(float64(values[i]) / b.share)
		}
		return true
	})
}

func (b *block) note() string {
	if b.share < 1 {
		return rationText
	}
	return ""
}
