package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/miekg/dns"
	"golang.org/x/sys/unix"
)

// A server is all that answers.
type server struct {
	c    *config
	addr string // where it listens

	zones    atomic.Pointer[zoneTable]
	store    *store
	fetch    *fetcher
	upstream *upstream
	health   *checker
	geo      *geo
	random   *random
	limit    *limiter
	log      *querylog
	debug    debugger

	tcp     net.Listener
	sockets []*net.UDPConn
	library []*dns.Server // those of -packets goroutine, and TCP's
	slow    chan struct{} // one for each query that waits beside a reader
	serving sync.WaitGroup
	beside  sync.WaitGroup
	cancel  context.CancelFunc
	cleanup []func() error // the last is called first

	done    atomic.Int64 // queries that were answered or dropped
	dropped atomic.Int64 // of them, because too many waited
}

const (
	// maxPacket is the largest query that is read; larger ones are cut off and
	// do not parse.
	maxPacket = 4096
	// slowQueries is how many queries may wait for Redis or the upstream beside
	// the readers. Others are dropped: the client asks again, and by then the
	// records are in the cache.
	slowQueries = 256
	// bindTries is how often another port is taken when the one that was free
	// for TCP is not for UDP.
	bindTries = 20
)

// start makes a server that answers. What it began is ended by close, and by
// itself when it fails.
func start(c *config) (s *server, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	s = &server{c: c, cancel: cancel, random: newRandom(c.random), debug: newDebugger(c.debug), health: newChecker(c.check),
		limit: newLimiter(c.limit, c.burst, c.allow, c.deny), slow: make(chan struct{}, slowQueries)}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	for _, step := range []func(context.Context) error{s.openGeo, s.openZones, s.openUpstream, s.openLog, s.listen} {
		if err := step(ctx); err != nil {
			return s, err
		}
	}
	s.fetch = newFetcher(ctx, newCache(c.cache, c.entries, c.promotes), c.ttl, c.stale, s.load)
	s.fetch.always = c.lookups == "redis"
	s.cleanup = append(s.cleanup, func() error { s.fetch.close(); return nil })
	if err := s.warm(ctx); err != nil {
		return s, err
	}
	s.beside.Go(func() { s.health.run(ctx) })
	if c.reload > 0 {
		s.beside.Go(func() { s.keepReading(ctx) })
	}
	s.answerAll()
	return s, nil
}

func (s *server) openGeo(context.Context) error {
	path := s.c.geoFile
	if path == "" {
		dir, err := os.MkdirTemp("", "zonedns-")
		if err != nil {
			return err
		}
		s.cleanup = append(s.cleanup, func() error { return os.RemoveAll(dir) })
		if path, err = writeDemoGeo(dir); err != nil {
			return err
		}
	}
	g, err := openGeo(path, s.c.geo)
	if err != nil {
		return err
	}
	s.geo = g
	s.cleanup = append(s.cleanup, g.close)
	return nil
}

// openZones connects to Redis, writes the zones that it was asked to, and reads
// which there are. The Redis inside has the demo zones when it gets no others.
func (s *server) openZones(ctx context.Context) (err error) {
	s.health.public = s.c.public
	addr := s.c.redis
	if addr == "" {
		inside := miniredis.NewMiniRedis()
		if err := inside.StartAddr("127.0.0.1:0"); err != nil {
			return err
		}
		s.cleanup = append(s.cleanup, func() error { inside.Close(); return nil })
		addr = inside.Addr()
	}
	if s.store, err = openStore(addr, s.c.prefix, s.health, s.c.lookups == "redis"); err != nil {
		return err
	}
	s.cleanup = append(s.cleanup, s.store.close)
	if s.c.load || s.c.redis == "" && len(s.c.zoneFiles) == 0 {
		port, stop, err := startDemoBackend()
		if err != nil {
			return err
		}
		s.cleanup = append(s.cleanup, stop)
		if err := loadDemo(ctx, s.store, port); err != nil {
			return err
		}
	}
	if err := loadFiles(ctx, s.store, s.c.zoneFiles); err != nil {
		return err
	}
	if err := s.readZones(ctx); err != nil {
		return err
	}
	if len(s.zones.Load().byKey) == 0 {
		return fmt.Errorf("no zones in Redis at %s under %q\nhint: -redis %s -load", addr, s.c.prefix, addr)
	}
	return nil
}

func (s *server) readZones(ctx context.Context) error {
	zones, err := s.store.zones(ctx)
	if err != nil {
		return err
	}
	s.zones.Store(newZoneTable(zones))
	return nil
}

// warm fills the cache before the first query comes, as far as it reaches:
// under a flood from the first moment everybody would wait for Redis.
func (s *server) warm(ctx context.Context) error {
	room := s.c.entries
	for _, z := range s.zones.Load().byKey {
		err := s.store.nodes(ctx, z.name, func(rel string, n *node) bool {
			s.fetch.keep(cacheKey{zone: z.name, name: rel}, n)
			room--
			return room > 0
		})
		if err != nil || room <= 0 {
			return err
		}
	}
	return nil
}

