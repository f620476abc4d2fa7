package durable

import (
	"path/filepath"
	"runtime"
	"testing"
)

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	if err := SyncDir(dir); err != nil {
		t.Error(err)
	}
	if err := SyncDir(filepath.Join(dir, "none")); err == nil && runtime.GOOS != "windows" {
		t.Error("a directory that is not there is synced")
	}
}
