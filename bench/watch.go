package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/kernel"
	"github.com/gowhy/gowhy/internal/sense/proc"
	"github.com/gowhy/gowhy/internal/testing/pty"
)

// Of watching: how many processes there are, and for how long each monitor is
// looked at, first for its CPU time and then for its system calls.
const (
	watchedProcesses = 500
	settle           = 3 * time.Second // reading everything for the first time
	watchTime        = 8 * time.Second
	countTime        = 4 * time.Second
)

// A monitor is a program that shows processes, on a terminal of 200 by 60.
type monitor struct {
	name string
	args []string
}

// Watching is what monitors cost: each a process of its own on the same machine
// in the same minutes, once a second, in turns.
type Watching struct {
	Date      string
	Machine   Machine
	Rounds    int
	Processes int
	Monitors  []MonitorRow
	Parked    []ParkedRow
	Hour      *HourRow
}

// A MonitorRow is what a monitor costs a second.
type MonitorRow struct {
	Name  string
	CPU   Spread  // of a core
	Calls float64 // a second; negative when they could not be counted
	First Spread  // seconds until it has written something
}

// A ParkedRow is what goroutines of another process cost to read.
type ParkedRow struct {
	Goroutines int
	Read       Spread // seconds of CPU to read and group them
	Calls      int64
	Top        Spread // of a core: gowhy top with that program, once a second, judging included
}

// measureWatching measures what watching costs and writes it to a run's directory.
func measureWatching(ctx context.Context, o options, stdout, stderr io.Writer) error {
	dir, err := os.MkdirTemp("", "gowhy-watching-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	gowhy := filepath.Join(dir, "gowhy")
	story := filepath.Join(dir, "top") // the monitor of the fourth case study, in its designs
	for to, of := range map[string]string{gowhy: "github.com/gowhy/gowhy/cmd/gowhy", story: "github.com/gowhy/gowhy/lab/top"} {
		if out, err := exec.CommandContext(ctx, "go", "build", "-o", to, of).CombinedOutput(); err != nil {
			return fmt.Errorf("building %s: %w: %s", of, err, firstLine(string(out)))
		}
	}
	w := Watching{Date: time.Now().Format("2006-01-02"), Machine: thisMachine(), Rounds: o.rounds, Processes: watchedProcesses}
	for range watchedProcesses {
		c := exec.CommandContext(ctx, "sleep", "3600")
		if err := c.Start(); err != nil {
			return err
		}
		defer func() { c.Process.Kill(); c.Wait() }()
	}
	if err := w.monitors(ctx, o, gowhy, story, stderr); err != nil {
		return err
	}
	for _, n := range []int{10_000, 100_000} {
		fmt.Fprintln(stderr, n, "goroutines")
		if err := w.parked(ctx, o, gowhy, n); err != nil {
			return err
		}
	}
	if o.out == "" {
		return w.writeReport(stdout)
	}
	to, err := saveRun(o.out, w.Date+"-watching", w.Machine, "watching.json", w, w.writeReport)
	if err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", to)
	return w.writeReport(stdout)
}

func (w *Watching) monitors(ctx context.Context, o options, gowhy, story string, stderr io.Writer) error {
	list := []monitor{{"gowhy top -a", []string{gowhy, "top", "-a"}}, {"gowhy top", []string{gowhy, "top"}}}
	for _, design := range []string{"readfile", "broadcast", "kept"} {
		// Processes alone, of the whole machine, as the others show.
		list = append(list, monitor{"lab/top -design " + design, []string{story, "-design", design, "-pid", "1", "-thread=false"}})
	}
	for _, m := range []monitor{{"htop -d 10", []string{"htop", "-d", "10"}}, {"top -d 1", []string{"top", "-d", "1"}}} {
		if _, err := exec.LookPath(m.args[0]); err == nil {
			list = append(list, m)
		}
	}
	cpu, first, calls := map[string][]float64{}, map[string][]float64{}, map[string][]float64{}
	order := rand.New(rand.NewPCG(o.seed, 1))
	for round := range o.rounds {
		for _, i := range order.Perm(len(list)) {
			m := list[i]
			c, f, n, err := w.monitor(ctx, m)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			fmt.Fprintf(stderr, "%d/%d %-12s %.2f %% of a core, %.0f calls a second, first after %.0f ms\n", round+1, o.rounds, m.name, 100*c, n, 1000*f)
			cpu[m.name], first[m.name], calls[m.name] = append(cpu[m.name], c), append(first[m.name], f), append(calls[m.name], n)
		}
	}
	for _, m := range list {
		w.Monitors = append(w.Monitors, MonitorRow{m.name, spread(cpu[m.name]), statistics.Median(calls[m.name]), spread(first[m.name])})
	}
	return nil
}

// monitor runs one, and measures it once it has read everything.
func (w *Watching) monitor(ctx context.Context, m monitor) (cores, first, calls float64, err error) {
	screen, err := pty.Open(200, 60)
	if err != nil {
		return 0, 0, 0, err
	}
	defer screen.Close()
	c := exec.CommandContext(ctx, m.args[0], m.args[1:]...)
	c.Env = append(os.Environ(), "TERM=xterm-256color")
	began := time.Now()
	if err := screen.Start(c); err != nil {
		return 0, 0, 0, err
	}
	defer func() { c.Process.Kill(); c.Wait() }()
	shown := make(chan time.Time, 1)
	go watchFor(screen.Master, func(text string) bool { return strings.Contains(text, "PID") }, shown)
	select {
	case at := <-shown:
		first = at.Sub(began).Seconds()
	case <-time.After(settle):
		return 0, 0, 0, errors.New("it shows no list")
	}
	time.Sleep(settle)
	cores, err = coresOf(c.Process.Pid, watchTime)
	if err != nil {
		return 0, 0, 0, err
	}
	return cores, first, callsOf(c.Process.Pid), nil
}

// coresOf returns what a process uses of a CPU.
func coresOf(pid int, d time.Duration) (float64, error) {
	p, err := proc.Open(pid)
	if err != nil {
		return 0, err
	}
	defer p.Close()
	a, err := p.Sample(false)
	if err != nil {
		return 0, err
	}
	time.Sleep(d)
	b, err := p.Sample(false)
	if err != nil {
		return 0, err
	}
	used := b.Process.User + b.Process.System - a.Process.User - a.Process.System
	return used.Seconds() / b.Time.Sub(a.Time).Seconds(), nil
}

// callsOf counts a process's system calls, all of them; negative where the kernel
// does not let us.
func callsOf(pid int) float64 {
	s, err := kernel.Start(kernel.Options{PID: pid, Syscalls: true, AllSyscalls: true})
	if err != nil {
		return -1
	}
	time.Sleep(countTime)
	r, err := s.Stop()
	if err != nil || r == nil || r.Syscalls == nil {
		return -1
	}
	n := int64(0)
	for _, c := range r.Syscalls {
		n += c.Count
	}
	return float64(n) / r.End.Sub(r.Begin).Seconds()
}

// parked measures what a program with many goroutines costs to watch.
func (w *Watching) parked(ctx context.Context, o options, gowhy string, n int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	c := exec.CommandContext(ctx, self, "-park", strconv.Itoa(n))
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	defer func() { c.Process.Kill(); c.Wait() }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		return err
	}
	r, err := goroutines.Open(c.Process.Pid)
	if err != nil {
		return err
	}
	defer r.Close()
	row := ParkedRow{Goroutines: n}
	var reads, tops []float64
	for range 5 * o.rounds {
		before, err := ownCPU()
		if err != nil {
			return err
		}
		s, err := r.Read()
		if err != nil {
			return err
		}
		after, _ := ownCPU()
		reads, row.Calls = append(reads, (after-before).Seconds()), s.Calls
	}
	for range o.rounds {
		t := exec.CommandContext(ctx, gowhy, "top", "--json", "-n", "1000", strconv.Itoa(c.Process.Pid))
		if err := t.Start(); err != nil {
			return err
		}
		time.Sleep(12 * time.Second) // the first recording reads the program's tables
		cores, err := coresOf(t.Process.Pid, 30*time.Second)
		t.Process.Kill()
		t.Wait()
		if err != nil {
			return err
		}
		tops = append(tops, cores)
	}
	row.Read, row.Top = spread(reads), spread(tops)
	w.Parked = append(w.Parked, row)
	if w.Hour == nil {
		return w.hour(ctx, c.Process.Pid)
	}
	return nil
}

