package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/backup"
	"github.com/gowhy/gowhy/fleet/exposition"
	"github.com/gowhy/gowhy/fleet/findings"
	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/ingest/forward"
	"github.com/gowhy/gowhy/fleet/ingest/otlp"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/page"
	"github.com/gowhy/gowhy/fleet/querier"
	"github.com/gowhy/gowhy/fleet/runs"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// Options are what a server does. Log and Runs may be nil.
type Options struct {
	Listen string      // an address like 127.0.0.1:4040; see Reachable
	Runs   *runs.Store // the recordings
	Log    *slog.Logger
	// Rules look at what is kept; nothing is judged without them.
	Rules []*diagnosis.Rule
	// Settings are the first; Load, which may be nil, gives those of later, when a signal
	// of Hangup comes or when a client asks for it.
	Settings Settings
	Load     func() (Settings, error)
	Hangup   <-chan os.Signal
	// Memory is how many bytes this process may have. Requests share it: who finds it taken
	// waits, and is refused then. 0 is no bound.
	Memory int64
	// Insecure lets tokens cross a network without TLS.
	Insecure bool
	// Forward, if any, passes on what is pushed.
	Forward *forward.Forwarder
	// Ready is called with the address once it listens.
	Ready func(address string)

	patience time.Duration // of questions, a test's; questionWait
}

const (
	// drain is how long requests that have begun may take when the server ends.
	drain = 10 * time.Second
	// Slow clients must not hold connections for ever; a question may scan a day.
	headerTime, readTime, writeTime = 10 * time.Second, time.Minute, 2 * time.Minute
)

// Serve answers and takes profiles until the context ends, and then finishes what has
// begun.
func Serve(ctx context.Context, s store.Store, o Options) error {
	m := newMeter(s)
	memories := budgetOf(o.Memory, cmp.Or(o.patience, questionWait))
	m.refusing.log, m.now = cmp.Or(o.Log, slog.New(slog.DiscardHandler)), time.Now
	scraper := scrape.New(m, nil, memories.profiles)
	live, err := newLive(o, scraper)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", o.Listen)
	if err != nil {
		return err
	}
	m.scraper, m.more = scraper, []func(io.Writer){live.metrics, func(w io.Writer) { memory.Metrics(w, memories.pools()...) }}
	if o.Forward != nil {
		m.more = append(m.more, o.Forward.Metrics)
	}
	if o.Runs != nil {
		m.more = append(m.more, func(w io.Writer) { planMetrics(live.plan, w) })
	}
	server := &http.Server{Handler: live.wrap(routes(s, m, live, &memories, o)), TLSConfig: live.serverTLS(),
		ReadHeaderTimeout: headerTime, ReadTimeout: readTime, WriteTimeout: writeTime, MaxHeaderBytes: 64 << 10}
	conns := connectionsOf(o.Memory)
	server.ConnState = conns.state
	m.more = append(m.more, func(w io.Writer) {
		exposition.Counter(w, "gowhy_fleet_connections_closed_total", "Connections closed to have no more than there is memory for.").Int(conns.closed.Load())
	})
	// What clients send before it is read is in memory, too: with HTTP/2 a MiB of each.
	server.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerConnection: 256 << 10, MaxReceiveBufferPerStream: 128 << 10, MaxConcurrentStreams: 100}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true) // for gRPC
	if o.Log != nil {
		server.ErrorLog = slog.NewLogLogger(o.Log.Handler(), slog.LevelDebug) // strangers' garbage
	}
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { scraper.Run(background) })
	running.Go(func() { live.watch(background, o.Hangup) })
	if o.Forward != nil {
		running.Go(func() { o.Forward.Run(background) })
	}
	if len(o.Rules) > 0 {
		judge := findings.Judge{Keeper: s, Rules: o.Rules, Tenants: m.tenants.all, Log: live.log, Memory: memories.questions}
		running.Go(func() { judge.Run(background) })
	}
	if o.Runs != nil {
		look := triggers{plan: live.plan, reader: s, log: live.log, now: time.Now, seen: map[sampling.Subject]time.Time{}}
		running.Go(func() { look.watch(background) })
	}
	if o.Ready != nil {
		o.Ready(l.Addr().String())
	}
	ended := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			ended <- server.ServeTLS(l, "", "")
		} else {
			ended <- server.Serve(l)
		}
	}()
	select {
	case err = <-ended:
	case <-ctx.Done():
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		err = server.Shutdown(late)
	}
	stop() // after the last request: what it pushed is forwarded
	running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		err = nil
	}
	return err
}

// routes returns all paths of a server.
func routes(s store.Store, m *meter, l *live, memories *budget, o Options) http.Handler {
	room := ingest.Room{Heads: memories.heads, Bodies: memories.bodies, Within: readTime}
	mux := http.NewServeMux()
	mux.Handle("/", page.Handler())
	if o.Runs != nil {
		h := RunsHandler(o.Runs, l.plan, s, time.Now)
		mux.Handle(api.RunsPath, h)
		mux.Handle(api.RunsPath+"/", h)
		mux.Handle(api.UploadsPath, h)
		mux.Handle("GET "+api.RunsPath, memories.ask(h))
		mux.Handle("POST "+api.RecordPath, memories.ask(h))
		mux.Handle("POST "+api.WantedPath, ingest.Admit(h, room, mostAsk))
	}
	mux.Handle("/api/", memories.ask(Handler(s, time.Now, l.costs, o.Runs)))
	path, grafana := querier.Handler(s)
	mux.Handle(path, memories.ask(grafana))
	mux.Handle("GET "+querier.RenderPath, memories.ask(querier.Render(s, time.Now)))
	mux.Handle("GET "+querier.RenderDiffPath, memories.ask(querier.RenderDiff(s, time.Now)))
	kept := l.limiter.Writer(m)
	if o.Forward != nil {
		kept = o.Forward.Writer(kept)
	}
	ways := ingest.Options{Memory: memories.profiles}.WithDefaults()
	in := ingest.Handler(kept, ways)
	if o.Forward != nil {
		in = o.Forward.Handler(in)
	}
	in = ingest.Admit(in, room, ways.Body)
	mux.Handle(ingest.PushPath, m.count(in))
	mux.Handle(ingest.IngestPath, m.count(in))
	otel := ingest.Admit(otlp.Handler(kept, ways), room, ways.Body)
	mux.Handle(otlp.HTTPPath, m.count(otel))
	mux.Handle(otlp.GRPCPath, m.count(otel))
	l.routes(mux)
	mux.HandleFunc("GET "+backup.Path, backupHandler(s, o.Runs, l.log))
	mux.HandleFunc("GET /metrics", m.serve)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "ok\n") })
	mux.HandleFunc("GET /ready", m.ready)
	return mux
}

// local refuses requests that a page of somebody else made a browser send: they have
// another Host, or an Origin.
func local(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		scheme := "http://"
		if r.TLS != nil {
			scheme = "https://"
		}
		ip, err := netip.ParseAddr(strings.Trim(host, "[]"))
		origin := r.Header.Get("Origin")
		if host != "localhost" && (err != nil || !ip.IsLoopback()) || origin != "" && origin != scheme+r.Host {
			refuse(w, http.StatusForbidden, "this server answers for loopback only, and no other site's pages")
			return
		}
		next.ServeHTTP(w, r)
	})
}
