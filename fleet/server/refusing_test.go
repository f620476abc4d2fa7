package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

// A fullDisk fails as a disk without room does.
type fullDisk struct {
	storetest.Reference
	err error
}

func (f *fullDisk) Write(ctx context.Context, b *store.Batch) error {
	if f.err != nil {
		return f.err
	}
	return f.Reference.Write(ctx, b)
}

// TestFullStore fills the disk of a server: one line says so and one that it is over, it is not
// ready meanwhile, and no client learns where its files are.
func TestFullStore(t *testing.T) {
	s := new(fullDisk)
	var log bytes.Buffer
	m := newMeter(s)
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	m.refusing.log, m.now = slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return now }
	ready := func(want int) {
		t.Helper()
		w := httptest.NewRecorder()
		if m.ready(w, nil); w.Code != want || strings.Contains(w.Body.String(), "/data") {
			t.Errorf("/ready: %d %s, want %d", w.Code, w.Body, want)
		}
	}
	write := func(err error) {
		s.err = err
		_ = m.Write(t.Context(), &store.Batch{})
	}
	write(nil)
	write(store.ErrFull) // for the moment
	write(context.Canceled)
	ready(http.StatusOK)
	noSpace := fmt.Errorf("log /data/log/1.log: %w", syscall.ENOSPC)
	for range 5 {
		write(noSpace)
		write(fmt.Errorf("%w: %w", store.ErrFull, noSpace))
	}
	ready(http.StatusServiceUnavailable)
	if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), "no space left on device") {
		t.Errorf("%d lines: %s", lines, &log)
	}
	now = now.Add(hopeless) // nobody sends to what is not ready
	ready(http.StatusOK)
	write(noSpace)
	ready(http.StatusServiceUnavailable)
	write(nil)
	ready(http.StatusOK)
	write(nil)
	if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "after=30s refused=11") {
		t.Errorf("%d lines: %s", lines, &log)
	}
}
