package clickhouse

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// between returns a proxy before a server; before decides what happens to a request, and after
// to its answer: true aborts the connection.
func between(t *testing.T, server string, before, after func(query string) bool) string {
	t.Helper()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		query := r.URL.Query().Get("query")
		if query == "" {
			query = string(body)
		}
		if before(query) {
			panic(http.ErrAbortHandler)
		}
		response, err := http.Post(server+"/?"+r.URL.RawQuery, "", bytes.NewReader(body))
		if err != nil || after(query) {
			panic(http.ErrAbortHandler)
		}
		defer response.Body.Close()
		w.WriteHeader(response.StatusCode)
		io.Copy(w, response.Body)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func never(string) bool { return false }

// An INSERT whose answer was lost is repeated and counts once.
func TestLostAnswers(t *testing.T) {
	for _, table := range tables {
		t.Run(table.name, func(t *testing.T) {
			o := options(t, 1)
			var lost atomic.Int64
			o.Shards = [][]string{{between(t, o.Shards[0][0], never, func(query string) bool {
				return strings.HasPrefix(query, "INSERT INTO "+table.name) && lost.Add(1) <= 2
			})}}
			s, err := Open(t.Context(), o)
			if table.name == layout.name {
				if err == nil {
					t.Fatal("Open without an answer: no error")
				}
				lost.Store(9)
				s, err = Open(t.Context(), o)
			}
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i := range 3 {
				if err := s.Write(t.Context(), batchOf(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.WriteFindings(t.Context(), []store.Finding{finding(0)}); err != nil {
				t.Fatal(err)
			}
			holds(t, s, 3)
			found, err := s.Findings(t.Context(), store.Selection{})
			if err != nil || len(found.Findings) != 1 {
				t.Errorf("%d findings, %v, want 1", len(found.Findings), err)
			}
			if lost.Load() < 3 {
				t.Errorf("%d INSERTs, want those that were lost and another", lost.Load())
			}
		})
	}
}

// A client that is killed in the middle of an INSERT leaves nothing, wherever it was:
// between two rows, too, where a server that reads plain rows would keep those before.
func TestCutInsert(t *testing.T) {
	s := mustOpen(t, options(t, 1))
	rows := appendBatch(nil, batchOf(0))
	first := batchOf(0)
	first.Profiles = first.Profiles[1:] // rows are by type
	row := len(appendBatch(nil, first))
	cuts := []int{1, 5, frameHead - 1, frameHead, frameHead + row - 1, frameHead + row, frameHead + len(rows) - 1}
	for _, cut := range cuts {
		n := *s.shards[0].nodes[0]
		n.client = &http.Client{Transport: cutter{cut}}
		if err := n.insert(t.Context(), profiles.name, profiles.names(), rows); err == nil {
			t.Errorf("cut after %d bytes: no error", cut)
		}
		if count := statement(t, s, "SELECT toUInt8(1), toString(count()) FROM profiles"); count != "0" {
			t.Errorf("cut after %d bytes: %s rows, want none", cut, count)
		}
	}
	if err := s.shards[0].nodes[0].insert(t.Context(), profiles.name, profiles.names(), rows); err != nil {
		t.Error(err)
	}
	if count := statement(t, s, "SELECT toUInt8(1), toString(count()) FROM profiles"); count != "2" {
		t.Errorf("%s rows, want both", count)
	}
}

// A cutter sends the first bytes of a body, then no more, and waits for what the server
// makes of it.
type cutter struct{ bytes int }

func (c cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	conn, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		return nil, err
	}
	body := make([]byte, c.bytes)
	if _, err := io.ReadFull(r.Body, body); err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s", r.URL.RequestURI(), r.URL.Host, r.ContentLength, body)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		return nil, err
	}
	return http.ReadResponse(bufio.NewReader(conn), r)
}

// serviceOf returns the name of a service of a shard.
func serviceOf(s *Store, number int) string {
	for name := "a"; ; name += "a" {
		if s.shardOf("", name).number == number {
			return name
		}
	}
}

// A shard that does not answer is named, whether it is dead or slow. The other one takes
// writes and answers alone about its services.
func TestMissing(t *testing.T) {
	for name, before := range map[string]func(hang chan struct{}) bool{
		"dead": func(chan struct{}) bool { return true },
		"slow": func(hang chan struct{}) bool { <-hang; return true },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, 2)
			var gone atomic.Bool
			hang := make(chan struct{})
			o.Shards[1][0] = between(t, o.Shards[1][0], func(string) bool { return gone.Load() && before(hang) }, never)
			defer close(hang) // before the proxy closes
			o.Patience = 300 * time.Millisecond
			o = o.orDefault()
			nodes := o.nodes()
			nodes[1][0].timeout = 2 * time.Second
			s, err := open(t.Context(), o, nodes)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			here, there := batchOf(0), batchOf(1)
			here.Source.Service, there.Source.Service = serviceOf(s, 1), serviceOf(s, 2)
			for _, b := range []*store.Batch{here, there} {
				if err := insist(t.Context(), s, b); err != nil {
					t.Fatal(err)
				}
			}
			gone.Store(true)
			later := batchOf(2)
			later.Source.Service = here.Source.Service
			if err := insist(t.Context(), s, later); err != nil {
				t.Fatalf("Write to the other shard: %v", err)
			}
			there.ID[9] = 9
			if err := s.Write(t.Context(), there); !errors.Is(err, store.ErrFull) || !strings.Contains(err.Error(), "shard 2 of 2") {
				t.Errorf("Write to the shard that is gone: %v, want %v and its name", err, store.ErrFull)
			}
			checkMissing(t, s, here.Source.Service, there.Source.Service)
		})
	}
}

