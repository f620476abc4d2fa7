package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// Who may ask, and what the browser may do with the answer.
//
// The server runs as the user and shows the user's own data, on an address that
// every program of the machine, every user of it and, through the browser, every
// web page can send requests to. What holds them off:
//
//   - All paths begin with a token of 128 random bits, compared in constant time.
//     It is in the address that the terminal shows and nowhere else.
//   - A page elsewhere whose name was made to point at this machine (DNS
//     rebinding) sends its own name as Host: only those of the loopback pass. The
//     port is not looked at, for it is another one at the near end of an SSH
//     tunnel, and says nothing: a page cannot forge the name.
//   - A request that a page of another origin caused says so in Sec-Fetch-Site or
//     Origin, and is refused, but for opening the page itself by a link.
//   - The policy lets the page load scripts, styles and data from here and
//     nowhere else, run no inline script, be in no frame and send nothing out: a
//     name from a recording that would get into the page as HTML could do nothing.

// policy is the page's Content-Security-Policy. Pictures may come from the
// canvas, for a copy of what is drawn.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// secure sets the headers that every answer has.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Embedder-Policy", "require-corp")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
}

// admit returns the path below the token of a request that may be answered.
func (s *Server) admit(r *http.Request) (string, error) {
	if !loopbackName(r.Host) {
		return "", refuse(http.StatusForbidden, "open the address that gowhy view printed; from another machine: ssh -L", "this server answers to 127.0.0.1, localhost and [::1], not to %s", short(r.Host))
	}
	// The raw path, so that nothing is decoded or cleaned before it is compared.
	path := r.URL.EscapedPath()
	if len(path) < len(s.prefix) || subtle.ConstantTimeCompare([]byte(path[:len(s.prefix)]), []byte(s.prefix)) != 1 {
		return "", refuse(http.StatusNotFound, "open the whole address that gowhy view printed", "the address lacks its secret part")
	}
	path = path[len(s.prefix):]
	if foreign(r, path == "") {
		return "", refuse(http.StatusForbidden, "", "the request came from another page")
	}
	return path, nil
}

// isInvited reports whether a request has the address that leads to the page once,
// which it then does no more.
func (s *Server) isInvited(r *http.Request) bool {
	path := s.invitation.Load()
	return path != nil && r.Method == http.MethodGet && loopbackName(r.Host) &&
		subtle.ConstantTimeCompare([]byte(r.URL.EscapedPath()), []byte(*path)) == 1 && s.invitation.CompareAndSwap(path, nil)
}

// loopbackName reports whether a Host is one that only this machine has.
func loopbackName(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// foreign reports whether a page of another origin is behind a request. A browser
// says so; who is none needs only the token. The page itself may be opened from
// anywhere.
func foreign(r *http.Request, opening bool) bool {
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin":
		return false
	case "none": // typed, or a bookmark
		return r.Method == http.MethodPost
	}
	return !opening || r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate"
}

// LocalOnly guards a page that is not ours but served beside it, by the same
// rules: loopback names only, and nothing that a page elsewhere caused but a link
// to it.
func LocalOnly(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopbackName(r.Host) || foreign(r, true) {
			http.Error(w, "this page is for the user of this machine", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("X-Frame-Options", "DENY")
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Resource-Policy", "same-origin")
		h.ServeHTTP(w, r)
	})
}
