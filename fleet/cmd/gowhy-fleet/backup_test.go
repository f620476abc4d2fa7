package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// TestBackup has a server of what another one kept, with the same answers.
func TestBackup(t *testing.T) {
	from := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", t.TempDir())
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 0); err != nil {
		t.Fatal(err)
	}
	until := time.Now().UTC()
	answer, err := http.Post(fmt.Sprintf("%s/ingest?name=checkout&from=%d&until=%d", from, until.Unix()-70, until.Unix()-60), "application/octet-stream", &profile)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		t.Fatalf("a profile: %s", answer.Status)
	}
	flags := func(server string) []string {
		return []string{"services", "--json", "--server", server, "--from", until.Add(-3 * time.Hour).Format(time.RFC3339), "--until", until.Format(time.RFC3339)}
	}
	want := asked(t, 0, flags(from)...)
	dir := t.TempDir()
	file, data := filepath.Join(dir, "fleet.tar"), filepath.Join(dir, "data")
	if said := asked(t, 0, "backup", file, "--server", from); !strings.Contains(said, file+": ") || !strings.Contains(said, "hint: gowhy-fleet restore --data DIR "+file) {
		t.Errorf("backup says %q", said)
	}
	if said := asked(t, 2, "backup", file, "--server", from); !strings.Contains(said, "is there already") {
		t.Errorf("a file that is there: %q", said)
	}
	if said := asked(t, 0, "restore", file, "--data", data); !strings.Contains(said, "hint: gowhy-fleet serve --data "+data) {
		t.Errorf("restore says %q", said)
	}
	if said := asked(t, 1, "restore", file, "--data", data); !strings.Contains(said, "is not empty") {
		t.Errorf("a directory that has something: %q", said)
	}
	asked(t, 2, "restore", file)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(dir, "half.tar")
	if err := os.WriteFile(half, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if said := asked(t, 1, "restore", half, "--data", filepath.Join(dir, "other")); !strings.Contains(said, "the backup is not whole") {
		t.Errorf("half of a backup: %q", said)
	}
	if got := asked(t, 0, flags(begin(t, "serve", "--listen", "127.0.0.1:0", "--data", data))...); got != want || !strings.Contains(got, "checkout") {
		t.Errorf("the restored server says\n%s\nwant\n%s", got, want)
	}
}
