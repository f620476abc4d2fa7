package diagnosis

import (
	"cmp"
	"maps"
	"slices"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

const (
	// grownShare is the part of what was in use at first by which it must have changed to
	// count as growth: profiles of 512 KiB between samples are off by some percent.
	grownShare = 0.05
	// kept is the part of what was allocated that is still there from which the account says
	// that nearly all of it is: what serves an operation has next to none left.
	kept = 0.5
	// grownRow is the part of a change below which a line of it is not worth one.
	grownRow = 0.02
	// collectorShare is the collector's part of the CPU from which the account has it.
	// Programs that are well are below a twentieth.
	collectorShare = 0.1
	// sameAllocated is how many times what is in use may have been allocated for both to
	// be one account: more was given back, and its lines are others or the same ones' work.
	sameAllocated = 1.5
)

// heapAccount lists who holds what is in use, and where there are two profiles what grew.
func heapAccount(p fact.Meter) *Account {
	total := p.Samples("in use", "inuse_space", nil)
	if p.Model.LiveHeap.Start != nil {
		if a := grownAccount(p, total); a != nil {
			return a
		}
	}
	if total.Value == 0 {
		return nil
	}
	rows := largestIn(p, "inuse_space", total)
	for i := range rows {
		rows[i].Note = note(objectWords(p, rows[i].Name), rows[i].Note)
	}
	objects := p.Samples("objects", "inuse_objects", nil)
	share, name := mostOf(rows)
	text := fact.Sentence("%s in use; %s of it allocated in %s.", total, share, name)
	if objects.Value > 0 { // a profile may have bytes alone
		text = fact.Sentence("%s in use in %s objects of %s on average; %s of it allocated in %s.",
			total, objects, fact.Quotient.Of("mean size", fact.Bytes, total, objects), share, name)
	}
	return &Account{Text: text, Rows: append(rows, runtimeRow(p)...)}
}

// grownAccount returns by how much what is in use changed, and whose; nil where it is the same.
func grownAccount(p fact.Meter, total fact.Fact) *Account {
	start := p.SamplesAtStart("in use at the start", "inuse_space", nil)
	change, verb, less := fact.Difference.Of("change", fact.Bytes, total, start), "grew", false
	if change.Value == 0 {
		change, verb, less = fact.Difference.Of("change", fact.Bytes, start, total), "fell", true
	}
	rows := changedRows(p, change, less)
	if change.Value == 0 || change.Value < grownShare*start.Value || len(rows) == 0 {
		return nil
	}
	text := fact.Sentence("What is in use "+verb+" by %s, from %s to %s", change, start, total)
	if live := p.Model.LiveHeap; live.Start.Known && live.End.Known && live.End.At > live.Start.At {
		text += fact.Sentence(" in %s", fact.Name(fact.Seconds.Format((live.End.At - live.Start.At).Seconds())))
	}
	share, name := mostOf(rows)
	text += fact.Sentence("; %s of it is memory allocated in %s", share, name)
	if made := p.Samples("allocated", "alloc_space", nil); !less && made.Value > 0 {
		if stayed := fact.Fraction.Of("part that is still in use", fact.Ratio, change, made); stayed.Value >= kept {
			text += fact.Sentence(". Of what was allocated meanwhile %s stayed", stayed)
		}
	}
	return &Account{Text: text + ".", Rows: append(rows, runtimeRow(p)...)}
}

// changedRows returns the functions of whose memory most came, or with less went.
func changedRows(p fact.Meter, change fact.Fact, less bool) (rows []AccountRow) {
	by, lines, frames, known := map[string]float64{}, map[string]float64{}, map[string]model.Frame{}, map[model.Stack]owner{}
	add := func(profile *model.Profile, sign float64) {
		column := profile.Column("inuse_space")
		for i := range profile.Samples {
			s := &profile.Samples[i]
			o, ok := known[s.Stack]
			if !ok {
				o = byFunction(p.Model.Stacks.Frames(s.Stack))
				known[s.Stack] = o
			}
			at := location(o.frame)
			by[o.name] += sign * s.Value(column)
			if lines[at] += sign * s.Value(column); lines[at] >= lines[location(frames[o.name])] {
				frames[o.name] = o.frame
			}
		}
	}
	sign := 1.0
	if less {
		sign = -1
	}
	add(p.Model.LiveHeap.Start, -sign)
	add(p.Model.LiveHeap.End, sign)
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(by[b], by[a]), cmp.Compare(a, b)) })
	for _, name := range names[:min(len(names), accountRows)] {
		of := func(s *model.Sample) bool { return known[s.Stack].name == name }
		end, start := p.Samples("in use at the end", "inuse_space", of), p.SamplesAtStart("in use at the start", "inuse_space", of)
		if less {
			end, start = start, end
		}
		value := fact.Difference.Of(name, fact.Bytes, end, start)
		if value.Value <= 0 || value.Value < grownRow*change.Value {
			break
		}
		f := frames[name]
		rows = append(rows, AccountRow{Name: name, Where: &Place{f.Func, f.File, f.Line}, Value: value, Share: min(1, ratio(value.Value, change.Value))})
	}
	return rows
}

// runtimeRow returns what the runtime counted at that moment; none where nothing tells.
func runtimeRow(p fact.Meter) (rows []AccountRow) {
	s := p.Model.MemStats
	if s == nil {
		return nil
	}
	bytes := func(n uint64) fact.Name { return fact.Name(fact.Bytes.Format(float64(n))) }
	words := []string{fact.Sentence("%s given back", bytes(s.HeapReleased)), fact.Sentence("%s collections", fact.Name(fact.Count.Format(float64(s.NumGC))))}
	if s.GCCPUFraction >= collectorShare {
		words = append(words, fact.Sentence("%s of the CPU", fact.Name(fact.Ratio.Format(s.GCCPUFraction))))
	}
	value := p.Statistic(fact.Collector, "HeapSys", "from the system", float64(s.HeapSys), fact.Bytes).From(model.LiveHeap)
	return []AccountRow{{Name: value.Name, Value: value, Note: note(words...)}}
}

// allocationAccount lists what was allocated, where that says more than what is in use.
func allocationAccount(p fact.Meter) *Account {
	total := p.Samples("allocated", "alloc_space", nil)
	if total.Value == 0 {
		return nil
	}
	rows := largestIn(p, "alloc_space", total)
	if len(rows) == 0 {
		return nil
	}
	if live := heapAccount(p); live != nil && allInUse(p, live, rows, total) {
		if p.Model.Has(model.LiveHeap) {
			return nil // the account has it of that profile
		}
		return live
	}
	share, name := mostOf(rows)
	return &Account{Text: fact.Sentence("%s allocated; %s of it in %s.", total, share, name), Rows: rows}
}

// allInUse reports whether what was allocated is little more than what is in use, of the
// same function first.
func allInUse(p fact.Meter, live *Account, rows []AccountRow, allocated fact.Fact) bool {
	return live.Rows[0].Name == rows[0].Name && allocated.Value <= sameAllocated*p.Samples("in use", "inuse_space", nil).Value
}

// objectWords returns how many objects a function has in use, and how large.
func objectWords(p fact.Meter, name string) string {
	of := p.Frames(func(frames []model.Frame) bool { return byFunction(frames).name == name })
	objects, bytes := p.Samples("objects", "inuse_objects", of), p.Samples("in use", "inuse_space", of)
	if objects.Value == 0 {
		return ""
	}
	return fact.Sentence("%s × %s", objects, fact.Quotient.Of("mean size", fact.Bytes, bytes, objects))
}
