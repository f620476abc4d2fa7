package subject

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/sense/proc"
)

// procFS is where the kernel tells about processes.
const procFS = "/proc"

// A member is a process of the group that a command became. Numbers of
// processes are used again, so its start belongs to its identity.
type member struct {
	pid   int
	start uint64 // in ticks since boot
}

// A family is a process, what it started, and what they started. A program
// that puts itself into the background leaves its parent but not its group.
type family []member

// readFamily finds the family of a process that we started and have not waited
// for: its number cannot be another's.
func readFamily(root string, leader int) family {
	type stat struct {
		member
		group int
	}
	children := map[int][]stat{}
	pids, _ := proc.Processes(root)
	var all []stat
	for _, pid := range pids {
		s, parent, group, ok := readStat(root, pid)
		if !ok {
			continue
		}
		children[parent] = append(children[parent], stat{s, group})
		all = append(all, stat{s, group})
	}
	var f family
	seen := map[int]bool{}
	add := func(s stat) {
		if !seen[s.pid] {
			seen[s.pid] = true
			f = append(f, s.member)
		}
	}
	for _, s := range all {
		if s.pid == leader || s.group == leader {
			add(s)
		}
	}
	for i := 0; i < len(f); i++ {
		for _, c := range children[f[i].pid] {
			add(c)
		}
	}
	return f
}

func (f family) has(pid int) bool {
	return slices.ContainsFunc(f, func(m member) bool { return m.pid == pid })
}

// readStat reads who a process is, from whom it comes and its group.
func readStat(root string, pid int) (m member, parent, group int, ok bool) {
	text, err := os.ReadFile(filepath.Join(root, strconv.Itoa(pid), "stat"))
	if err != nil {
		return m, 0, 0, false
	}
	// The name, in parentheses, may hold anything; fields count from behind it.
	f := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(f) < 20 {
		return m, 0, 0, false
	}
	parent, err1 := strconv.Atoi(string(f[1]))
	group, err2 := strconv.Atoi(string(f[2]))
	start, err3 := strconv.ParseUint(string(f[19]), 10, 64)
	return member{pid, start}, parent, group, errors.Join(err1, err2, err3) == nil
}

// name names a process.
func name(root string, pid int) string {
	text, err := os.ReadFile(filepath.Join(root, strconv.Itoa(pid), "comm"))
	if err != nil {
		return "?"
	}
	return printable(strings.TrimSpace(string(text)))
}

// counters are what a family used since some moment.
type counters struct {
	cpu      time.Duration
	faults   float64
	switches float64
	runQueue time.Duration
}

// A ledger keeps the counters of a family while its members come and go.
type ledger struct {
	leader  int
	open    map[member]*proc.Process
	initial map[member]proc.Counters // of those that were there at the beginning
	last    map[member]proc.Counters
}

// beginLedger reads what the family has used so far; use gives the rest.
func beginLedger(leader int) (*ledger, error) {
	l := &ledger{leader: leader, open: map[member]*proc.Process{}, last: map[member]proc.Counters{}}
	l.read()
	if len(l.last) == 0 {
		l.close()
		_, err := proc.Open(leader)
		return nil, err
	}
	l.initial = map[member]proc.Counters{}
	for m, c := range l.last {
		l.initial[m] = c
	}
	return l, nil
}

// read samples every member that is there. A member that ended since keeps
// what it was last seen to have; one whose number was given to another process
// is not taken for it.
func (l *ledger) read() {
	for _, m := range readFamily(procFS, l.leader) {
		p := l.open[m]
		if p == nil {
			var err error
			if p, err = proc.Open(m.pid); err != nil {
				continue
			}
			// Between the listing and the opening the number may have changed hands.
			if again, _, _, ok := readStat(procFS, m.pid); !ok || again != m {
				p.Close()
				continue
			}
			l.open[m] = p
		}
		if s, err := p.Sample(true); err == nil {
			l.last[m] = s.Process
		}
	}
}

// use returns what was used since the beginning.
func (l *ledger) use() counters {
	l.read()
	return difference(l.initial, l.last)
}

func difference(from, to map[member]proc.Counters) (c counters) {
	for m, b := range to {
		a := from[m]
		c.cpu += b.User + b.System - a.User - a.System
		c.faults += float64(b.MinorFaults - a.MinorFaults + b.MajorFaults - a.MajorFaults)
		c.switches += float64(b.Voluntary - a.Voluntary + b.Involuntary - a.Involuntary)
		c.runQueue += b.RunQueue - a.RunQueue
	}
	return c
}

func (l *ledger) close() {
	for _, p := range l.open {
		p.Close()
	}
}

// maxStatus is more than a status file has.
const maxStatus = 8 << 10

// peakOf returns the greatest resident memory that a process had, in bytes; 0 when
// it cannot be read, as of one that has ended.
func peakOf(root string, pid int) uint64 {
	f, err := os.Open(filepath.Join(root, strconv.Itoa(pid), "status"))
	if err != nil {
		return 0
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxStatus))
	return parsePeak(text)
}

// parsePeak finds the line "VmHWM:	   12345 kB".
func parsePeak(status []byte) uint64 {
	_, rest, ok := bytes.Cut(status, []byte("\nVmHWM:"))
	if !ok {
		return 0
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) == 0 {
		return 0
	}
	n, err := strconv.ParseUint(string(f[0]), 10, 53)
	if err != nil {
		return 0
	}
	return n << 10
}
