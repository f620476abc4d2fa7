package web

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// Options say how a server gets what it shows.
type Options struct {
	Version string
	// Sort tells what files are, without reading them.
	Sort func(files []string) (Found, error)
	// Open reads the evidence of one run. It is called for one run at a time.
	Open func(ctx context.Context, s RunFiles, progress func(read, size int64)) (*View, error)
	// Live, if set, is what is watched while it runs.
	Live *live.History
	// Tools start other viewers, by name.
	Tools map[string]Starter
	// Log, if set, is called with what the page cannot show.
	Log func(format string, args ...any)
}

// Found is what files turned out to be.
type Found struct {
	Runs    []RunFiles
	Results []Result
}

// RunFiles are the evidence of one run.
type RunFiles struct {
	Name  string
	Files []string
	// Dropped is set when the files came by the page: where they are is nobody's
	// business, and not where the reader has them.
	Dropped bool
}

// A Server has what is open and shows it to one user of this machine.
type Server struct {
	options Options
	page    page
	prefix  string // of all paths, with the token
	files   *assets

	// ctx ends with Serve; it is what reading in the background lives in.
	ctx  context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	readMu   sync.Mutex // held by the run that is being read
	progress atomic.Pointer[readProgress]
	// invitation is a path that leads to the page once, nil when there is none.
	invitation atomic.Pointer[string]
	slots      chan struct{} // of answers that are being computed
	uploads    chan struct{} // of uploads that are under way
	followers  atomic.Int32  // pages that are sent events
	tools      tools

	temp     sync.Once
	tempDir  string
	tempFail error
}

// A readProgress is what is being read, and how far that is.
type readProgress struct {
	name       string
	read, size atomic.Int64
}

// New returns a server that nothing is open in yet.
func New(o Options) (*Server, error) {
	files, err := servedAssets()
	if err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = func(string, ...any) {}
	}
	s := &Server{
		options: o, files: files, prefix: "/t/" + secret() + "/",
		slots: make(chan struct{}, maxAnswers()), uploads: make(chan struct{}, 2),
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.tools.start = o.Tools
	return s, nil
}

// maxAnswers returns how many answers are computed at once. More would not be ready sooner,
// and each may hold a generation of the trace.
func maxAnswers() int { return max(2, runtime.GOMAXPROCS(0)) }

// Limits of the server. A request waits for a run that is being read as long as
// a trace of some gigabytes takes.
const (
	maxHeader    = 64 << 10
	maxRequests  = 256 // connections
	waitForRun   = 5 * time.Minute
	writeTimeout = time.Minute // for a piece of an answer
	endGrace     = 2 * time.Second
	// waitForNews is how long a session that is asked for with since= waits for a
	// change, and progressStep how often it then looks how far reading is.
	waitForNews  = time.Second
	progressStep = 200 * time.Millisecond
	// restAfter is how long after a run was read its memory is given back: the
	// first picture is drawn meanwhile.
	restAfter = time.Second
)

// URL returns where the page is, when the server listens at an address. Who has it can see
// everything that is open.
func (s *Server) URL(addr net.Addr) string { return "http://" + addr.String() + s.prefix }

// Invitation returns an address that leads to the page once. It is for the browser that
// is started: everyone on the machine can read the arguments of a process.
func (s *Server) Invitation(addr net.Addr) string {
	path := "/once/" + secret()
	s.invitation.Store(&path)
	return "http://" + addr.String() + path
}

// secret is 128 random bits for an address.
func secret() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}

// Open names runs, which the page shows at once, and reads them one after
// another in the background. done, if set, is called for each as it is read.
func (s *Server) Open(found Found, done func(RunFiles, error)) {
	for _, r := range found.Results {
		s.page.addResult(r)
	}
	runs := make([]*run, len(found.Runs))
	for i, src := range found.Runs {
		runs[i] = s.page.add(src.Name, src.Files)
	}
	s.work.Go(func() {
		for i, src := range found.Runs {
			v, err := s.read(s.ctx, src)
			s.page.finish(runs[i], v, err)
			if done != nil {
				done(src, err)
			}
		}
	})
}

// read reads one run. A fault in the reading of one file is not the end of the
// others.
func (s *Server) read(ctx context.Context, src RunFiles) (v *View, err error) {
	defer func() {
		if r := recover(); r != nil {
			s.options.Log("reading %s failed: %v\n%s", src.Name, r, debug.Stack())
			v, err = nil, fmt.Errorf("reading %s failed: %v", src.Name, r)
		}
	}()
	s.readMu.Lock()
	defer s.readMu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	now := &readProgress{name: src.Name}
	s.progress.Store(now)
	defer s.progress.Store(nil)
	v, err = s.options.Open(ctx, src, func(read, size int64) {
		now.read.Store(read)
		now.size.Store(size)
	})
	if err == nil && v == nil {
		err = errors.New("nothing was read")
	}
	s.work.Go(s.releaseMemory)
	return v, err
}

