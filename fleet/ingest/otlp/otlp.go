// Package otlp takes profiles from clients of OpenTelemetry and writes them to a store, and
// writes what a store has as such a client would send it ([Encode]).
//
// It hides the profiles of OTLP, over HTTP (protobuf and JSON) and over gRPC: the shared
// dictionary, what resources and samples say about processes, and how their types become
// those of a [store.Type]. The signal is in development: this is the protocol of
// go.opentelemetry.io/proto/otlp/profiles/v1development v0.4.0, and fields that it does not
// have are skipped. Everything a request can make it allocate is bounded by
// [ingest.Options].
//
// A profile becomes one batch for each process that it has samples of. What is wrong with
// one is no harm to the others of its request: the answer counts it (partial_success). It
// checks no credentials: the server in front of it does.
package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/store"
)

// Paths that [Handler] serves: over HTTP, and over gRPC.
const (
	HTTPPath = "/v1development/profiles"
	GRPCPath = "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export"
)

// Handler serves [HTTPPath] and [GRPCPath]; the second needs a server that speaks HTTP/2.
func Handler(w store.Writer, o ingest.Options) http.Handler {
	s := &service{writer: w, options: o.WithDefaults()}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+HTTPPath, s.overHTTP)
	mux.Handle("POST "+GRPCPath, s.overGRPC())
	return mux
}

type service struct {
	writer  store.Writer
	options ingest.Options
}

// An outcome is what an answer says about a request that was kept, perhaps in part.
type outcome struct {
	rejected int   // profiles
	first    error // of them
	profiles int
}

func (o outcome) message() string {
	if o.rejected == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d profiles were rejected; the first: %v", o.rejected, o.profiles, o.first)
}

// export keeps a request in its wire form.
func (s *service) export(ctx context.Context, tenant string, data []byte) (outcome, error) {
	granted, err := s.options.Memory.Take(ctx, cost(data))
	if err != nil {
		return outcome{}, err
	}
	defer granted.Release()
	batches, out, err := decode(tenant, data, s.options.Profile)
	if err != nil {
		return out, fmt.Errorf("decode the profiles: %w", err)
	}
	if out.rejected > 0 && out.rejected == out.profiles {
		return out, wrong(errors.New(out.message()))
	}
	return out, s.keep(ctx, batches)
}

// writers is how many batches of a request are written at once: a store acknowledges those
// together that come together, and a host has hundreds of processes.
const writers = 16

// keep writes batches. When one fails, so does the request, and its client repeats all of
// it: what was kept has its ID already.
func (s *service) keep(ctx context.Context, batches []*store.Batch) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var group sync.WaitGroup
	slots := make(chan struct{}, writers)
	for _, b := range batches {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		group.Go(func() {
			defer func() { <-slots }()
			if b.Until.IsZero() { // a repeat arrives at another time, with the same ID
				b.From, b.Until = time.Now(), time.Now()
			}
			if err := s.writer.Write(ctx, b); err != nil {
				stop(fmt.Errorf("write the profile of %q: %w", b.Source.Service, err)) // the first counts
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
