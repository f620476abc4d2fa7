// Package ingest takes profiles from clients of Pyroscope and writes them to a store.
//
// It hides both of Pyroscope's protocols, the unary calls of Connect and the older
// multipart form, and how their labels become a [store.Source]. One request becomes one
// batch per profile; the ID of a batch depends only on what the client sent, so a request
// that a client repeats is kept once. Everything a request can make it allocate is
// bounded by [Options]. What every way in over HTTP does alike is here for the others:
// bodies, sources, IDs and statuses.
//
// It checks no credentials: the server in front of it does.
package ingest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
)

// Paths of Pyroscope that [Handler] serves.
const (
	PushPath   = "/push.v1.PusherService/Push"
	IngestPath = "/ingest"
)

// Options are how a handler works. The zero value is usable.
type Options struct {
	// Tenant is who a request belongs to; nil takes the header X-Scope-OrgID.
	Tenant func(*http.Request) string
	// Profile bounds each profile; the zero value is [profiles.Default].
	Profile profiles.Limits
	// Body is the most bytes of a request, before and after its Content-Encoding;
	// 0 is 16 MiB. An SDK's largest request in a cycle of 15 s has about 10 kB.
	Body int64
	// Memory is what requests may have to decode what they brought; nil is no bound. What
	// they bring is on the grant of their context.
	Memory *memory.Pool
	// RetryAfter is how long a client waits when the store is full; 0 is 5 s.
	RetryAfter time.Duration
}

// WithDefaults returns the options with what is zero filled in.
func (o Options) WithDefaults() Options {
	if o.Tenant == nil {
		o.Tenant = func(r *http.Request) string { return r.Header.Get("X-Scope-OrgID") }
	}
	o.Profile = o.Profile.OrDefault()
	o.Body = cmp.Or(o.Body, 16<<20)
	o.RetryAfter = cmp.Or(o.RetryAfter, 5*time.Second)
	return o
}

// Handler serves [PushPath] and [IngestPath].
func Handler(w store.Writer, o Options) http.Handler {
	h := &handler{writer: w, options: o.WithDefaults()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+PushPath, h.push)
	mux.HandleFunc("POST "+IngestPath, h.ingest)
	return mux
}

type handler struct {
	writer  store.Writer
	options Options
}

// An upload is one profile and what its client says about it.
type upload struct {
	labels      []store.Label
	kind        string    // the first part of a type; "" when the client does not say
	from, until time.Time // zero when the client does not say
	profile     []byte
}

// unpackedBodies is how many times a request's bound its profiles may be when they are
// unpacked, all together: else thousands of small ones, each within its own limits,
// would take minutes.
const unpackedBodies = 8

// keep decodes an upload and writes it. Left is what the profiles of the request may
// still have, unpacked.
func (h *handler) keep(ctx context.Context, tenant string, u upload, left *int64) error {
	source, err := SourceOf(tenant, u.labels)
	if err != nil {
		return err
	}
	p, granted, err := Decode(ctx, u.profile, h.options.Profile, h.options.Memory)
	defer granted.Release()
	switch {
	case errors.Is(err, memory.ErrBusy), errors.Is(err, memory.ErrLarge), ctx.Err() != nil && err != nil:
		return err
	case errors.Is(err, profiles.ErrLong):
		return refuse(http.StatusRequestEntityTooLarge, "decode the profile: %w", err)
	case err != nil:
		return refuse(http.StatusUnprocessableEntity, "decode the profile: %w", err)
	}
	if *left -= int64(p.Bytes); *left < 0 {
		return refuse(http.StatusRequestEntityTooLarge, "the profiles of the request have more than %d bytes, unpacked", unpackedBodies*h.options.Body)
	}
	b := &store.Batch{Source: source, Stacks: p.Stacks}
	b.From, b.Until = span(u, p)
	if err := CheckSpan(b.From, b.Until); err != nil {
		return err
	}
	b.ID = Identity(source, u.kind, b.From, b.Until, u.profile)
	if b.Until.IsZero() { // after the ID: a repeat arrives at another time
		b.From, b.Until = time.Now().Add(-p.Duration), time.Now()
	}
	if b.Profiles, err = typed(u.kind, p); err != nil {
		return err
	}
	if err := h.writer.Write(ctx, b); err != nil {
		return fmt.Errorf("write the profile of %q: %w", source.Service, err)
	}
	return nil
}

