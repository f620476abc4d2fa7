package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// newStacks returns a profile of so many stacks, of names that nobody else sends.
func newStacks(seed, stacks, depth int) []byte {
	var p, m []byte
	message := func(number protowire.Number, body []byte) {
		p = protowire.AppendBytes(protowire.AppendTag(p, number, protowire.BytesType), body)
	}
	field := func(number protowire.Number, v uint64) {
		m = protowire.AppendVarint(protowire.AppendTag(m, number, protowire.VarintType), v)
	}
	const functions = 500
	message(1, []byte{1 << 3, 1, 2 << 3, 2})
	message(11, []byte{1 << 3, 1, 2 << 3, 2})
	for _, text := range []string{"", "cpu", "nanoseconds"} {
		message(6, []byte(text))
	}
	for i := range uint64(functions) {
		message(6, fmt.Appendf(nil, "shop.seed%d.function%d", seed, i))
		m = m[:0]
		field(1, i+1)
		field(2, i+3)
		message(5, m)
		m = protowire.AppendBytes(protowire.AppendTag(m[:0], 4, protowire.BytesType), protowire.AppendVarint([]byte{1 << 3}, i+1))
		field(1, i+1)
		message(4, m)
	}
	for i := range stacks {
		var ids []byte
		for d := range depth {
			ids = protowire.AppendVarint(ids, 1+uint64(i*(d*d+1)+i/functions*d)%functions)
		}
		m = protowire.AppendBytes(protowire.AppendTag(m[:0], 1, protowire.BytesType), ids)
		field(2, 10_000_000)
		message(2, m)
	}
	return p
}

// TestFlood pushes more at once than a server has memory for: each push is kept or told to
// come again, questions are answered meanwhile, and in the end all memory is given back.
func TestFlood(t *testing.T) {
	url := startedWith(t, new(storetest.Reference), Options{Memory: 64 << 20})
	name := fmt.Sprintf("/ingest?name=shop&from=%d&until=%d", time.Now().Unix()-15, time.Now().Unix())
	var kept, refused, other sync.Map
	var all sync.WaitGroup
	for client := range 16 {
		all.Go(func() {
			body := newStacks(client, 6000, 20)
			a, err := http.Post(url+name, "application/octet-stream", bytes.NewReader(body))
			if err != nil {
				other.Store(client, err)
				return
			}
			said, _ := io.ReadAll(a.Body)
			a.Body.Close()
			switch {
			case a.StatusCode == http.StatusOK:
				kept.Store(client, true)
			case a.StatusCode == http.StatusTooManyRequests && a.Header.Get("Retry-After") != "":
				refused.Store(client, true)
			default:
				other.Store(client, string(said))
			}
		})
	}
	if status, body := get(t, url+"/api/v1/services?from=now-1h"); status != http.StatusOK {
		t.Errorf("a question beside a flood: %d %s", status, body)
	}
	all.Wait()
	other.Range(func(client, said any) bool { t.Errorf("client %v: %v", client, said); return true })
	n := 0
	kept.Range(func(any, any) bool { n++; return true })
	if n == 0 {
		t.Error("nothing was kept")
	}
	_, metrics := get(t, url+"/metrics")
	for _, of := range []string{"bodies", "profiles", "questions"} {
		if line := fmt.Sprintf("gowhy_fleet_memory_granted_bytes{for=%q} 0\n", of); !strings.Contains(metrics, line) {
			t.Errorf("memory of %s is not given back", of)
		}
	}
}

// What needs more memory than there is for anybody is refused for good, and says so.
func TestTooLarge(t *testing.T) {
	url := startedWith(t, new(storetest.Reference), Options{Memory: 32 << 20})
	name := fmt.Sprintf("/ingest?name=shop&from=%d&until=%d", time.Now().Unix()-15, time.Now().Unix())
	for stacks, want := range map[int]int{1000: http.StatusOK, 30_000: http.StatusRequestEntityTooLarge} {
		a, said := do(t, http.DefaultClient, "POST", url+name, "", "", bytes.NewReader(newStacks(stacks, stacks, 20)))
		if a.StatusCode != want {
			t.Errorf("%d stacks: %d %s, want %d", stacks, a.StatusCode, said, want)
		}
	}
	// A body whose length nobody says is bounded as it comes.
	a, said := do(t, http.DefaultClient, "POST", url+name, "", "", struct{ io.Reader }{bytes.NewReader(make([]byte, 8<<20))})
	if a.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("8 MiB of unknown length: %d %s", a.StatusCode, said)
	}
}

