// Filepool is a worker pool whose tasks write a file, read it back, delete it
// and compute for a moment: the first case study. Its illnesses are flags; the
// story, the figures and the cures are in CASE.md.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/lab/internal/observed"
)

// A pool is the configuration of one run.
type pool struct {
	workers int
	tasks   int
	size    byteSize
	reused  float64 // the share of tasks that use kept buffers
	dir     string
}

func main() {
	p := pool{size: 2 << 20}
	evidence := observed.Flags(flag.CommandLine)
	flag.IntVar(&p.workers, "workers", 10, "number of workers; far above the CPUs is the first illness")
	flag.IntVar(&p.tasks, "tasks", 1000, "number of tasks")
	flag.Var(&p.size, "size", "bytes that each task writes, like 512KiB or 2MiB")
	reuse := flag.Bool("reuse", false, "let each worker keep its buffers; fresh ones are the second illness")
	flag.Float64Var(&p.reused, "reused", 0, "the `SHARE` of tasks that use kept buffers when -reuse is not given, 0 to 1")
	flag.StringVar(&p.dir, "dir", "", "directory to write in (default: the system's temporary directory)")
	procs := flag.Int("procs", 1, "GOMAXPROCS, in the story 1; 0 leaves it as it is")
	flag.Parse()
	if *procs > 0 {
		runtime.GOMAXPROCS(*procs)
	}
	if *reuse {
		p.reused = 1
	}

	elapsed, err := evidence.Run(p.run)
	if err != nil {
		fmt.Fprintln(os.Stderr, "filepool:", err)
		os.Exit(1)
	}
	fmt.Printf("%d tasks, %d workers: %v\noperations: %d\n", p.tasks, p.workers, elapsed.Round(time.Millisecond), p.tasks)
}

// run lets the workers do all tasks.
func (p pool) run() error {
	if p.workers < 1 || p.tasks < 0 {
		return errors.New("-workers must be at least 1 and -tasks not negative")
	}
	if !(p.reused >= 0 && p.reused <= 1) {
		return errors.New("-reused must be 0 to 1")
	}
	dir, err := os.MkdirTemp(p.dir, "filepool-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	tasks := make(chan int, p.tasks)
	for id := range p.tasks {
		tasks <- id
	}
	close(tasks)

	var (
		done     sync.WaitGroup
		failures = make(chan error, p.workers)
	)
	for range p.workers {
		done.Add(1)
		go worker(p, dir, tasks, failures, &done) // want oversubscribed
	}
	done.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

// worker does tasks until there are none left or one fails.
func worker(p pool, dir string, tasks <-chan int, failures chan<- error, done *sync.WaitGroup) {
	defer done.Done()
	var kept task
	for id := range tasks {
		name, do := filepath.Join(dir, strconv.Itoa(id)), task(fresh)
		if p.keeps(id) {
			if kept == nil {
				kept = keeping(int(p.size))
			}
			do = kept
		}
		if err := do(name, int(p.size), byte(id)); err != nil {
			failures <- err
			return
		}
		spin()
	}
}

// keeps reports whether a task is one of those that use kept buffers, which
// are spread evenly over all.
func (p pool) keeps(id int) bool {
	return math.Floor(float64(id+1)*p.reused) > math.Floor(float64(id)*p.reused)
}

// A task writes a file of a size, reads it back and deletes it.
type task func(name string, size int, mark byte) error

// fresh does one task with two buffers of its own: the one it makes here and
// the one that ReadFile makes for it.
func fresh(name string, size int, mark byte) error {
	out := make([]byte, size) // want allocchurn
	stamp(out, mark)
	if err := os.WriteFile(name, out, 0o600); err != nil {
		return err
	}
	in, err := os.ReadFile(name) // want allocchurn
	if err != nil {
		return err
	}
	return finish(name, out, in)
}

// keeping returns a task function that keeps its two buffers from task to task: the cure.
func keeping(size int) task {
	out, in := make([]byte, size), make([]byte, size)
	return func(name string, _ int, mark byte) error {
		stamp(out, mark)
		if err := os.WriteFile(name, out, 0o600); err != nil {
			return err
		}
		if err := readInto(in, name); err != nil {
			return err
		}
		return finish(name, out, in)
	}
}

func readInto(b []byte, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadFull(f, b)
	return err
}

// finish checks that what was read is what was written, and deletes the file.
func finish(name string, out, in []byte) error {
	if !bytes.Equal(out, in) {
		return fmt.Errorf("%s: read back something else than was written", name)
	}
	return os.Remove(name)
}

// stamp marks every page of b with the task. A page is enough to tell tasks
// apart, and filling all of b would cost more than the file does.
func stamp(b []byte, mark byte) {
	for i := 0; i < len(b); i += 4096 {
		b[i] = mark
	}
}

// spun keeps the compiler from removing the loop of spin.
var spun atomic.Uint64

// spin is the task's own computation, some 20 µs of one CPU.
func spin() {
	var x uint64 = 88172645463325252
	for range 10_000 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	spun.Store(x)
}

// byteSize is a number of bytes that can be set as 512KiB or 2MB.
type byteSize int

func (s *byteSize) String() string { return strconv.Itoa(int(*s)) }

// Set implements [flag.Value].
func (s *byteSize) Set(text string) error {
	unit := 1
	for suffix, u := range map[string]int{"KiB": 1 << 10, "MiB": 1 << 20, "KB": 1e3, "MB": 1e6} {
		if n, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = n, u
			break
		}
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 1<<30/unit {
		return errors.New("want a size up to 1GiB, like 65536, 512KiB or 2MiB")
	}
	*s = byteSize(n * unit)
	return nil
}
