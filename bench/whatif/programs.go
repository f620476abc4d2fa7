package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/judge/whatif"
)

// knobs are what can be changed in a program. The zero value of each but Procs
// is as it is.
type knobs struct {
	Procs int // GOMAXPROCS
	GOGC  int
	// A, B and C are factors of the parts of a program's work; 0 is 1.
	A, B, C float64
	Unlock  bool // the work under the lock is done without it
	Shards  int
}

// A program has a planted illness, and changes that are known.
type program struct {
	name    string
	now     knobs
	profile bool // with CPU samples in its trace
	run     func(knobs)
	changes []change
}

type change struct {
	edit whatif.Edit
	then knobs
}

const (
	workers  = "main.lockWorker"
	pooled   = "main.poolWorker"
	produces = "main.poolProducer"
)

// lockChanges returns what is done to a program whose goroutines share a lock.
func lockChanges(site string) []change {
	return []change{
		{whatif.WithLock(site, 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithLock(site, 0.25), knobs{Procs: 2, A: 0.25}},
		{whatif.WithLock(site, 0), knobs{Procs: 2, Unlock: true}},
		{whatif.WithShards(site, 8), knobs{Procs: 2, Shards: 8}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}
}

var programs = []program{
	{name: "lock mostly", now: knobs{Procs: 2}, run: func(k knobs) { lock(k, 4, 150, 200, 40) }, changes: lockChanges(workers)},
	{name: "lock half", now: knobs{Procs: 2}, run: func(k knobs) { lock(k, 4, 150, 200, 200) }, changes: lockChanges(workers)},
	{name: "lock brief", now: knobs{Procs: 2}, run: func(k knobs) { lock(k, 8, 800, 20, 10) }, changes: lockChanges(workers)},
	{name: "lock waits", now: knobs{Procs: 2}, run: func(k knobs) { lockAsleep(k, 4, 20) }, changes: []change{
		{whatif.WithLock("main.sleepyWorker", 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "pool", now: knobs{Procs: 2}, run: func(k knobs) { pool(k, 4, 600, 20, 300) }, changes: []change{
		{whatif.WithScale(pooled, 0.5), knobs{Procs: 2, B: 0.5}},
		{whatif.WithScale(pooled, 2), knobs{Procs: 2, B: 2}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "pool unfed", now: knobs{Procs: 2}, run: func(k knobs) { pool(k, 4, 600, 200, 150) }, changes: []change{
		{whatif.WithScale(pooled, 0.5), knobs{Procs: 2, B: 0.5}},
		{whatif.WithScale(produces, 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "pool on one P", now: knobs{Procs: 1}, run: func(k knobs) { pool(k, 4, 400, 20, 300) }, changes: []change{
		{whatif.WithProcs(2), knobs{Procs: 2}},
		{whatif.WithScale(pooled, 0.5), knobs{Procs: 1, B: 0.5}},
	}},
	{name: "pipeline", now: knobs{Procs: 2}, run: func(k knobs) { pipeline(k, 500, 100, 250, 100) }, changes: []change{
		{whatif.WithScale("main.stageB", 0.5), knobs{Procs: 2, B: 0.5}},
		{whatif.WithScale("main.stageA", 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithScale("main.stageC", 2), knobs{Procs: 2, C: 2}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "pipeline even", now: knobs{Procs: 1}, run: func(k knobs) { pipeline(k, 400, 120, 120, 120) }, changes: []change{
		{whatif.WithProcs(2), knobs{Procs: 2}},
		{whatif.WithScale("main.stageC", 0.5), knobs{Procs: 1, C: 0.5}},
	}},
	{name: "fork and join", now: knobs{Procs: 2}, run: func(k knobs) { forkJoin(k, 20, 4000, 6000) }, changes: []change{
		{whatif.WithScale("main.longPart", 0.5), knobs{Procs: 2, B: 0.5}},
		{whatif.WithScale("main.shortPart", 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "waits and works", now: knobs{Procs: 2}, run: func(k knobs) { sleepers(k, 6, 60, 500) }, changes: []change{
		{whatif.WithScale("main.sleeper", 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "tasks", now: knobs{Procs: 2}, run: func(k knobs) { tasks(k, 1500, 120) }, changes: []change{
		{whatif.WithScale("main.task", 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
	{name: "functions", now: knobs{Procs: 2}, profile: true, run: func(k knobs) { functions(k, 2, 150) }, changes: []change{
		{whatif.WithScale("main.partA", 0.5), knobs{Procs: 2, A: 0.5}},
		{whatif.WithScale("main.partB", 0.5), knobs{Procs: 2, B: 0.5}},
	}},
	{name: "collector", now: knobs{Procs: 2}, run: collected, changes: []change{
		{whatif.WithGC(0.5), knobs{Procs: 2, GOGC: 200}},
		{whatif.WithGC(0.25), knobs{Procs: 2, GOGC: 400}},
		{whatif.WithProcs(1), knobs{Procs: 1}},
	}},
}

// be runs a program as a child and prints how long its work took, in ns.
func be(name, text, path string, stdout io.Writer) error {
	var k knobs
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return err
	}
	for _, f := range []*float64{&k.A, &k.B, &k.C} {
		if *f == 0 {
			*f = 1
		}
	}
	for i := range programs {
		if programs[i].name == name {
			return programs[i].be(k, path, stdout)
		}
	}
	return fmt.Errorf("no program %q", name)
}

func (p *program) be(k knobs, path string, stdout io.Writer) error {
	runtime.GOMAXPROCS(max(1, k.Procs))
	if k.GOGC > 0 {
		debug.SetGCPercent(k.GOGC)
	}
	if path != "" {
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if p.profile {
			if err := pprof.StartCPUProfile(io.Discard); err != nil {
				return err
			}
			defer pprof.StopCPUProfile()
		}
		if err := trace.Start(f); err != nil {
			return err
		}
		defer trace.Stop()
	}
	start := time.Now()
	p.run(k)
	fmt.Fprintln(stdout, time.Since(start).Nanoseconds())
	return nil
}

// spin computes for about so many microseconds: the same number of steps on
// every machine.
//
//go:noinline
func spin(micros float64) {
	const perMicro = 800
	x := uint64(micros) | 1
	for range int(micros * perMicro) {
		x = x*6364136223846793005 + 1442695040888963407
	}
	if x == 0 {
		panic("the generator has no zero")
	}
}

// A shared lock, or its shards.
type shared struct{ mu []sync.Mutex }

func lock(k knobs, n, rounds int, held, free float64) {
	s := &shared{make([]sync.Mutex, max(1, k.Shards))}
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go lockWorker(&wg, s, k, i, rounds, held*k.A, free)
	}
	wg.Wait()
}

func lockWorker(wg *sync.WaitGroup, s *shared, k knobs, seed, rounds int, held, free float64) {
	defer wg.Done()
	pick := uint32(seed) * 2654435761
	for range rounds {
		pick = pick*1664525 + 1013904223
		mu := &s.mu[int(pick>>16)%len(s.mu)]
		if k.Unlock {
			spin(held)
		} else {
			mu.Lock()
			spin(held)
			mu.Unlock()
		}
		spin(free)
	}
}

func lockAsleep(k knobs, n, rounds int) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go sleepyWorker(&wg, &mu, rounds, time.Duration(2*k.A*float64(time.Millisecond)))
	}
	wg.Wait()
}

func sleepyWorker(wg *sync.WaitGroup, mu *sync.Mutex, rounds int, held time.Duration) {
	defer wg.Done()
	for range rounds {
		mu.Lock()
		time.Sleep(held)
		mu.Unlock()
		spin(100)
	}
}

func pool(k knobs, n, jobs int, make1, do float64) {
	queue := make(chan int, 16)
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go poolWorker(&wg, queue, do*k.B)
	}
	go poolProducer(queue, jobs, make1*k.A)
	wg.Wait()
}

func poolProducer(queue chan<- int, jobs int, each float64) {
	for i := range jobs {
		spin(each)
		queue <- i
	}
	close(queue)
}

func poolWorker(wg *sync.WaitGroup, queue <-chan int, each float64) {
	defer wg.Done()
	for range queue {
		spin(each)
	}
}

func pipeline(k knobs, items int, a, b, c float64) {
	ab, bc := make(chan int), make(chan int)
	done := make(chan bool)
	go stageA(ab, items, a*k.A)
	go stageB(ab, bc, b*k.B)
	go stageC(bc, done, c*k.C)
	<-done
}

func stageA(out chan<- int, items int, each float64) {
	for i := range items {
		spin(each)
		out <- i
	}
	close(out)
}

func stageB(in <-chan int, out chan<- int, each float64) {
	for i := range in {
		spin(each)
		out <- i
	}
	close(out)
}

func stageC(in <-chan int, done chan<- bool, each float64) {
	for range in {
		spin(each)
	}
	done <- true
}

func forkJoin(k knobs, rounds int, short, long float64) {
	for range rounds {
		var wg sync.WaitGroup
		wg.Add(2)
		go shortPart(&wg, short*k.A)
		go longPart(&wg, long*k.B)
		wg.Wait()
	}
}

func shortPart(wg *sync.WaitGroup, d float64) { defer wg.Done(); spin(d) }
func longPart(wg *sync.WaitGroup, d float64)  { defer wg.Done(); spin(d) }

func sleepers(k knobs, n, rounds int, work float64) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go sleeper(&wg, rounds, work*k.A)
	}
	wg.Wait()
}

func sleeper(wg *sync.WaitGroup, rounds int, work float64) {
	defer wg.Done()
	for range rounds {
		time.Sleep(time.Millisecond)
		spin(work)
	}
}

// tasks starts a goroutine for each task, eight at a time.
func tasks(k knobs, n int, each float64) {
	room := make(chan bool, 8)
	var wg sync.WaitGroup
	for range n {
		room <- true
		wg.Add(1)
		go task(&wg, room, each*k.A)
	}
	wg.Wait()
}

func task(wg *sync.WaitGroup, room <-chan bool, each float64) {
	defer wg.Done()
	spin(each)
	<-room
}

func functions(k knobs, n, rounds int) {
	var wg sync.WaitGroup
	for range n {
		wg.Add(1)
		go caller(&wg, rounds, k)
	}
	wg.Wait()
}

func caller(wg *sync.WaitGroup, rounds int, k knobs) {
	defer wg.Done()
	for range rounds {
		partA(900 * k.A)
		partB(300 * k.B)
	}
}

//go:noinline
func partA(d float64) { spin(d); runtime.Gosched() }

//go:noinline
func partB(d float64) { spin(d); runtime.Gosched() }

// A leaf is something for the collector to follow.
type leaf struct {
	left, right *leaf
	_           [2]uint64
}

func tree(depth int) *leaf {
	if depth == 0 {
		return &leaf{}
	}
	return &leaf{left: tree(depth - 1), right: tree(depth - 1)}
}

// collected allocates with a live heap of 16 MB beside it.
func collected(k knobs) {
	kept := tree(18)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go allocator(&wg, 120)
	}
	wg.Wait()
	runtime.KeepAlive(kept)
}

func allocator(wg *sync.WaitGroup, rounds int) {
	defer wg.Done()
	for range rounds {
		if tree(13) == nil {
			return
		}
		spin(400)
	}
}
