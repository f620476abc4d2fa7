package heap

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/heapdump"
	"github.com/gowhy/gowhy/internal/testing/dumpfile"
)

func readSmall(b []byte, budget uint64) (*model.HeapLook, error) {
	f, err := heapdump.Open(bytes.NewReader(b), int64(len(b)), budget, nil)
	if err != nil {
		return nil, err
	}
	return ReadDump(context.Background(), f, nil, Options{Budget: budget})
}

// TestDumpRecords reads roots of each kind, without the program's file.
func TestDumpRecords(t *testing.T) {
	look, err := readSmall(dumpfile.Small(), Budget)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"goroutines main.wait, started as main.main (chan receive) in main.wait → 40960-byte objects with a pointer at 8",
		"global variable at 0x500008 → 64-byte objects with a pointer at 0",
		"finalizers finalizers that wait to be called → 64-byte objects",
		"runtime a root → 64-byte objects",
	}
	wantWays(t, look, want)
	if look.Reached != (model.ObjectSum{Objects: 9, Bytes: 7*64 + 480 + 40<<10}) || look.Unreached.Objects != 0 || !look.Nameless || look.Marked > 0 {
		t.Errorf("reached %+v, unreached %d objects, nameless %v, marked %d, want 9 of %d bytes, 0, true, 0 or less",
			look.Reached, look.Unreached.Objects, look.Nameless, look.Marked, 7*64+480+40<<10)
	}
}

// A dump without its variables, or of an old runtime, says so.
func TestDumpRefused(t *testing.T) {
	b := dumpfile.Small()
	if _, err := readSmall(b[:bytes.Index(b, []byte("main.wait"))], Budget); !errors.Is(err, ErrCut) {
		t.Errorf("without variables: %v, want %v", err, ErrCut)
	}
	if _, err := readSmall(bytes.Replace(b, []byte("go1.26.8"), []byte("go1.21.8"), 1), Budget); err == nil || !strings.Contains(err.Error(), "go1.21.8") {
		t.Errorf("of Go 1.21: %v", err)
	}
	var small *BudgetError
	if _, err := readSmall(b, 1000); !errors.As(err, &small) {
		t.Errorf("in 1000 bytes: %v", err)
	}
}

// FuzzDump reads who holds the heap in dumps that lie.
func FuzzDump(f *testing.F) {
	whole := dumpfile.Small()
	f.Add(whole)
	f.Add(whole[:len(whole)-40])
	f.Fuzz(func(t *testing.T, b []byte) {
		look, err := readSmall(b, 8<<20)
		if err != nil {
			return
		}
		checkSum(t, look)
	})
}