func checkMissing(t *testing.T, s *Store, here, there string) {
	t.Helper()
	ctx := t.Context()
	asked := func(selected store.Selection) map[string]func() (store.Missing, error) {
		selected.Type = store.CPU
		return map[string]func() (store.Missing, error){
			"Services":  func() (store.Missing, error) { a, err := s.Services(ctx, selected); return a.Missing, err },
			"Instances": func() (store.Missing, error) { a, err := s.Instances(ctx, selected); return a.Missing, err },
			"Stacks":    func() (store.Missing, error) { a, err := s.Stacks(ctx, selected); return a.Missing, err },
			"Series": func() (store.Missing, error) {
				a, err := s.Series(ctx, selected, time.Minute, store.ByService)
				return a.Missing, err
			},
			"Values": func() (store.Missing, error) {
				a, err := s.Values(ctx, selected, store.ByService)
				return a.Missing, err
			},
			"Findings": func() (store.Missing, error) { a, err := s.Findings(ctx, selected); return a.Missing, err },
		}
	}
	var checks sync.WaitGroup
	defer checks.Wait()
	check := func(what string, selected store.Selection, well func(store.Missing, error) bool) {
		for name, ask := range asked(selected) {
			checks.Go(func() {
				if missing, err := ask(); !well(missing, err) {
					t.Errorf("%s of %s: missing %q, %v", name, what, missing, err)
				}
			})
		}
	}
	check("all, of which shard 2 is missing", store.Selection{}, func(missing store.Missing, err error) bool {
		return err == nil && len(missing) == 1 && strings.HasPrefix(missing[0], "shard 2 of 2 (http://127.0.0.1:")
	})
	check("a service that is there", store.Selection{Service: here}, func(missing store.Missing, err error) bool {
		return err == nil && missing == nil
	})
	check("a service that is not there", store.Selection{Service: there}, func(_ store.Missing, err error) bool {
		return err != nil && strings.Contains(err.Error(), "shard 2 of 2")
	})
}

// What waits is bounded, and a store that is full says so at once.
func TestFull(t *testing.T) {
	hang := make(chan struct{})
	var full atomic.Bool
	server := fake(t, func(query string) (int, string) {
		if full.Load() && strings.HasPrefix(query, "SELECT DISTINCT toUInt8(1), id") {
			<-hang
		}
		return 200, version18(query)
	})
	defer close(hang) // before the server closes
	s := mustOpen(t, Options{Shards: [][]string{{server}}, Gather: 1, Patience: time.Minute})
	full.Store(true)
	ctx, cancel := context.WithCancel(t.Context())
	large := batchOf(0)
	large.Source.Instance = strings.Repeat("x", 5<<20)
	errs := make(chan error)
	const writers = 10 // of twice the bytes of one batch: a row for each type
	for range writers {
		go func() { errs <- s.Write(ctx, large) }()
	}
	refused := 0
	for refused < writers-mostQueued/(10<<20) { // those that do not fit, while the others wait
		if err := <-errs; !errors.Is(err, store.ErrFull) {
			t.Errorf("Write: %v, want %v", err, store.ErrFull)
		}
		refused++
	}
	cancel()
	for ; refused < writers; refused++ {
		if err := <-errs; !errors.Is(err, store.ErrFull) || !errors.Is(err, context.Canceled) {
			t.Errorf("Write whose context ended: %v, want %v for that reason", err, store.ErrFull)
		}
	}
	huge := batchOf(1)
	huge.Source.Instance = strings.Repeat("x", mostBatch)
	if err := s.Write(t.Context(), huge); err == nil || errors.Is(err, store.ErrFull) {
		t.Errorf("a batch that is too large: %v, want an error that is not %v", err, store.ErrFull)
	}
	s.Close()
	if err := s.Write(t.Context(), batchOf(0)); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Write after Close: %v, want %v", err, store.ErrClosed)
	}
}
