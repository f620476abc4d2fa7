package web

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/gowhy/gowhy/internal/draw/export"
)

// export writes a run in the form of another tool: GET
// api/export?r=&format=&profile=&table=&group=.
func (s *Server) export(w http.ResponseWriter, r *http.Request, q url.Values) error {
	v, err := s.page.indexedRun(r.Context(), q, "r")
	if err != nil {
		return err
	}
	f, o, err := v.exportOf(q)
	if err != nil {
		return err
	}
	file := v.Name
	if what := cmp.Or(o.Table, string(o.Profile)); what != "" {
		file += "-" + what
	}
	out := s.download(w, r, file+f.Ext)
	if err := f.Write(out, v.Model, o); err != nil {
		return out.fail(err)
	}
	return out.flush()
}

// exportOf reads what is wanted of a query.
func (v *View) exportOf(q url.Values) (f export.Format, o export.Options, err error) {
	i := slices.IndexFunc(export.All, func(f export.Format) bool { return f.Name == q.Get("format") })
	if i < 0 {
		return f, o, misuse("format=%s is none that there is", short(q.Get("format")))
	}
	f = export.All[i]
	o = export.Options{Profile: export.Profile(q.Get("profile")), Table: q.Get("table"), Group: v.groupNamed(q.Get("group")), Slices: v.Slices}
	if o.Profile == "" && f.Holds == export.OneProfile {
		o.Profile = export.States
	}
	return f, o, nil
}

// member sends a piece of evidence as it was recorded: GET api/member?r=&name=.
func (s *Server) member(w http.ResponseWriter, r *http.Request, q url.Values) error {
	v, err := s.page.indexedRun(r.Context(), q, "r")
	if err != nil {
		return err
	}
	n := q.Get("name")
	// Only files that the page knows of: a name is no path.
	if v.Fetch == nil || !slices.ContainsFunc(v.Members, func(m Member) bool { return m.Name == n }) {
		return missing("there is no file "+short(n)+" in this run", "")
	}
	f, err := v.Fetch(n)
	if err != nil {
		return missing(fmt.Sprintf("%s cannot be read any more: %v", short(n), err), "was the recording moved or removed?")
	}
	defer f.Close()
	out := s.download(w, r, n)
	if _, err := io.Copy(out, f); err != nil {
		return out.fail(err)
	}
	return out.flush()
}

// A download is an answer that is written as it is made. Until its first bytes
// are out it can still become an error.
type download struct {
	w       http.ResponseWriter
	head    bool // wants no body
	buf     bytes.Buffer
	started bool
}

// downloadBuffer is how much of a download is held back for that.
const downloadBuffer = 64 << 10

func (s *Server) download(w http.ResponseWriter, r *http.Request, filename string) *download {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream") // never shown, whatever it is
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": safeFilename(filename)}))
	h.Set("Cache-Control", "no-store")
	return &download{w: w, head: r.Method == http.MethodHead}
}

// safeFilename returns the name of a file for a browser: ASCII that is no path and no other
// header.
func safeFilename(n string) string {
	n = strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-", r)) {
			return r
		}
		return '_'
	}, n[strings.LastIndexAny(n, `/\`)+1:])
	if len(n) > 120 {
		n = n[len(n)-120:]
	}
	if n = strings.TrimLeft(n, "."); n == "" {
		return "file"
	}
	return n
}

func (d *download) Write(p []byte) (int, error) {
	if d.head {
		return len(p), nil
	}
	d.buf.Write(p)
	if d.buf.Len() >= downloadBuffer {
		return len(p), d.flush()
	}
	return len(p), nil
}

func (d *download) flush() error {
	d.started = true
	timely(d.w)
	if _, err := d.w.Write(d.buf.Bytes()); err != nil {
		panic(http.ErrAbortHandler) // who hung up does not want it
	}
	d.buf.Reset()
	return nil
}

// fail ends a download that went wrong. One that has begun is broken off, so that
// the browser does not take what it has for all.
func (d *download) fail(err error) error {
	if d.started {
		panic(http.ErrAbortHandler)
	}
	return err
}
