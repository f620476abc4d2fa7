package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/api"
)

// TestRuns sends a recording, lists it and gets it back.
func TestRuns(t *testing.T) {
	dir := t.TempDir()
	file, got := filepath.Join(dir, "a.gowhy"), filepath.Join(dir, "b.gowhy")
	var b bytes.Buffer
	s := recording.NewStream(&b)
	if err := s.Add("note.txt", []byte("note")); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if err := s.Finish(recording.Manifest{Schema: recording.Schema, Start: now.Add(-time.Second), End: now}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	url := begin(t, "serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"))
	flag := []string{"--server", url}
	if none := asked(t, 0, append(flag, "runs")...); !strings.Contains(none, "No recording") {
		t.Errorf("before: %s", none)
	}
	said := asked(t, 0, append(flag, "runs", "push", file, "--service", "cart", "--version", "v2")...)
	id, _, _ := strings.Cut(said, " ")
	if len(id) != api.ShortID || !strings.Contains(said, "cart") {
		t.Fatalf("push: %s", said)
	}
	if list := asked(t, 0, append(flag, "runs", "--service", "cart")...); !strings.HasPrefix(list, id) || !strings.Contains(list, "cart v2") {
		t.Errorf("list: %s", list)
	}
	if said := asked(t, 0, append(flag, "runs", "get", id, "-o", got)...); !strings.Contains(said, "hint: gowhy "+got+", gowhy view "+got) {
		t.Errorf("get: %s", said)
	}
	if data, err := os.ReadFile(got); err != nil || !bytes.Equal(data, b.Bytes()) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{0, "No agent offers a process of cart v2:", []string{"record", "cart", "--version", "v2"}},
		{0, "hint: gowhy agent --server URL", []string{"record", "cart"}},
		{1, "there is no service \"crat\"\nhint: did you mean cart?", []string{"record", "crat"}},
		{2, "takes one service", []string{"record"}},
		{1, "say which service", []string{"record", ""}},
		{2, "is there already", []string{"runs", "get", id, "-o", got}},
		{2, "no recording begins", []string{"runs", "get", "0"}},
		{2, "takes one ID", []string{"runs", "get"}},
		{2, "no file to send", []string{"runs", "push"}},
		{1, "not a recording", []string{"runs", "push", os.Args[0]}},
	} {
		if said := asked(t, c.code, append(flag, c.args...)...); !strings.Contains(said, c.want) {
			t.Errorf("%v: %s, want %q", c.args, said, c.want)
		}
	}
}
