package report

import (
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// TestMemoryNotes: growth is told where it is sure, and a limit where it is reached.
func TestMemoryNotes(t *testing.T) {
	a := &model.MemoryAccount{
		Growth: []model.Growth{{Name: residentRow, PerSecond: 3 << 20, Low: 2 << 20, High: 4 << 20}, {Name: liveRow, PerSecond: 1 << 20, Low: -1, High: 2 << 20}},
		Bounds: []model.MemoryBound{{Name: "GOMEMLIMIT", Limit: 90 << 20, Used: 60 << 20, UsedBy: "the runtime", Reached: 10 * time.Second}, {Name: "other", Limit: 1}},
	}
	want := "resident memory grows by 3 MiB/s (2 MiB to 4 MiB)\nGOMEMLIMIT 90 MiB: 60 MiB in use by the runtime, reached in 10.0 s if it grows on like this"
	if got := strings.Join(memoryNotes(a), "\n"); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
		t.Errorf("notes %q, want %q", got, want)
	}
	if got := memoryNotes(&model.MemoryAccount{}); got != nil {
		t.Errorf("notes %q of nothing", got)
	}
}
