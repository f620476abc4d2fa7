package subject

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

// The peak of a child's memory in its rusage is a trap. Go starts programs as
// vfork does: until exec the child shares our memory, and exec puts the peak of
// the memory that it gives up, ours, into the child's account
// (setmax_mm_hiwater_rss in the kernel's fs/exec.c). What a child's rusage says
// is thus never less than what we have had, and a program of 3 MB started by
// us at 40 MB "used" 40 MB. It is right when it is clearly above our own peak at
// the start; else the peak is what /proc said last, which is of the new memory
// only, and what was added after the last look is lost.
//
// Clearly, for exec takes our peak from counters that /proc adds up exactly: where pages
// came and went in four threads, 12 of 1,500 children had up to 52 kB more than we, by
// /proc, ever had. One of 30 MB was said to have 206 so.
const (
	peakEvery = 10 * time.Millisecond // one look takes 15 µs
	// queueEvery is how often run-queue wait is read, and the family looked for.
	queueEvery = 100 * time.Millisecond
)

// A watch looks at a running process now and then.
type watch struct {
	pid   int
	own   uint64 // what exec may have put in for us
	peak  uint64 // of any one process of the family
	looks int

	run, cpu   time.Duration // ready and waiting, and CPU time, at the last look
	quit, done chan struct{}
}

// watchOver watches a process that has just been started.
func watchOver(pid int) *watch {
	w := &watch{pid: pid, own: inherited(peakOf(procFS, os.Getpid()), runtime.NumCPU(), os.Getpagesize()), quit: make(chan struct{}), done: make(chan struct{})}
	go w.loop()
	return w
}

// inherited returns an upper bound on what exec takes for our own peak: each CPU keeps up to
// a batch of pages, 32 or two for each CPU, before it adds them to the sum.
func inherited(own uint64, cpus, page int) uint64 {
	const least = 1 << 20 // of older kernels, which keep 64 pages for each thread
	return own + least + uint64(max(32, 2*cpus)*cpus*page)
}

func (w *watch) loop() {
	defer close(w.done)
	p, err := proc.Open(w.pid)
	if err != nil {
		return // has ended, or not Linux
	}
	defer p.Close()
	tick := time.NewTicker(peakEvery)
	defer tick.Stop()
	members := []int{w.pid}
	for n := 0; ; n++ {
		w.looks = n
		// Above our own peak rusage is right, and looking on is of no use.
		if w.peak <= w.own {
			for _, pid := range members {
				w.peak = max(w.peak, peakOf(procFS, pid))
			}
		}
		if n%int(queueEvery/peakEvery) == 0 && n > 0 {
			if s, err := p.Sample(false); err == nil {
				w.run, w.cpu = s.Process.RunQueue, s.Process.User+s.Process.System
			}
			members = offspring(w.pid)
		}
		select {
		case <-tick.C:
		case <-w.quit:
			return
		}
	}
}

// end stops watching and returns the peak, 0 when it is not known, and the time
// for which threads waited for a CPU for each second of CPU time, negative when
// not known. rusage is what the process's own account says.
func (w *watch) end(rusage uint64) (peak uint64, runQueue float64) {
	close(w.quit)
	<-w.done
	runQueue = -1
	if w.cpu > 0 {
		runQueue = w.run.Seconds() / w.cpu.Seconds()
	}
	return truePeak(rusage, w.own, w.peak, w.looks), runQueue
}

// leastLooks is how often a process must have been looked at for what was seen
// to be about its peak: one that ends after the first look was still growing.
const leastLooks = 10

// truePeak chooses between a child's rusage, with what of it may be our own,
// and what was seen of it. It is 0 when neither says anything.
func truePeak(rusage, own, seen uint64, looks int) uint64 {
	switch {
	case rusage > own:
		return max(rusage, seen)
	case looks < leastLooks:
		return 0
	}
	return seen
}

// maxOffspring bounds the walk.
const maxOffspring = 256

// offspring returns a process and those that come from it, by the kernel's lists
// of children: a few files, where the table of all processes may have hundreds.
func offspring(pid int) []int {
	list := []int{pid}
	for i := 0; i < len(list) && len(list) < maxOffspring; i++ {
		tasks, _ := filepath.Glob(filepath.Join(procFS, strconv.Itoa(list[i]), "task", "*", "children"))
		for _, t := range tasks {
			text, _ := os.ReadFile(t) // it may have ended
			for _, f := range strings.Fields(string(text)) {
				if n, err := strconv.Atoi(f); err == nil {
					list = append(list, n)
				}
			}
		}
	}
	return list
}
