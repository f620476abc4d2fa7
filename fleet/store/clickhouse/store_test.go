package clickhouse

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/ingest/sdktest"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

func reopen(t *testing.T, s store.Store) store.Store {
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, s.(*Store).options)
}

// The engine conforms on one server and on two.
func TestConforms(t *testing.T) {
	attempt.Only(t, "thousands of INSERTs of one batch each take a minute")
	for name, servers := range map[string]int{"one server": 1, "two servers": 2} {
		t.Run(name, func(t *testing.T) {
			open := func(t *testing.T) store.Store { return mustOpen(t, options(t, servers)) }
			storetest.Run(t, open)
			storetest.RunReopen(t, open, reopen)
		})
	}
}

// TestSDK holds that what the SDK of most programs pushes is kept, on one server and on two.
func TestSDK(t *testing.T) {
	attempt.Only(t, "a server's start and seconds of pushes are not for the plain test")
	for name, servers := range map[string]int{"one server": 1, "two servers": 2} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, options(t, servers))
			sdktest.Run(t, s, ingest.Handler(s, ingest.Options{}))
		})
	}
}

// writeAll writes batches with many writers, which share INSERTs.
func writeAll(t testing.TB, batches []*store.Batch, writers ...store.Writer) {
	t.Helper()
	queue := make(chan *store.Batch)
	var running sync.WaitGroup
	for range 32 {
		running.Go(func() {
			for b := range queue {
				for _, w := range writers {
					if err := w.Write(context.Background(), b); err != nil {
						t.Errorf("Write: %v", err)
					}
				}
			}
		})
	}
	for _, b := range batches {
		queue <- b
	}
	close(queue)
	running.Wait()
}

// What TestConforms sees in a minute is seen in a few seconds where batches come at once:
// two stores, as two processes have them, write all of them to two servers.
func TestTwoWriters(t *testing.T) {
	o := options(t, 2)
	o.Gather = 20 * time.Millisecond
	a, b := mustOpen(t, o), mustOpen(t, o)
	var reference storetest.Reference
	batches := storetest.Batches()
	var both sync.WaitGroup
	for _, s := range []*Store{a, b} {
		both.Go(func() { writeAll(t, batches, s) })
	}
	writeAll(t, batches, &reference)
	both.Wait()
	storetest.Compare(t, a, &reference, 12)
	again := reopen(t, b).(*Store)
	writeAll(t, batches, again)
	storetest.Compare(t, again, &reference, 4)
}

// batchOf returns a batch that an answer shows: its stack is its number, its value 1. It has
// two rows.
func batchOf(number int) *store.Batch {
	id := store.StackID(number + 1)
	sample := []store.Sample{{Stack: id, Value: 1}}
	b := &store.Batch{
		Source: store.Source{Service: "cart", Instance: "a"},
		From:   storetest.Start, Until: storetest.Start.Add(time.Duration(number) * time.Second),
		Profiles: []store.Profile{{Type: store.CPU, Samples: sample}, {Type: store.AllocSpace, Samples: sample}},
		Stacks:   map[store.StackID][]*store.Frame{id: {{Function: fmt.Sprintf("main.f%d", number)}}},
	}
	binary.LittleEndian.PutUint64(b.ID[:], uint64(number))
	return b
}

// holds checks that a store has so many batches of batchOf, each once and with its frames.
func holds(t *testing.T, s *Store, want int) {
	t.Helper()
	for _, kind := range []store.Type{store.CPU, store.AllocSpace} {
		stacks, err := s.Stacks(t.Context(), store.Selection{Type: kind})
		if err != nil {
			t.Fatal(err)
		}
		if len(stacks.Samples) != want || stacks.Total != int64(want) || len(stacks.Frames) != want {
			t.Errorf("%d samples of the total %d, %d with frames, want %d of each",
				len(stacks.Samples), stacks.Total, len(stacks.Frames), want)
		}
	}
	services, err := s.Services(t.Context(), store.Selection{})
	if err != nil || len(services.Services) != 1 || services.Services[0].Totals[0].Value != int64(want) {
		t.Errorf("services are %+v, %v, want one of %d", services, err, want)
	}
}

