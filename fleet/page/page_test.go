package page

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

func ask(method, path string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	Handler().ServeHTTP(w, r)
	return w
}

func TestHandler(t *testing.T) {
	for _, c := range []struct {
		method, path string
		status       int
		mime         string
	}{
		{"GET", "/", 200, "text/html; charset=utf-8"},
		{"HEAD", "/", 200, "text/html; charset=utf-8"},
		{"GET", "/index.html", 200, "text/html; charset=utf-8"},
		{"GET", "/app.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/index.css", 200, "text/css; charset=utf-8"},
		{"POST", "/", 405, ""},
		{"GET", "/nosuch", 404, ""},
		{"GET", "/dist/app.js", 404, ""},
		{"GET", "/licenses.txt", 200, "text/plain; charset=utf-8"},
		{"GET", "/../page.go", 404, ""},
	} {
		w := ask(c.method, c.path)
		h := w.Header()
		if w.Code != c.status || c.mime != "" && h.Get("Content-Type") != c.mime {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, w.Code, h.Get("Content-Type"), c.status, c.mime)
		}
		if c.status == 200 && (h.Get("Content-Security-Policy") != policy || h.Get("X-Content-Type-Options") != "nosniff") {
			t.Errorf("%s: headers %v", c.path, h)
		}
	}
}

func TestCopyIsGood(t *testing.T) {
	tag := ask("GET", "/app.js").Header().Get("ETag")
	if w := ask("GET", "/app.js", "If-None-Match", tag); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("the copy of %s: %d, %d bytes", tag, w.Code, w.Body.Len())
	}
}

// TestSelfContained holds that the page names no address outside of itself.
func TestSelfContained(t *testing.T) {
	address := regexp.MustCompile(`https?://[\w.-]+`)
	for _, name := range []string{"/", "/app.js", "/index.css"} {
		for _, found := range address.FindAllString(ask("GET", name).Body.String(), -1) {
			// Names of XML, and examples of what to type.
			if !strings.HasPrefix(found, "http://www.w3.org") && !strings.HasPrefix(found, "http://127.0.0.1") && !strings.HasPrefix(found, "http://localhost") {
				t.Errorf("%s names %s", name, found)
			}
		}
	}
}
