package exectrace_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/testing/corpus"
)

func eachOld(t *testing.T, f func(t *testing.T, data []byte)) {
	for _, program := range corpus.OldPrograms {
		t.Run(program, func(t *testing.T) {
			f(t, oldOf(t, program))
		})
	}
}

func oldOf(t *testing.T, program string) []byte {
	t.Helper()
	data, err := os.ReadFile(corpus.Trace(t, corpus.Old(program)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The spans of an old trace add up to its accounts, goroutine by goroutine and P by P.
func TestOldPiecesAddUp(t *testing.T) {
	eachOld(t, func(t *testing.T, data []byte) {
		l := newLedger()
		n := 0
		a := account(t, data, exectrace.Options{Keep: -1, Piece: func(p *exectrace.Piece) {
			for _, s := range p.Procs { // old traces begin at -1, and the ledger at 0
				if _, ok := l.heldTo[s.Proc]; !ok {
					l.heldTo[s.Proc] = p.From
				}
			}
			l.add(p)
			n += p.Spans.Len()
		}})
		if l.compare(a); l.err != nil || n < 40 {
			t.Fatalf("spans = %d, %v, want 40 or more that fit the accounts", n, l.err)
		}
		mustEqual(t, "accounts beside pieces", comparable(account(t, data, exectrace.Options{Keep: -1})), a)
	})
}

// However the pieces of an old trace are asked for, they are the same: beside
// accounts, kept from then, read for themselves, and of a stream.
func TestOldPiecesAreTheSame(t *testing.T) {
	eachOld(t, func(t *testing.T, data []byte) {
		first := open(t, data)
		var beside []string
		if _, err := first.Account(t.Context(), exectrace.Options{Piece: func(p *exectrace.Piece) {
			beside = append(beside, texts(p))
			for range p.Take() { // what is kept stays
			}
		}}); err != nil {
			t.Fatal(err)
		}
		var kept [2][]string // at the same time
		var wg sync.WaitGroup
		for i := range kept {
			wg.Go(func() {
				if err := first.Pieces(t.Context(), exectrace.PieceOptions{}, func(p *exectrace.Piece) bool {
					kept[i] = append(kept[i], texts(p))
					return true
				}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for _, got := range kept {
			mustBeSame(t, "kept", beside, got)
		}
		mustBeSame(t, "read", beside, pieces(t, open(t, data), exectrace.PieceOptions{}))
		stream, err := exectrace.NewReader(bytes.NewBuffer(data))
		if err != nil {
			t.Fatal(err)
		}
		mustBeSame(t, "of a stream", beside, pieces(t, stream, exectrace.PieceOptions{}))
	})
}

// What is left out on request is left out, and the rest is as it was.
func TestOldPiecesAsWanted(t *testing.T) {
	data := oldOf(t, "annotations")
	tr := open(t, data)
	info := account(t, data, exectrace.Options{}).Info
	var all *exectrace.Piece
	read := func(o exectrace.PieceOptions) (out *exectrace.Piece) {
		t.Helper()
		if err := tr.Pieces(t.Context(), o, func(p *exectrace.Piece) bool { out = p; return true }); err != nil {
			t.Fatal(err)
		}
		return out
	}
	if all = read(exectrace.PieceOptions{}); len(all.Wakes) == 0 || len(all.Logs) == 0 || len(all.Regions) == 0 || len(all.Tasks) == 0 || len(all.Procs) == 0 {
		t.Fatalf("piece has %d wakes, %d logs, %d regions, %d tasks and %d Ps, want some of each",
			len(all.Wakes), len(all.Logs), len(all.Regions), len(all.Tasks), len(all.Procs))
	}
	if bare := read(exectrace.PieceOptions{Bare: true}); len(bare.Wakes)+len(bare.Logs)+len(bare.Labels) > 0 || bare.Spans.Len() != all.Spans.Len() {
		t.Errorf("bare piece has %d wakes, %d logs, %d labels and %d spans, want 0, 0, 0 and %d",
			len(bare.Wakes), len(bare.Logs), len(bare.Labels), bare.Spans.Len(), all.Spans.Len())
	}
	third := (info.End - info.Start) / 3
	clip := exectrace.Range{From: info.Start + third, To: info.Start + 2*third}
	want := 0
	for x := range all.Spans.All() {
		if x.To >= clip.From && x.From <= clip.To {
			want++
		}
	}
	part := read(exectrace.PieceOptions{Window: clip, Clip: clip})
	for x := range part.Spans.All() {
		if x.To < clip.From || x.From > clip.To {
			t.Fatalf("span = %+v, want it to touch %+v", x, clip)
		}
	}
	if n := part.Spans.Len(); n != want || n == 0 || n == all.Spans.Len() {
		t.Errorf("spans of a clip = %d, want %d of %d", n, want, all.Spans.Len())
	}
	g := all.Lives[len(all.Lives)/2].G
	one := read(exectrace.PieceOptions{Goroutines: []int64{g}})
	for x := range one.Spans.All() {
		if one.Lives[x.Life].G != g {
			t.Fatalf("goroutine of a span = %d, want %d", one.Lives[x.Life].G, g)
		}
	}
	if one.Spans.Len() == 0 {
		t.Errorf("spans of goroutine %d = 0, want some", g)
	}
	if p := read(exectrace.PieceOptions{Window: exectrace.Range{From: info.End + 1, To: info.End + 2}}); p != nil {
		t.Errorf("piece behind the end = %d to %d, want none", p.From, p.To)
	}
}

// With a window, pieces are cut to it as accounts are.
func TestOldPiecesOfWindow(t *testing.T) {
	data := oldOf(t, "http")
	info := account(t, data, exectrace.Options{}).Info
	third := (info.End - info.Start) / 3
	w := exectrace.Range{From: info.Start + third, To: info.Start + 2*third}
	var got [exectrace.Dead]time.Duration
	a := account(t, data, exectrace.Options{Keep: -1, Window: w, Piece: func(p *exectrace.Piece) {
		if p.From < w.From || p.To > w.To || p.From >= p.To {
			t.Errorf("piece = %d to %d, want a part of %+v", p.From, p.To, w)
		}
		for x := range p.Spans.All() {
			got[x.State] += x.To.Sub(x.From)
		}
	}})
	if want := statesOf(a); got != want || want[exectrace.Running] == 0 {
		t.Errorf("times of spans by state = %v, want %v, and some running", got, want)
	}
}

// A damaged trace has no piece, a context ends the reading, and a reader can leave.
func TestOldPiecesEnd(t *testing.T) {
	data := oldOf(t, "spawn")
	for _, n := range []int{20, len(data) / 3} {
		tr, err := exectrace.NewReaderAt(bytes.NewReader(data[:n]), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(*exectrace.Piece) bool { return true }); !errors.Is(err, exectrace.ErrOldFormat) {
			t.Errorf("Pieces of %d bytes = %v, want %v", n, err, exectrace.ErrOldFormat)
		}
	}
	n := 0
	tr := open(t, data)
	if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(*exectrace.Piece) bool { n++; return false }); err != nil || n != 1 {
		t.Errorf("Pieces that stop at once = %d, %v, want 1, nil", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 2 { // read, and kept
		if err := tr.Pieces(ctx, exectrace.PieceOptions{}, func(*exectrace.Piece) bool { return true }); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if err := tr.Pieces(t.Context(), exectrace.PieceOptions{}, func(*exectrace.Piece) bool { return true }); err != nil {
			t.Error(err)
		}
	}
}