// releaseMemory gives back what reading took, which is several times the memory of what is
// kept. It stops the world for a while, and waits until what was read is shown.
func (s *Server) releaseMemory() {
	select {
	case <-s.ctx.Done():
	case <-time.After(restAfter):
		if s.progress.Load() == nil { // who reads now does it later
			debug.FreeOSMemory()
			debug.FreeOSMemory() // pools of buffers survive one collection
		}
	}
}

// loading says what is being read, for the page.
func (s *Server) loading() string {
	r := s.progress.Load()
	if r == nil {
		return ""
	}
	text := name(r.name)
	if size := r.size.Load(); size > 0 {
		text += fmt.Sprintf(" %d%%", 100*min(r.read.Load(), size)/size)
	}
	return text
}

// Serve answers until ctx ends. Reading that is still going on then is given up,
// tools end, and uploads are removed.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // a browser that hangs up is no news
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext:       withConn,
	}
	ended := make(chan struct{})
	running := context.AfterFunc(ctx, func() {
		defer close(ended)
		s.stop()
		grace, cancel := context.WithTimeout(context.Background(), endGrace)
		defer cancel()
		if server.Shutdown(grace) != nil {
			_ = server.Close() // what does not end by itself
		}
	})
	err := server.Serve(limitListener(l, maxRequests))
	if !running() {
		<-ended
		err = nil
	}
	s.Close()
	return err
}

// Close ends what the server started and removes what it wrote.
func (s *Server) Close() {
	s.stop()
	s.tools.close()
	s.work.Wait()
	if s.tempDir != "" {
		_ = os.RemoveAll(s.tempDir) // of the system's temporary files
	}
}

// scratch returns a directory for uploads and what tools are given. It lives as long
// as the server.
func (s *Server) scratch() (string, error) {
	s.temp.Do(func() { s.tempDir, s.tempFail = os.MkdirTemp("", "gowhy-view-") })
	return s.tempDir, s.tempFail
}

// ServeHTTP answers one request. A panic in an answer is that answer's end only.
func (s *Server) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := &headerTracker{ResponseWriter: rw}
	secure(w.Header())
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		if p == http.ErrAbortHandler {
			panic(p)
		}
		s.options.Log("%s %s failed: %v\n%s", r.Method, short(strings.TrimPrefix(r.URL.Path, s.prefix)), p, debug.Stack())
		if w.started {
			panic(http.ErrAbortHandler) // what is sent cannot be taken back: the browser must see that it is not all
		}
		s.fail(w, r, refuse(http.StatusInternalServerError, "the terminal that gowhy view runs in says where; please report it", "this answer failed: %v", p))
	}()
	if s.isInvited(r) {
		w.Header().Set("Cache-Control", "no-store")
		http.Redirect(w, r, s.prefix, http.StatusSeeOther)
		return
	}
	path, p := s.admit(r)
	if p != nil {
		w.Header().Set("Connection", "close")
		s.fail(w, r, p)
		return
	}
	noteReader(r)
	if err := s.route(w, r, path); err != nil {
		s.fail(w, r, err)
	}
}

// A headerTracker knows whether anything was sent.
type headerTracker struct {
	http.ResponseWriter
	started bool
}

func (b *headerTracker) WriteHeader(status int) {
	b.started = true
	b.ResponseWriter.WriteHeader(status)
}

func (b *headerTracker) Write(p []byte) (int, error) {
	b.started = true
	return b.ResponseWriter.Write(p)
}

// Unwrap is for [http.ResponseController].
func (b *headerTracker) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// route finds who answers. An error goes to the page, unless an answer has begun already.
func (s *Server) route(w http.ResponseWriter, r *http.Request, path string) error {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return misuse("the query cannot be read: %v", err)
	}
	want := []string{http.MethodGet, http.MethodHead}
	if posts[path] {
		want = []string{http.MethodPost}
	}
	if !slices.Contains(want, r.Method) {
		w.Header().Set("Allow", strings.Join(want, ", "))
		return refuse(http.StatusMethodNotAllowed, "", "%s is not for this", short(r.Method))
	}
	switch tool, isTool := strings.CutPrefix(path, "tools/"); {
	case path == "api/session":
		s.news(r.Context(), q.Get("since"))
		now := s.page.session(s.options.Version, s.loading())
		now.Live = s.options.Live != nil
		return s.json(w, r, now)
	case path == "api/upload":
		return s.upload(w, r, q)
	case path == "api/export":
		return s.export(w, r, q)
	case path == "api/member":
		return s.member(w, r, q)
	case isTool:
		return s.openTool(w, r, q, tool)
	}
	if ok, err := s.liveRoute(w, r, path, q); ok {
		return err
	}
	if e, ok := endpoints[path]; ok {
		return s.answer(w, r, e, q)
	}
	if s.files.serve(w, r, path) {
		return nil
	}
	return missing("there is nothing at "+short(path), "")
}