// keepReading looks for zones that came and went. While Redis is away, those
// that are known stay.
func (s *server) keepReading(ctx context.Context) {
	tick := time.NewTicker(s.c.reload)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := s.readZones(ctx); err != nil && ctx.Err() == nil {
				slog.Warn("zones not read anew", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

func (s *server) openUpstream(context.Context) error {
	addr := s.c.upstream
	if addr == "" {
		d, demo, err := startDemoUpstream()
		if err != nil {
			return err
		}
		s.cleanup = append(s.cleanup, d.close)
		addr = demo
	}
	s.upstream = newUpstream(addr)
	return nil
}

func (s *server) openLog(context.Context) (err error) {
	s.log, err = openLog(s.c.querylog, s.c.logFile)
	if err == nil {
		s.cleanup = append(s.cleanup, s.log.close)
	}
	return err
}

// listen takes the port for TCP and then for UDP. TCP's is shared with nobody,
// so that a forgotten server on the same port is an error: with several UDP
// sockets it would silently take its part of the packets.
func (s *server) listen(ctx context.Context) error {
	want := netip.MustParseAddrPort(s.c.addr)
	for try := 1; ; try++ {
		err := s.bind(ctx, want)
		if err == nil {
			return nil
		}
		if want.Port() != 0 || try == bindTries {
			return fmt.Errorf("listening on %s: %w\nhint: -addr 127.0.0.1:0 takes a free port", want, err)
		}
	}
}

func (s *server) bind(ctx context.Context, want netip.AddrPort) error {
	tcp, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(want))
	if err != nil {
		return err
	}
	at := tcp.Addr().(*net.TCPAddr).AddrPort()
	var lc net.ListenConfig
	if s.c.listeners > 1 {
		lc.Control = reusePort
	}
	var sockets []*net.UDPConn
	for range s.c.listeners {
		conn, err := lc.ListenPacket(ctx, "udp", at.String())
		if err != nil {
			for _, c := range sockets {
				c.Close()
			}
			return errors.Join(err, tcp.Close())
		}
		sockets = append(sockets, conn.(*net.UDPConn))
	}
	s.tcp, s.sockets, s.addr = tcp, sockets, at.String()
	return nil
}

func reusePort(_, _ string, c syscall.RawConn) (err error) {
	if fault := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1)
	}); fault != nil {
		return fault
	}
	return err
}

// answerAll begins to answer on all sockets.
func (s *server) answerAll() {
	s.useLibrary(&dns.Server{Listener: s.tcp})
	for _, conn := range s.sockets {
		if s.c.packets == "goroutine" {
			s.useLibrary(&dns.Server{PacketConn: conn, UDPSize: maxPacket})
		} else {
			s.serving.Go(func() { s.read(conn) })
		}
	}
}

// useLibrary lets the library's server read packets: it starts a goroutine for
// each. It returns once that can be shut down.
func (s *server) useLibrary(l *dns.Server) {
	l.Handler = dns.HandlerFunc(s.serveDNS)
	started := make(chan struct{})
	l.NotifyStartedFunc = func() { close(started) }
	s.library = append(s.library, l)
	s.serving.Go(func() {
		if err := l.ActivateAndServe(); err != nil { // want packetgoroutine
			slog.Error("serving", "error", err)
		}
	})
	<-started
}

// serveDNS answers in a goroutine of its own.
func (s *server) serveDNS(w dns.ResponseWriter, in *dns.Msg) {
	q := &query{in: *in, wait: true}
	switch from := w.RemoteAddr().(type) {
	case *net.UDPAddr:
		q.client = from.AddrPort().Addr().Unmap()
	case *net.TCPAddr:
		q.client, q.tcp = from.AddrPort().Addr().Unmap(), true
	}
	out, err := s.reply(q)
	if err != nil {
		slog.Debug("no answer", "name", q.name, "error", err)
	}
	if out != nil {
		w.Write(out)
	}
	s.done.Add(1)
}

// read is the reader of one socket: it answers each packet before it takes the next.
func (s *server) read(conn *net.UDPConn) {
	var (
		q      query
		packet [maxPacket]byte
	)
	for {
		n, from, err := conn.ReadFromUDPAddrPort(packet[:])
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			continue // a packet was refused by a client that is gone
		}
		q.client = from.Addr().Unmap()
		switch out, err := s.handle(&q, packet[:n]); {
		case errors.Is(err, errCold):
			s.later(conn, slices.Clone(packet[:n]), from)
			continue
		case out != nil:
			conn.WriteToUDPAddrPort(out, from)
		}
		s.done.Add(1)
	}
}

// later answers a packet beside the reader, as it has to wait for Redis or the upstream.
func (s *server) later(conn *net.UDPConn, packet []byte, from netip.AddrPort) {
	select {
	case s.slow <- struct{}{}:
	default:
		s.dropped.Add(1)
		s.done.Add(1)
		return
	}
	s.serving.Go(func() {
		q := query{client: from.Addr().Unmap(), wait: true, counted: true}
		if out, _ := s.handle(&q, packet); out != nil {
			conn.WriteToUDPAddrPort(out, from)
		}
		s.done.Add(1)
		<-s.slow
	})
}

// shutdownPatience is how long connections may take to end.
const shutdownPatience = 3 * time.Second

// close ends all that start began, in the opposite order.
func (s *server) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	var errs []error
	for _, l := range s.library {
		errs = append(errs, l.ShutdownContext(ctx))
	}
	if s.c.packets != "goroutine" || len(s.library) == 0 {
		for _, conn := range s.sockets {
			errs = append(errs, conn.Close())
		}
	}
	if s.tcp != nil && len(s.library) == 0 {
		errs = append(errs, s.tcp.Close())
	}
	s.cancel()
	s.serving.Wait()
	s.beside.Wait()
	for _, end := range slices.Backward(s.cleanup) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
