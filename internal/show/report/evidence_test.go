package report

import (
	"testing"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/know/fact"
)

// What is dispensable goes before the name is cut.
func TestAccountRow(t *testing.T) {
	row := &diagnosis.AccountRow{Name: "sync.runtime_SemacquireRWMutex", Share: 1, Value: fact.Fact{Text: "1"},
		Where: &diagnosis.Place{File: "/go/src/runtime/sema.go", Line: 71}, Note: "sync.RWMutex.Lock, up to 10h49m0s"}
	const lead = "     100%          1  "
	for width, want := range map[int]string{
		100: "sync.runtime_SemacquireRWMutex  sema.go:71  sync.RWMutex.Lock, up to 10h49m0s",
		84:  "sync.runtime_SemacquireRWMutex  sema.go:71  sync.RWMutex.Lock",
		80:  "sync.runtime_SemacquireRWMutex  sync.RWMutex.Lock",
		66:  "sync.runtime_SemacquireRWMutex  sema.go:71",
		56:  "sync.runtime_SemacquireRWMutex",
	} {
		if got := accountRow(row, width); got != lead+want {
			t.Errorf("%d columns: %q, want %q", width, got, lead+want)
		}
	}
	if got := accountRow(row, 48); len([]rune(got)) > 48 {
		t.Errorf("%q is wider than 48 columns", got)
	}
}
