//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// readFile is the first design: everything is listed and every file opened,
// read and closed at each update, by the function that is nearest at hand.
type readFile struct {
	watch
	mu   sync.Mutex
	last []row
}

func newReadFile(w watch) (monitor, error) { return &readFile{watch: w}, nil }

func (m *readFile) kept() int { return 0 }
func (m *readFile) close()    {}

func (m *readFile) rows() []row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

func (m *readFile) update() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	pids := []int{m.pid}
	if m.tree {
		pids = numbered("/proc")
	}
	found := map[int]stat{}
	for _, pid := range pids {
		if s, err := m.stat(processDir(pid)); err == nil {
			found[pid] = s
		}
	}
	if _, ok := found[m.pid]; !ok {
		return gone(m.pid)
	}
	var rows []row
	for _, p := range family(m.pid, found) {
		rows = append(rows, found[p.pid].row(p.pid, p.depth))
		if m.threads {
			rows = append(rows, m.tasks(p.pid, p.depth+1)...)
		}
	}
	m.last = rows
	return nil
}

func (m *readFile) tasks(pid, depth int) (rows []row) {
	dir := filepath.Join(processDir(pid), "task")
	for _, tid := range numbered(dir) {
		task := filepath.Join(dir, strconv.Itoa(tid))
		s, err := m.stat(task)
		if err != nil {
			continue
		}
		r := s.row(tid, depth)
		r.thread, r.rss = true, 0
		if text, err := m.read(task, "schedstat"); err == nil {
			r.wait = waited(text)
		}
		rows = append(rows, r)
	}
	return rows
}

func (m *readFile) stat(dir string) (stat, error) {
	text, err := m.read(dir, "stat")
	if err != nil {
		return stat{}, err
	}
	return parseStat(text)
}

// read is ten system calls where one would do.
func (m *readFile) read(dir, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir, name)) // want reopen
}

func processDir(pid int) string { return filepath.Join("/proc", strconv.Itoa(pid)) }

func gone(pid int) error { return fmt.Errorf("process %d has ended, or never was", pid) }

// numbered returns the names in a directory that are numbers.
func numbered(dir string) (ids []int) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// A relative is a process and its place in the tree.
type relative struct{ pid, depth int }

// family returns a process and its descendants, parents first.
func family(root int, all map[int]stat) []relative {
	children := map[int][]int{}
	for pid, s := range all {
		children[s.parent] = append(children[s.parent], pid)
	}
	out := []relative{}
	seen := map[int]bool{}
	var add func(pid, depth int)
	add = func(pid, depth int) {
		if seen[pid] {
			return // numbers that were used again can make a circle
		}
		seen[pid] = true
		out = append(out, relative{pid, depth})
		slices.Sort(children[pid])
		for _, c := range children[pid] {
			add(c, depth+1)
		}
	}
	add(root, 0)
	return out
}

// A stat is what a stat file says.
type stat struct {
	name         string
	state        byte
	parent       int
	threads      int
	user, system time.Duration
	rss          uint64
}

func (s stat) row(id, depth int) row {
	return row{id: id, depth: depth, name: s.name, state: s.state, user: s.user, system: s.system, rss: s.rss, wait: -1}
}

// parseStat reads a stat file in the plain way, with a string for each field.
func parseStat(text []byte) (s stat, err error) {
	line := string(text)
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return s, errors.New("not a stat file")
	}
	f := strings.Fields(line[end+1:])
	if len(f) < 22 || f[0] == "" {
		return s, errors.New("a stat file that was cut")
	}
	number := func(i int) int { n, _ := strconv.Atoi(f[i]); return max(0, n) }
	const tick = 10 * time.Millisecond
	return stat{
		name: line[open+1 : end], state: f[0][0], parent: number(1), threads: number(17),
		user: time.Duration(number(11)) * tick, system: time.Duration(number(12)) * tick,
		rss: uint64(number(21)) * uint64(os.Getpagesize()),
	}, nil
}

// waited reads the time in the run queue from a schedstat file.
func waited(text []byte) time.Duration {
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return -1
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return -1
	}
	return time.Duration(n)
}
