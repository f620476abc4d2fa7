package hostagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

const (
	runsPath = "/api/v1/runs"
	// momentsEvery is how often the directory is looked at, and momentsWait the longest
	// after the server did not take a recording.
	momentsEvery, momentsWait = 5 * time.Second, 5 * time.Minute
	momentTime                = 15 * time.Minute
	// settled is how old a file is that nobody writes any more: agent.Watch gives a
	// recording its name when it is whole, but cp does not.
	settled = 2 * time.Second
)

// A momentFile tells a file from another of its name.
type momentFile struct {
	name    string
	size    int64
	changed time.Time
}

// watchMoments uploads recordings that appear in a directory. It changes nothing there:
// whoever writes them removes them.
func (a *Agent) watchMoments(ctx context.Context) {
	client := *a.send.client
	client.Timeout = momentTime
	m := &moments{a: a, client: &client, done: map[momentFile]bool{}}
	wait := momentsEvery
	for ctx.Err() == nil {
		if err := m.look(ctx); err != nil && ctx.Err() == nil {
			a.o.Log.Warn("a recording is not uploaded yet", "error", err)
			wait = min(2*wait, momentsWait)
		} else {
			wait = momentsEvery
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

type moments struct {
	a      *Agent
	client *http.Client
	done   map[momentFile]bool
}

// look uploads what is new. What the server refuses is counted and left.
func (m *moments) look(ctx context.Context) error {
	files, err := filepath.Glob(filepath.Join(m.a.o.Moments, "*.gowhy"))
	if err != nil {
		return err
	}
	here := map[momentFile]bool{}
	for _, file := range files {
		info, err := os.Lstat(file)
		if err != nil || !info.Mode().IsRegular() || m.a.now().Sub(info.ModTime()) < settled {
			continue
		}
		one := momentFile{file, info.Size(), info.ModTime()}
		if m.done[one] {
			here[one] = true
			continue
		}
		err = m.upload(ctx, file)
		var refused *refusal
		switch {
		case err == nil:
			m.a.count.moments.Add(1)
		case errors.As(err, &refused):
			m.a.count.momentErrors.Add(1)
			m.a.o.Log.Warn("the server refuses a recording", "file", file, "error", err)
		default:
			return fmt.Errorf("%s: %w", file, err)
		}
		here[one], m.done[one] = true, true
	}
	m.done = here // of those that are gone nothing is remembered
	return nil
}

// upload sends a recording, unless the server has it: it is asked by the hash first.
func (m *moments) upload(ctx context.Context, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	r, err := m.a.send.request(ctx, http.MethodHead, runsPath+"/"+hex.EncodeToString(h.Sum(nil)), nil)
	if err != nil {
		return err
	}
	if _, err := m.a.send.do(m.client, r); err == nil {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	q := url.Values{"instance": {m.a.o.Host}}
	if r, err = m.a.send.request(ctx, http.MethodPost, runsPath+"?"+q.Encode(), io.NopCloser(f)); err != nil {
		return err
	}
	r.ContentLength = n
	_, err = m.a.send.do(m.client, r)
	return err
}