// Decode reads a profile when there is memory for it, and to keep it. The grant is for the
// time until it is kept, and there with an error, too.
func Decode(ctx context.Context, data []byte, l profiles.Limits, from *memory.Pool) (*profiles.Profile, *memory.Grant, error) {
	most := profiles.CostBound(data, l)
	if from != nil {
		most = min(most, from.Size())
	}
	granted, err := from.Take(ctx, most)
	if err != nil {
		return nil, nil, err
	}
	p, err := profiles.DecodeWithin(data, l, func(cost int64) error {
		granted.Keep(cost)
		return granted.More(ctx, cost-most)
	})
	return p, granted, err
}

// What is before there was Go, or more than a day ahead, has the time of a clock that was
// never set, or a unit that nobody meant.
const mostAhead = 24 * time.Hour

var leastTime = time.Date(2009, 11, 10, 0, 0, 0, 0, time.UTC)

// CheckSpan refuses a time that cannot be meant so; zero is that the client says none.
func CheckSpan(from, until time.Time) error {
	for _, at := range []time.Time{from, until} {
		switch {
		case at.IsZero():
		case at.Before(leastTime):
			return refuse(http.StatusUnprocessableEntity, "the profile is of %s: check the clock and the unit of its time", at.UTC().Format(time.RFC3339))
		case time.Until(at) > mostAhead:
			return refuse(http.StatusUnprocessableEntity, "the profile is of %s, more than a day ahead: check the clock and the unit of its time", at.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// span returns the client's, or else the profile's, or else zero.
func span(u upload, p *profiles.Profile) (from, until time.Time) {
	if !u.until.IsZero() || p.Time.IsZero() {
		return u.from, u.until
	}
	return p.Time, p.Time.Add(p.Duration)
}

// Identity returns the ID of a batch: a hash of the source, the kind, the span and the data.
// Each text has its length before it, so that no two lists of texts have the same bytes.
func Identity(s store.Source, kind string, from, until time.Time, data []byte) (id [16]byte) {
	h := sha256.New()
	texts := []string{s.Tenant, s.Service, s.Version, s.Instance, kind}
	for _, l := range s.Labels {
		texts = append(texts, l.Name, l.Value)
	}
	var number [8]byte
	integer := func(n int64) {
		binary.LittleEndian.PutUint64(number[:], uint64(n))
		h.Write(number[:])
	}
	for _, t := range texts {
		integer(int64(len(t)))
		io.WriteString(h, t)
	}
	integer(from.UnixMilli())
	integer(until.UnixMilli())
	h.Write(data)
	copy(id[:], h.Sum(nil))
	return id
}

// A refusal is an error that is the client's, with its HTTP status.
type refusal struct {
	status int
	err    error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

func refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Errorf(format, args...)}
}

// TextOf returns the part of an error that a client may read. That of a store may name files
// of the server.
func TextOf(err error) string {
	switch status := StatusOf(err); {
	case errors.Is(err, store.ErrFull):
		return store.ErrFull.Error() + ": send it again later"
	case errors.Is(err, store.ErrClosed):
		return store.ErrClosed.Error() + ": send it again later"
	case noRoom(err):
		return "the store has no room for it now: send it again later"
	case status == http.StatusInternalServerError:
		return "the store cannot keep it now"
	}
	return strings.ToValidUTF8(err.Error(), "\uFFFD")
}

// noRoom reports whether a disk is full: that passes, as other errors of a disk may not.
func noRoom(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// StatusOf returns the HTTP status of an error of this package, or of a store.
func StatusOf(err error) int {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r.status
	case errors.Is(err, store.ErrRefused):
		return http.StatusBadRequest
	case errors.Is(err, store.ErrFull), errors.Is(err, memory.ErrBusy):
		return http.StatusTooManyRequests
	case errors.Is(err, memory.ErrLarge):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, store.ErrClosed), noRoom(err): // of OTLP a client repeats what is 503, and drops what is 500
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}