// park returns a program whose goroutines wait.
func park(n int64, stdout io.Writer) error {
	c := make(chan int)
	for i := range n {
		switch i % 3 {
		case 0:
			go func() { <-c }()
		case 1:
			go func() { c <- 1; <-c }()
		default:
			go func() {
				select {
				case <-c:
				case <-time.After(time.Hour):
				}
			}()
		}
	}
	time.Sleep(time.Second)
	fmt.Fprintln(stdout, "ready")
	select {}
}

// writeReport writes the figures as Markdown.
func (w Watching) writeReport(to io.Writer) error {
	b := bufio.NewWriter(to)
	m := w.Machine
	fmt.Fprintf(b, "# What watching costs, %s\n\n", w.Date)
	fmt.Fprintf(b, "%s/%s, %d cores, %s, %.0f GB of memory, %s. %d rounds.\n\n", m.OS, m.Arch, m.Cores, cmpOr(m.CPU, "CPU not known"), float64(m.Memory)/1e9, m.Go, w.Rounds)
	fmt.Fprintf(b, "Monitors of a machine with %d more processes, once a second, each on a terminal of 200 by 60 in turns; medians with the least and the largest. CPU time is without the first three seconds.\n\n", w.Processes)
	fmt.Fprint(b, "| monitor | of a core | system calls a second | first list |\n|---|---:|---:|---:|\n")
	for _, r := range w.Monitors {
		calls := "–"
		if r.Calls >= 0 {
			calls = fmt.Sprintf("%.0f", r.Calls)
		}
		fmt.Fprintf(b, "| %s | %s | %s | %.0f ms |\n", r.Name, percentSpan(r.CPU), calls, 1000*r.First.Median)
	}
	fmt.Fprint(b, "\nA program whose goroutines wait: what it takes to read and group all of them, and `gowhy top` with that program for 30 s, its diagnosis included.\n\n")
	fmt.Fprint(b, "| goroutines | CPU of one reading | system calls | `gowhy top PID` |\n|---:|---:|---:|---:|\n")
	for _, r := range w.Parked {
		fmt.Fprintf(b, "| %d | %.1f ms | %d | %s of a core |\n", r.Goroutines, 1000*r.Read.Median, r.Calls, percentSpan(r.Top))
	}
	if h := w.Hour; h != nil {
		fmt.Fprintf(b, "\nThe live page's server with the first of these programs, and a page that follows: after %d refreshes as fast as they go, of which it keeps %d, it has %d MB and had %d MB at most. The page got %d events.\n",
			h.Refreshes, h.Points, h.Resident>>20, h.Peak>>20, h.Events)
	}
	return b.Flush()
}

func percentSpan(s Spread) string {
	return fmt.Sprintf("%.2f %% (%.2f to %.2f)", 100*s.Median, 100*s.Low, 100*s.High)
}
