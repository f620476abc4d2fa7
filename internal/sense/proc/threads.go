package proc

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Switches and run-queue wait are a process's only as the sum over its
// threads: /proc/PID/status and schedstat speak of the main thread. Two ways:
//
// The kernel adds them up itself when asked through taskstats, in 3 µs and up
// to 0.2 µs for each thread, but only for root. Values of threads that ended come
// with the wait and the slices but not with the switches.
//
// Else the threads are walked: 3 µs for a thread that did nothing since the
// last walk, 20 µs for one that did, because its status file has to be
// written out whole to learn two numbers. A walk is repeated when threads were
// asked for, else only after 300 times what it took, so it costs at most 0.3%
// of a CPU: ten times a second for 15 busy threads or 100 idle ones. What a thread had when it was last seen stays in the sum
// after its end.

const walkShare = 300

// maxThreads bounds a walk. Go gives up at 10,000.
const maxThreads = 20_000

// A count is what is summed over threads.
type count struct {
	runQueue               time.Duration
	slices                 int64
	voluntary, involuntary int64
}

func (c *count) add(d count) {
	c.runQueue += d.runQueue
	c.slices += d.slices
	c.voluntary += d.voluntary
	c.involuntary += d.involuntary
}

// atLeast keeps sums from going back when a thread's part is lost.
func (c count) atLeast(d count) count {
	return count{max(c.runQueue, d.runQueue), max(c.slices, d.slices), max(c.voluntary, d.voluntary), max(c.involuntary, d.involuntary)}
}

// switches adds up the threads of a process.
type switches struct {
	dir   string // …/task
	stats *taskstats
	last  count // as given before
	next  time.Time

	threads map[int]*thread
	ended   count  // of threads no longer there
	walk    int    // number of the last one
	buf     []byte // while it reads
}

// A thread is what the last walk found.
type thread struct {
	sched schedstat
	count count
	cpu   split
	walk  int
}

func (s *switches) open(p *Process) {
	s.dir = p.path("task")
	s.threads = map[int]*thread{}
	if p.live {
		s.stats = openTaskstats(p.pid)
	}
}

// read returns the sums.
func (s *switches) read(now time.Time) count {
	if now.Before(s.next) {
		return s.last
	}
	start := time.Now()
	share := time.Duration(paceShare)
	if c, ok := s.stats.read(); ok {
		s.last = c.atLeast(s.last)
	} else {
		s.sum()
		share = walkShare
	}
	s.next = now.Add(share * time.Since(start))
	return s.last
}

// sum walks the threads.
func (s *switches) sum() {
	s.walk++
	for _, id := range s.ids() {
		s.visit(id)
	}
	total := count{}
	for id, t := range s.threads {
		if t.walk != s.walk {
			s.ended.add(t.count)
			delete(s.threads, id)
			continue
		}
		total.add(t.count)
	}
	total.add(s.ended)
	s.last = total.atLeast(s.last)
}

// ids lists the threads; it is empty once the process has ended.
func (s *switches) ids() (ids []int) {
	dir, err := os.Open(s.dir)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxThreads)
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// visit reads one thread; nil when it has just ended.
func (s *switches) visit(id int) *thread {
	text, ok := s.text(id, "schedstat")
	sched := parseSchedstat(text)
	t := s.threads[id]
	if t != nil && ok && sched == t.sched && sched != (schedstat{}) {
		t.walk = s.walk // it did not run, so its switches are what they were
		return t
	}
	status, alive := s.text(id, "status")
	if !alive {
		return nil
	}
	if t == nil {
		t = &thread{}
		s.threads[id] = t
	}
	st := parseStatus(status)
	t.walk, t.sched, t.count = s.walk, sched, count{sched.wait, sched.slices, st.voluntary, st.involuntary}
	return t
}

// list returns all threads by id.
func (s *switches) list() (threads []Thread) {
	s.sum()
	for id, t := range s.threads {
		text, ok := s.text(id, "stat")
		st, err := parseStat(text)
		if !ok || err != nil {
			continue
		}
		user, system := st.user, st.system
		if t.sched.run > 0 {
			user, system = t.cpu.scale(t.sched.run, user, system)
		}
		threads = append(threads, Thread{
			ID: id, Name: st.name, User: user, System: system,
			RunQueue: t.count.runQueue, Voluntary: t.count.voluntary, Involuntary: t.count.involuntary,
		})
	}
	slices.SortFunc(threads, func(a, b Thread) int { return a.ID - b.ID })
	return threads
}

// text reads a small file of a thread. Descriptors of a thousand threads are
// not kept open: that many may not be allowed.
func (s *switches) text(id int, name string) ([]byte, bool) {
	return readSmall(filepath.Join(s.dir, strconv.Itoa(id), name), s.buf)
}
