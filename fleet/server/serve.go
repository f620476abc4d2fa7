package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/querier"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/store"
)

// Options are what a server does. Log and Runs may be nil.
type Options struct {
	Listen  string // an address of loopback, like 127.0.0.1:4040
	Targets []scrape.Target
	Runs    *runs.Store // the recordings
	Log     *slog.Logger
	// Ready is called with the address once it listens.
	Ready func(address string)
}

const (
	// drain is how long requests that have begun may take when the server ends.
	drain = 10 * time.Second
	// Slow clients must not hold connections for ever; a question may scan a day.
	headerTime, readTime, writeTime = 10 * time.Second, time.Minute, 2 * time.Minute
)

// Serve answers and takes profiles until the context ends, and then finishes what has
// begun. It listens on loopback only: it does not know who asks.
func Serve(ctx context.Context, s store.Store, o Options) error {
	if err := loopback(o.Listen); err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return err
	}
	m := newMeter(s)
	server := &http.Server{Handler: local(routes(s, m, o.Runs)), ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, MaxHeaderBytes: 64 << 10}
	if o.Log != nil {
		server.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug) // strangers' garbage
	}
	scraper := scrape.New(m, o.Targets)
	scraping, stop := context.WithCancel(ctx)
	scraped := make(chan struct{})
	go func() {
		defer close(scraped)
		scraper.Run(scraping)
	}()
	m.scraper = scraper
	if o.Ready != nil {
		o.Ready(l.Addr().String())
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		err = server.Shutdown(late)
	}
	stop()
	<-scraped
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// routes are all paths of a server.
func routes(s store.Store, m *meter, recordings *runs.Store) http.Handler {
	mux := http.NewServeMux()
	if recordings != nil {
		h := RunsHandler(recordings, time.Now)
		mux.Handle(RunsPath, h)
		mux.Handle(RunsPath+"/", h)
	}
	mux.Handle("/api/", Handler(s, time.Now))
	mux.Handle(querier.Handler(s))
	in := ingest.Handler(m, ingest.Options{})
	mux.Handle(ingest.PushPath, m.count(in))
	mux.Handle(ingest.IngestPath, m.count(in))
	mux.HandleFunc("GET /metrics", m.serve)
	for _, path := range []string{"GET /healthz", "GET /ready"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	}
	return mux
}

// loopback refuses addresses that others can reach.
func loopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("%q is no address to listen on: %w", listen, err)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not an address of loopback: the server does not know who asks; "+
			"put a proxy that does before it", listen)
	}
	return nil
}

// local refuses requests that a page of somebody else made a browser send: they have
// another Host, or an Origin.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		origin := r.Header.Get("Origin")
		if host != "localhost" && (err != nil || !ip.IsLoopback()) || origin != "" && origin != "http://"+r.Host {
			refuse(w, http.StatusForbidden, "this server answers for loopback only, and no other site's pages")
			return
		}
		next.ServeHTTP(w, r)
	})
}