// insist writes as a client does: again where the store was full.
func insist(ctx context.Context, s *Store, b *store.Batch) error {
	for {
		err := s.Write(ctx, b)
		if !errors.Is(err, store.ErrFull) || ctx.Err() != nil {
			return err
		}
	}
}

// A server that is killed in the middle of writes and comes back has all that was
// acknowledged, and nothing twice.
func TestKill(t *testing.T) {
	attempt.Only(t, "a server that starts three times takes seconds")
	server := started(t, "")
	s := mustOpen(t, Options{Shards: [][]string{{server.address}}, Gather: 1, Patience: 200 * time.Millisecond})
	const writers, each, kills = 8, 6, 2
	acknowledged := make(chan struct{}, writers*each)
	var running sync.WaitGroup
	for w := range writers {
		running.Go(func() {
			for i := range each {
				if err := insist(context.WithoutCancel(t.Context()), s, batchOf(w*each+i)); err != nil {
					t.Errorf("Write: %v", err)
				}
				acknowledged <- struct{}{}
			}
		})
	}
	for range kills {
		for range writers * each / (kills + 1) {
			<-acknowledged
		}
		server.kill()
		server.start(t)
	}
	running.Wait()
	holds(t, s, writers*each)
}

// Days go when all of them is old: half an hour of the first is kept for a day more.
func TestKeep(t *testing.T) {
	now := storetest.Start
	o := options(t, 1)
	o.Keep, o.Remember, o.now = 24*time.Hour, time.Hour, func() time.Time { return now }
	s := mustOpen(t, o)
	writeAll(t, []*store.Batch{batchOf(0), batchOf(1), batchOf(3000)}, s) // the last is of the next day
	old := batchOf(7)
	old.Until = time.UnixMilli(-5)
	writeAll(t, []*store.Batch{old}, s)
	f := finding(0)
	if err := s.WriteFindings(t.Context(), []store.Finding{f}); err != nil {
		t.Fatal(err)
	}
	holds(t, s, 4)
	for _, step := range []struct {
		after         time.Duration
		batches, find int
	}{
		{time.Hour, 3, 1}, // half an hour of the next day: the old one is gone from before 1970
		{25 * time.Hour, 1, 0},
	} {
		now = storetest.Start.Add(step.after)
		s.tidyOnce()
		stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU})
		if err != nil || len(stacks.Samples) != step.batches {
			t.Errorf("after %v: %d batches, %v, want %d", step.after, len(stacks.Samples), err, step.batches)
		}
		found, err := s.Findings(t.Context(), store.Selection{})
		if err != nil || len(found.Findings) != step.find {
			t.Errorf("after %v: %d findings, %v, want %d", step.after, len(found.Findings), err, step.find)
		}
	}
	if left := statement(t, s, "SELECT toUInt8(1), toString(count()) FROM ids"); left != "0" {
		t.Errorf("%s IDs are remembered after a day, want none after an hour", left)
	}
}

func TestLayout(t *testing.T) {
	o := options(t, 2)
	mustOpen(t, o)
	mustOpen(t, o) // a second process
	for name, shards := range map[string][][]string{
		"one left out": o.Shards[:1],
		"swapped":      {o.Shards[1], o.Shards[0]},
	} {
		wrong := o
		wrong.Shards = shards
		_, err := Open(t.Context(), wrong)
		if err == nil || !errors.Is(err, errLayout) {
			t.Errorf("%s: %v, want that the tables are of other shards", name, err)
		}
	}
}

func TestUser(t *testing.T) {
	o := options(t, 1)
	o.User, o.Password = "fleet", "it's <secret>"
	mustOpen(t, o)
	o.Password = "guessed"
	_, err := Open(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "fleet") || strings.Contains(err.Error(), "guessed") {
		t.Errorf("with a wrong password: %v, want an error that has the user and not the password", err)
	}
}

