package agent

import (
	"bytes"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// A heap dump is refused unless the environment allows it.
func TestHeapDump(t *testing.T) {
	s := server(t)
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	if code, body := get(t, s, "heapdump"); code != 403 || !bytes.Contains(body, []byte(heapDumpVariable+"=1")) {
		t.Errorf("not allowed: %d %s, want 403 and what allows it", code, body)
	}
	if _, body := get(t, s, ""); bytes.Contains(body, []byte("heapdump")) {
		t.Errorf("the index has what is not allowed: %s", body)
	}
	t.Setenv(heapDumpVariable, "1")
	held := make([]byte, 4<<20)
	if code, body := get(t, s, "heapdump?limit=1MiB"); code != 413 || !bytes.Contains(body, []byte("limit=")) {
		t.Errorf("of 1 MiB at most: %d and %d bytes, want 413", code, len(body))
	}
	runtime.KeepAlive(held)
	if code, body := get(t, s, "heapdump?redact=1"); code != 400 {
		t.Errorf("redacted: %d %.80q, want 400", code, body)
	}
	code, body := get(t, s, "heapdump?gc=1")
	for ; code == 409; code, body = get(t, s, "heapdump") { // the one before is being ended
		time.Sleep(time.Millisecond)
	}
	if code != 200 || !bytes.HasPrefix(body, []byte("go1.7 heap dump\n")) || body[len(body)-1] != 0 {
		t.Errorf("%d and %d bytes, want a whole dump", code, len(body))
	}
	if _, body := get(t, s, ""); !bytes.Contains(body, []byte("heapdump ")) {
		t.Errorf("the index lacks it: %s", body)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("files were left: %q", left)
	}
}
