package forward

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gowhy/gowhy/fleet/ingest/otlp"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/wire"
)

// Writer passes on what next keeps, to a server of [OTLP]; of another protocol it is next.
// Writing takes the time of encoding longer, and none of the other server's.
func (f *Forwarder) Writer(next store.Writer) store.Writer {
	if f.options.Protocol != OTLP {
		return next
	}
	return writer{f, next}
}

type writer struct {
	f    *Forwarder
	next store.Writer
}

func (w writer) Write(ctx context.Context, b *store.Batch) error {
	err := w.next.Write(ctx, b)
	if err == nil {
		w.f.pass(b)
	}
	return err
}

// pass queues a batch, once: what a client repeats is kept once here, and counted once there.
func (f *Forwarder) pass(b *store.Batch) {
	f.mu.Lock()
	known, full := f.recent.has(b.ID), f.waiting >= f.options.Bytes || len(f.queue) == cap(f.queue)
	if full && !known {
		f.dropped[queueFull]++ // before the work of encoding it
	}
	f.mu.Unlock()
	if known || full {
		return
	}
	header := http.Header{"Content-Type": {otlp.MediaProto}, "User-Agent": {"gowhy-fleet"}}
	if b.Source.Tenant != "" {
		header["X-Scope-Orgid"] = []string{b.Source.Tenant}
	}
	f.add(&request{path: otlp.HTTPPath, header: header, body: otlp.Encode(b), id: b.ID})
}

// recent are the IDs of the last batches: at least as many as one half has, at most two.
type recent struct{ now, before map[[16]byte]bool }

// half is 320 kB of IDs, and more than a client that repeats something sends in between.
const half = 10_000

func (r *recent) has(id [16]byte) bool { return r.now[id] || r.before[id] }

func (r *recent) add(id [16]byte) {
	if r.now == nil || len(r.now) == half {
		r.now, r.before = make(map[[16]byte]bool), r.now
	}
	r.now[id] = true
}

// encodeRequest returns a request as it goes out: the others must take gzip, and names of functions
// repeat themselves.
func encodeRequest(r *request) *request {
	var out bytes.Buffer
	z, _ := gzip.NewWriterLevel(&out, gzip.BestSpeed) // the level is one
	_, _ = z.Write(r.body)                            // to memory
	_ = z.Close()
	header := r.header.Clone()
	header.Set("Content-Encoding", "gzip")
	return &request{path: r.path, header: header, body: out.Bytes()}
}

// repeatable are the statuses after which OTLP lets a client send something again.
var repeatable = map[int]bool{
	http.StatusTooManyRequests: true, http.StatusBadGateway: true, http.StatusServiceUnavailable: true, http.StatusGatewayTimeout: true,
}

// rejectedProfiles reads from an ExportProfilesServiceResponse which profiles were not taken.
func rejectedProfiles(answer []byte) error {
	var n uint64
	var text string
	err := wire.EachField(answer, func(f wire.Field) error {
		if f.Number != 1 || f.Kind != wire.Bytes {
			return nil
		}
		return wire.EachField(f.Body, func(f wire.Field) error {
			switch {
			case f.Number == 1 && f.Kind == wire.Varint:
				n = f.Value
			case f.Number == 2 && f.Kind == wire.Bytes:
				text = string(f.Body)
			}
			return nil
		})
	})
	switch {
	case err != nil:
		return errors.New("it answers with status 200 and no response of OTLP: is it a server of OTLP profiles?")
	case n > 0:
		return fmt.Errorf("it rejects %d profiles: %.200q", n, text)
	}
	return nil
}
