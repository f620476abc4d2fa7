package corpus

import "bytes"

// A Case is a small trace written by hand, of a situation that readers get
// wrong. One tick is a nanosecond and the trace starts at [Epoch]; all times
// below are counted from there.
type Case struct {
	Name  string
	Story string // what happens, and what the reference reader makes of it
	Trace []byte
	// Want is the truth of every goroutine, each life on its own, in the
	// order of first appearance, up to the last event.
	Want []Truth
	// Load is the true collector load: the Ps it occupies from each time on.
	Load []LoadStep
}

// Epoch is the start of the traces in [Sick].
const Epoch = 1_000_000

// A Truth is how long one goroutine was in which state, in nanoseconds.
type Truth struct {
	G                                                   uint64
	Running, Runnable, Waiting, Syscall, SyscallBlocked int64
}

// A LoadStep is the number of Ps taken by the collector from At on.
type LoadStep struct{ At, Ps int64 }

// Sick returns the hand-made cases.
func Sick() []Case {
	return []Case{firstRun(), procReuse(), blockedAtStart(), idReuse(), lateStatus(), markRestart(), strayingSweep()}
}

// script writes the events of one generation, times counted from Epoch.
type script struct {
	*Generation
	threads map[uint64]*Thread
}

func (s *script) on(m uint64, at uint64, typ Type, args ...uint64) {
	t := s.threads[m]
	if t == nil {
		t = s.Thread(m)
		s.threads[m] = t
	}
	t.Event(Epoch+at, typ, args...)
}

// write builds a trace of the given generations; each begins at its time.
func write(starts []uint64, gens ...func(*script)) []byte {
	var out bytes.Buffer
	b := NewBuilder(&out, 26)
	for i, f := range gens {
		g := b.Generation(uint64(i+1), Epoch+starts[i])
		f(&script{g, make(map[uint64]*Thread)})
	}
	if err := b.Close(); err != nil {
		panic(err) // a bytes.Buffer takes everything
	}
	return out.Bytes()
}

func firstRun() Case {
	return Case{
		Name: "first-run",
		Story: "G1 makes G2 ready at 1000 and runs on until 4000; G2 runs from 5000 to 6000. " +
			"G2 waited 4000 ns for a P; the reference's sched profile has none of it, " +
			"because it looks at a goroutine only from its first run on.",
		Trace: write([]uint64{0}, func(s *script) {
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 10, ProcsChange, 1, 0)
			s.on(1, 1000, GoCreate, 2, s.Stack("main.worker"), s.Stack("main.spawn", "main.main"))
			s.on(1, 4000, GoBlock, s.String("chan receive"), s.Stack("main.wait", "main.main"))
			s.on(1, 5000, GoStart, 2, 1)
			s.on(1, 6000, GoDestroy)
			s.on(1, 7000, ProcStop)
		}),
		Want: []Truth{{G: 1, Running: 4000, Waiting: 3000}, {G: 2, Runnable: 4000, Running: 1000}},
	}
}

func procReuse() Case {
	return Case{
		Name: "proc-reuse",
		Story: "G1 loses P0 in a system call at 2000; thread 2 takes P0 and runs G2, which enters one " +
			"itself at 3000. G1 returns at 3500, and then G2 loses P0 at 4000. The reference forgets at 3500 " +
			"that P0 is in G2's system call, misses the loss, and counts all of 3000 to 6000 as on P.",
		Trace: write([]uint64{0}, func(s *script) {
			read := s.Stack("syscall.read", "main.reader")
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.reader"))
			s.on(1, 10, ProcsChange, 1, 0)
			s.on(1, 500, GoCreate, 2, s.Stack("main.reader"), s.Stack("main.main"))
			s.on(1, 1000, SyscallBegin, 1, read)
			s.on(1, 3500, SyscallLost)
			s.on(2, 2000, ProcSteal, 0, 2, 1)
			s.on(2, 2100, ProcStart, 0, 3)
			s.on(2, 2200, GoStart, 2, 1)
			s.on(2, 3000, SyscallBegin, 4, read)
			s.on(2, 6000, SyscallLost)
			s.on(3, 4000, ProcSteal, 0, 5, 2)
			s.on(3, 4100, ProcStart, 0, 6)
			s.on(3, 4200, GoStart, 1, 1)
			s.on(3, 5000, GoStop, s.String("preempted"), s.Stack("main.reader"))
			s.on(3, 8000, ProcStop)
		}),
		Want: []Truth{
			{G: 1, Running: 1000 + 800, Syscall: 1000, SyscallBlocked: 1500, Runnable: 700 + 3000},
			{G: 2, Runnable: 1700 + 2000, Running: 800, Syscall: 1000, SyscallBlocked: 2000},
		},
	}
}

