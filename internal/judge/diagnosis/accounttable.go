package diagnosis

import (
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// tableRows is how many functions the account of a printed profile keeps: the program's
// first and its last that most goes through, and the runtime's three largest kinds of work.
const tableRows = 5

// tableLeast is the share of the total from which a function of a table stands out.
const tableLeast = 0.05

// runtimeWork are functions of the runtime whose sums in a CPU profile are each a kind of
// work: the first that a table has stands for it. One may be inside another, as marking is
// in allocating where an allocation assists.
var runtimeWork = []struct {
	words     string
	functions []string
}{
	{"growing stacks", []string{"runtime.morestack", "runtime.newstack", "runtime.copystack"}},
	{"walking stacks", []string{"runtime.gentraceback", "runtime.(*unwinder).next", "runtime.tracebackPCs", "runtime.pcvalue"}},
	{"allocating", []string{"runtime.mallocgc"}},
	{"collecting garbage", []string{"runtime.gcBgMarkWorker", "runtime.gcDrain"}},
	{"finding goroutines to run", []string{"runtime.schedule", "runtime.findRunnable", "runtime.findrunnable"}},
	{"running timers", []string{"runtime.runtimer", "runtime.runOneTimer", "runtime.timerproc", "runtime.(*timers).check", "runtime.(*timers).run"}},
	{"choosing among channels", []string{"runtime.selectgo"}},
	{"system calls", []string{"syscall.Syscall", "syscall.Syscall6", "internal/runtime/syscall.Syscall6", "internal/runtime/syscall/linux.Syscall6", "runtime/internal/syscall.Syscall6"}},
}

// tableWords are what the totals of printed profiles are, by their type.
var tableWords = map[string]string{
	"cpu": "of CPU time", "delay": "of waiting for locks and channels", "contentions": "waits for locks and channels", "goroutine": "goroutines",
	"inuse_space": "in use", "alloc_space": "allocated", "inuse_objects": "objects in use", "alloc_objects": "objects allocated",
	"threadcreate": "threads", "goroutineleak": "goroutines that nothing can wake", "samples": "samples",
}

// tableAccount lists what a printed profile says.
func tableAccount(t *model.Table) *Account {
	a := &Account{Source: model.Printed}
	for _, f := range standing(t) {
		a.Rows = append(a.Rows, AccountRow{Name: f.Func, Where: &Place{f.Func, f.File, f.Line}, Value: fact.PrintedUnder("under "+f.Func, t, f.TableFunction),
			Share: t.Share(f.Cum), Note: f.note})
	}
	what, ok := tableWords[t.Type.Name]
	if !ok {
		what = "in all"
	}
	total := fact.PrintedTotal("all of the profile", t)
	of := "; %s of it under %s"
	if t.Type.Unit == "count" {
		of = "; %s of them under %s"
	}
	share := func(f *model.TableFunction) fact.Part { return fact.Name(fact.Ratio.Format(t.Share(f.Cum))) }
	first, last, beside := chain(t)
	switch own := heaviest(t); {
	case own != nil:
		a.Text = fact.Sentence("%s "+what+strings.Replace(of, "under", "in", 1)+".", total, fact.Name(fact.Ratio.Format(t.Share(own.Flat))), fact.Name(shortName(own.Func)))
	case first == nil && len(a.Rows) == 0:
		a.Text = fact.Sentence("%s "+what+", spread over many functions.", total)
	case first == nil:
		a.Text = fact.Sentence("%s "+what+of+".", total, fact.Name(fact.Ratio.Format(a.Rows[0].Share)), fact.Name(shortName(a.Rows[0].Name)))
	case beside == nil && first == last:
		a.Text = fact.Sentence("%s "+what+of+".", total, share(first), fact.Name(shortName(first.Func)))
	case beside == nil:
		a.Text = fact.Sentence("%s "+what+of+", %s under %s.", total, share(first), fact.Name(shortName(first.Func)), share(last), fact.Name(deepWords(t, last)))
	default:
		a.Text = fact.Sentence("%s "+what+of+", %s under %s.", total, share(last), fact.Name(shortName(last.Func)), share(beside), fact.Name(shortName(beside.Func)))
	}
	a.Text += tableMeaning(t)
	return a
}

// mostlyWaits is how many cores a program uses that mostly waits: all its threads together
// were off the CPU for nine tenths of the time.
const mostlyWaits = 0.1

// tableMeaning says what a table does not tell, and its reader may take it to.
func tableMeaning(t *model.Table) string {
	switch {
	case strings.HasPrefix(t.Type.Name, "alloc_"):
		return " It counts all that was ever allocated, also what is free again: who holds memory go tool pprof -inuse_space shows."
	case t.Type.Name == "" && t.Type.Unit == "bytes":
		return " Whether that is in use or was ever allocated, the text does not say."
	case t.Source == model.CPU && t.Duration > 0 && t.Total < mostlyWaits*float64(t.Duration):
		return fact.Sentence(" That was in %s: the program mostly waits, and for what a profile of the CPU does not say.", fact.Name(fact.Seconds.Format(t.Duration.Seconds())))
	}
	return ""
}

// deepWords names the function that a chain of calls ends in, with one that has as much and
// may be the one that it calls.
func deepWords(t *model.Table, last *model.TableFunction) string {
	for _, f := range t.Around(last) {
		if f.Flat == last.Flat && f.Cum == last.Cum {
			return shortName(last.Func) + " and " + shortName(f.Func)
		}
	}
	return shortName(last.Func)
}

// A standingFunction is one that an account names, and why.
type standingFunction struct {
	*model.TableFunction
	note string
}

// standing returns the functions of a table that stand out. Of a chain of calls of the program
// the first has most and the last that still has half of that says what is done.
func standing(t *model.Table) (list []standingFunction) {
	first, last, beside := chain(t)
	for _, f := range []*model.TableFunction{first, last, beside} {
		if f != nil {
			list = append(list, standingFunction{f, ""})
		}
	}
	if t.Source == model.CPU {
		list = append(list, worksOf(t)...)
	}
	if t.Source != model.CPU || len(list) == 0 {
		list = append(list, leaves(t)...)
	}
	slices.SortStableFunc(list, func(a, b standingFunction) int { return int(sign(b.Cum - a.Cum)) })
	list = slices.CompactFunc(list, func(a, b standingFunction) bool { return a.Func == b.Func })
	return list[:min(len(list), tableRows)]
}

// aroundWords names functions that have as much under them as a leaf, by their last words.
func aroundWords(fs []*model.TableFunction) string {
	var names []string
	for _, f := range fs[:min(len(fs), tableRows-2)] {
		if n := f.Func[strings.LastIndexByte(f.Func, '.')+1:]; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "as much as " + strings.Join(names, ", ")
}

func sign(v float64) float64 {
	switch {
	case v > 0:
		return 1
	case v < 0:
		return -1
	}
	return 0
}

// chain returns the program's function with most under it, the one with least of those that
// have half as much or more, and the one with most of those that have no more than is left
// beside that: without stacks nothing says that they are not one under the other.
func chain(t *model.Table) (first, last, beside *model.TableFunction) {
	for i := range t.Functions {
		f := &t.Functions[i]
		if model.IsStd(f.Func) || t.Share(f.Cum) < tableLeast {
			continue
		}
		if first == nil {
			first = f
		}
		switch {
		case f.Cum >= first.Cum/2:
			last = f
		case beside == nil && f.Cum <= (first.Cum-last.Cum)*(1+besideSlack):
			beside = f
		}
	}
	return first, last, beside
}

// heaviest returns the function of a program or library in which itself most was counted, nil
// where that is less than tableOwn of all: then who calls says more.
func heaviest(t *model.Table) (most *model.TableFunction) {
	for i := range t.Functions {
		f := &t.Functions[i]
		if !model.IsStd(f.Func) && t.Share(f.Flat) >= tableOwn && (most == nil || f.Flat > most.Flat) {
			most = f
		}
	}
	return most
}

// tableOwn is the part of all from which one function's own is what stands out: of four
// functions with as much each no other can have more.
const tableOwn = 0.25

// besideSlack is how far sums of a table may be off: it prints four digits.
const besideSlack = 0.005

// worksOf returns the runtime's kinds of work that stand out.
func worksOf(t *model.Table) (list []standingFunction) {
	for _, w := range runtimeWork {
		f := t.Most(func(function string) bool { return slices.Contains(w.functions, function) })
		if f != nil && t.Share(f.Cum) >= tableLeast {
			list = append(list, standingFunction{f, w.words})
		}
	}
	slices.SortStableFunc(list, func(a, b standingFunction) int { return int(sign(b.Cum - a.Cum)) })
	return list[:min(len(list), tableRows-2)]
}

// leaves returns the functions in which most itself was counted, with the program's functions
// that have as much under them: those call it.
func leaves(t *model.Table) (list []standingFunction) {
	for i := range t.Functions {
		f := &t.Functions[i]
		if t.Share(f.Flat) < tableLeast {
			continue
		}
		note := ""
		if t.Share(f.Cum) < 1-tableLeast {
			note = aroundWords(t.Around(f))
		}
		list = append(list, standingFunction{f, note})
	}
	slices.SortStableFunc(list, func(a, b standingFunction) int { return int(sign(b.Flat - a.Flat)) })
	return list[:min(len(list), tableRows-2)]
}
