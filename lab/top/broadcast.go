//go:build linux

package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// broadcast is the second design: every file stays open, and has a goroutine
// that reads it when it is called. All are called at once, by closing the one
// channel that they listen to.
//
// The story makes a new channel after closing the old one, and whoever comes
// to listen late listens to the new one: its call is lost, and the update that
// waits for it hangs. Here each call knows the next one before it is made, and
// a listener goes from call to call, so that it can be late but miss none.
type broadcast struct {
	watch
	mu        sync.Mutex
	now       *call // the next to be made
	working   sync.WaitGroup
	all       []*listener // those that have a goroutine
	processes map[int]*watchedProcess
	last      []row

	running context.Context // all listeners listen to its end, too
	end     context.CancelFunc
}

// A call is made by closing its channel. next is set before.
type call struct {
	made chan struct{}
	next *call
}

// A watchedProcess is a process and its listeners.
type watchedProcess struct {
	stat  *listener
	tasks map[int]taskListeners
}

type taskListeners struct{ stat, sched *listener }

// A listener reads one file, until that fails. Its fields belong to its
// goroutine while a call is answered, and to the caller in between.
type listener struct {
	f      *os.File
	turn   int // calls until it reads again
	parse  func(*listener, []byte) error
	buf    [4096]byte
	stat   stat
	waited time.Duration
	err    error
}

func newBroadcast(w watch) (monitor, error) {
	m := &broadcast{watch: w, now: newCall(), processes: map[int]*watchedProcess{}}
	m.running, m.end = context.WithCancel(context.Background())
	return m, nil
}

func newCall() *call { return &call{made: make(chan struct{})} }

func (m *broadcast) rows() []row {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last
}

func (m *broadcast) kept() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.all)
}

func (m *broadcast) close() { m.end() }

func (m *broadcast) update() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.discover()
	m.call()
	found := map[int]stat{}
	for pid, p := range m.processes {
		if p.stat.err != nil {
			delete(m.processes, pid)
			continue
		}
		found[pid] = p.stat.stat
	}
	if _, ok := found[m.pid]; !ok {
		return gone(m.pid)
	}
	var rows []row
	for _, r := range family(m.pid, found) {
		rows = append(rows, found[r.pid].row(r.pid, r.depth))
		if m.threads {
			rows = append(rows, m.tasks(r)...)
		}
	}
	m.last = rows
	return nil
}

// call wakes all listeners and waits until each has read its file.
func (m *broadcast) call() {
	m.working.Add(len(m.all))
	now := m.now
	m.now = newCall()
	now.next = m.now
	close(now.made) // want broadcastclose
	m.working.Wait()
	m.all = slices.DeleteFunc(m.all, func(l *listener) bool { return l.err != nil })
}

// discover starts listeners for the processes that came.
func (m *broadcast) discover() {
	pids := []int{m.pid}
	if m.tree {
		pids = numbered("/proc")
	}
	for _, pid := range pids {
		if m.processes[pid] == nil {
			if l := m.listen(filepath.Join(processDir(pid), "stat"), (*listener).parseStat); l != nil {
				m.processes[pid] = &watchedProcess{stat: l, tasks: map[int]taskListeners{}}
			}
		}
	}
}

// tasks returns the threads of a process. Their directory is listed when their
// number is another, or one has ended.
func (m *broadcast) tasks(r relative) (rows []row) {
	p := m.processes[r.pid]
	for tid, t := range p.tasks {
		if t.stat.err != nil || t.sched.err != nil {
			delete(p.tasks, tid)
		}
	}
	dir := filepath.Join(processDir(r.pid), "task")
	if len(p.tasks) != p.stat.stat.threads {
		for _, tid := range numbered(dir) {
			if _, known := p.tasks[tid]; !known {
				m.addTask(p, filepath.Join(dir, strconv.Itoa(tid)), tid)
			}
		}
	}
	for tid, t := range p.tasks {
		row := t.stat.stat.row(tid, r.depth+1)
		row.thread, row.rss, row.wait = true, 0, t.sched.waited
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.id, b.id) })
	return rows
}

// addTask adds a thread. Of one that ends meanwhile a listener may be left,
// whose next reading fails.
func (m *broadcast) addTask(p *watchedProcess, dir string, tid int) {
	stat := m.listen(filepath.Join(dir, "stat"), (*listener).parseStat)
	sched := m.listen(filepath.Join(dir, "schedstat"), (*listener).parseSched)
	if stat != nil && sched != nil {
		p.tasks[tid] = taskListeners{stat, sched}
	}
}

// listen opens a file, reads it and starts its goroutine; nil when it is gone.
func (m *broadcast) listen(path string, parse func(*listener, []byte) error) *listener {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	l := &listener{f: f, parse: parse, turn: len(m.all) % m.every}
	if l.read(); l.err != nil {
		f.Close()
		return nil
	}
	m.all = append(m.all, l)
	go l.answer(m.running, m.now, &m.working, m.every)
	return l
}

// answer answers call after call, and reads at every so-manyth: files that
// seldom change need no more, but there is one channel for all of them.
func (l *listener) answer(ctx context.Context, c *call, working *sync.WaitGroup, every int) {
	defer l.f.Close()
	for {
		select { // want broadcastclose
		case <-c.made:
		case <-ctx.Done():
			return
		}
		c = c.next
		if l.turn--; l.turn < 0 {
			l.turn = every - 1
			l.read()
		}
		failed := l.err != nil // before the caller may touch it
		working.Done()
		if failed {
			return
		}
	}
}

func (l *listener) read() {
	n, err := l.f.ReadAt(l.buf[:], 0)
	if n > 0 {
		err = l.parse(l, l.buf[:n])
	}
	l.err = err
}

func (l *listener) parseStat(text []byte) (err error) {
	l.stat, err = parseStat(text)
	return err
}

func (l *listener) parseSched(text []byte) error {
	l.waited = waited(text)
	return nil
}
