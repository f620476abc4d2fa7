package web

import (
	"context"
	"crypto/subtle"
	"embed"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// speedscope's own viewer, as its package has it and with its licences; what ui/
// builds copies it. Its example, its schema and what reads other programs'
// recordings with WebAssembly files of its own are left out.
//
//go:embed all:speedscope
var speedscopeFiles embed.FS

// speedscopeAssets are kept once somebody wanted them.
var speedscopeAssets = sync.OnceValues(func() (*assets, error) {
	root, err := fs.Sub(speedscopeFiles, "speedscope")
	if err != nil {
		return nil, err
	}
	return readAssets(root)
})

// speedscopePolicy is the Content-Security-Policy of the viewer: it loads itself
// and its profile, and asks nobody else. It compiles WebAssembly that it holds, and
// makes an empty style element that it adds rules to: the hash is that of nothing.
// It tries eval twice for modules of Node and goes on without.
const speedscopePolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; " +
	"style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; img-src 'self'; font-src 'self'; " +
	"connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const (
	speedscopeProfile     = "profile.json" // its path below the token
	speedscopeConnections = 32
)

// StartSpeedscope serves speedscope with one file of its format on a port of its
// own. It is code of others that shows names of others: with an origin of its own
// it cannot read what this page is asked, and each file has another origin again.
// There are no cookies, for these know no ports; the secret is in the path.
func StartSpeedscope(ctx context.Context, file string) (address string, ended <-chan struct{}, err error) {
	files, err := speedscopeAssets()
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	page := &scopePage{prefix: "/t/" + secret() + "/", file: file, files: files}
	server := &http.Server{
		Handler:           LocalOnly(page),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(io.Discard, "", 0), // a browser that hangs up is no news
	}
	over := make(chan struct{})
	forget := context.AfterFunc(ctx, func() { _ = server.Close() }) // nothing of it is worth waiting for
	go func() {
		defer close(over)
		_ = server.Serve(limitListener(l, speedscopeConnections)) // that it ended is all that matters
		forget()
	}()
	return "http://" + l.Addr().String() + page.prefix + "#" + page.fragment(), over, nil
}

// A scopePage is speedscope with one file.
type scopePage struct {
	prefix string // of all paths, with the token
	file   string
	files  *assets
}

// fragment tells speedscope what to show. What gowhy gives it are sums, which have
// no order in time: the widest first is the view that says something.
func (s *scopePage) fragment() string {
	title := filepath.Base(s.file)
	title, _, _ = strings.Cut(title, ".speedscope.")
	return "view=left-heavy&profileURL=" + speedscopeProfile + "&title=" + url.PathEscape(title)
}

// ServeHTTP answers with a file of the viewer or with the profile, and with
// nothing else.
func (s *scopePage) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	secure(h)
	h.Set("Content-Security-Policy", speedscopePolicy)
	// The raw path, so that nothing is decoded or cleaned before it is compared.
	path := r.URL.EscapedPath()
	if len(path) < len(s.prefix) || subtle.ConstantTimeCompare([]byte(path[:len(s.prefix)]), []byte(s.prefix)) != 1 {
		http.Error(w, "the address lacks its secret part", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this is only to be read", http.StatusMethodNotAllowed)
		return
	}
	switch path = path[len(s.prefix):]; {
	case path == speedscopeProfile:
		s.serveProfile(w, r)
	case !s.files.serve(w, r, path):
		http.Error(w, "there is nothing at this address", http.StatusNotFound)
	}
}

func (s *scopePage) serveProfile(w http.ResponseWriter, r *http.Request) {
	f, err := os.Open(s.file)
	if err != nil {
		http.Error(w, "the profile is gone: open it from gowhy view again", http.StatusGone)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Cache-Control", "no-store")
	timely(w)
	http.ServeContent(w, r, "", time.Time{}, f)
}
