package hostagent

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
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
)

// A sender sends what a spool has.
type sender struct {
	to    *client.Client
	spool *spool
	count *counters
	log   *slog.Logger
	wait  func(ctx context.Context, d time.Duration)
}

func newSender(o Options, s *spool, c *counters) (*sender, error) {
	to, err := client.New(o.Server, o.Tenant)
	if err != nil {
		return nil, err
	}
	to.SetToken(o.Token)
	to.TrustRoots(o.Roots)
	if server, exposed := to.TokenExposed(); exposed {
		o.Log.Warn("the token goes over the network unencrypted: use an https URL", "server", server)
	}
	return &sender{to: to, spool: s, count: c, log: o.Log, wait: func(ctx context.Context, d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}}, nil
}

// run sends until ctx ends, and then what is left, once and until sending ends.
func (s *sender) run(ctx, sending context.Context) {
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
	ctx, cancel := context.WithTimeout(ctx, sendTime)
	defer cancel()
	_, err := s.to.Post(ctx, pushPath, map[string]string{"Content-Type": "application/proto", "Connect-Protocol-Version": "1"}, body)
	return err
}

// hopeless are answers about what was sent. Others, of a wrong token too, are about the
// server, and may be others after somebody has mended it.
var hopeless = map[int]bool{http.StatusBadRequest: true, http.StatusRequestEntityTooLarge: true,
	http.StatusUnsupportedMediaType: true, http.StatusUnprocessableEntity: true}

// encode returns a push.v1.PushRequest of one profile.
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