func TestOptions(t *testing.T) {
	one := [][]string{{"http://127.0.0.1:1"}}
	for _, test := range []struct {
		o    Options
		want string
	}{
		{Options{}, "no server is named"},
		{Options{Shards: append(one, one...)}, "there twice"},
		{Options{Shards: [][]string{{"http://me:secret@localhost:8123"}}}, "has a user"},
		{Options{Shards: [][]string{{"127.0.0.1:8123"}}}, "does not parse"},
		{Options{Shards: [][]string{{"localhost:8123"}}}, "is no address"},
		{Options{Shards: [][]string{{"http://127.0.0.1:8123/?user=x"}}}, "is no address"},
		{Options{Shards: [][]string{{"http://secret%zz"}}}, "does not parse"},
		{Options{Shards: one, Database: "a; DROP DATABASE b"}, "no name for a"},
		{Options{Shards: one, Keep: -1}, "is negative"},
		{Options{Shards: [][]string{{}}}, "has no server"},
		{Options{Shards: [][]string{{"http://127.0.0.1:1", "http://127.0.0.1:2"}}}, "set Replicated"},
		{Options{Shards: one, Replicated: "gowhy"}, "no path"},
		{Options{Shards: one, Replicated: "/a'"}, "no path"},
		{Options{Shards: one}, "connection refused"},
	} {
		_, err := Open(t.Context(), test.o)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v, want %q and no secret", test.o, err, test.want)
		}
	}
}

// finding returns one of two services by its number.
func finding(n int) store.Finding {
	return store.Finding{
		Service: []string{"cart", "mail", "a\x00\xff'"}[n%3], Version: "v1",
		From: storetest.Start, Until: storetest.Start.Add(time.Duration(n/4) * time.Minute),
		Rule: "hotmutex", Title: "a title\n", Function: "main.f", File: "f.go", Line: int32(n%2) - 1,
		Instances: 3, Cost: int64(n), Bound: -1, Unit: "cpu_ns", Confidence: "high", Evidence: []byte("{\"a\":\"\xff\"}"),
	}
}

func TestFindings(t *testing.T) { testFindings(t, mustOpen(t, options(t, 2))) }

func testFindings(t *testing.T, s *Store) {
	t.Helper()
	var all []store.Finding
	for n := range 24 {
		all = append(all, finding(n))
	}
	if err := s.WriteFindings(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	liars := slices.Clone(all)
	for i := range liars {
		liars[i].Cost = 1000
		liars[i].From = time.Time{}
	}
	other := finding(0)
	other.Tenant = "other"
	if err := s.WriteFindings(t.Context(), append(liars, other)); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b store.Finding) int { return compareKeys(&a, &b) })
	start := storetest.Start
	for name, test := range map[string]struct {
		s    store.Selection
		want func(store.Finding) bool
	}{
		"all":     {store.Selection{}, func(store.Finding) bool { return true }},
		"service": {store.Selection{Service: "a\x00\xff'"}, func(f store.Finding) bool { return f.Service[0] == 'a' }},
		"version": {store.Selection{Version: "v2"}, func(store.Finding) bool { return false }},
		"span": {store.Selection{From: start.Add(time.Minute), Until: start.Add(3 * time.Minute), Instance: "x", Type: "y"},
			func(f store.Finding) bool {
				return f.Until.Sub(start) >= time.Minute && f.Until.Sub(start) < 3*time.Minute
			}},
	} {
		want := slices.DeleteFunc(slices.Clone(all), func(f store.Finding) bool { return !test.want(f) })
		got, err := s.Findings(t.Context(), test.s)
		if err != nil || fmt.Sprintf("%+v", got.Findings) != fmt.Sprintf("%+v", want) || got.Missing != nil {
			t.Errorf("%s: %v\ngot  %+v\nwant %+v", name, err, got, want)
		}
	}
	s.Close()
	if err := s.WriteFindings(t.Context(), all); !errors.Is(err, store.ErrClosed) {
		t.Errorf("after Close: %v, want %v", err, store.ErrClosed)
	}
}
