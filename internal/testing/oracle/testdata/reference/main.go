// Command reference prints what the Go distribution's own summarizer makes of
// a trace. It is built as if it lay in GOROOT/src/cmd, from where the package
// may be imported.
package main

import (
	"encoding/json"
	"fmt"
	"internal/trace"
	"io"
	"os"
	"time"
)

type stats struct {
	Running, Runnable, Syscall, SyscallBlocked, Total time.Duration
	Blocked, Ranges                                   map[string]time.Duration
}

type region struct {
	Task       trace.TaskID
	Name       string
	Begin, End trace.Time
	Stats      stats
}

type goroutine struct {
	Name                  string
	PC                    uint64
	Created, First, Ended trace.Time
	Stats                 stats
	Regions               []region
}

type task struct {
	Name       string
	Parent     trace.TaskID
	Children   []trace.TaskID
	Begin, End trace.Time
	Logs       int
	Regions    int
	Goroutines []trace.GoID
}

type report struct {
	Goroutines  map[trace.GoID]goroutine
	Tasks       map[trace.TaskID]task
	Utilization []trace.MutatorUtil // nil where the reference panics
}

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	r, err := trace.NewReader(f)
	if err != nil {
		return err
	}
	s := trace.NewSummarizer()
	var events []trace.Event
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		s.Event(&ev)
		events = append(events, ev)
	}
	return json.NewEncoder(os.Stdout).Encode(convert(s.Finalize(), utilization(events)))
}

func utilization(events []trace.Event) (u []trace.MutatorUtil) {
	defer func() {
		if recover() != nil {
			u = nil
		}
	}()
	all := trace.MutatorUtilizationV2(events, trace.UtilSTW|trace.UtilBackground|trace.UtilAssist)
	return all[0]
}

func convert(s *trace.Summary, u []trace.MutatorUtil) report {
	out := report{make(map[trace.GoID]goroutine), make(map[trace.TaskID]task), u}
	for id, g := range s.Goroutines {
		c := goroutine{g.Name, g.PC, g.CreationTime, g.StartTime, g.EndTime, convertStats(&g.GoroutineExecStats), nil}
		for _, r := range g.Regions {
			c.Regions = append(c.Regions, region{r.TaskID, r.Name, timeOf(r.Start), timeOf(r.End), convertStats(&r.GoroutineExecStats)})
		}
		out.Goroutines[id] = c
	}
	for id, t := range s.Tasks {
		c := task{Name: t.Name, Parent: trace.NoTask, Begin: timeOf(t.Start), End: timeOf(t.End), Logs: len(t.Logs), Regions: len(t.Regions)}
		if t.Parent != nil {
			c.Parent = t.Parent.ID
		}
		for _, k := range t.Children {
			c.Children = append(c.Children, k.ID)
		}
		for g := range t.Goroutines {
			c.Goroutines = append(c.Goroutines, g)
		}
		out.Tasks[id] = c
	}
	return out
}

func timeOf(ev *trace.Event) trace.Time {
	if ev == nil {
		return 0
	}
	return ev.Time()
}

func convertStats(s *trace.GoroutineExecStats) stats {
	return stats{s.ExecTime, s.SchedWaitTime, s.SyscallTime, s.SyscallBlockTime, s.TotalTime, s.BlockTimeByReason, s.RangeTime}
}