func blockedAtStart() Case {
	return Case{
		Name: "blocked-at-start",
		Story: "G3 sits in a system call without a P from before the trace until 9000. The reference " +
			"learns of it when its state is written, at 2000, and counts the rest as on P.",
		Trace: write([]uint64{0, 4000}, func(s *script) {
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 10, ProcsChange, 1, 0)
			s.on(NoThread, 2000, StatusStack, 3, 77, InSys, s.Stack("syscall.read", "main.reader"))
		}, func(s *script) {
			s.on(1, 4000, ProcStatus, 0, ProcRunning)
			s.on(1, 4000, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 4010, ProcsChange, 1, 0)
			s.on(1, 9500, GoBlock, s.String("sleep"), s.Stack("time.Sleep", "main.main"))
			s.on(1, 9600, GoStart, 3, 1)
			s.on(1, 9900, GoDestroy)
			s.on(77, 9000, StatusStack, 3, 77, InSys, s.Stack("syscall.read", "main.reader"))
			s.on(77, 9000, SyscallLost)
		}),
		Want: []Truth{
			{G: 1, Running: 9500, Waiting: 400},
			{G: 3, SyscallBlocked: 9000, Runnable: 600, Running: 300},
		},
	}
}

func idReuse() Case {
	call := func(s *script, at, seq, run uint64) {
		s.on(5, at, GoCreateSys, 7)
		s.on(5, at+100, ProcStart, 1, seq)
		s.on(5, at+110, SyscallLost)
		s.on(5, at+200, GoStart, 7, 1)
		s.on(5, at+200+run, SyscallBegin, seq+1, s.Stack("main.callback"))
		s.on(5, at+300+run, GoDestroySys)
	}
	return Case{
		Name: "id-reuse",
		Story: "A C thread calls into Go twice, at 1000 and at 5000, both times as goroutine 7. " +
			"The reference keeps the second life only.",
		Trace: write([]uint64{0}, func(s *script) {
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 10, ProcsChange, 2, 0)
			s.on(1, 20, ProcStatus, 1, ProcIdle)
			call(s, 1000, 1, 800)
			s.on(1, 2500, ProcSteal, 1, 3, 5)
			call(s, 5000, 4, 700)
			s.on(1, 8000, GoBlock, s.String("sleep"), s.Stack("time.Sleep", "main.main"))
		}),
		Want: []Truth{
			{G: 1, Running: 8000},
			{G: 7, SyscallBlocked: 110, Runnable: 90, Running: 800, Syscall: 100},
			{G: 7, SyscallBlocked: 110, Runnable: 90, Running: 700, Syscall: 100},
		},
	}
}