// A question whose answer needs more memory than there is says what to ask instead.
func TestLargeAnswer(t *testing.T) {
	s := new(storetest.Reference)
	url := startedWith(t, s, Options{Memory: 256 << 20})
	small := startedWith(t, s, Options{Memory: 16 << 20})
	name := fmt.Sprintf("/ingest?name=shop&from=%d&until=%d", time.Now().Unix()-15, time.Now().Unix())
	if a, said := do(t, http.DefaultClient, "POST", url+name, "", "", bytes.NewReader(newStacks(1, 3000, 30))); a.StatusCode != http.StatusOK {
		t.Fatal(said)
	}
	flame := "/api/v1/flame?from=now-1h&service=shop&type=cpu"
	if status, body := get(t, url+flame); status != http.StatusOK {
		t.Errorf("%d %.200s", status, body)
	}
	status, body := get(t, small+flame)
	var said struct{ Error, Hint string }
	if err := json.Unmarshal([]byte(body), &said); err != nil || status != http.StatusUnprocessableEntity ||
		said.Error != "the answer needs more memory than the server has for it, which is 3 MiB" || !strings.Contains(said.Hint, "shorter time") {
		t.Errorf("%d %.300s", status, body)
	}
	if status, body := get(t, small+"/api/v1/services?from=now-1h"); status != http.StatusOK {
		t.Errorf("a small question: %d %.200s", status, body)
	}
}

// A together store has the first questions about stacks wait for each other.
type together struct {
	store.Store
	first *sync.WaitGroup
	n     *atomic.Int64
}

func (s together) Stacks(ctx context.Context, q store.Selection) (store.Stacks, error) {
	if s.n.Add(-1) >= 0 {
		s.first.Done()
		s.first.Wait()
	}
	return s.Store.Stacks(ctx, q)
}

// Questions that each need most of the memory are answered behind each other, those of
// Grafana too: each has a quarter, and none waits in vain for what the others have.
func TestLargeAnswersAtOnce(t *testing.T) {
	s := together{new(storetest.Reference), new(sync.WaitGroup), new(atomic.Int64)}
	url := startedWith(t, s, Options{Memory: 64 << 20, patience: 5 * time.Minute}) // who waits in vain does so for long
	name := fmt.Sprintf("/ingest?name=shop&from=%d&until=%d", time.Now().Unix()-15, time.Now().Unix())
	if a, said := do(t, http.DefaultClient, "POST", url+name, "", "", bytes.NewReader(newStacks(1, 3000, 30))); a.StatusCode != http.StatusOK {
		t.Fatal(said)
	}
	const each = 2
	s.first.Add(2 * each)
	s.n.Store(2 * each)
	ask := fmt.Sprintf(`{"profileTypeID":"process_cpu:cpu:nanoseconds:cpu:nanoseconds","labelSelector":"{service_name=\"shop\"}","start":%d,"end":%d}`,
		time.Now().Add(-time.Hour).UnixMilli(), time.Now().UnixMilli())
	var all sync.WaitGroup
	for range each {
		all.Go(func() {
			if status, body := get(t, url+"/api/v1/flame?from=now-1h&service=shop&type=cpu"); status != http.StatusOK {
				t.Errorf("%d %.200s", status, body)
			}
		})
		all.Go(func() {
			a, err := http.Post(url+"/querier.v1.QuerierService/SelectMergeStacktraces", "application/json", strings.NewReader(ask))
			if err != nil {
				t.Error(err)
				return
			}
			said, _ := io.ReadAll(a.Body)
			a.Body.Close()
			if a.StatusCode != http.StatusOK || len(said) < 100_000 {
				t.Errorf("%d %.200s", a.StatusCode, said)
			}
		})
	}
	all.Wait()
	_, metrics := get(t, url+"/metrics")
	if strings.Contains(metrics, "gowhy_fleet_memory_refused_total{for=\"questions\"} 0\n") {
		t.Error("no question began again: the test has no case")
	}
}

// Who sends his question slowly has no memory meanwhile.
func TestSlowQuestions(t *testing.T) {
	url := startedWith(t, new(storetest.Reference), Options{Memory: 16 << 20})
	for range 2 * largeQuestion {
		body, slow := io.Pipe()
		t.Cleanup(func() { slow.Close() })
		go func() {
			a, err := http.Post(url+"/querier.v1.QuerierService/SelectMergeStacktraces", "application/json", body)
			if err == nil {
				a.Body.Close()
			}
		}()
		if _, err := io.WriteString(slow, "{"); err != nil { // it is on its way
			t.Fatal(err)
		}
	}
	_, metrics := get(t, url+"/metrics")
	if !strings.Contains(metrics, "gowhy_fleet_memory_granted_bytes{for=\"questions\"} 0\n") {
		t.Error("questions that have not come have memory")
	}
	if status, body := get(t, url+"/api/v1/versions?from=now-1h"); status != http.StatusOK {
		t.Errorf("%d %.200s", status, body)
	}
}
