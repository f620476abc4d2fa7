package exectrace

import (
	"testing"
	"time"
)

// Pieces that are cut often tell the same as the whole, but for system calls whose
// loss of the P is told only at their end.
func TestOldPiecesAreCut(t *testing.T) {
	for _, program := range []string{"annotations", "spawn", "http"} {
		t.Run(program, func(t *testing.T) {
			data := oldTrace(t, program)
			type key struct {
				g     int64
				state State
			}
			got, spans := map[key]time.Duration{}, map[int64]Time{}
			held := map[int32]time.Duration{}
			var to Time
			pieces, ranges, regions := 0, 0, 0
			tr := mustRead(t, data)
			r := newOldPieces(tr, Range{}, func(p *Piece) bool {
				if p.Index != pieces || pieces > 0 && p.From != to {
					t.Fatalf("piece %d from %d follows piece %d to %d", p.Index, p.From, pieces-1, to)
				}
				pieces, to = pieces+1, p.To
				for x := range p.Spans.All() {
					l := &p.Lives[x.Life]
					if at, ok := spans[l.G]; ok && x.From != at && x.From != l.Created {
						t.Fatalf("goroutine %d: a span from %d, the one before ends at %d", l.G, x.From, at)
					}
					if x.To <= x.From || x.From < p.From || x.To > p.To || int(x.Thread) >= len(p.Threads) || int(x.Reason) >= len(p.Reasons) || int(x.Stack) >= p.NumStacks() {
						t.Fatalf("%+v in %d to %d", x, p.From, p.To)
					}
					spans[l.G] = x.To
					state := x.State
					if state == SyscallBlocked {
						state = Syscall
					}
					got[key{l.G, state}] += x.To.Sub(x.From)
				}
				for _, x := range p.Procs {
					held[x.Proc] += x.To.Sub(x.From)
				}
				for _, x := range p.Ranges {
					if x.From < p.From || x.To > p.To {
						t.Fatalf("%+v in %d to %d", x, p.From, p.To)
					}
				}
				ranges += len(p.Ranges)
				for _, x := range p.Regions {
					if x.Ended {
						regions++
					}
				}
				return true
			})
			r.most = 500
			if err := tr.eachOldEvent(EventOptions{}, r.event); err != nil {
				t.Fatal(err)
			}
			r.finish()
			if pieces < 4 || len(tr.oldPieces) != pieces {
				t.Errorf("%d pieces, %d kept", pieces, len(tr.oldPieces))
			}
			a := replayed(t, data, Options{Keep: -1})
			for _, g := range a.Goroutines {
				want := map[State]time.Duration{Running: g.Running, Runnable: g.Runnable, Syscall: g.Syscall + g.SyscallBlocked, Unknown: g.Unknown}
				for _, b := range g.Blocked {
					want[Waiting] += b.Total
				}
				for s, d := range want {
					if got[key{g.ID, s}] != d {
						t.Errorf("goroutine %d: %v of %v, want %v", g.ID, got[key{g.ID, s}], s, d)
					}
				}
			}
			for _, p := range a.Procs {
				if want := a.Info.End.Sub(a.Info.Start) - p.Idle - p.Unknown; p.Idle > 0 && held[int32(p.ID)] != want {
					t.Errorf("P %d was held for %v, want %v", p.ID, held[int32(p.ID)], want)
				}
			}
			var count int64
			for _, x := range a.Regions {
				count += x.Count
			}
			if int64(regions) != count || program == "annotations" && count == 0 {
				t.Errorf("%d regions ended, want %d", regions, count)
			}
		})
	}
}

// Of a trace that has too many spans nothing is kept, and all is given.
func TestOldPiecesKept(t *testing.T) {
	data := oldTrace(t, "spawn")
	for _, c := range []struct {
		room int
		kept bool
	}{{maxKeptSpans, true}, {1000, false}} {
		tr := mustRead(t, data)
		given := 0
		r := newOldPieces(tr, Range{}, func(p *Piece) bool {
			given += p.Spans.Len()
			return true
		})
		r.most, r.room = 500, c.room
		if err := tr.eachOldEvent(EventOptions{}, r.event); err != nil {
			t.Fatal(err)
		}
		r.finish()
		if given < 10_000 || (len(tr.oldPieces) > 0) != c.kept {
			t.Errorf("room for %d: %d spans are given, %d pieces kept", c.room, given, len(tr.oldPieces))
		}
	}
}