func lateStatus() Case {
	return Case{
		Name: "late-status",
		Story: "The second generation begins at 4000, but the state of the idle G2 is written into the first " +
			"one at 9000, as when the tracer itself waits for a CPU. The reference moves everything " +
			"between 4000 and 9000 to 9000 and the nanoseconds after it.",
		Trace: write([]uint64{0, 4000}, func(s *script) {
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 10, ProcsChange, 1, 0)
			s.on(NoThread, 9000, StatusStack, 2, NoThread, Waiting, s.Stack("main.idle"))
		}, func(s *script) {
			sleep := s.Stack("time.Sleep", "main.main")
			s.on(1, 4000, ProcStatus, 0, ProcRunning)
			s.on(1, 4000, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 4010, ProcsChange, 1, 0)
			s.on(1, 5000, GoBlock, s.String("sleep"), sleep)
			s.on(1, 5500, GoUnblock, 1, 1, 0)
			s.on(1, 7000, GoStart, 1, 2)
			s.on(1, 8000, GoStop, s.String("preempted"), s.Stack("main.main"))
			s.on(1, 10000, GoStart, 1, 3)
			s.on(1, 11000, GoBlock, s.String("sleep"), sleep)
			s.on(1, 12000, ProcStop)
			s.on(NoThread, 12500, StatusStack, 2, NoThread, Waiting, s.Stack("main.idle"))
		}),
		Want: []Truth{
			{G: 1, Running: 5000 + 1000 + 1000, Waiting: 500 + 1500, Runnable: 1500 + 2000},
			{G: 2, Waiting: 12500},
		},
	}
}

func markRestart() Case {
	return Case{
		Name: "mark-restart",
		Story: "The mark worker G5 runs on P1 from 2010 to 3000 and again from 4010 to 6000, each time with its " +
			"label. The reference adds two at the restart and takes away one: P1 stays with the collector " +
			"for good.",
		Trace: write([]uint64{0}, func(s *script) {
			dedicated := s.String("GC (dedicated)")
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 10, ProcsChange, 2, 0)
			s.on(1, 1000, GCBegin, 1, s.Stack("runtime.gcStart", "main.main"))
			s.on(1, 7000, GCEnd, 2)
			s.on(1, 10000, GoBlock, s.String("sleep"), s.Stack("time.Sleep", "main.main"))
			s.on(2, 20, ProcStatus, 1, ProcRunning)
			s.on(2, 20, StatusStack, 5, NoThread, Waiting, s.Stack("runtime.gcBgMarkWorker"))
			s.on(2, 1500, GoUnblock, 5, 1, 0)
			s.on(2, 2000, GoStart, 5, 2)
			s.on(2, 2010, GoLabel, dedicated)
			s.on(2, 3000, GoBlock, s.String("preempted"), 0)
			s.on(2, 3500, GoUnblock, 5, 3, 0)
			s.on(2, 4000, GoStart, 5, 4)
			s.on(2, 4010, GoLabel, dedicated)
			s.on(2, 6000, GoBlock, s.String("preempted"), 0)
			s.on(2, 9000, ProcStop)
		}),
		Want: []Truth{
			{G: 1, Running: 10000},
			{G: 5, Waiting: 1500 + 500 + 4000, Runnable: 500 + 500, Running: 1000 + 2000},
		},
		Load: []LoadStep{{2010, 1}, {3000, 0}, {4010, 1}, {6000, 0}},
	}
}

func strayingSweep() Case {
	return Case{
		Name: "straying-sweep",
		Story: "A sweep on P0 begins under G1 at 1000 and ends under G2 at 2000. The reference gives it " +
			"to G1 until the end of the trace.",
		Trace: write([]uint64{0}, func(s *script) {
			s.on(1, 0, ProcStatus, 0, ProcRunning)
			s.on(1, 0, StatusStack, 1, NoThread, Running, s.Stack("main.main"))
			s.on(1, 10, ProcsChange, 1, 0)
			s.on(1, 500, GoCreate, 2, s.Stack("main.worker"), s.Stack("main.main"))
			s.on(1, 1000, SweepBegin, s.Stack("main.alloc", "main.main"))
			s.on(1, 1500, GoStop, s.String("preempted"), s.Stack("main.main"))
			s.on(1, 1600, GoStart, 2, 1)
			s.on(1, 2000, SweepEnd, 8192, 4096)
			s.on(1, 3000, GoDestroy)
			s.on(1, 4000, ProcStop)
		}),
		Want: []Truth{{G: 1, Running: 1500, Runnable: 2500}, {G: 2, Runnable: 1100, Running: 1400}},
	}
}
