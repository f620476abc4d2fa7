package server

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/exposition"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/quota"
	"github.com/gowhy/gowhy/fleet/sampling"
)

// Settings are what can change while a server runs.
type Settings struct {
	Tokens []access.Token
	Limits map[string]quota.Limits // by tenant, see package quota
	Prices *api.Prices
	// Recordings are how much agents record; nil is [sampling.Usual].
	Recordings *sampling.Options
	// TLS reads the certificates; nil serves plain HTTP.
	TLS func() (*tls.Config, error)
	// Targets are those to scrape, as their files are now; nil is none. What could not
	// be read is an error beside them.
	Targets func() ([]scrape.Target, error)
	// Discover, where it is set, looks for targets until its context ends. It calls
	// changed, from any goroutine, when Targets may give others, and with an error when
	// it looked in vain.
	Discover func(ctx context.Context, changed func(error))
	// Metrics, where it is set, writes what Discover counts, as Prometheus reads it.
	Metrics func(io.Writer)
}

// costs returns the prices; zero where none are known.
func (l *live) costs() api.Prices {
	if p := l.prices.Load(); p != nil {
		return *p
	}
	return api.Prices{}
}

// readAgain is how often certificates and files of targets are read again.
const readAgain = time.Minute

// live is the settings of a server that runs.
type live struct {
	listen   string
	insecure bool
	log      *slog.Logger
	load     func() (Settings, error) // nil where nothing can be loaded again
	guard    access.Guard
	limiter  *quota.Limiter
	scraper  *scrape.Scraper
	tls      atomic.Pointer[tls.Config] // nil serves plain HTTP
	prices   atomic.Pointer[api.Prices]
	plan     *sampling.Plan // nil where no recordings are kept

	mu       sync.Mutex // one change at a time
	settings Settings
	ctx      context.Context    // of watch; nil before it
	stop     context.CancelFunc // ends Discover of the settings; nil before watch
	running  sync.WaitGroup     // of Discover
	found    chan struct{}      // Targets may give others

	failed   atomic.Bool  // the last load
	loadedAt atomic.Int64 // seconds since 1970, of the last that went well
}

// newLive has the first settings of a server.
func newLive(o Options, scraper *scrape.Scraper) (*live, error) {
	l := &live{listen: o.Listen, insecure: o.Insecure, log: o.Log, load: o.Load, limiter: quota.New(time.Now), scraper: scraper, found: make(chan struct{}, 1)}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	if o.Runs != nil {
		l.plan = NewPlan(o.Runs, sampling.Usual, time.Now)
	}
	l.settings.TLS = o.Settings.TLS
	if err := l.apply(o.Settings); err != nil {
		return nil, err
	}
	return l, nil
}

// apply changes the settings to others, or nothing.
func (l *live) apply(s Settings) error {
	if (s.TLS == nil) != (l.settings.TLS == nil) {
		l.log.Warn("tls begins or ends when the server starts again")
		s.TLS = l.settings.TLS
	}
	if err := Reachable(l.listen, len(s.Tokens) > 0, s.TLS != nil, l.insecure); err != nil {
		return err
	}
	if err := l.certificates(s); err != nil {
		return err
	}
	l.guard.Set(s.Tokens)
	l.limiter.Set(s.Limits)
	l.prices.Store(s.Prices)
	if l.plan != nil {
		l.plan.Set(optionsOf(&s))
	}
	l.settings = s
	l.targets()
	l.discover()
	l.loadedAt.Store(time.Now().Unix())
	return nil
}

// certificates reads those of settings.
func (l *live) certificates(s Settings) error {
	if s.TLS == nil {
		return nil
	}
	c, err := s.TLS()
	if err == nil {
		l.tls.Store(c)
	}
	return err
}

// targets reads those to scrape.
func (l *live) targets() {
	if l.settings.Targets == nil {
		return
	}
	targets, err := l.settings.Targets()
	if err != nil {
		l.log.Error("some targets are left out, or count as they were", "error", err)
	}
	l.scraper.Update(targets)
}

