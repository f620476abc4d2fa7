package hostagent

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/client"
	"github.com/gowhy/gowhy/fleet/store"
)

const (
	pushPath = "/push.v1.PusherService/Push"
	sendTime = 30 * time.Second
	// The first wait for a server that is away, and the longest where it does not ask for
	// more itself.
	leastWait, mostWait = time.Second, time.Minute
	// mostSaid is what is read of an answer that says what is wrong.
	mostSaid = 512
)

// A sender sends what a spool has.
type sender struct {
	base, tenant, token string
	client              *http.Client
	spool               *spool
	count               *counters
	log                 *slog.Logger
	wait                func(ctx context.Context, d time.Duration)
}

func newSender(o Options, s *spool, c *counters) (*sender, error) {
	base := o.Server
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%q is no URL of a server, like http://127.0.0.1:4040", o.Server)
	}
	if ip := net.ParseIP(u.Hostname()); o.Token != "" && u.Scheme == "http" && u.Hostname() != "localhost" && !ip.IsLoopback() {
		o.Log.Warn("the token goes over the network unencrypted: use an https URL", "server", u.Redacted())
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 1
	transport.TLSClientConfig = &tls.Config{RootCAs: o.Roots}
	return &sender{base: strings.TrimSuffix(base, "/"), tenant: o.Tenant, token: o.Token, spool: s, count: c, log: o.Log,
		client: &http.Client{Transport: transport, Timeout: sendTime, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		wait: func(ctx context.Context, d time.Duration) {
			select {
			case <-time.After(d):
			case <-ctx.Done():
			}
		}}, nil
}

// run sends until ctx ends, and then what is left, once and until sending ends.
func (s *sender) run(ctx, sending context.Context) {
	defer s.client.CloseIdleConnections()
	wait, away := leastWait, false
	for sending.Err() == nil {
		i := s.spool.first()
		if i == nil {
			if ctx.Err() != nil {
				return
			}
			select {
			case <-s.spool.ready:
			case <-ctx.Done():
			}
			continue
		}
		err := s.push(sending, i.body)
		switch {
		case err == nil:
			s.count.sent.Add(1)
		case isHopeless(err):
			s.count.rejected.Add(1)
			s.log.Warn("the server refuses a profile", "error", err)
		case ctx.Err() != nil:
			return // no time is left to wait for it
		default:
			s.count.retries.Add(1)
			if !away {
				away = true
				s.log.Warn("the server does not take profiles; they are kept until it does", "error", err)
			}
			// Agents that lost the same server are not to come back at the same time.
			pause := wait/2 + rand.N(wait/2)
			var status *client.Status
			if errors.As(err, &status) {
				pause = max(pause, status.After)
			}
			s.wait(ctx, pause)
			wait = min(2*wait, mostWait)
			continue
		}
		if wait = leastWait; away {
			away = false
			s.log.Info("the server takes profiles again")
		}
		s.spool.done(i)
	}
}

// push sends a request. Unless its error [isHopeless] it is to be sent again.
func (s *sender) push(ctx context.Context, body []byte) error {
	r, err := s.request(ctx, http.MethodPost, pushPath, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/proto")
	r.Header.Set("Connect-Protocol-Version", "1")
	_, err = s.ask(r, mostSaid)
	return err
}

// request is one that says who sends it.
func (s *sender) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, s.base+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", "gowhy-fleet")
	if s.tenant != "" {
		r.Header.Set("X-Scope-OrgID", s.tenant)
	}
	if s.token != "" {
		r.Header.Set("Authorization", "Bearer "+s.token)
	}
	return r, nil
}

// ask sends a request, and reads a bounded part of its answer. The error is a [client.Status]
// where the server does not take it.
func (s *sender) ask(r *http.Request, most int64) ([]byte, error) {
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(io.LimitReader(answer.Body, most))
	if answer.StatusCode/100 != 2 {
		return nil, client.StatusOf(answer, said)
	}
	return said, err
}

// hopeless are answers about what was sent. Others, of a wrong token too, are about the
// server, and may be others after somebody has mended it.
var hopeless = map[int]bool{http.StatusBadRequest: true, http.StatusRequestEntityTooLarge: true,
	http.StatusUnsupportedMediaType: true, http.StatusUnprocessableEntity: true}

// encode is a push.v1.PushRequest of one profile.
func encode(labels []store.Label, p *profile.Profile) ([]byte, error) {
	var packed bytes.Buffer
	if err := p.Write(&packed); err != nil {
		return nil, err
	}
	bytesOf := func(to []byte, number protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), v)
	}
	var series []byte
	for _, l := range labels {
		series = bytesOf(series, 1, bytesOf(bytesOf(nil, 1, []byte(l.Name)), 2, []byte(l.Value)))
	}
	series = bytesOf(series, 2, bytesOf(nil, 1, packed.Bytes()))
	return bytesOf(nil, 1, series), nil
}
