package proc

import (
	"runtime"
	"slices"
	"time"
)

// details are what is read of a process because it is watched: its threads,
// its open files, its share of memory.
type details struct {
	watched      bool
	user, system time.Duration

	threads []*task // by id
	count   count   // of all threads
	ended   tally   // of those no longer there
	missed  time.Duration
	cpu     split

	fd     file // the directory of its open files
	fds    int
	walked cachedValue[int]
	hidden bool // what only its owner may see

	pss      int64
	pssUntil time.Time // until when its PSS is as good as new
}

// A tally is what threads had.
type tally struct {
	ran   time.Duration
	count count
}

// A task is a thread of a watched process.
type task struct {
	id           int
	known, gone  bool // read once; no longer there
	stat         statLine
	sched        schedstat
	count        count
	user, system time.Duration
	cpu          split

	statFile, schedFile, statusFile file
}

// weighing bounds the CPU time that one Update reads PSS for: it takes 20 µs for a small
// process and milliseconds for one with thousands of mappings.
const weighing = 2 * time.Millisecond

// weighShare makes all reading of PSS take a hundredth of a core at most.
const weighShare = 100

// look reads the details of a process.
func (t *Table) look(p *process) {
	if !p.watched {
		p.watched, p.fds, p.pss = true, -1, -1
	}
	if p.stat.zombie() {
		p.user, p.system = t.split(p)
		return // the rest stays as it was last seen
	}
	if t.watch.Threads {
		t.readThreads(p)
	}
	p.user, p.system = t.split(p)
	if t.watch.Files && !p.hidden {
		p.fds = t.countFiles(p)
	}
}

// unlook forgets the details of a process.
func (t *Table) unlook(p *process) {
	for _, th := range p.threads {
		t.free(th)
	}
	t.files.drop(&p.fd)
	p.details = details{threads: p.threads[:0]}
}

// split divides a process's CPU time. Its stat file has it in whole ticks,
// ended threads included; the sum over the threads is exact, but without what
// ended unseen.
func (t *Table) split(p *process) (user, system time.Duration) {
	user, system = p.stat.user, p.stat.system
	ran := p.ended.ran
	for _, th := range p.threads {
		ran += th.sched.run
	}
	if ran == 0 {
		return user, system
	}
	p.missed = max(p.missed, user+system-ran)
	return p.cpu.scale(ran+p.missed, user, system)
}

// readThreads reads a process's threads. Their directory is listed only when
// one has ended or their number is another: if neither, they are the same.
func (t *Table) readThreads(p *process) {
	same := len(p.threads) == p.stat.threads
	for _, th := range p.threads {
		if !t.readThread(p, th) {
			th.gone, same = true, false
		}
	}
	if !same {
		t.listThreads(p)
	}
	sum := p.ended.count
	for _, th := range p.threads {
		sum.add(th.count)
	}
	p.count = sum.atLeast(p.count)
}

// readThread is false when the thread has ended.
func (t *Table) readThread(p *process, th *task) bool {
	sched, ran := t.readSched(p, th)
	if !ran {
		return true // its other files are as they were
	}
	text, err := t.files.read(&th.statFile, p.id, th.id, "stat")
	if err != nil {
		return !ended(err) && th.known
	}
	start := th.stat.start
	if th.stat.parse(text) != nil || th.known && (th.stat.start != start || sched.run < th.sched.run) {
		return false // its number was given to another
	}
	th.known, th.sched = true, sched
	th.user, th.system = th.stat.user, th.stat.system
	if sched.run > 0 {
		th.user, th.system = th.cpu.scale(sched.run, th.user, th.system)
	}
	th.count.runQueue = sched.wait
	if text, err := t.files.read(&th.statusFile, p.id, th.id, "status"); err == nil {
		if v, i, ok := parseSwitches(text); ok {
			th.count.voluntary, th.count.involuntary = v, i
		}
	}
	return true
}

