package web

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strconv"
)

// The page as Vite built it from ui/, twice: in parts, of which the browser asks
// for what it needs, and in report/ whole, for files that have nobody to ask. It is
// committed, so that go install needs no Node.
//
//go:embed all:dist
var dist embed.FS

const reportDir = "report" // in dist

// assets are the files of the page.
type assets struct {
	byPath map[string]asset
}

type asset struct {
	data, packed []byte
	mime, tag    string
}

// mimes are the types of what pages load. The table is here because that of the
// system differs from machine to machine.
var mimes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

var errNoPage = errors.New("this gowhy was built without its page: internal/show/web/dist has no index.html (make it with: cd ui && npm ci " +
	"&& npm run build)")

// servedAssets returns the page in parts.
func servedAssets() (*assets, error) { return loadAssets("dist") }

// reportAssets returns the page whole.
func reportAssets() (*assets, error) { return loadAssets("dist/" + reportDir) }

func loadAssets(dir string) (*assets, error) {
	root, err := fs.Sub(dist, dir)
	if err != nil {
		return nil, err
	}
	return readAssets(root)
}

func readAssets(root fs.FS) (*assets, error) {
	a := &assets{byPath: map[string]asset{}}
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return errNoPage
		case err != nil:
			return err
		case d.IsDir() && p == reportDir:
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		mime, ok := mimes[path.Ext(p)]
		if !ok {
			return nil // nothing that the page loads
		}
		sum := sha256.Sum256(data)
		f := asset{data: data, mime: mime, tag: `"` + hex.EncodeToString(sum[:12]) + `"`}
		if len(data) >= packedFrom {
			f.packed = pack(data)
		}
		a.byPath[p] = f
		return nil
	})
	if err != nil {
		return nil, err
	}
	index, ok := a.byPath["index.html"]
	if !ok {
		return nil, errNoPage
	}
	a.byPath[""] = index
	return a, nil
}

// serve sends a file of the page and reports whether there is one. Another
// version of gowhy may have the same address tomorrow, so the browser asks each
// time whether its copy is still good.
func (a *assets) serve(w http.ResponseWriter, r *http.Request, p string) bool {
	f, ok := a.byPath[p]
	if !ok {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", f.mime)
	h.Set("Cache-Control", "no-cache")
	h.Set("Vary", "Accept-Encoding")
	data, tag := f.data, f.tag
	if f.packed != nil && takesGzip(r) {
		data, tag = f.packed, tag[:len(tag)-1]+`-gzip"`
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", tag)
	timely(w)
	if r.Header.Get("If-None-Match") == tag {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data)
	}
	return true
}
