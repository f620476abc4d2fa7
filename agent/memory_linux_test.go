//go:build go1.25

package agent

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

func writeFiles(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGroupLimits(t *testing.T) {
	dir := t.TempDir()
	v2, v1 := filepath.Join(dir, "2"), filepath.Join(dir, "1")
	writeFiles(t, map[string]string{
		v2 + "/pod/shop/memory.max": "max\n", v2 + "/pod/shop/memory.high": "300\n", v2 + "/pod/shop/memory.current": "280\n",
		v2 + "/pod/shop/memory.stat": "file 90\ninactive_file 40\n",
		v2 + "/pod/memory.max":       "400\n", v2 + "/pod/memory.high": "max\n", v2 + "/pod/memory.current": "300\n",
		v2 + "/pod/memory.stat":       "inactive_file 250\n",
		v1 + "/memory.limit_in_bytes": "500\n", v1 + "/memory.usage_in_bytes": "490\n", v1 + "/memory.stat": "inactive_file 7\ntotal_inactive_file 90\n",
	})
	for _, c := range []struct {
		membership string
		want       []limitUse
	}{
		// Of the outer group, which is not near, nobody asks what files have.
		{"0::/pod/shop\n", []limitUse{{"memory.high", 240, 300}, {"memory.max", 300, 400}}},
		// The group of a container is the mount, whatever its path says.
		{"4:cpu,memory:/docker/1\n0::/\n", []limitUse{{"memory.limit_in_bytes", 400, 500}}},
		{"0::/\n", nil}, {"", nil},
	} {
		g := openLimits(c.membership, v2, v1)
		if got := slices.Clone(g.read(0.9)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %+v, want %+v", c.membership, got, c.want)
		}
		g.close()
	}
}

// TestMemoryTrigger has a program whose live heap is nearly all of GOMEMLIMIT.
func TestMemoryTrigger(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, map[string]string{filepath.Join(dir, partial): "what was being written"})
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(200 << 20))
	events := make(chan Event, 10)
	stop, err := Watch(Triggers{Dir: dir, Memory: 0.9, OnEvent: func(e Event) { events <- e }})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for range 60 { // garbage, all of the limit: that is no event
		allocated = append(allocated[:0], make([]byte, 10<<20))
	}
	select {
	case e := <-events:
		t.Fatalf("garbage of the whole limit gives the event %+v, want none", e)
	case <-time.After(3 * memoryEvery):
	}
	for range 19 {
		allocated = append(allocated, make([]byte, 10<<20))
	}
	var e Event
	select {
	case e = <-events:
	case <-time.After(30 * time.Second):
		t.Fatal("no event")
	}
	allocated = nil
	if e.Err != nil || e.Kind != "memory" || e.Of == "" || e.Value < 0.9*e.Limit {
		t.Fatalf("event %+v, want 90%% of a limit", e)
	}
	file, err := os.ReadFile(e.File)
	if err != nil {
		t.Fatal(err)
	}
	rec, content := open(t, file)
	if rec.Cut || rec.Manifest.Event == nil || len(content[recording.CPUMember]) > 0 {
		t.Errorf("manifest %+v, want a whole one of the event, without a CPU profile", rec.Manifest)
	}
	for _, name := range []string{recording.HeapEndMember, recording.GoroutineEndMember, recording.MetricsMember, recording.TraceMember} {
		if len(content[name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 2 || !slices.ContainsFunc(left, func(s string) bool { return strings.HasSuffix(s, "-cut.gowhy") }) {
		t.Errorf("left %q, want the recording and what a killed program left", left)
	}
}

// allocated keeps what is alive.
var allocated [][]byte

func BenchmarkMemoryLook(b *testing.B) {
	w := newMemoryWatch(0.9)
	defer w.groups.close()
	for b.Loop() {
		w.look(time.Time{})
	}
}
