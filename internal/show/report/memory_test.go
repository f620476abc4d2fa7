package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestMemoryNotes: growth is told where it is sure, and a limit where it is reached.
func TestMemoryNotes(t *testing.T) {
	a := &model.MemoryAccount{
		Growth: []model.Growth{{Name: residentRow, PerSecond: 3 << 20, Low: 2 << 20, High: 4 << 20, Over: 10 * time.Second},
			{Name: liveRow, PerSecond: 1 << 20, Low: -1, High: 2 << 20, Over: time.Minute},
			{Name: "a start", PerSecond: 3 << 20, Low: 2 << 20, High: 4 << 20, First: 2 << 20, Last: 29 << 20, Over: 9 * time.Second}},
		Bounds: []model.MemoryBound{{Name: "GOMEMLIMIT", Limit: 90 << 20, Used: 60 << 20, UsedBy: "the runtime", Reached: 10 * time.Second}, {Name: "other", Limit: 1}},
	}
	want := "resident memory grows by 3 MiB/s (2 MiB to 4 MiB)\na start went from 2 MiB to 29 MiB in 9.00 s\nGOMEMLIMIT 90 MiB: 60 MiB in use by the runtime, reached in 10.0 s if it grows on like this"
	if got := strings.Join(memoryNotes(a), "\n"); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("notes %q, want %q", got, want)
	}
	if got := memoryNotes(&model.MemoryAccount{}); got != nil {
		t.Errorf("notes %q of nothing", got)
	}
}

// TestMemoryHolders: the account of a recording with looks at the heap has who holds most, and how
// fast each grew.
func TestMemoryHolders(t *testing.T) {
	first, last := heldLook(), heldLook()
	last.Time = first.Time.Add(10 * time.Second)
	last.Holders[1].Bytes += 10 << 20
	last.Since(first)
	m := &model.Model{Run: model.Run{Recording: "run.gowhy", Holders: []*model.HeapLook{first, last}}, Process: &model.Process{Samples: []model.ProcessSample{{RSS: 200 << 20}}}}
	var text, list bytes.Buffer
	if err := Ledger(&text, m, LedgerOptions{By: "memory"}); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s, "main.cache") || !strings.Contains(s, "by 10 MiB in 10.0 s") || !strings.Contains(s, "gowhy memory run.gowhy --holders") {
		t.Errorf("no holder, or not where the ways are:\n%s", s)
	}
	if err := Ledger(&list, m, LedgerOptions{By: "memory", JSON: true}); err != nil {
		t.Fatal(err)
	}
	var rows []struct {
		Name, Of             string
		Value, Share, Growth *float64
	}
	if err := json.Unmarshal(list.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	var held []string
	for _, r := range rows {
		if r.Of == "held" {
			held = append(held, r.Name)
			if r.Name == last.Holders[0].Words() && (*r.Value != 19<<20 || *r.Growth != 1<<20 || *r.Share != 0.19) {
				t.Errorf("%s: %v, a share of %v, growing by %v a second; want 19 MiB, 0.19 and 1 MiB", r.Name, *r.Value, *r.Share, *r.Growth)
			}
		}
	}
	if len(held) != 2 || held[0] != "main.cache" {
		t.Errorf("holders %q, want the two that count, main.cache first", held)
	}
}
