package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

const watchedMB = 1_000_000

// A group's files, by their names.
func writeGroup(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
}

func bounds(w *MemoryWatch, near float64) (list []string) {
	w.next = time.Time{}
	for _, b := range w.Bounds(time.Now(), near) {
		list = append(list, b.Of+" "+strconv.FormatUint(b.Used/watchedMB, 10)+"/"+strconv.FormatUint(b.Limit/watchedMB, 10))
	}
	return list
}

func TestMemoryWatch(t *testing.T) {
	linux(t)
	root := t.TempDir()
	write(t, filepath.Join(root, "proc/12/statm"), "5000 2000 300 1 0 900 0\n")
	write(t, filepath.Join(root, "proc/12/cgroup"), "0::/pod/shop\n")
	write(t, filepath.Join(root, "proc/vmstat"), "nr_free_pages 1\noom_kill 3\n")
	write(t, filepath.Join(root, "proc/self/mountinfo"), "1 0 0:2 / /cg rw - cgroup2 cgroup2 rw\n")
	pod := filepath.Join(root, "cg/pod")
	writeGroup(t, pod, map[string]string{"memory.max": "400000000\n", "memory.high": "max\n", "memory.current": "100000000\n",
		"memory.stat": "file 30000000\ninactive_file 20000000\n", "memory.events": "low 0\noom 1\noom_kill 2\n"})
	writeGroup(t, filepath.Join(pod, "shop"), map[string]string{"memory.max": "max\n", "memory.high": "300000000\n", "memory.current": "90000000\n",
		"memory.stat": "file 30000000\ninactive_file 10000000\n", "memory.events": "low 0\noom 0\noom_kill 0\n"})
	w, err := watchMemory(root, 12)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if rss, err := w.Resident(); err != nil || rss != 2000*uint64(os.Getpagesize()) {
		t.Errorf("Resident() = %d, %v; want 2000 pages", rss, err)
	}
	// All of it counts until it is near; then what would be given up does not.
	if got, want := bounds(w, 0.9), []string{"memory.high 90/300", "memory.max 100/400"}; !slices.Equal(got, want) {
		t.Errorf("far: %q, want %q", got, want)
	}
	if got, want := bounds(w, 0.28), []string{"memory.high 80/300", "memory.max 100/400"}; !slices.Equal(got, want) {
		t.Errorf("the inner one is near: %q, want %q", got, want)
	}
	if got, want := w.Kills(), (MemoryKills{Group: 2, Machine: 3, Reached: 1}); got != want {
		t.Errorf("Kills() = %+v, want %+v", got, want)
	}
	// Limits change, go, and come where there were none: the controller is switched on later.
	write(t, filepath.Join(pod, "memory.max"), "max\n")
	write(t, filepath.Join(pod, "shop/memory.high"), "max\n")
	if got := bounds(w, 0.9); len(got) > 0 {
		t.Errorf("all limits are gone: %q", got)
	}
	write(t, filepath.Join(root, "proc/12/cgroup"), "0::/pod/shop/late\n")
	writeGroup(t, filepath.Join(pod, "shop/late"), map[string]string{"cgroup.procs": "12\n"})
	if got := bounds(w, 0.9); len(got) > 0 {
		t.Errorf("without a controller: %q", got)
	}
	writeGroup(t, filepath.Join(pod, "shop/late"), map[string]string{"memory.max": "50000000\n", "memory.current": "60000000\n", "memory.stat": "inactive_file 0\n"})
	if got, want := bounds(w, 0.9), []string{"memory.max 60/50"}; !slices.Equal(got, want) {
		t.Errorf("the controller is switched on, with a limit below what is used: %q, want %q", got, want)
	}
	write(t, filepath.Join(pod, "memory.max"), "400000000\n")
	// It is put into a group of version 1 without any limit.
	write(t, filepath.Join(root, "proc/12/cgroup"), "4:memory:/\n0::/\n")
	write(t, filepath.Join(root, "proc/self/mountinfo"), "1 0 0:2 / /cg rw - cgroup2 cgroup2 rw\n2 0 0:3 / /v1 rw - cgroup cgroup rw,memory\n")
	writeGroup(t, filepath.Join(root, "v1"), map[string]string{"memory.limit_in_bytes": "9223372036854771712\n",
		"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 7\n", "memory.failcnt": "9\n"})
	if got := bounds(w, 0.9); len(got) > 0 {
		t.Errorf("without a limit: %q", got)
	}
	if got, want := w.Kills(), (MemoryKills{Group: 7, Machine: 3, Reached: 9}); got != want {
		t.Errorf("version 1: Kills() = %+v, want %+v", got, want)
	}
	write(t, filepath.Join(root, "proc/12/statm"), "0 0 0 0 0 0 0\n")
	if _, err := w.Resident(); !errors.Is(err, ErrGone) {
		t.Errorf("of a process that ended: %v, want %v", err, ErrGone)
	}
	if _, err := watchMemory(root, 13); err == nil {
		t.Error("a process that is not there is watched")
	}
}

// BenchmarkMemoryWatch is what a look costs that is taken many times a second.
func BenchmarkMemoryWatch(b *testing.B) {
	w, err := WatchMemory(os.Getpid())
	if err != nil {
		b.Skip(err)
	}
	defer w.Close()
	b.Logf("%d limits", len(w.Bounds(time.Now(), 2)))
	for b.Loop() {
		w.Bounds(time.Now(), 2)
		if _, err := w.Resident(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestValueOf(t *testing.T) {
	for name, want := range map[string]int64{"oom": 4, "oom_kill": 5, "oo": -1, "": -1} {
		if got := valueOf(strings.Join([]string{"high 1", "oom 4", "oom_kill 5", ""}, "\n"), name); got != want {
			t.Errorf("valueOf(%q) = %d, want %d", name, got, want)
		}
	}
}
