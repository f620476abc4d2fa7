package exectrace_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

// marked returns a trace in which marks are close together, and its longest piece.
func marked(t *testing.T) (*exectrace.Trace, exectrace.Range) {
	t.Helper()
	var b bytes.Buffer
	if err := corpus.Synthetic(&b, corpus.Shape{Threads: 8, Events: 100_000, Cross: 10}); err != nil {
		t.Fatal(err)
	}
	tr := open(t, b.Bytes())
	tr.SetMarkEvery(10_000)
	var all exectrace.Range
	if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
		if p.To-p.From > all.To-all.From {
			all = exectrace.Range{From: p.From, To: p.To}
		}
		return true
	}); err != nil {
		t.Fatal(err)
	}
	return tr, all
}

func clip(ctx context.Context, tr *exectrace.Trace, w exectrace.Range) (spans []string, part bool, err error) {
	middle := w.From + (w.To-w.From)/2
	o := exectrace.PieceOptions{Window: exectrace.Range{From: middle, To: middle + 1}, Clip: w, Workers: 1}
	err = tr.Pieces(ctx, o, func(p *exectrace.Piece) bool {
		part = p.Part
		spans = append(spans, spanTexts(p, func(_ int64, from, to exectrace.Time) bool { return to >= w.From && from <= w.To })...)
		return true
	})
	return spans, part, err
}

// Several may read parts of a generation at a time, also while its marks are made.
func TestMarksAtTheSameTime(t *testing.T) {
	tr, all := marked(t)
	window := func(i int) exectrace.Range {
		part := (all.To - all.From) / 16
		return exectrace.Range{From: all.From + exectrace.Time(i)*part, To: all.From + exectrace.Time(i+1)*part}
	}
	got := make([][]string, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			spans, part, err := clip(t.Context(), tr, window(i))
			if err != nil || !part {
				t.Errorf("clip %d = part %v, %v, want part of a generation", i, part, err)
			}
			got[i] = spans
		})
	}
	wg.Wait()
	if marks, generations := tr.Marks(); generations != 1 || marks < 10 {
		t.Errorf("Marks() = %d, %d, want 10 or more of 1 generation", marks, generations)
	}
	tr, _ = marked(t)
	for i := range got {
		want, _, err := clip(t.Context(), tr, window(i))
		if err != nil || len(want) == 0 {
			t.Fatalf("clip %d = %d spans, %v, want some", i, len(want), err)
		}
		mustBeSame(t, fmt.Sprint("part ", i), want, got[i])
	}
}

// Who stops while marks are made leaves none behind that are not whole.
func TestMarksAreNotHalf(t *testing.T) {
	tr, all := marked(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, _, err := clip(ctx, tr, all); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, generations := tr.Marks(); generations != 0 {
		t.Errorf("Marks() after a stop = of %d generations, want 0", generations)
	}
	if spans, part, err := clip(t.Context(), tr, all); err != nil || !part || len(spans) == 0 {
		t.Errorf("clip after a stop = %d spans, part %v, %v, want some of a part", len(spans), part, err)
	}
}

// Marks that were made before a pass over all of the trace do not keep what that
// pass learned of the begins of pieces from those who read a part afterwards.
func TestMarksLearn(t *testing.T) {
	learned := 0
	for _, spec := range corpus.Specs(t)[:3] {
		data, err := os.ReadFile(corpus.Trace(t, spec))
		if err != nil {
			t.Fatal(err)
		}
		early, late := open(t, data), open(t, data)
		var edges []exectrace.Range
		pass := func(tr *exectrace.Trace) {
			edges = edges[:0]
			if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
				edges = append(edges, exectrace.Range{From: p.From, To: p.To})
				return true
			}); err != nil {
				t.Fatal(err)
			}
		}
		pass(late)
		for _, w := range edges {
			before, _, err := clip(t.Context(), early, w)
			if err != nil {
				t.Fatal(err)
			}
			want, _, _ := clip(t.Context(), late, w)
			if fmt.Sprint(before) != fmt.Sprint(want) {
				learned++
			}
		}
		pass(early)
		for _, w := range edges {
			got, _, err := clip(t.Context(), early, w)
			want, _, _ := clip(t.Context(), late, w)
			if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("clip(%s, from %d) = %.1000q, %v, want %.1000q", spec, w.From, got, err, want)
			}
		}
	}
	if learned == 0 {
		t.Error("clips that a pass changed = 0, want some")
	}
}
