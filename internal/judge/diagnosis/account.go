package diagnosis

import (
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// An Account is what one piece of evidence says by itself, whoever asks and whether or
// not anything is wrong: how much there is of what it counts, and what has most of it.
// Where it is all that was given, it is the answer.
type Account struct {
	Source model.Source `json:"source"`
	// Text is the total and what stands out, in a sentence or two.
	Text string       `json:"text"`
	Rows []AccountRow `json:"rows"` // the largest, [accountRows] of them
}

// An AccountRow is one of the largest parts of what a piece of evidence counts.
type AccountRow struct {
	// Name is what has it: a function, a state, a setting.
	Name  string    `json:"name"`
	Where *Place    `json:"where,omitempty"` // nil when it is no code
	Value fact.Fact `json:"value"`
	Share float64   `json:"share"`          // of the total; 0 when it is no part of one
	Note  string    `json:"note,omitempty"` // what else is to be known of it, in a few words
}

// accountRows is how many parts an account keeps: the ledger has all of them.
const accountRows = 3

// accounts is the table of them: what each kind of evidence says, in the order in which
// the first is the answer when a diagnosis has nothing else to say.
var accounts = []struct {
	source model.Source
	of     func(fact.Meter) *Account
}{
	{model.LoadResult, loadAccount},
	{model.GoroutineProfile, goroutineAccount},
	{model.LiveHeap, heapAccount},
	{model.Heap, allocationAccount},
	{model.Holders, holdersAccount},
	{model.Mutex, mutexAccount},
	{model.Block, blockAccount},
	{model.CPU, workAccount},
	{model.KernelCPU, kernelWorkAccount},
	{model.LoadResult, benchmarkAccount},
	{model.GCTrace, gcLogAccount},
	{model.SchedTrace, schedLogAccount},
	{model.Wall, wallAccount},
	{model.MetricsLog, metricsAccount},
}

func accountsOf(m *model.Model) (list []Account) {
	meter := fact.Meter{Model: m}
	for _, a := range accounts {
		if !m.Has(a.source) {
			continue
		}
		if account := a.of(meter); account != nil {
			account.Source = a.source
			list = append(list, *account)
		}
	}
	for _, t := range m.Tables {
		list = append(list, *tableAccount(t))
	}
	for _, c := range m.Counts {
		list = append(list, *countsAccount(c))
	}
	return list
}
