package hostagent

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/internal/sense/record"
)

// TestMemoryRuntimeLimit watches this process, which has a GOMEMLIMIT and comes near to it: a
// recorder waits there, and the log says at which limit. Beyond the budget nothing is opened.
func TestMemoryRuntimeLimit(t *testing.T) {
	s := newStudio(t, sampling.Options{Every: time.Hour, Length: time.Second, Most: 4})
	var log bytes.Buffer
	s.a.o.Log = slog.New(slog.NewTextHandler(&log, nil))
	m := newMemoryWatch(s.a)
	m.dir = s.dir
	m.upload = func(context.Context, string, url.Values) {}
	m.record = func(_ context.Context, _ *recordable, o record.Options) (*record.Result, error) {
		e := &recording.Event{Kind: "memory", Of: "GOMEMLIMIT", Value: 91 << 20, Limit: 100 << 20}
		ended := &recording.Ending{Kind: recording.EndedByExit, Code: 2}
		return &record.Result{Written: true, Event: e, Ended: ended}, os.WriteFile(o.Out, whole(t, s.clock), 0o600)
	}
	own := []*recordable{{process: process{os.Getpid(), 1}, service: "own"}}
	turn := func() *limits {
		s.clock = s.clock.Add(endlessTurn)
		m.turn(t.Context(), own)
		s.a.work.Wait()
		return m.here[own[0].process].bounds.(*limits)
	}
	defer m.close()

	defer debug.SetMemoryLimit(debug.SetMemoryLimit(math.MaxInt64 / 4))
	ballast := bytes.Repeat([]byte{1}, 64<<20)
	runtime.GC()
	s.a.over.Store(true)
	if l := turn(); l.runtime != nil {
		t.Error("counters of a program were opened beyond the budget")
	}
	s.a.over.Store(false)
	b, ok := turn().runtime.Bound()
	if !ok || b.Used < 64<<20 || log.Len() > 0 {
		t.Fatalf("Bound() = %+v, %v, log %q; want 64 MiB of a far limit, and nobody waits", b, ok, &log)
	}
	debug.SetMemoryLimit(int64(b.Used) * 100 / 98)
	turn()
	said := log.String()
	for _, want := range []string{`msg="waiting at a program that is near its memory limit" service=own`, `limit="GOMEMLIMIT (`, "used_percent=",
		`why="memory reached 91 MiB, 91.0% of GOMEMLIMIT (100 MiB)"`, `end="ended with exit status 2"`} {
		if !strings.Contains(said, want) {
			t.Errorf("log %q, want %q in it", said, want)
		}
	}
	runtime.KeepAlive(ballast)
}

// TestMemoryCountersRoom has more programs than there is room for in a turn: the rest has its
// counters opened in the next.
func TestMemoryCountersRoom(t *testing.T) {
	s := newStudio(t, sampling.Options{Every: time.Hour, Length: time.Second, Most: 4})
	m := newMemoryWatch(s.a)
	defer m.close()
	var all []*recordable
	for i := range countersTurn + 2 {
		all = append(all, &recordable{process: process{os.Getpid(), time.Duration(i)}, service: "own"})
	}
	for _, want := range []int{countersTurn, countersTurn + 2, countersTurn + 2} {
		s.clock = s.clock.Add(endlessTurn)
		m.turn(t.Context(), all)
		opened := 0
		for _, w := range m.here {
			if w.bounds.(*limits).runtime != nil {
				opened++
			}
		}
		if opened != want {
			t.Errorf("the counters of %d programs are open, want %d", opened, want)
		}
	}
}
