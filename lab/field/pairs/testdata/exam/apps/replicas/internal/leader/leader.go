// Package leader offers the state of a cluster to its followers.
package leader

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"replicas/internal/meter"
	"replicas/internal/state"
)

// IndexHeader says of which index a snapshot is.
const IndexHeader = "Snapshot-Index"

// Options are the settings of a leader.
type Options struct {
	Streams bool // sends streams as such, otherwise their readers
}

// A Leader has some followers, by their addresses.
type Leader struct {
	o         Options
	state     *state.State
	followers []string
	client    *http.Client
	Sent      meter.Meter
}

// New returns a leader.
func New(s *state.State, o Options, followers []string) *Leader {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ExpectContinueTimeout = 5 * time.Second
	return &Leader{o: o, state: s, followers: followers, client: &http.Client{Transport: t, Timeout: 10 * time.Second}}
}

// body returns what is sent of a snapshot.
func (l *Leader) body(snapshot io.ReadCloser) io.Reader {
	if l.o.Streams {
		return l.Sent.Body(snapshot)
	}
	return l.Sent.Reader(snapshot)
}

// offer asks a follower to take the newest snapshot, and reports whether it did.
func (l *Leader) offer(follower string) (bool, error) {
	snapshot, index := l.state.Snapshot()
	req, err := http.NewRequest(http.MethodPut, follower+"/snapshot", l.body(snapshot))
	if err != nil {
		return false, errors.Join(err, snapshot.Close())
	}
	req.Header.Set(IndexHeader, strconv.FormatUint(index, 10))
	req.Header.Set("Expect", "100-continue")
	resp, err := l.client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		return true, nil
	case http.StatusConflict:
		return false, nil
	}
	return false, fmt.Errorf("leader: %s says %s", follower, resp.Status)
}

// Run offers snapshots in turn, some in a second, and returns how many were offered and how
// many were taken.
func (l *Leader) Run(rate int, d time.Duration) (offered, taken int, err error) {
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for end := time.Now().Add(d); time.Now().Before(end); <-tick.C {
		ok, err := l.offer(l.followers[offered%len(l.followers)])
		if err != nil {
			return offered, taken, err
		}
		if ok {
			taken++
		}
		offered++
	}
	return offered, taken, nil
}