// discover has the settings look for targets, and no earlier ones. The caller holds mu.
func (l *live) discover() {
	if l.ctx == nil || l.ctx.Err() != nil {
		return
	}
	if l.stop != nil {
		l.stop()
	}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(l.ctx)
	look := l.settings.Discover
	if look == nil {
		return
	}
	l.running.Go(func() {
		look(ctx, func(err error) {
			if err != nil {
				l.log.Error("the targets of a list count as they were", "error", err)
			}
			select {
			case l.found <- struct{}{}:
			default: // it is known
			}
		})
	})
}

// reload loads the settings again. What is wrong changes nothing.
func (l *live) reload() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, err := l.load()
	if err == nil {
		err = l.apply(s)
	}
	l.failed.Store(err != nil)
	if err != nil {
		l.log.Error("the configuration stays as it was", "error", err)
		return err
	}
	l.log.Info("the configuration was loaded")
	return nil
}

// watch loads the settings when a signal comes, and reads files again and again.
func (l *live) watch(ctx context.Context, hangup <-chan os.Signal) {
	tick := time.NewTicker(readAgain)
	defer tick.Stop()
	l.mu.Lock()
	l.ctx = ctx
	l.discover()
	l.mu.Unlock()
	defer func() {
		l.mu.Lock() // a change that saw the context before it ended has started what it starts
		defer l.mu.Unlock()
		l.running.Wait()
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangup:
			_ = l.reload() // which logs it
		case <-l.found:
			l.mu.Lock()
			l.targets()
			l.mu.Unlock()
		case <-tick.C:
			l.mu.Lock()
			if err := l.certificates(l.settings); err != nil {
				l.log.Error("the certificates stay as they were", "error", err)
			}
			l.targets()
			l.mu.Unlock()
		}
	}
}

// wrap lets only those reach a handler who may, and no more than they may send.
func (l *live) wrap(next http.Handler) http.Handler {
	next = l.guard.Wrap(l.limiter.Bytes(next))
	if onLoopback(l.listen) {
		return local(next)
	}
	// A browser may have a password that pages of others would make it use.
	return http.NewCrossOriginProtection().Handler(next)
}

// serverTLS returns nil for plain HTTP. Each connection gets the certificates of its time.
func (l *live) serverTLS() *tls.Config {
	if l.tls.Load() == nil {
		return nil
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return l.tls.Load(), nil },
	}
}

// routes adds the paths about settings.
func (l *live) routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/v1/prices", func(w http.ResponseWriter, _ *http.Request) {
		prices := l.prices.Load()
		if prices == nil {
			refuse(w, http.StatusNotFound, "the configuration of this server has no prices")
			return
		}
		answer(w, http.StatusOK, prices)
	})
	if l.load == nil {
		return
	}
	mux.HandleFunc("POST /-/reload", func(w http.ResponseWriter, _ *http.Request) {
		if err := l.reload(); err != nil {
			refuse(w, http.StatusInternalServerError, err.Error())
		}
	})
}

// metrics writes what is known about settings as Prometheus reads it.
func (l *live) metrics(w io.Writer) {
	l.limiter.Metrics(w)
	l.mu.Lock()
	more := l.settings.Metrics
	l.mu.Unlock()
	if more != nil {
		more(w)
	}
	if l.load == nil {
		return
	}
	ok := int64(1)
	if l.failed.Load() {
		ok = 0
	}
	exposition.Gauge(w, "gowhy_fleet_config_last_reload_successful", "Whether the configuration is what its file says.").Int(ok)
	exposition.Gauge(w, "gowhy_fleet_config_last_reload_success_timestamp_seconds", "When it was loaded.").Int(l.loadedAt.Load())
}

// Reachable returns why a server must not listen on an address: others reach it, and it does
// not know who asks, or a network could read their tokens.
func Reachable(listen string, tokens, tls, insecure bool) error {
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return fmt.Errorf("%q is no address to listen on: %w", listen, err)
	}
	switch {
	case onLoopback(listen):
		return nil
	case !tokens:
		return fmt.Errorf("%q is not an address of loopback, and the server does not know who asks: "+
			"give its configuration tokens (gowhy-fleet token) and tls", listen)
	case !tls && !insecure:
		return fmt.Errorf("%q is not an address of loopback, and a network could read the tokens: "+
			"give the configuration tls, or insecure: true where a proxy before the server has TLS", listen)
	}
	return nil
}

// onLoopback reports whether only this host reaches an address.
func onLoopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
