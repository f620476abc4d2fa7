// Package page is the fleet's page in a browser, as Vite built it from ui/.
//
// It hides the files of the page and what a browser may do with them: load scripts,
// styles and data from where the page is and from nowhere else. The page asks the API
// beside it, so that it knows nothing of the store, and neither does this package.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

// The build is committed, so that go install needs no Node: cd ui && npm run build.
//
//go:embed all:dist
var dist embed.FS

// mimes are the types of what the page loads: the table of the system differs from
// machine to machine. Other files are not served.
var mimes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".txt":  "text/plain; charset=utf-8", // the licences of what others wrote in it
}

// policy lets the page run no inline script, be in no frame and send nothing out: a name
// from a profile that got into it as HTML could do nothing.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

type file struct {
	data      []byte
	mime, tag string
}

// Handler serves the page at / and its files beside it.
func Handler() http.Handler {
	files := map[string]file{}
	entries, err := fs.ReadDir(dist, "dist")
	if err != nil {
		panic(err) // the compiler would not have embedded it
	}
	for _, e := range entries {
		mime, ok := mimes[path.Ext(e.Name())]
		if !ok {
			continue
		}
		data, err := dist.ReadFile("dist/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		files[e.Name()] = file{data, mime, `"` + hex.EncodeToString(sum[:12]) + `"`}
	}
	files[""] = files["index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f, ok := files[strings.TrimPrefix(r.URL.Path, "/")]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "the page is read only", http.StatusMethodNotAllowed)
			return
		}
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Content-Type", f.mime)
		h.Set("ETag", f.tag)
		// Another version may have the same address tomorrow: the browser asks each time
		// whether its copy is still good.
		h.Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.data))
	})
}
