package cli

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
)

// pprof's page comes from a process of its own, under a secret, and leaves
// nothing behind.
func TestPprofPage(t *testing.T) {
	t.Setenv(mainEnv, "1")
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file := filepath.Join(t.TempDir(), "heap.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	address, ended, err := startPprof(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"": 200, "top": 200, "flamegraph": 200, "saveconfig": 404, "deleteconfig": 404, "nothing": 404, "../": 404} {
		resp, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if resp.StatusCode != want || want == 200 && !strings.Contains(string(body), "pprof") {
			t.Errorf("%q: %d, want %d", path, resp.StatusCode, want)
		}
	}
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	if resp, err := http.DefaultClient.Do(r); err != nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("another name: %v %v", resp, err)
	}
	stop()
	<-ended
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if _, _, err := startPprof(context.Background(), file+".gone"); err == nil {
		t.Error("it started without a profile")
	}
}