// news waits for what a page does not know yet, whose last session named the
// change since: a run was added or is read, or reading got on by a percent. After
// a moment it returns without, so that a page that went away is soon forgotten.
func (s *Server) news(ctx context.Context, since string) {
	change := s.page.next(since)
	if change == nil {
		return
	}
	ctx, stop := context.WithTimeout(ctx, waitForNews)
	defer stop()
	look := time.NewTicker(progressStep)
	defer look.Stop()
	for before := s.loading(); ; {
		select {
		case <-change:
			return
		case <-ctx.Done():
			return
		case <-look.C:
			if s.loading() != before {
				return
			}
		}
	}
}

// answer asks an endpoint of the table, when there is room for it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, e endpoint, q url.Values) error {
	ctx, stop := context.WithTimeout(r.Context(), waitForRun)
	defer stop()
	if err := s.await(ctx, e, q); err != nil {
		return err
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-ctx.Done():
		return refuse(http.StatusServiceUnavailable, "try again", "too many requests at once")
	}
	value, data, err := s.page.answer(ctx, e, q)
	switch {
	case err != nil:
		return err
	case e.bytes != nil:
		return s.send(w, r, "application/octet-stream", data, false)
	}
	return s.json(w, r, value)
}

// await waits for the runs that a query is about, so that one that is still
// being read holds no room for answers.
func (s *Server) await(ctx context.Context, e endpoint, q url.Values) error {
	parameters := e.otherRuns
	if !e.page {
		parameters = append([]string{"r"}, parameters...)
	}
	for _, name := range parameters {
		if name != "r" && q.Get(name) == "" {
			continue
		}
		if _, err := s.page.indexedRun(ctx, q, name); err != nil {
			return err
		}
	}
	return nil
}

// json sends a value.
func (s *Server) json(w http.ResponseWriter, r *http.Request, v any) error {
	data, err := encode(v)
	if err != nil {
		return fmt.Errorf("this answer cannot be sent: %w", err)
	}
	return s.send(w, r, jsonType, data, len(data) >= packedFrom)
}

const jsonType = "application/json; charset=utf-8"

// send sends an answer whole. What it is about is the user's, and stays out of
// the browser's cache on disk.
func (s *Server) send(w http.ResponseWriter, r *http.Request, mime string, data []byte, packable bool) error {
	h := w.Header()
	h.Set("Content-Type", mime)
	h.Set("Cache-Control", "no-store")
	if packable {
		h.Set("Vary", "Accept-Encoding")
		if takesGzip(r) {
			data = pack(data)
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	timely(w)
	if r.Method == http.MethodHead {
		return nil
	}
	_, _ = w.Write(data) // who hung up does not want it
	return nil
}

// timely gives the browser time to take the next piece of an answer. The time that
// the answer took to be found does not count, and a connection is used again: so
// every answer begins with it.
func timely(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // not every writer has one
}

func takesGzip(r *http.Request) bool {
	for _, e := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		e, parameters, _ := strings.Cut(strings.TrimSpace(e), ";")
		if e == "gzip" {
			q := strings.TrimSpace(parameters)
			return q != "q=0" && q != "q=0.0"
		}
	}
	return false
}

// fail tells what is wrong: the page as JSON, a person who opened the address as text.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil && !errors.As(err, new(*problem.Error)) {
		return // nobody is there to read it
	}
	p, status := explain(err)
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Del("Content-Encoding")
	h.Del("Content-Length")
	h.Del("Content-Disposition")
	timely(w)
	if r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		h.Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintf(w, "gowhy: %s\n", p.What)
		if p.Hint != "" {
			fmt.Fprintf(w, "hint: %s\n", p.Hint)
		}
		return
	}
	data, _ := encode(Failure{Error: name(p.What), Hint: name(p.Hint)}) // two strings
	h.Set("Content-Type", jsonType)
	w.WriteHeader(status)
	_, _ = w.Write(data)
}
