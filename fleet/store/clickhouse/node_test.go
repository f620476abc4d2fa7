package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// fake returns a server that answers what a function says.
func fake(t *testing.T, answer func(query string) (status int, body string)) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		query := r.URL.Query().Get("query")
		if query == "" {
			query = string(body)
		}
		status, text := answer(query)
		if status == 0 { // breaks off
			w.Header().Set("Content-Length", fmt.Sprint(len(text)+1))
			io.WriteString(w, text)
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		if status == http.StatusTemporaryRedirect {
			w.Header().Set("Location", text)
		}
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// version18 answers as an empty server of the oldest version does.
func version18(query string) string {
	if strings.HasPrefix(query, "SELECT toUInt8(1), version()") {
		return "\x01\x0718.16.1"
	}
	return ""
}

func TestWrongAnswers(t *testing.T) {
	row := string(appendInt64(appendInt64([]byte{mark}, 5), 7))
	for name, test := range map[string]struct {
		status int
		body   string
		want   string
	}{
		"a row":                       {200, row, ""},
		"no rows":                     {200, "", ""},
		"a row that is cut":           {200, row + row[:12], "cut"},
		"a body that is cut":          {0, row + row, "unexpected EOF"},
		"a body that is cut in a row": {0, row + row[:5], "unexpected EOF"},
		"an exception in the middle":  {200, row + "Code: 241, e.displayText() = DB::Exception: Memory limit exceeded", "Memory limit"},
		"an exception in a newer one": {200, row + "\r\n__exception__\r\nabc\r\nCode: 241. DB::Exception", "DB::Exception"},
		"an exception":                {500, "Code: 60, e.displayText() = DB::Exception: Table does not exist\x1b[2J", `does not exist\x1b`},
		"a page of something else":    {502, "<html>" + strings.Repeat("x", 1<<20), "status 502"},
		"a page that looks well":      {200, "<html>", "broke off"},
		"a redirect":                  {307, "http://127.0.0.1:1/", "status 307"},
		"a body of another kind":      {200, "\x01\x02\x03", "cut"},
	} {
		t.Run(name, func(t *testing.T) {
			server := fake(t, func(query string) (int, string) {
				if strings.Contains(query, "ARRAY JOIN") {
					return test.status, test.body
				}
				return 200, version18(query)
			})
			s := mustOpen(t, Options{Shards: [][]string{{server}}})
			stacks, err := s.Stacks(t.Context(), store.Selection{Type: store.CPU})
			if test.want == "" {
				if err != nil || len(stacks.Samples) != len(test.body)/len(row) {
					t.Errorf("Stacks() = %d samples, %v, want %d", len(stacks.Samples), err, len(test.body)/len(row))
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v, want an error with %q, short and without control characters", err, test.want)
			}
		})
	}
}

// An INSERT that is answered with anything at all is not acknowledged.
func TestWrongAcknowledgement(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
	}{
		"an exception":              {500, "Code: 252, Too many parts"},
		"an exception that is late": {200, "Code: 252, Too many parts"},
		"a page":                    {200, "<html>"},
		"nothing":                   {0, ""},
		"another kind of well":      {204, ""},
	} {
		t.Run(name, func(t *testing.T) {
			server := fake(t, func(query string) (int, string) {
				if strings.HasPrefix(query, "INSERT INTO profiles") {
					return test.status, test.body
				}
				return 200, version18(query)
			})
			s := mustOpen(t, Options{Shards: [][]string{{server}}, Gather: 1, Patience: 50 * time.Millisecond})
			if err := s.Write(t.Context(), batchOf(0)); err == nil {
				t.Error("Write: no error")
			}
		})
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]string{
		"18.16.1": "", "26.9.1.1": "", "18.14.9": "older than 18.16", "1.1.54385": "older than 18.16",
		"MariaDB": "no version", "": "no version", "\x1b[2J.1": "no version",
	} {
		server := fake(t, func(query string) (int, string) {
			if version18(query) != "" {
				return 200, string(appendText([]byte{mark}, text))
			}
			return 200, ""
		})
		s, err := Open(t.Context(), Options{Shards: [][]string{{server}}})
		if err == nil {
			s.Close()
		}
		if want == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if got := profiles.create(version{18, 16}, "", 1); strings.Contains(got, "CODEC") {
		t.Errorf("18.16 gets %s, which it does not know", got)
	}
	if got := profiles.create(version{19, 11}, "", 1); !strings.Contains(got, "stack_ids Array(Int64) CODEC(ZSTD(1))") {
		t.Errorf("19.11 gets %s, without a codec", got)
	}
}

// A server that hangs does not keep Open, nor one whose context ended.
func TestHangs(t *testing.T) {
	hang := make(chan struct{})
	server := fake(t, func(string) (int, string) { <-hang; return 200, "" })
	defer close(hang) // before the server closes
	if _, err := Open(t.Context(), Options{Shards: [][]string{{server}}, Timeout: 20 * time.Millisecond}); err == nil {
		t.Error("Open of a server that hangs: no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Open(ctx, Options{Shards: [][]string{{server}}}); err == nil {
		t.Error("Open whose context ended: no error")
	}
}

// TestAnswersPay has a server answer at length: an answer takes memory for what it keeps at least,
// and fails where there is not enough, of one shard or of two.
func TestAnswersPay(t *testing.T) {
	const rows = 20_000
	var stacks, frames, instances, points, values []byte
	for i := range rows {
		name := fmt.Sprintf("github.com/example/shop/orders.(*Service).Handle%d", i)
		stacks = appendInt64(appendInt64(append(stacks, mark), int64(i+1)), 7)
		frames = appendUint64(appendInt64(append(frames, mark), int64(i+1)), 7)
		frames = appendFrames(frames, []*store.Frame{{Function: name, File: "orders/service.go", Line: 1}, {Function: "main.main", Line: 2}})
		instances = appendText(appendText(appendText(append(instances, mark), name), "v1"), "host")
		for range 4 {
			instances = appendInt64(instances, 1)
		}
		instances = appendTexts(instances, []store.Type{store.CPU, store.AllocSpace}, func(t store.Type) string { return string(t) })
		instances = appendInts(instances, []int64{1, 2}, func(v int64) int64 { return v })
		points = appendInt64(appendInt64(appendText(append(points, mark), "v1"), int64(i)), 7)
		values = appendText(append(values, mark), name)
	}
	answer := func(query string) (int, string) {
		switch {
		case strings.Contains(query, "ARRAY JOIN"):
			return 200, string(stacks)
		case strings.Contains(query, "FROM stacks"):
			return 200, string(frames)
		case strings.Contains(query, "groupArray"):
			return 200, string(instances)
		case strings.Contains(query, "GROUP BY series"):
			return 200, string(points)
		case strings.Contains(query, "GROUP BY found"):
			return 200, string(values)
		}
		return 200, version18(query)
	}
	s := mustOpen(t, Options{Shards: [][]string{{fake(t, answer)}}})
	two := mustOpen(t, Options{Shards: [][]string{{fake(t, answer)}, {fake(t, answer)}}})
	selected := store.Selection{Type: store.CPU, Until: time.Unix(1<<20, 0)}
	for name, ask := range map[string]func(ctx context.Context, s *Store) (any, error){
		"instances": func(ctx context.Context, s *Store) (any, error) { return s.Instances(ctx, selected) },
		"stacks":    func(ctx context.Context, s *Store) (any, error) { return s.Stacks(ctx, selected) },
		"values":    func(ctx context.Context, s *Store) (any, error) { return s.Values(ctx, selected, store.ByInstance) },
		"series": func(ctx context.Context, s *Store) (any, error) {
			return s.Series(ctx, selected, time.Second, store.ByVersion)
		},
	} {
		t.Run(name, func(t *testing.T) {
			kept, took := storetest.MeasureMemory(t, func(ctx context.Context) (any, error) { return ask(ctx, s) })
			if took < kept || took > 20*max(kept, 1<<20) {
				t.Errorf("took %d bytes for an answer of %d", took, kept)
			}
			for shards, of := range map[int]*Store{1: s, 2: two} {
				few, _ := memory.NewPool("questions", 300<<10, 0).Take(t.Context(), 1)
				if _, err := ask(memory.With(t.Context(), few), of); !errors.Is(err, memory.ErrLarge) {
					t.Errorf("of %d shards with little memory: %v", shards, err)
				}
			}
		})
	}
}