// readSched reads when a thread ran; ran is false when it has not since the
// last time.
func (t *Table) readSched(p *process, th *task) (s schedstat, ran bool) {
	if t.sched == missing {
		return schedstat{}, true
	}
	text, err := t.files.read(&th.schedFile, p.id, th.id, "schedstat")
	switch {
	case absent(err) && t.sched == untried:
		// Either the thread has ended, or this kernel has no such file.
		if _, err := t.files.read(&th.statFile, p.id, th.id, "stat"); err == nil {
			t.sched = missing
		}
		return schedstat{}, true
	case err != nil:
		return th.sched, ended(err) // the stat file says that it did
	}
	t.sched = present
	s = parseSchedstat(text)
	return s, !th.known || s != th.sched || s == (schedstat{})
}

// listThreads finds the threads that came, and lets go of those that went.
func (t *Table) listThreads(p *process) {
	ids, err := t.files.list(t.threadIDs[:0], p.id, "task", maxThreads)
	t.threadIDs = ids
	if err != nil {
		ids = ids[:0] // the process has ended; the next Update says so
	}
	slices.Sort(ids)
	merged := t.merged[:0]
	old := p.threads
	for _, id := range ids {
		for len(old) > 0 && (old[0].id < id || old[0].gone) {
			t.bury(p, old[0])
			old = old[1:]
		}
		if len(old) > 0 && old[0].id == id {
			merged, old = append(merged, old[0]), old[1:]
			continue
		}
		th := t.newTask(id)
		if !t.readThread(p, th) {
			t.free(th)
			continue
		}
		merged = append(merged, th)
	}
	for _, th := range old {
		t.bury(p, th)
	}
	p.threads, t.merged = merged, p.threads[:0]
}

// bury keeps what an ended thread had.
func (t *Table) bury(p *process, th *task) {
	p.ended.ran += th.sched.run
	p.ended.count.add(th.count)
	t.free(th)
}

func (t *Table) free(th *task) {
	t.files.drop(&th.statFile)
	t.files.drop(&th.schedFile)
	t.files.drop(&th.statusFile)
	t.tasks = append(t.tasks, th)
}

func (t *Table) newTask(id int) *task {
	if n := len(t.tasks); n > 0 {
		th := t.tasks[n-1]
		t.tasks = t.tasks[:n-1]
		*th = task{id: id, stat: statLine{name: th.stat.name}}
		return th
	}
	return &task{id: id}
}

// countFiles returns the number of open files, or -1 where we may not look.
func (t *Table) countFiles(p *process) int {
	n, err := t.files.size(&p.fd, p.id, "fd")
	switch {
	case refused(err):
		p.hidden = true
		return -1
	case err != nil:
		return p.fds
	case n > 0:
		return int(n)
	}
	// Before Linux 6.2 they have to be walked through.
	return p.walked.get(time.Now(), func() int {
		ids, err := t.files.list(t.threadIDs[:0], p.id, "fd", maxFiles)
		t.threadIDs = ids
		if err != nil {
			return -1
		}
		return len(ids)
	})
}

// weigh reads the PSS of some processes, in turn.
func (t *Table) weigh() {
	now := time.Now()
	if now.Before(t.rested) {
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	begin := ThreadTime()
	spent := begin
	for range t.order {
		t.turn = (t.turn + 1) % len(t.order)
		p := t.order[t.turn]
		if p.hidden || p.stat.kernel || p.stat.zombie() || now.Before(p.pssUntil) {
			continue
		}
		t.readPSS(p)
		last := spent
		spent = ThreadTime()
		p.pssUntil = now.Add(walkShare * (spent - last))
		if spent-begin > weighing {
			break
		}
	}
	t.rested = now.Add(weighShare * (spent - begin))
}

func (t *Table) readPSS(p *process) {
	text, err := t.files.readOnce(p.id, "smaps_rollup")
	if refused(err) {
		p.hidden = true
	}
	if pss, ok := rollupBytes(text, "Pss"); err == nil && ok {
		p.pss = int64(min(pss, 1<<62))
	}
}
