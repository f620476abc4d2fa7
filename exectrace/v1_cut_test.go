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
					t.Fatalf("piece %d from %d, want piece %d from %d", p.Index, p.From, pieces, to)
				}
				pieces, to = pieces+1, p.To
				for x := range p.Spans.All() {
					l := &p.Lives[x.Life]
					if at, ok := spans[l.G]; ok && x.From != at && x.From != l.Created {
						t.Fatalf("goroutine %d: From = %d, want %d, the end of the span before", l.G, x.From, at)
					}
					if x.To <= x.From || x.From < p.From || x.To > p.To || int(x.Thread) >= len(p.Threads) || int(x.Reason) >= len(p.Reasons) || int(x.Stack) >= p.NumStacks() {
						t.Fatalf("span or range = %+v, want it within %d to %d", x, p.From, p.To)
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
						t.Fatalf("span or range = %+v, want it within %d to %d", x, p.From, p.To)
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
				t.Errorf("pieces = %d, want 4 or more; kept = %d, want all", pieces, len(tr.oldPieces))
			}
			a := replayAccounts(t, data, Options{Keep: -1})
			for _, g := range a.Goroutines {
				want := map[State]time.Duration{Running: g.Running, Runnable: g.Runnable, Syscall: g.Syscall + g.SyscallBlocked, Unknown: g.Unknown}
				for _, b := range g.Blocked {
					want[Waiting] += b.Total
				}
				for s, d := range want {
					if got[key{g.ID, s}] != d {
						t.Errorf("goroutine %d: time in state %v = %v, want %v", g.ID, s, got[key{g.ID, s}], d)
					}
				}
			}
			for _, p := range a.Procs {
				if want := a.Info.End.Sub(a.Info.Start) - p.Idle - p.Unknown; p.Idle > 0 && held[int32(p.ID)] != want {
					t.Errorf("P %d: time held = %v, want %v", p.ID, held[int32(p.ID)], want)
				}
			}
			var count int64
			for _, x := range a.Regions {
				count += x.Count
			}
			if int64(regions) != count || program == "annotations" && count == 0 {
				t.Errorf("regions that ended = %d, want %d", regions, count)
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
			t.Errorf("room for %d: spans = %d, want 10000 or more; pieces kept = %d, want some: %v", c.room, given, len(tr.oldPieces), c.kept)
		}
	}
}
