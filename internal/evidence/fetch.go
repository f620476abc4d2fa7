package evidence

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/recording"
)

// Limits on what a server may send.
const (
	maxTraceFetch   = 16 << 30 // bytes
	maxProfileFetch = 256 << 20
	// fetchSlack is how much longer than the recording an answer may take: a
	// starved server is late, and those are the interesting ones.
	fetchSlack = 30 * time.Second
)

// parseURL returns the URL under which the handlers are, with a slash at its end.
func parseURL(s string) (string, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", &Problem{What: fmt.Sprintf("%q is not an http URL", s), Hint: "gowhy record -o run.gowhy -d 5s --url http://localhost:6060"}
	}
	u.RawQuery, u.Fragment = "", ""
	path := strings.TrimSuffix(u.Path, "/")
	if i := strings.Index(path, "/pprof"); i >= 0 {
		path = path[:i+len("/pprof")] // also of a pasted …/pprof/trace
	} else {
		path += "/debug/pprof"
	}
	u.Path = path + "/"
	return u.String(), nil
}

func checkURL(s string) error {
	_, err := parseURL(s)
	return err
}

// remoteClient talks to the host that the user named and to no other.
func remoteClient() *http.Client {
	return &http.Client{CheckRedirect: sameHost}
}

// localClient talks to ports of this machine, never through a proxy.
func localClient() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.Proxy = nil
	return &http.Client{Transport: t, CheckRedirect: sameHost}
}

func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || len(via) > 5 {
		return fmt.Errorf("it redirects to %s", req.URL.Host)
	}
	return nil
}

// server records a server that somebody else started.
func (r *recorder) server(ctx context.Context, target string) error {
	base, err := parseURL(target)
	if err != nil {
		return err
	}
	r.man.URL = base
	client := remoteClient()
	r.cmdline(ctx, client, base)
	r.o.Log(fmt.Sprintf("recording %v at %s", r.o.Duration, base))
	return r.fetchAll(ctx, client, base)
}

// cmdline asks a server for its command line; it may well refuse.
func (r *recorder) cmdline(ctx context.Context, c *http.Client, base string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if body, err := get(ctx, c, base+"cmdline", 1<<16); err == nil && len(body) > 0 && sniff(body) != isHTML {
		r.man.Command = strings.Split(strings.TrimSuffix(string(body), "\n"), "\x00")
	}
}

// fetchAll fetches the trace and the profiles of the same seconds.
func (r *recorder) fetchAll(ctx context.Context, c *http.Client, base string) error {
	seconds := int(math.Ceil(r.o.Duration.Seconds()))
	limited, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second+fetchSlack)
	defer cancel()
	sources := []struct {
		member, path string
		limit        int64
		want         kind
	}{
		{recording.TraceMember, "trace", maxTraceFetch, isTrace},
		{recording.CPUMember, "profile", maxProfileFetch, isGzip},
		{recording.AllocsMember, "allocs", maxProfileFetch, isGzip},
	}
	errs := make([]error, len(sources))
	var wg sync.WaitGroup
	for i, s := range sources {
		wg.Go(func() {
			u := fmt.Sprintf("%s%s?seconds=%d", base, s.path, seconds)
			errs[i] = download(limited, c, u, r.w.Path(s.member), s.limit, s.want)
			if i == 0 && gone(errs[i]) {
				cancel() // no use in waiting for profiles of a wrong address
			}
		})
	}
	wg.Wait()
	if gone(errs[0]) {
		return noPprof(base, errs[0])
	}
	for i, err := range errs {
		if err == nil {
			continue
		}
		if ctx.Err() != nil {
			err = errors.New("the recording was ended early")
			if sources[i].want == isTrace && r.has(sources[i].member) {
				continue // a trace can be read as far as it goes
			}
		}
		r.refuse(sources[i].member, err.Error())
	}
	return nil
}

// A statusError is an answer other than 200 OK.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered %d %s: %q", e.code, http.StatusText(e.code), e.text)
}

// gone reports whether there is nothing at an address at all.
func gone(err error) bool {
	var status *statusError
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &status) && status.code == http.StatusNotFound ||
		errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

func noPprof(base string, err error) error {
	var status *statusError
	if errors.As(err, &status) {
		return &Problem{What: fmt.Sprintf("there are no profiling handlers at %s", base),
			Hint: `import _ "net/http/pprof" in the program, or give the path: --url http://HOST:PORT/PREFIX/pprof`, None: true, Err: err}
	}
	return &Problem{What: fmt.Sprintf("cannot reach %s: %v", base, errors.Unwrap(err)), Hint: "is the program running and the port right?   curl " + quote(base), None: true, Err: err}
}

// download streams an answer into a file. What was received before an error
// stays there when it is a trace; half a profile is of no use.
func download(ctx context.Context, c *http.Client, u, path string, limit int64, want kind) error {
	resp, err := request(ctx, c, u)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.LimitReader(resp.Body, limit))
	if err == nil && n == limit {
		err = fmt.Errorf("more than %d MiB were sent; the rest was left out", limit>>20)
	}
	err = errors.Join(err, f.Close())
	if kind := sniffFile(path); kind != want || err != nil && want != isTrace {
		os.Remove(path)
		if err == nil {
			err = errors.New("the answer is something else")
			if kind == isHTML {
				err = errors.New("the answer is a web page")
			}
		}
	}
	return err
}

func sniffFile(path string) kind {
	f, err := os.Open(path)
	if err != nil {
		return isEmpty
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	return sniff(head[:n])
}

func request(ctx context.Context, c *http.Client, u string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 512))
		resp.Body.Close()
		return nil, &statusError{resp.StatusCode, firstLine(text)}
	}
	return resp, nil
}

// get returns a short answer.
func get(ctx context.Context, c *http.Client, u string, limit int64) ([]byte, error) {
	resp, err := request(ctx, c, u)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(io.LimitReader(resp.Body, limit))
}

// What a port turned out to be.
type probeResult int

const (
	probeSilent probeResult = iota // it did not answer: ask again
	probeOther                     // it answered, and not as net/http/pprof
	probeFound
)

// probe asks whether net/http/pprof's index is at base.
func probe(ctx context.Context, base string) probeResult {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	body, err := get(ctx, localClient(), base, 1<<16)
	var status *statusError
	switch {
	case errors.As(err, &status):
		return probeOther
	case err != nil && (errors.Is(err, context.DeadlineExceeded) || gone(err)):
		return probeSilent
	case err != nil:
		return probeOther // not HTTP
	case bytes.Contains(body, []byte("goroutine")) && bytes.Contains(body, []byte("profile")):
		return probeFound
	}
	return probeOther
}
