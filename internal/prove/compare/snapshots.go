package compare

import (
	"cmp"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// inUse finds a column of what was in use at the end of what was recorded.
func inUse(column string) profileOf {
	return func(m *model.Model) (*model.Profile, int, float64) {
		if m.LiveHeap.End == nil {
			return nil, -1, 0
		}
		return m.LiveHeap.End, typed(m.LiveHeap.End, column), 0
	}
}

// standing compares where goroutines stood at the end; nil when a side has no goroutine
// profile or dump. Text tells no more of a stack than a place: so both forms compare.
func standing(a, b *side) *Table {
	if a.m.Goroutines.End == nil || b.m.Goroutines.End == nil {
		return nil
	}
	t := &tally{entries: map[entryKey]*Entry{}}
	for i, s := range []*side{a, b} {
		t.goroutines(i, s.m)
	}
	return t.table(standingTable, fact.Count, PerRun, "goroutine profile")
}

func (t *tally) goroutines(side int, m *model.Model) {
	for i := range m.Goroutines.End.Samples {
		s := &m.Goroutines.End.Samples[i]
		v := s.Value(0)
		frames := m.Stacks.Frames(s.Stack)
		p := waitPlace(frames)
		reason := ""
		if len(frames) > 0 && frames[0].Func != p.Function {
			reason = waitsIn(frames)
		}
		e := t.at(entryKey{cmp.Or(p.Function, "(unknown)"), reason})
		e.add(side, v, 0)
		if e.File == "" {
			e.File, e.Line = p.File, p.Line
		}
		t.total[side] += v
	}
}

// waitsIn returns the call by which the program stands there: the callee of its own line.
func waitsIn(frames []model.Frame) string {
	own, ok := diagnosis.UserPlace(frames)
	for i := 1; ok && i < len(frames); i++ {
		if frames[i].Func == own.Function {
			return frames[i-1].Func
		}
	}
	return frames[0].Func
}

// states adds what was counted at one moment, and what only lines of a log tell.
func (s *side) states(state adder) {
	if p := s.m.Goroutines.End; p != nil {
		n := 0.0
		for i := range p.Samples {
			n += p.Samples[i].Value(0)
		}
		state("goroutines", "goroutines", "", fact.Count, n)
	}
	s.logged(state)
	s.scheduled(state)
}

// logged adds what lines of gctrace say, where nothing better was recorded.
func (s *side) logged(state adder) {
	log := s.m.GCLog
	if len(log) == 0 || s.m.GC != nil {
		return
	}
	first, last := &log[0], &log[len(log)-1]
	if span := (last.At - first.At).Seconds(); span > 0 {
		if s.m.Metrics == nil {
			state("collector", "collections a second", "", fact.PerSec, float64(len(log)-1)/span)
		}
		var cpu, assist float64
		for _, l := range log[1:] {
			cpu += (l.CPUSweepTerm + l.CPUAssist + l.CPUBackground + l.CPUMarkTerm).Seconds()
			assist += l.CPUAssist.Seconds()
		}
		state("collector", "CPU of collections", "", fact.Cores, cpu/span)
		state("collector", "CPU of assists", "", fact.Cores, assist/span)
	}
	state("memory", "heap's goal at the end", "", fact.Bytes, float64(last.Goal))
}

// scheduled adds what lines of schedtrace say, on average over the lines, where there is no
// trace, which knows it of each moment.
func (s *side) scheduled(state adder) {
	log := s.m.SchedLog
	if len(log) == 0 || s.m.Sched != nil {
		return
	}
	var queued, idle, threads float64
	for i := range log {
		l := &log[i]
		queued += float64(l.RunQueue)
		for _, n := range l.Local {
			queued += float64(n)
		}
		idle += float64(l.IdleProcs)
		threads += float64(l.Threads)
	}
	n := float64(len(log))
	state("goroutines", "goroutines that are ready and queue", "", fact.Count, queued/n)
	state("system", "idle Ps", "", fact.Count, idle/n)
	state("system", "threads", "", fact.Count, threads/n)
}

// saved compares what two saved diagnoses hold, which have no more of the evidence: the
// largest parts of each kind that both accounts have.
func (c *Comparison) saved(a, b *diagnosis.Diagnosis) {
	for i := range a.Accounts {
		x := &a.Accounts[i]
		for k := range b.Accounts {
			if y := &b.Accounts[k]; x.Source == y.Source {
				c.largestParts(x, y)
				break
			}
		}
	}
	if a.CPU != nil && b.CPU != nil && a.CPU.WindowNS > 0 && b.CPU.WindowNS > 0 {
		c.Ledger = append(c.Ledger, Row{Group: "CPU", Name: "CPU in use", Unit: fact.Cores, State: true, A: statistics.Finite(a.CPU.Cores), B: statistics.Finite(b.CPU.Cores)})
	}
}

// tablesOf are the tables that have all of what an account keeps the largest parts of.
var tablesOf = map[model.Source]string{
	model.LiveHeap: inUseTable, model.Heap: allocatedTable, model.GoroutineProfile: standingTable, model.CPU: cpuTable,
	model.Mutex: mutexTable, model.Block: blockTable,
}

func (c *Comparison) largestParts(x, y *diagnosis.Account) {
	t := &tally{entries: map[entryKey]*Entry{}}
	unit := fact.Unit("")
	for side, account := range []*diagnosis.Account{x, y} {
		for i := range account.Rows {
			r := &account.Rows[i]
			if unit == "" {
				unit = r.Value.Unit
			}
			if r.Value.Unit != unit {
				continue
			}
			t.at(entryKey{function: r.Name}).add(side, r.Value.Value, 0)
			if r.Share > 0 && t.total[side] == 0 {
				t.total[side] = r.Value.Value / r.Share
			}
		}
	}
	if out := t.table(cmp.Or(tablesOf[x.Source], string(x.Source)), unit, PerRun, "saved diagnosis"); out != nil {
		out.Note = "a saved diagnosis keeps only the largest parts: one that is 0 may be smaller than those"
		c.Tables = append(c.Tables, *out)
	}
}
