package hostagent

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gowhy/gowhy/fleet/client"
)

const (
	// momentsEvery is how often the directory is looked at, and momentsWait the longest
	// after the server did not take a recording.
	momentsEvery, momentsWait = 5 * time.Second, 5 * time.Minute
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
	m := &moments{a: a, done: map[momentFile]bool{}}
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
	a    *Agent
	done map[momentFile]bool
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
		err = m.a.upload(ctx, file, url.Values{"instance": {m.a.o.Host}})
		switch {
		case err == nil:
			m.a.count.moments.Add(1)
		case isHopeless(err):
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

// upload sends a recording once, from where an earlier try ended.
func (a *Agent) upload(ctx context.Context, file string, q url.Values) error {
	_, _, err := a.send.to.Send(ctx, file, q)
	return err
}

// isHopeless reports whether the server would refuse a recording again.
func isHopeless(err error) bool {
	var s *client.Status
	return errors.As(err, &s) && hopeless[s.Code]
}
