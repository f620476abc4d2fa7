// Package httpsd asks a URL for the targets of a scrape config, again and again, in the
// form that Prometheus' http_sd_configs have.
//
// It hides the request, its bounds, and the last list that was good: while the server of
// the list is away, or answers what is no list, the targets stay as they were. Its type is
// [Source]. It follows no redirect, since a redirect would have the credentials.
package httpsd

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// DefaultInterval is from one request to the next.
const DefaultInterval = time.Minute

const (
	mostBytes   = 10 << 20 // of an answer, unpacked
	mostTargets = 10_000   // of a list, and of groups
	mostLabels  = 100      // of a group, before relabeling
	longest     = 4096     // a target, a label's name and its value
	// longestWait bounds a request, where the interval is not shorter.
	longestWait = 30 * time.Second
)

// A Group is targets that have the same labels.
type Group struct {
	Targets []string          `json:"targets"`
	Labels  map[string]string `json:"labels"`
}

// Credentials are what a request shows. Bearer, or else User and Password, authenticate
// where they are not empty.
type Credentials struct {
	Bearer, User, Password string
	TLS                    *tls.Config
}

// A Source is a URL and the last good list that it gave.
type Source struct {
	url         string
	interval    time.Duration
	credentials func() (Credentials, error)

	mu       sync.Mutex
	groups   []Group
	failures int64
}

// New returns a source that has asked nothing yet. The credentials are read before each
// request, so that they can change.
func New(address string, interval time.Duration, credentials func() (Credentials, error)) *Source {
	return &Source{url: address, interval: interval, credentials: credentials}
}

// Groups returns the last good list; nobody may change it.
func (s *Source) Groups() []Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.groups
}

// Failures returns how many requests gave no list.
func (s *Source) Failures() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failures
}

// Run asks until the context ends, first at once. It calls changed after a list that
// differs from the one before it, and with an error after a request that gave none.
func (s *Source) Run(ctx context.Context, changed func(error)) {
	tick := time.NewTicker(s.interval)
	defer tick.Stop()
	for ctx.Err() == nil {
		differs, err := s.refresh(ctx)
		if ctx.Err() != nil {
			return // the end is nobody's failure
		}
		if differs || err != nil {
			changed(err)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// refresh asks once.
func (s *Source) refresh(ctx context.Context) (differs bool, err error) {
	groups, err := s.fetch(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if ctx.Err() == nil {
			s.failures++
		}
		return false, fmt.Errorf("http_sd %s: %w", s.shown(), err)
	}
	differs = !reflect.DeepEqual(groups, s.groups)
	s.groups = groups
	return differs, nil
}

// shown returns the URL without what may be secret in its query.
func (s *Source) shown() string {
	address, _, _ := strings.Cut(s.url, "?")
	return address
}

func (s *Source) fetch(ctx context.Context) ([]Group, error) {
	c, err := s.credentials()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, min(s.interval, longestWait))
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "gowhy-fleet")
	r.Header.Set("X-Prometheus-Refresh-Interval-Seconds", strconv.FormatFloat(s.interval.Seconds(), 'f', -1, 64))
	if c.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.Bearer)
	} else if c.User != "" {
		r.SetBasicAuth(c.User, c.Password)
	}
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: c.TLS, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(r)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) {
			err = u.Err // without the query
		}
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer has status %d", answer.StatusCode)
	}
	if kind, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, fmt.Errorf("the answer has Content-Type %.80q, not application/json", answer.Header.Get("Content-Type"))
	}
	data, err := io.ReadAll(io.LimitReader(answer.Body, mostBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > mostBytes {
		return nil, fmt.Errorf("the answer has more than %d bytes", mostBytes)
	}
	return decode(data)
}

// decode reads a list. One group that is wrong makes the whole list wrong: its targets
// would be gone without a word.
func decode(data []byte) ([]Group, error) {
	var list []*Group
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("the answer is not a list of groups of targets: %w", err)
	}
	if list == nil {
		return nil, errors.New("the answer is null, not a list of groups of targets")
	}
	if len(list) > mostTargets {
		return nil, fmt.Errorf("%d groups, at most %d are allowed", len(list), mostTargets)
	}
	groups := make([]Group, 0, len(list))
	targets := 0
	for i, g := range list {
		if g == nil {
			return nil, fmt.Errorf("group %d is null", i+1)
		}
		if targets += len(g.Targets); targets > mostTargets {
			return nil, fmt.Errorf("more than %d targets", mostTargets)
		}
		if err := g.check(); err != nil {
			return nil, fmt.Errorf("group %d: %w", i+1, err)
		}
		groups = append(groups, *g)
	}
	return groups, nil
}

func (g *Group) check() error {
	for _, t := range g.Targets {
		if t == "" || !plain(t) {
			return fmt.Errorf("target %.80q is empty, longer than %d bytes or has a control character", t, longest)
		}
	}
	if len(g.Labels) > mostLabels {
		return fmt.Errorf("%d labels, at most %d are allowed", len(g.Labels), mostLabels)
	}
	for name, value := range g.Labels {
		if name == "" || !plain(name) || !plain(value) {
			return fmt.Errorf("label %.80q, or its value, is empty, longer than %d bytes or has a control character", name, longest)
		}
	}
	return nil
}

// plain reports whether a text can stand in a label.
func plain(s string) bool {
	return len(s) <= longest && utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl)
}
